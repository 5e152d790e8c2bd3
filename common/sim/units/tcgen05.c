/*
 * tcgen05.c: the Tensor Core that one thread starts: what a multiplication reads and when, and the
 * commits that tell of it.
 *
 * Operands in shared memory are read, and accumulators written, when the operation completes, as
 * late as the schedule has it. A thread's multiplications complete in their order. A commit arrives
 * after those before it and after earlier commits, and in no order with what follows them.
 */
#include <string.h>

#include "blackwell/tcgen05.h"
#include "sim/core/doubt.h"
#include "sim/core/events.h"
#include "sim/core/hazards.h"
#include "sim/core/jobs.h"
#include "sim/core/state.h"
#include "sim/core/shared_memory.h"
#include "sim/core/storage.h"
#include "sim/cost/timing_async.h"
#include "sim/cost/timing_model.h"
#include "sim/models/tensor_core.h"
#include "sim/models/umma_descriptor.h"
#include "sim/order/clock.h"
#include "sim/order/shadow.h"
#include "sim/units/mbarrier/table.h"
#include "sim/units/tcgen05_memory.h"

enum { CHUNK = 16, CHUNKS = 2, PAIR = 2 };

/* A multiplication, or a commit. */
struct operation {
    struct sim_job job; /* first */
    struct sim_thread *thread;
    /* of a multiplication */
    struct sim_cta *cta[PAIR]; /* the even one first */
    int group, column;
    struct umma_instruction shape;
    struct descriptor a, b;
    bool accumulate;
    struct busy busy; /* the Tensor Core, with it */
    const char *file;
    int line;
    /* of a commit */
    struct sim_shared_pointer barrier;
    uint16_t cta_mask;
    uint32_t epoch;
    struct sim_sync known; /* what the thread knew of async units */
    bool arrived;
    struct operation *later; /* the thread's next commit, while it is under way */
    struct operation *next;  /* in the thread's pool */
};

static struct operation *new_operation(struct sim_thread *thread) {
    struct tensor_order *const order = tensor_order_of(thread);
    struct operation *const op = order->pool;
    if (!op) return sim_arena_alloc(thread->cta->cluster, sizeof *op);
    order->pool = op->next;
    const struct sim_sync known = op->known;
    memset(op, 0, sizeof *op);
    op->known = known; /* its room */
    sim_sync_clear(&op->known);
    return op;
}

static void end_of(struct operation *op) {
    struct tensor_order *const order = op->thread->tensor;
    if (order->last == &op->job) order->last = NULL;
    op->next = order->pool;
    order->pool = op;
}

static void multiply(struct sim_job *job);

static void start(struct operation *op, uint64_t time) {
    struct tensor_order *const order = op->thread->tensor;
    op->job.cluster = op->thread->cta->cluster;
    op->job.after = order->last;
    if (op->job.complete == multiply) order->last = &op->job;
    sim_job_start(&op->job, time);
}

/* ---- operands ---- */

/* The offset of 16 bytes of an operand in shared memory. */
static size_t chunk_at(const struct sim_cta *cta, const struct descriptor *d, char operand,
                       int line, int chunk) {
    const uint32_t address = descriptor_chunk(d, false, line, chunk);
    if (address < SHARED_BASE || address + CHUNK > SHARED_BASE + cta->shared_bytes)
        sim_fatal("shared-bounds", sim_thread(),
                  "the descriptor of %c points outside the CTA's shared memory: line %d, chunk %d "
                  "is at 0x%x\n    Check the descriptor's strides, and what is added to its start.",
                  operand, line, chunk, address);
    return address - SHARED_BASE;
}

static void note_reads(struct sim_thread *thread, struct sim_cta *cta, const struct descriptor *d,
                       char operand, int lines) {
    const int slot = tensor_slot(thread);
    for (int line = 0; line < lines; ++line)
        for (int chunk = 0; chunk < CHUNKS; ++chunk)
            sim_shadow_async(thread, cta, chunk_at(cta, d, operand, line, chunk), CHUNK, SIM_READ,
                             slot, thread->tensor->commits + 1);
}

static void fetch(const struct sim_cta *cta, const struct descriptor *d, char operand, int line,
                  int lines, enum tensor_type type, int to, struct wgmma_operand *out) {
    for (int i = 0; i < lines; ++i)
        for (int chunk = 0; chunk < CHUNKS; ++chunk)
            wgmma_operand_chunk(out, false, to + i, chunk,
                                cta->shared + chunk_at(cta, d, operand, line + i, chunk), type);
}

/* ---- multiplications ---- */

static void report(const struct operation *op, const struct sim_cta *cta) {
    const uint64_t now = sim_now();
    struct sim_event e = {.kind = SIM_EVENT_WGMMA,
                          .begin = sim_timed() ? op->busy.begin : now,
                          .end = sim_timed() ? op->busy.end : now,
                          .cta = cta,
                          .thread = op->thread->index,
                          .argument = op->shape.n,
                          .file = op->file,
                          .line = op->line};
    sim_event_hook(&e);
    e.kind = SIM_EVENT_SUMS_WRITTEN;
    e.argument = op->column;
    sim_event_hook(&e);
}

/* Each CTA has half of B, and multiplies its rows of A with all of it. */
static void multiply(struct sim_job *job) {
    static struct wgmma_operand a, b;
    static float d[WGMMA_M * WGMMA_MAX_N];
    struct operation *const op = (struct operation *)job;
    const struct umma_instruction *const s = &op->shape;
    const int rows = s->m / op->group, columns = s->n / op->group;
    for (int i = 0; i < op->group; ++i)
        fetch(op->cta[i], &op->b, 'B', 0, columns, s->b, i * columns, &b);
    for (int i = 0; i < op->group; ++i)
        for (int row = 0; row < rows; row += WGMMA_M) {
            float(*const word)[TENSOR_COLUMNS] = op->cta[i]->tensor->word + row;
            fetch(op->cta[i], &op->a, 'A', row, WGMMA_M, s->a, 0, &a);
            for (int r = 0; r < WGMMA_M && op->accumulate; ++r)
                memcpy(d + r * s->n, &word[r][op->column], (size_t)s->n * sizeof *d);
            tensor_core_multiply(d, &a, &b,
                                 (struct tensor_shape){WGMMA_M, s->n, s->a, s->b, op->accumulate});
            for (int r = 0; r < WGMMA_M; ++r)
                memcpy(&word[r][op->column], d + r * s->n, (size_t)s->n * sizeof *d);
        }
    for (int i = 0; i < op->group && sim_recording(); ++i)
        report(op, op->cta[i]);
    end_of(op);
}

static struct descriptor decode(uint64_t word, char operand) {
    struct descriptor d;
    const char *const fault = umma_descriptor_decode(word, &d);
    if (fault)
        sim_fatal("tcgen05-descriptor", sim_thread(),
                  "the descriptor of %c, 0x%016llx: %s\n"
                  "    Make it by tcgen05_descriptor(), whose fields are in blackwell/tcgen05.h.",
                  operand, (unsigned long long)word, fault);
    return d;
}

void sim_tcgen05_mma(int group, uint32_t d, uint64_t a, uint64_t b, uint32_t instruction,
                     bool accumulate) {
    struct sim_thread *const thread = sim_thread();
    struct umma_instruction shape;
    tcgen05_check_group(group, "tcgen05.mma");
    const char *const fault = umma_instruction_decode(instruction, group, &shape);
    if (fault)
        sim_fatal("tcgen05-instruction", thread,
                  "the instruction descriptor, 0x%08x: %s\n"
                  "    Make it by tcgen05_instruction().",
                  instruction, fault);
    if (shape.m != 128 * group)
        sim_fatal("simulator-limit", thread, "m = %d of %d CTA%s is not simulated", shape.m, group,
                  group == 1 ? "" : "s");
    if (shape.a_mn_major || shape.b_mn_major)
        sim_fatal("simulator-limit", thread, "MN-major operands are not simulated");
    if (tensor_lane(d))
        sim_fatal("tensor-lane", thread,
                  "tcgen05.mma: accumulators at lane %d: must be 0\n"
                  "    Pass what tcgen05_alloc() has written, plus a column.",
                  tensor_lane(d));
    struct operation *const op = new_operation(thread);
    op->job.complete = multiply;
    op->thread = thread;
    op->group = group;
    op->column = tensor_column(d);
    op->shape = shape;
    op->a = decode(a, 'A');
    op->b = decode(b, 'B');
    op->accumulate = accumulate;
    const uint32_t key = instruction ^ (uint32_t)op->column << 8;
    for (int i = 0; i < group; ++i) {
        struct sim_cta *const cta =
            &thread->cta->cluster
                 ->cta[group == 1 ? thread->cta->rank : (thread->cta->rank & ~1) + i];
        check_target_alive(cta, "tcgen05.mma");
        op->cta[i] = cta;
        struct tensor_memory *const memory =
            tensor_memory_at(cta, op->column, shape.n, "tcgen05.mma");
        note_reads(thread, cta, &op->a, 'A', shape.m / group);
        note_reads(thread, cta, &op->b, 'B', shape.n / group);
        tensor_touch(thread, cta, memory->shadow, TENSOR_MMA, 0, TENSOR_LANES, op->column, shape.n,
                     key, accumulate);
    }
    const struct busy busy = time_umma(op->cta[0], shape.m, shape.n, group);
    ++sim_statistics.wgmma;
    sim_statistics.products += (unsigned)shape.m * 16u * (unsigned)shape.n;
    op->busy = busy;
    op->file = thread->self.file;
    op->line = thread->self.line;
    thread->tensor->busy_until = busy.end;
    start(op, busy.end);
    sim_advance(UMMA_ISSUE_CYCLES);
    sim_maybe_yield();
}

/* ---- commits ---- */

/* The commits that arrive at a barrier. A CTA must not end before, or they arrive in the memory of
 * another. */
struct commit_watch {
    struct sim_exit_call call; /* first */
    struct mbarrier_record *record;
    int under_way;
    uint32_t phase; /* number of completed phases that covers the latest that has arrived */
    const struct sim_thread *issuer; /* of the latest */
    uint32_t epoch;                  /* of that one's multiplications, when it was issued */
    const char *file;
    int line;
};

/* Has a thread of the CTA come so far, in order or not? */
static bool cta_has_seen(const struct sim_cta *cta, int slot, uint32_t epoch) {
    for (int i = 0; i < cta->threads; ++i)
        if (sim_clock_get(&cta->thread[i].x, slot) >= epoch) return true;
    return cta_is_ordered_after(cta, slot, epoch);
}

/* A wait for a later commit of the thread may stand for this one. */
static void at_cta_exit(struct sim_exit_call *call) {
    const struct commit_watch *const watch = (struct commit_watch *)call;
    const struct mbarrier_record *const record = watch->record;
    const bool later = cta_has_seen(record->cta, watch->issuer->tensor->slot, watch->epoch);
    if (!watch->under_way && cta_has_seen(record->cta, record->slot, watch->phase)) return;
    if (later && !all_doubtful_rules) return;
    char name[256];
    if (later) doubt_in_next_report(DOUBT_COMMIT_BEFORE_EXIT);
    sim_hazard_at("exit-before-commit", watch->file, watch->line, watch->issuer,
                  "the CTA ends, and no thread of it has waited for the arrival of this commit\n"
                  "    %s\n    Wait for the last phases before the end: producer_tail().",
                  mbarrier_name(record, name, sizeof name));
}

static void watch_commit(struct mbarrier_record *record, const struct sim_thread *issuer,
                         uint32_t epoch) {
    struct commit_watch *watch = record->commits;
    if (!watch) {
        watch = record->commits = sim_arena_alloc(record->cta->cluster, sizeof *watch);
        watch->call.call = at_cta_exit;
        watch->record = record;
        sim_at_cta_exit(record->cta, &watch->call);
    }
    ++watch->under_way;
    watch->issuer = issuer;
    watch->epoch = epoch;
    watch->file = issuer->self.file;
    watch->line = issuer->self.line;
}

/* The arrival tells that the multiplications are complete, and so that the copies are whose data
 * they have read: whatever async units have done before the commit. Of the thread's own loads and
 * stores it tells only that they have been executed. */
static void arrive(struct operation *op) {
    op->arrived = true;
    for (unsigned rank = 0; op->cta_mask >> rank; ++rank) {
        if (!(op->cta_mask >> rank & 1)) continue;
        const struct sim_shared_pointer pointer = sim_shared_map(op->barrier, rank);
        struct mbarrier_record *const record = mbarrier_lookup(pointer);
        if (record) {
            sim_sync_join(pointer.cta->cluster, &record->current, &op->known);
            --record->commits->under_way;
            record->commits->phase = record->state.phase + 1;
        }
        sim_mbarrier_arrive_landed(pointer, op->thread, tensor_slot(op->thread), op->epoch,
                                   sim_now());
    }
}

static void commit_completes(struct sim_job *job) {
    struct operation *const op = (struct operation *)job;
    struct tensor_order *const order = op->thread->tensor;
    while (!op->arrived) {
        struct operation *const first = order->first_commit;
        order->first_commit = first->later;
        arrive(first);
    }
    end_of(op);
}

void sim_tcgen05_commit(int group, uint64_t *barrier, uint16_t cta_mask) {
    struct sim_thread *const thread = sim_thread();
    struct tensor_order *const order = tensor_order_of(thread);
    tcgen05_check_group(group, "tcgen05.commit");
    struct operation *const op = new_operation(thread);
    op->job.complete = commit_completes;
    op->thread = thread;
    op->barrier = sim_shared_at(barrier, sizeof *barrier, sizeof *barrier);
    op->cta_mask = cta_mask;
    tensor_slot(thread);
    op->epoch = ++order->commits;
    if (!cta_mask)
        sim_fatal("cta-mask", thread,
                  "tcgen05.commit: the mask selects no CTA\n"
                  "    Its bit i is the CTA of rank i.");
    for (unsigned rank = 0; cta_mask >> rank; ++rank) {
        if (!(cta_mask >> rank & 1)) continue;
        const struct sim_shared_pointer pointer = sim_shared_map(op->barrier, rank);
        check_target_alive(pointer.cta, "tcgen05.commit");
        watch_commit(mbarrier_find(pointer, "tcgen05.commit"), thread, op->epoch);
    }
    tensor_fence_before(thread);
    sim_release_async_only(thread, &op->known);
    sim_release_executed(thread, &op->known);
    if (order->first_commit)
        order->last_commit->later = op;
    else
        order->first_commit = op;
    order->last_commit = op;
    const uint64_t end = order->busy_until > sim_now() ? order->busy_until : sim_now();
    start(op, end + UMMA_COMMIT_CYCLES);
    sim_advance(UMMA_ISSUE_CYCLES);
    sim_maybe_yield();
}
