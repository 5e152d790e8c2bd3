/* tensor_shadow.c: the rules of order in tensor memory. */
#include "sim/order/tensor_shadow.h"

#include <string.h>

#include "sim/core/doubt.h"
#include "sim/core/hazards.h"
#include "sim/core/storage.h"
#include "sim/order/clock.h"

enum { LANES = 128, COLUMNS = 512, CELLS = COLUMNS / TENSOR_CELL_COLUMNS, INLINE_RECORDS = 4 };

/* An access to some columns of a cell. */
struct tensor_record {
    uint32_t epoch;  /* of a multiplication: its slot's; of a load: waits before it */
    uint32_t fences; /* before-fences of the thread, when it was issued; of a load: its epoch */
    uint32_t key;
    uint16_t thread; /* in the cluster */
    uint16_t site;
    uint8_t columns; /* mask */
    uint8_t access;
};

/* 8 columns of a lane. */
struct tensor_cell {
    int count, room;
    struct tensor_record *record;
    struct tensor_record first[INLINE_RECORDS];
};

struct tensor_shadow {
    struct tensor_cell cell[LANES][CELLS];
};

struct tensor_shadow *tensor_shadow_new(struct sim_cta *cta) {
    return sim_arena_alloc(cta->cluster, sizeof(struct tensor_shadow));
}

/* ---- a thread's fences and waits ---- */

struct tensor_order *tensor_order_of(struct sim_thread *thread) {
    if (thread->tensor) return thread->tensor;
    return thread->tensor = sim_arena_alloc(thread->cta->cluster, sizeof *thread->tensor);
}

int tensor_slot(struct sim_thread *thread) {
    struct tensor_order *const order = tensor_order_of(thread);
    if (!order->slot) order->slot = sim_slot_new(thread->cta->cluster, "tcgen05.mma", true, thread);
    return order->slot;
}

static void *grown(struct sim_thread *thread, void *memory, uint32_t count, uint32_t *room,
                   size_t size) {
    if (count < *room) return memory;
    *room = *room ? 2 * *room : 16;
    void *const larger = sim_arena_alloc(thread->cta->cluster, *room * size);
    if (count) memcpy(larger, memory, count * size);
    return larger;
}

void tensor_fence_before(struct sim_thread *thread) {
    struct tensor_order *const order = tensor_order_of(thread);
    order->fence =
        grown(thread, order->fence, order->fences, &order->fence_room, sizeof *order->fence);
    order->fence[order->fences++] = thread->epoch;
}

void tensor_fence_after(struct sim_thread *thread) {
    sim_clock_join(thread->cta->cluster, &tensor_order_of(thread)->after, &thread->x);
}

void tensor_wait_load(struct sim_thread *thread) {
    struct tensor_order *const order = tensor_order_of(thread);
    order->wait = grown(thread, order->wait, order->waits, &order->wait_room, sizeof *order->wait);
    order->wait[order->waits++] = (struct tensor_wait){thread->epoch, order->fences};
}

/* ---- the order of one pair ---- */

enum ordering {
    ORDERED,
    NOT_WAITED,    /* a load, by its thread */
    NOT_COMMITTED, /* a multiplication, by its thread */
    NO_ORDER,      /* nothing orders the two threads */
    NO_BEFORE,     /* ... but for a before-fence in the first thread */
    NO_AFTER,      /* ... but for an after-fence in the second */
};

/* Whether an order by releases and acquires needs tcgen05.fence, too, is in doubt. `strict`: it
 * does. */

/* Something of slot `slot`, complete or fenced at `epoch`. `synchronous`: the instruction that
 * comes after it needs no after-fence. */
static enum ordering by_clocks(const struct sim_thread *thread, bool strict, bool synchronous,
                               int slot, uint32_t epoch) {
    if (!strict && sim_clock_get(&thread->c, slot) >= epoch) return ORDERED;
    if (sim_clock_get(&thread->x, slot) < epoch) return NO_ORDER;
    if (synchronous) return ORDERED;
    return sim_clock_get(&thread->tensor->after, slot) < epoch ? NO_AFTER : ORDERED;
}

/* Something that `first` has done before it executed its before-fence number `fences`, at `epoch`
 * of its generic accesses. */
static enum ordering across_threads(const struct sim_thread *thread, bool strict, bool synchronous,
                                    const struct sim_thread *first, uint32_t epoch,
                                    uint32_t fences) {
    if (synchronous) return by_clocks(thread, strict, true, first->slot, epoch);
    if (!strict && sim_clock_get(&thread->c, first->slot) >= epoch) return ORDERED;
    if (sim_clock_get(&thread->x, first->slot) < epoch) return NO_ORDER;
    if (fences >= first->tensor->fences) return NO_BEFORE;
    /* A fence behind the arrival that the thread has waited for is too late. */
    if (sim_clock_get(&thread->x, first->slot) < first->tensor->fence[fences]) return NO_BEFORE;
    return by_clocks(thread, strict, false, first->slot, first->tensor->fence[fences]);
}

static enum ordering judge_by(const struct sim_thread *thread, bool strict,
                              enum tensor_access access, uint32_t key,
                              const struct sim_thread *first, const struct tensor_record *then) {
    const struct tensor_order *const theirs = first->tensor;
    const bool synchronous = access >= TENSOR_FREE;
    if (then->access == TENSOR_LOAD) {
        if (access == TENSOR_LOAD) return ORDERED;
        if (then->epoch >= theirs->waits) return NOT_WAITED;
        if (first == thread) return ORDERED;
        const struct tensor_wait *const wait = &theirs->wait[then->epoch];
        const enum ordering ordering =
            across_threads(thread, strict, synchronous, first, wait->epoch, wait->fences);
        const bool heard_of = sim_clock_get(&thread->x, first->slot) >= then->fences;
        return ordering == NO_ORDER && heard_of ? NOT_WAITED : ordering;
    }
    const bool pipelined = access == TENSOR_MMA && then->key == key;
    if (pipelined && first == thread) return ORDERED;
    const enum ordering complete =
        by_clocks(thread, strict, synchronous, theirs->slot, then->epoch);
    if (complete == ORDERED || !pipelined)
        return complete == NO_ORDER && then->epoch > theirs->commits ? NOT_COMMITTED : complete;
    /* In order of issue, if the threads are ordered. */
    if (then->fences >= theirs->fences) return complete == NO_AFTER ? NO_AFTER : NO_BEFORE;
    return by_clocks(thread, strict, false, first->slot, theirs->fence[then->fences]);
}

static enum ordering judge(const struct sim_thread *thread, enum tensor_access access, uint32_t key,
                           const struct sim_thread *first, const struct tensor_record *then) {
    const enum ordering ordering = judge_by(thread, false, access, key, first, then);
    if (ordering != ORDERED || !all_doubtful_rules) return ordering;
    const enum ordering stricter = judge_by(thread, true, access, key, first, then);
    if (stricter != ORDERED) doubt_in_next_report(DOUBT_TENSOR_FENCE);
    return stricter;
}

/* ---- reports ---- */

static const char *const ACCESS[] = {"tcgen05.mma", "tcgen05.ld", "tcgen05.dealloc",
                                     "tcgen05.dealloc"};

static void accuse(enum ordering ordering, const struct sim_thread *thread,
                   enum tensor_access access, const struct sim_thread *first,
                   const struct tensor_record *then, int lane, int column) {
    static const struct {
        const char *kind, *advice;
    } say[] = {
        [NOT_WAITED] = {"tensor-load-in-flight",
                        "The load may still be under way: its warp has to call tcgen05_wait_load() "
                        "before it lets\n    others know that it has read."},
        [NOT_COMMITTED] = {"tensor-in-flight",
                           "The multiplication is not followed by a tcgen05_commit(), so nothing "
                           "can wait for it."},
        [NO_ORDER] = {"tensor-in-flight", NULL},
        [NO_BEFORE] = {"tensor-fence-before",
                       "The threads are ordered, but not what they do with tensor memory: the "
                       "first needs a\n    tcgen05_fence_before() between it and its arrival."},
        [NO_AFTER] = {"tensor-fence-after",
                      "The wait for it orders the thread, but not its instructions on tensor "
                      "memory, which are\n    asynchronous: call tcgen05_fence_after() between the "
                      "wait and this."},
    };
    const char *advice = say[ordering].advice, *file;
    int line;
    char who[96];
    if (!advice)
        advice = then->access == TENSOR_LOAD
                     ? "Nothing orders the two: the reader has to arrive at a barrier that this "
                       "thread waits for."
                     : "The multiplication may still be under way: wait for the phase of the "
                       "mbarrier to which it was\n    committed, then call tcgen05_fence_after().";
    source_site_of(then->site, &file, &line);
    if (all_doubtful_rules && thread->tensor && thread->tensor->narrow && first->cta != thread->cta)
        doubt_in_next_report(DOUBT_REMOTE_SCOPE);
    sim_hazard(say[ordering].kind, thread,
               "%s of lane %d, column %d of tensor memory\n    is not ordered after the %s by %s, "
               "issued at %s:%d.\n    %s",
               ACCESS[access], lane, column, ACCESS[then->access], sim_who(first, who, sizeof who),
               file, line, advice);
}

/* ---- access ---- */

static struct sim_thread *thread_of(struct sim_cluster *cluster, int index) {
    const int threads = cluster->cta[0].threads;
    return &cluster->cta[index / threads].thread[index % threads];
}

static void append(struct sim_cluster *cluster, struct tensor_cell *cell,
                   struct tensor_record record) {
    if (!cell->record) {
        cell->record = cell->first;
        cell->room = INLINE_RECORDS;
    }
    if (cell->count == cell->room) {
        cell->room *= 2;
        struct tensor_record *const larger =
            sim_arena_alloc(cluster, (size_t)cell->room * sizeof *larger);
        memcpy(larger, cell->record, (size_t)cell->count * sizeof *larger);
        cell->record = larger;
    }
    cell->record[cell->count++] = record;
}

static void touch_cell(struct sim_thread *thread, struct sim_cta *cta, struct tensor_cell *cell,
                       struct tensor_record now, bool reads, int lane, int column) {
    struct sim_cluster *const cluster = cta->cluster;
    const bool write = now.access != TENSOR_LOAD;
    unsigned written = 0;
    int kept = 0;
    if (cell->count == 1 && cell->record[0].thread == now.thread &&
        cell->record[0].access == now.access && cell->record[0].key == now.key &&
        cell->record[0].columns == now.columns && now.access == TENSOR_MMA) {
        cell->record[0] = now;
        return;
    }
    for (int i = 0; i < cell->count; ++i) {
        struct tensor_record *const then = &cell->record[i];
        const unsigned both = then->columns & now.columns;
        const bool then_writes = then->access != TENSOR_LOAD;
        if (then_writes) written |= then->columns;
        if (both && (write || then_writes)) {
            const struct sim_thread *const first = thread_of(cluster, then->thread);
            const enum ordering ordering = judge(thread, now.access, now.key, first, then);
            if (ordering != ORDERED)
                accuse(ordering, thread, now.access, first, then, lane,
                       column + __builtin_ctz(both));
        }
        if (now.access != TENSOR_FREE_PEER &&
            (write || (!then_writes && then->thread == now.thread)))
            then->columns &= (uint8_t)~now.columns;
        if (then->columns) cell->record[kept++] = *then;
    }
    cell->count = kept;
    if (reads && now.columns & ~written && now.access == TENSOR_LOAD)
        doubt_in_next_report(DOUBT_TENSOR_UNWRITTEN);
    if (reads && now.columns & ~written)
        sim_hazard("tensor-uninitialized", thread,
                   "%s reads lane %d, column %d of tensor memory, which nothing has written since "
                   "its allocation\n    %s",
                   ACCESS[now.access], lane, column + __builtin_ctz(now.columns & ~written),
                   now.access == TENSOR_MMA ? "The first multiplication of a tile must not "
                                              "accumulate: pass false."
                                            : "Check the address, the column and the set, and "
                                              "the wait for the multiplications.");
    if (now.access < TENSOR_FREE) append(cluster, cell, now);
}

void tensor_touch(struct sim_thread *thread, struct sim_cta *cta, struct tensor_shadow *shadow,
                  enum tensor_access access, int lane, int lanes, int column, int columns,
                  uint32_t key, bool reads) {
    const struct tensor_order *const order = tensor_order_of(thread);
    struct tensor_record now = {
        .epoch = access == TENSOR_LOAD ? order->waits : order->commits + 1,
        .fences = access == TENSOR_LOAD ? thread->epoch : order->fences,
        .key = key,
        .thread = (uint16_t)(thread->cta->rank * thread->cta->threads + thread->index),
        .site = source_site(thread->self.file, thread->self.line),
        .access = (uint8_t)access};
    for (int first = column; first < column + columns;) {
        const int in_cell = first % TENSOR_CELL_COLUMNS;
        int count = TENSOR_CELL_COLUMNS - in_cell;
        if (count > column + columns - first) count = column + columns - first;
        now.columns = (uint8_t)(((1u << count) - 1) << in_cell);
        for (int i = lane; i < lane + lanes; ++i)
            touch_cell(thread, cta, &shadow->cell[i][first / TENSOR_CELL_COLUMNS], now, reads, i,
                       first - in_cell);
        first += count;
    }
}
