/*
 * wgmma.c: the asynchronous Tensor Core: what a wgmma reads and when, and who may touch its
 * accumulators.
 *
 * The four warps of a warpgroup meet at every wgmma. Their accumulators are gathered into a 64 x n
 * tile, which the Tensor Core works on; the threads' own arrays hold a tagged NaN until each thread
 * has waited for the group. So whoever looks too early sees a NaN that the wrappers recognize,
 * under every schedule. Operands in shared memory are read when the operation completes, as late as
 * the schedule has it.
 *
 * A wait speaks for the own warp: all four read B, so each of them (or a barrier after all their
 * waits) has to release what it has read. CUTLASS lets one thread release for its warpgroup; the ISA
 * speaks of the executing threads only, and the simulator follows the ISA.
 */
#include <stdio.h>
#include <string.h>

#include "async.h"
#include "core.h"
#include "descriptor.h"
#include "fragments.h"
#include "tensor_core.h"
#include "timing_async.h"
#include "timing_model.h"

enum { A_REGISTERS = 4, CHUNK = 16, MAX_TILES = 16, FRAGMENT_WARP_ROWS = 16 };

/* What each thread passes. */
struct call {
    int n;
    float *acc;
    uint64_t a, b;
    const uint32_t *a_registers; /* NULL: A is in shared memory */
    bool accumulate, mn_major, bf16;
};

/* The accumulators of a warpgroup, by the threads' arrays. */
struct tile {
    int n;
    float *acc[WARPGROUP_SIZE];
    bool fenced[WARPGROUP_SIZE]; /* a wgmma.fence since the values were delivered */
    float *d;                    /* [64][n] */
    uint32_t epoch;              /* of the newest group that works on it: 1 + its number */
    uint32_t last_use;
    float tag;
};

/* A wgmma under way. */
struct operation {
    struct sim_job job; /* first */
    struct wgmma_state *state;
    struct tile *tile;
    struct call call;
    struct descriptor a, b;
    uint32_t a_values[WARPGROUP_SIZE][A_REGISTERS];
    const uint32_t *a_registers[WARPGROUP_SIZE];
    uint32_t group;
    struct busy busy;
    const char *file;
    int line;
    struct operation *next;
};

/* Of a warpgroup. */
struct wgmma_state {
    struct sim_exit_call at_exit; /* first */
    struct sim_warpgroup *warpgroup;
    /* Of each warp's reads of shared memory; epoch: group + 1. A wait tells about the own warp's
     * part only. */
    int slot[WARPGROUP_WARPS];
    uint32_t committed; /* groups closed; operations now join group number `committed` */
    uint32_t used;      /* 1 + the newest group that has an operation */
    uint32_t uses;      /* counts up: the tiles' last_use */
    uint64_t tags;
    struct operation *first, *last, *pool;
    struct tile *tile[MAX_TILES];
    bool fenced[WARPGROUP_SIZE];     /* ever */
    uint32_t waited[WARPGROUP_SIZE]; /* groups that the thread knows to be complete */
};

static struct sim_thread *thread_of(const struct sim_warpgroup *g, int i) {
    return &g->cta->thread[g->index * WARPGROUP_SIZE + i];
}

static int index_in_warpgroup(const struct sim_thread *thread) {
    return thread->index % WARPGROUP_SIZE;
}

/* ---- state ---- */

static void at_cta_exit(struct sim_exit_call *call) {
    struct wgmma_state *const state = (struct wgmma_state *)call;
    const struct operation *const newest = state->last;
    bool waited = false;
    for (int i = 0; i < WARPGROUP_SIZE; ++i)
        waited |= state->waited[i] >= state->used;
    if (newest && !waited)
        sim_hazard_at(
            "unwaited-wgmma", newest->file, newest->line, thread_of(state->warpgroup, 0),
            "the warpgroup ends, and nobody has waited for this wgmma\n    %s",
            state->used > state->committed
                ? "it was not even committed: wgmma_commit_group(), then wgmma_wait_group(0)"
                : "call wgmma_wait_group(0) before the end");
    if (newest) sim_job_force(&state->last->job);
}

static struct wgmma_state *state_of(struct sim_warpgroup *g) {
    if (g->wgmma) return g->wgmma;
    struct wgmma_state *const state = sim_arena_alloc(g->cta->cluster, sizeof *state);
    state->warpgroup = g;
    for (int w = 0; w < WARPGROUP_WARPS; ++w)
        state->slot[w] = sim_slot_new(g->cta->cluster, "wgmma", true, thread_of(g, w * WARP_SIZE));
    state->at_exit.call = at_cta_exit;
    sim_at_cta_exit(g->cta, &state->at_exit);
    return g->wgmma = state;
}

/* ---- accumulators ---- */

static bool in_flight(const struct wgmma_state *state, const struct tile *tile, int thread) {
    return state->waited[thread] < tile->epoch;
}

static bool any_in_flight(const struct wgmma_state *state, const struct tile *tile) {
    for (int i = 0; i < WARPGROUP_SIZE; ++i)
        if (in_flight(state, tile, i)) return true;
    return false;
}

static bool overlap(const struct tile *tile, const float *acc, int n) {
    return acc < tile->acc[0] + tile->n / 2 && tile->acc[0] < acc + n / 2;
}

/* The tile of these accumulators: the one they were before, or another. */
static struct tile *tile_of(struct wgmma_state *state, void *const operand[WARPGROUP_SIZE]) {
    const struct call *const first = operand[0];
    struct tile **oldest = NULL;
    for (int i = 0; i < MAX_TILES; ++i) {
        struct tile *const tile = state->tile[i];
        if (!tile) {
            if (!oldest || *oldest) oldest = &state->tile[i];
            continue;
        }
        const bool same = tile->acc[0] == first->acc && tile->n == first->n;
        if (same) return tile;
        const bool busy = any_in_flight(state, tile);
        if (busy && overlap(tile, first->acc, first->n))
            sim_hazard(
                "accumulator-shape", thread_of(state->warpgroup, 0),
                "a wgmma with n = %d uses accumulators that one with n = %d is still writing\n"
                "    only wgmmas of the same shape may follow one another without a wait",
                first->n, tile->n);
        if (!busy && (!oldest || (*oldest && (*oldest)->last_use > tile->last_use)))
            oldest = &state->tile[i];
    }
    if (!oldest)
        sim_fatal("simulator-limit", NULL,
                  "more than %d accumulator arrays of a warpgroup in flight", MAX_TILES);
    struct sim_cluster *const cluster = state->warpgroup->cta->cluster;
    if (!*oldest) *oldest = sim_arena_alloc(cluster, sizeof **oldest);
    struct tile *const tile = *oldest;
    if (!tile->d) tile->d = sim_arena_alloc(cluster, sizeof(float) * WGMMA_M * WGMMA_MAX_N);
    tile->n = first->n;
    tile->epoch = 0;
    for (int i = 0; i < WARPGROUP_SIZE; ++i) {
        tile->acc[i] = ((const struct call *)operand[i])->acc;
        tile->fenced[i] = true; /* what a thread did before is judged by its own flags */
    }
    return tile;
}

static float *element_of(const struct tile *tile, int thread, int i) {
    const struct fragment_position at = fragment_of_d(thread, i);
    return &tile->d[at.row * tile->n + at.column];
}

/* Were the registers of this thread touched since its last wgmma.fence? */
static const char *fence_missing(const struct wgmma_state *state, const struct tile *tile,
                                 const struct call *call, int thread) {
    const struct sim_thread *const t = thread_of(state->warpgroup, thread);
    if (!state->fenced[thread]) return "the first wgmma comes without any wgmma_fence()";
    if (call->a_registers && t->touched_registers)
        return "registers were loaded or used since the last wgmma_fence(), and A is in registers";
    if (in_flight(state, tile, thread)) return NULL; /* a chain of the same shape needs none */
    if (t->touched_registers)
        return "registers were used (packed, converted, stored) since the last wgmma_fence()";
    if (tile->fenced[thread]) return NULL;
    for (int i = 0; i < tile->n / 2; ++i)
        if (memcmp(&call->acc[i], element_of(tile, thread, i), sizeof(float)))
            return "accumulators were changed since the last wgmma_fence()";
    return NULL;
}

static void check_fences(const struct wgmma_state *state, const struct tile *tile,
                         void *const operand[WARPGROUP_SIZE]) {
    for (int i = 0; i < WARPGROUP_SIZE; ++i) {
        const char *const why = fence_missing(state, tile, operand[i], i);
        if (!why) continue;
        sim_hazard(
            "missing-wgmma-fence", thread_of(state->warpgroup, i),
            "%s\n    call wgmma_fence() between the last access to these registers and the wgmma",
            why);
        return; /* the others would say the same */
    }
}

/* Takes the accumulators over; from here on the threads hold the tag. */
static void gather(struct wgmma_state *state, struct tile *tile,
                   void *const operand[WARPGROUP_SIZE]) {
    const uint32_t bits =
        SIM_ACCUMULATOR_TAG | (uint32_t)(++state->tags & ~SIM_ACCUMULATOR_TAG_MASK);
    memcpy(&tile->tag, &bits, sizeof bits);
    for (int t = 0; t < WARPGROUP_SIZE; ++t) {
        float *const acc = ((const struct call *)operand[t])->acc;
        if (!in_flight(state, tile, t)) {
            tile->acc[t] = acc;
            for (int i = 0; i < tile->n / 2; ++i) {
                *element_of(tile, t, i) = acc[i];
                memcpy(&acc[i], &bits, sizeof bits);
            }
            continue;
        }
        for (int i = 0; i < tile->n / 2; ++i) {
            if (sim_is_tagged(acc[i])) continue;
            sim_hazard("accumulator-in-flight", thread_of(state->warpgroup, t),
                       "accumulator %d was changed while a wgmma owned it\n"
                       "    wait for the group (wgmma_wait_group) before touching accumulators",
                       i);
            return;
        }
    }
}

/* The thread has waited for the group: its accumulators hold values again. What it wrote there in
 * the meantime stays. */
static void deliver(struct wgmma_state *state, struct tile *tile, int thread) {
    bool intact = true;
    for (int i = 0; i < tile->n / 2; ++i) {
        if (sim_is_tagged(tile->acc[thread][i]))
            tile->acc[thread][i] = *element_of(tile, thread, i);
        else
            intact = false;
    }
    tile->fenced[thread] = false;
    if (!intact)
        sim_hazard("accumulator-in-flight", thread_of(state->warpgroup, thread),
                   "an accumulator was changed between a wgmma and the wait for it\n"
                   "    touch accumulators after wgmma_wait_group only");
}

/* ---- operands ---- */

/* The offset of 16 bytes of an operand in shared memory. */
static size_t chunk_at(const struct sim_cta *cta, const struct descriptor *d,
                       const struct call *call, char operand, int line, int chunk) {
    const uint32_t address = descriptor_chunk(d, call->mn_major, line, chunk);
    if (address < SHARED_BASE || address + CHUNK > SHARED_BASE + cta->shared_bytes)
        sim_fatal("shared-bounds", sim_thread(),
                  "the descriptor of %c leads out of the CTA's shared memory: line %d, chunk %d is "
                  "at 0x%x\n"
                  "    start 0x%x, LBO %u, SBO %u, swizzle %u B; shared memory is 0x%x to 0x%zx",
                  operand, line, chunk, address, d->start, d->lbo, d->sbo,
                  d->swizzle ? swizzle_width(d->swizzle) : 0, SHARED_BASE,
                  SHARED_BASE + cta->shared_bytes);
    return address - SHARED_BASE;
}

/* A warp reads these lines and chunks of an operand. */
static void note_reads(struct wgmma_state *state, struct sim_thread *thread,
                       const struct descriptor *d, const struct call *call, char operand,
                       int first_line, int lines, int first_chunk, int chunks) {
    struct sim_cta *const cta = thread->cta;
    const uint32_t epoch = state->committed + 1;
    const int slot = state->slot[index_in_warpgroup(thread) / WARP_SIZE];
    for (int line = first_line; line < first_line + lines; ++line) {
        size_t begin = 0, end = 0; /* bytes that lie together are one access */
        for (int chunk = first_chunk; chunk < first_chunk + chunks; ++chunk) {
            const size_t at = chunk_at(cta, d, call, operand, line, chunk);
            if (end > begin && at == end)
                end += CHUNK;
            else if (end > begin && at + CHUNK == begin)
                begin = at;
            else {
                if (end > begin)
                    sim_shadow_async(thread, cta, begin, end - begin, SIM_READ, slot, epoch);
                begin = at;
                end = at + CHUNK;
            }
        }
        if (end > begin) sim_shadow_async(thread, cta, begin, end - begin, SIM_READ, slot, epoch);
    }
}

/* Every warp reads its 16 rows of A and all of B, and each must be ordered after what was written
 * there. */
static void note_operands(struct wgmma_state *state, const struct call *call,
                          const struct descriptor *a, const struct descriptor *b) {
    for (int w = 0; w < WARPGROUP_WARPS; ++w) {
        struct sim_thread *const thread = thread_of(state->warpgroup, w * WARP_SIZE);
        const int rows = FRAGMENT_WARP_ROWS, first = w * rows;
        if (!call->a_registers) {
            if (call->mn_major)
                note_reads(state, thread, a, call, 'A', 0, WGMMA_K, first / 8, rows / 8);
            else
                note_reads(state, thread, a, call, 'A', first, rows, 0, WGMMA_K / 8);
        }
        if (call->mn_major)
            note_reads(state, thread, b, call, 'B', 0, WGMMA_K, 0, call->n / 8);
        else
            note_reads(state, thread, b, call, 'B', 0, call->n, 0, WGMMA_K / 8);
    }
}

static void fetch(const struct operation *op, const struct descriptor *d, char operand, int extent,
                  struct wgmma_operand *out) {
    const struct sim_cta *const cta = op->state->warpgroup->cta;
    const int lines = op->call.mn_major ? WGMMA_K : extent;
    const int chunks = (op->call.mn_major ? extent : WGMMA_K) / 8;
    for (int line = 0; line < lines; ++line)
        for (int chunk = 0; chunk < chunks; ++chunk)
            wgmma_operand_chunk(out, op->call.mn_major, line, chunk,
                                cta->shared + chunk_at(cta, d, &op->call, operand, line, chunk),
                                op->call.bf16);
}

static void fetch_registers(const struct operation *op, struct wgmma_operand *out) {
    for (int t = 0; t < WARPGROUP_SIZE; ++t)
        for (int i = 0; i < A_REGISTERS; ++i)
            for (int half = 0; half < 2; ++half) {
                const struct fragment_position at = fragment_of_a(t, i, half);
                out->value[at.column][at.row] =
                    element_value((uint16_t)(op->a_values[t][i] >> 16 * half), op->call.bf16);
            }
}

/* ---- the operation ---- */

static void complete(struct sim_job *job) {
    static struct wgmma_operand a, b; /* 32 KB: too much for a fiber's stack */
    struct operation *const op = (struct operation *)job;
    if (op->call.a_registers)
        fetch_registers(op, &a);
    else
        fetch(op, &op->a, 'A', WGMMA_M, &a);
    fetch(op, &op->b, 'B', op->call.n, &b);
    wgmma_multiply(op->tile->d, &a, &b, op->call.n, op->call.accumulate);
    if (!sim_recording()) return;
    const uint64_t now = sim_now();
    const struct sim_event e = {.kind = SIM_EVENT_WGMMA,
                                .begin = sim_timed() ? op->busy.begin : now,
                                .end = sim_timed() ? op->busy.end : now,
                                .cta = op->state->warpgroup->cta,
                                .thread = op->state->warpgroup->index * WARPGROUP_SIZE,
                                .argument = op->call.n,
                                .file = op->file,
                                .line = op->line};
    sim_event_hook(&e);
}

/* All four warps are here, so nobody is waiting for an operation that is done. */
static struct operation *new_operation(struct wgmma_state *state) {
    while (state->first && state->first->job.state == JOB_DONE) {
        struct operation *const done = state->first;
        state->first = done->next;
        if (!state->first) state->last = NULL;
        done->next = state->pool;
        state->pool = done;
    }
    struct operation *op = state->pool;
    if (op)
        state->pool = op->next;
    else
        op = sim_arena_alloc(state->warpgroup->cta->cluster, sizeof *op);
    memset(op, 0, sizeof *op);
    return op;
}

static void check_same(const struct sim_warpgroup *g, void *const operand[WARPGROUP_SIZE]) {
    const struct call *const first = operand[0];
    for (int i = 1; i < WARPGROUP_SIZE; ++i) {
        const struct call *const other = operand[i];
        if (other->n == first->n && other->a == first->a && other->b == first->b &&
            other->accumulate == first->accumulate && other->mn_major == first->mn_major &&
            other->bf16 == first->bf16 && !other->a_registers == !first->a_registers)
            continue;
        sim_fatal("diverged-warpgroup", thread_of(g, i),
                  "calls wgmma with other descriptors, shape or accumulate flag than the "
                  "warpgroup's first thread\n"
                  "    all 128 threads must pass the same: n %d and %d, A 0x%llx and 0x%llx, B "
                  "0x%llx and 0x%llx, "
                  "accumulate %d and %d",
                  other->n, first->n, (unsigned long long)other->a, (unsigned long long)first->a,
                  (unsigned long long)other->b, (unsigned long long)first->b, other->accumulate,
                  first->accumulate);
    }
}

static struct descriptor decode(uint64_t word, char operand) {
    struct descriptor d;
    const char *const fault = descriptor_decode(word, &d);
    if (fault)
        sim_fatal("wgmma-descriptor", sim_thread(), "the descriptor of %c, 0x%016llx: %s", operand,
                  (unsigned long long)word, fault);
    return d;
}

static bool issue(struct sim_warpgroup *g, void *const operand[WARPGROUP_SIZE]) {
    const struct call *const call = operand[0];
    struct wgmma_state *const state = state_of(g);
    check_same(g, operand);
    if (call->n < 8 || call->n > WGMMA_MAX_N || call->n % 8)
        sim_fatal("wgmma-shape", sim_thread(), "n = %d: must be 8 to 256 in steps of 8", call->n);
    struct descriptor a = {0};
    if (!call->a_registers) a = decode(call->a, 'A');
    const struct descriptor b = decode(call->b, 'B');
    note_operands(state, call, &a, &b);
    struct tile *const tile = tile_of(state, operand);
    check_fences(state, tile, operand);
    gather(state, tile, operand);
    tile->epoch = state->committed + 1;
    tile->last_use = ++state->uses;

    struct operation *const op = new_operation(state);
    op->state = state;
    op->tile = tile;
    op->call = *call;
    op->a = a;
    op->b = b;
    op->group = state->committed;
    op->file = sim_thread()->self.file;
    op->line = sim_thread()->self.line;
    for (int i = 0; call->a_registers && i < WARPGROUP_SIZE; ++i) {
        op->a_registers[i] = ((const struct call *)operand[i])->a_registers;
        memcpy(op->a_values[i], op->a_registers[i], sizeof op->a_values[i]);
    }
    op->job.complete = complete;
    op->job.cluster = g->cta->cluster;
    op->job.after = state->last ? &state->last->job : NULL;
    op->busy = time_wgmma(g->cta, call->n, call->a_registers != NULL, 0);
    if (state->last)
        state->last->next = op;
    else
        state->first = op;
    state->last = op;
    state->used = state->committed + 1;
    ++sim_statistics.wgmma;
    sim_job_start(&op->job, op->busy.end + WGMMA_DRAIN_CYCLES);
    return true;
}

void sim_wgmma(int n, float *acc, uint64_t a, uint64_t b, int accumulate, int mn_major, int bf16) {
    struct call call = {n, acc, a, b, NULL, accumulate != 0, mn_major != 0, bf16 != 0};
    sim_warpgroup_collective("wgmma", &call, issue);
    sim_maybe_yield();
}

void sim_wgmma_rs(int n, float *acc, const uint32_t a[4], uint64_t b, int accumulate, int bf16) {
    struct call call = {n, acc, 0, b, a, accumulate != 0, false, bf16 != 0};
    sim_warpgroup_collective("wgmma", &call, issue);
    sim_maybe_yield();
}

/* ---- fence, groups, waits ---- */

static bool no_effect(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    (void)warp;
    (void)operand;
    return true;
}

void sim_wgmma_fence(void) {
    struct sim_thread *const thread = sim_thread();
    struct wgmma_state *const state = state_of(sim_warpgroup_of(thread));
    const int me = index_in_warpgroup(thread);
    sim_warp_collective("wgmma.fence", NULL, no_effect);
    thread->touched_registers = false;
    state->fenced[me] = true;
    for (int i = 0; i < MAX_TILES && state->tile[i]; ++i)
        state->tile[i]->fenced[me] = true;
}

static bool commit(struct sim_warpgroup *g, void *const operand[WARPGROUP_SIZE]) {
    (void)operand;
    ++state_of(g)->committed;
    return true;
}

void sim_wgmma_commit_group(void) { sim_warpgroup_collective("wgmma.commit_group", NULL, commit); }

static void describe_wait(const struct sim_thread *thread, const void *object, char *text,
                          size_t size) {
    const struct operation *const op = object;
    (void)thread;
    snprintf(text, size, "wgmma group %u, issued at %s:%d", op->group, report_file(op->file),
             op->line);
}

/* A in registers must stay what it was until the wait. The array may be out of scope in the C
 * program by now, which is why the sanitizer may not look. */
__attribute__((no_sanitize("address"))) static bool same_registers(const struct operation *op,
                                                                   int thread) {
    const volatile uint32_t *const now = op->a_registers[thread];
    for (int i = 0; i < A_REGISTERS; ++i)
        if (now[i] != op->a_values[thread][i]) return false;
    return true;
}

void sim_wgmma_wait_group(int pending) {
    struct sim_thread *const thread = sim_thread();
    struct wgmma_state *const state = state_of(sim_warpgroup_of(thread));
    const int me = index_in_warpgroup(thread);
    sim_warp_collective("wgmma.wait_group", NULL, no_effect);
    const uint32_t target =
        (uint32_t)pending < state->committed ? state->committed - (uint32_t)pending : 0;
    if (target <= state->waited[me]) return;
    struct operation *newest = NULL;
    for (struct operation *op = state->first; op && op->group < target; op = op->next) {
        newest = op;
        if (op->group < state->waited[me] || !op->call.a_registers || same_registers(op, me))
            continue;
        sim_hazard("fragment-in-flight", thread,
                   "A registers of the wgmma at %s:%d were changed before the wait for it\n"
                   "    wait first, or load the next fragments into other registers",
                   report_file(op->file), op->line);
    }
    if (newest) sim_job_wait(&newest->job, describe_wait, newest);
    for (int i = 0; i < MAX_TILES && state->tile[i]; ++i)
        if (in_flight(state, state->tile[i], me) && state->tile[i]->epoch <= target)
            deliver(state, state->tile[i], me);
    state->waited[me] = target;
    sim_acquire_slot(thread, state->slot[me / WARP_SIZE], target);
    sim_maybe_yield();
}
