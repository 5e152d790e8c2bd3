/*
 * sim_global_order.c: order between accesses to global memory: a fused split-K in small, right in
 * several ways and wrong in more. The verdict must be the same under every schedule.
 */
#include "tests/sim/sim_kernels.h"

#include "hopper/atomics.h"
#include "hopper/cluster.h"
#include "hopper/cp_async.h"
#include "hopper/tma.h"
#include "tests/support/capture.h"

/* Reports name lines: what belongs to one report stays on one. */
// clang-format off

/* The line of the other side, which the report must name, too. */
static int other_line;
#define OTHER other_line = __LINE__;
/* Where the mistake is in how a flag or counter is accessed: the line of that. */
static int culprit_line;
#define CULPRIT culprit_line = __LINE__;

enum { PARTS = 4, THREADS = 64, FLOATS = 4 * THREADS, ROWS = 8, COLUMNS = FLOATS / ROWS };

struct smem {
    float part[FLOATS] __attribute__((aligned(1024))); /* [ROWS][COLUMNS] */
    uint32_t before;
    mbarrier_t full;
};

static int me(void) { return (int)threadIdx.x; }
static int part(void) { return (int)blockIdx.x; }
static uint32_t *counter_of(const struct gemm_args *args) { return args->tile_counter; }
static uint32_t *flag_of(const struct gemm_args *args, int of) {
    return &args->tile_counter[1 + of];
}
static float *layer(const struct gemm_args *args, int of) { return args->workspace + of * FLOATS; }

/* Part p of the sum, in element i. */
static float value(int p, int i) { return (float)(1000 * p + i); }
static struct b128 values(int p, int i) {
    const float v[4] = {value(p, i), value(p, i + 1), value(p, i + 2), value(p, i + 3)};
    struct b128 chunk;
    memcpy(&chunk, v, sizeof chunk);
    return chunk;
}

static void add(float sum[4], struct b128 chunk) {
    float addend[4];
    memcpy(addend, &chunk, sizeof addend);
    for (int i = 0; i < 4; ++i) sum[i] += addend[i];
}

static void leave(const struct gemm_args *args) {
    OTHER st_global_b128(layer(args, part()) + 4 * me(), values(part(), 4 * me()));
}

/* The last one adds up all parts, as the workspace has them. */
static void finish(const struct gemm_args *args) {
    float sum[4] = {0};
    for (int p = 0; p < PARTS; ++p) {
        MARK add(sum, ld_global_b128(layer(args, p) + 4 * me()));
    }
    struct b128 chunk;
    memcpy(&chunk, sum, sizeof chunk);
    st_global_b128((float *)args->d + 4 * me(), chunk);
}

/* Tells all threads of the CTA what one thread has got from the counter. */
static bool is_last(struct smem *shared, uint32_t before) {
    if (me() == 0) st_shared_b32(&shared->before, before);
    __syncthreads();
    return ld_shared_b32(&shared->before) == PARTS - 1;
}

/* ---- the last arriver, by a counter ---- */

#define SPLIT(name, arrive, ...)                                                                   \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        uint32_t before = 0, *const counter = counter_of(&args);                                   \
        leave(&args);                                                                              \
        __syncthreads();                                                                           \
        if (me() == 0) { arrive; }                                                                 \
        if (is_last(shared, before)) {                                                             \
            __VA_ARGS__;                                                                           \
            finish(&args);                                                                         \
        }                                                                                          \
    }

#define count(counter) atomic_add_relaxed(counter, 1, SCOPE_GPU)

SPLIT(fence_and_atomic,
      (fence_acq_rel(SCOPE_GPU), before = count(counter), fence_acq_rel(SCOPE_GPU)))
SPLIT(atomic_acq_rel, before = atomic_add_acq_rel(counter, 1, SCOPE_GPU))
SPLIT(atomic_acq_rel_sys, before = atomic_add_acq_rel(counter, 1, SCOPE_SYS))
SPLIT(release_and_fence,
      (before = atomic_add_release(counter, 1, SCOPE_GPU), fence_acq_rel(SCOPE_SYS)))
SPLIT(fence_and_acquire,
      (fence_acq_rel(SCOPE_GPU), before = atomic_add_acquire(counter, 1, SCOPE_GPU)))
/* The last one leaves the counter as it was, by an ordinary store: it has seen all others. */
SPLIT(resets, before = atomic_add_acq_rel(counter, 1, SCOPE_GPU),
      if (me() == 0) st_global_b32(counter, 0); __syncwarp())
/* Two fences: the wide one covers the writes. */
SPLIT(two_fences,
      (fence_acq_rel(SCOPE_GPU), fence_acq_rel(SCOPE_CTA), before = count(counter),
       fence_acq_rel(SCOPE_CTA), fence_acq_rel(SCOPE_GPU)))

SPLIT(no_fence, before = count(counter))
SPLIT(no_release, (before = atomic_add_acquire(counter, 1, SCOPE_GPU)))
SPLIT(no_acquire, (before = atomic_add_release(counter, 1, SCOPE_GPU)))
SPLIT(fence_only_after,
      (before = count(counter), fence_acq_rel(SCOPE_GPU)))
SPLIT(fence_only_before,
      (fence_acq_rel(SCOPE_GPU), before = count(counter)))
SPLIT(fence_of_the_cta,
      (fence_acq_rel(SCOPE_CTA), before = count(counter), fence_acq_rel(SCOPE_GPU)))
SPLIT(fence_of_the_cluster,
      (fence_acq_rel(SCOPE_CLUSTER), before = count(counter), fence_acq_rel(SCOPE_GPU)))
SPLIT(acquire_of_the_cta,
      (fence_acq_rel(SCOPE_GPU), before = count(counter), fence_acq_rel(SCOPE_CTA)))

/* An atomic of the CTA's scope is none for others. */
KERNEL(THREADS, 1) counter_of_the_cta(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    uint32_t before = 0;
    leave(&args);
    __syncthreads();
    if (me() == 0) {
        CULPRIT before = atomic_add_acq_rel(counter_of(&args), 1, SCOPE_CTA);
    }
    if (is_last(shared, before)) finish(&args);
}

/* No barrier: the thread that counts has not met the others. */
KERNEL(THREADS, 1) no_barrier(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    uint32_t before = 0;
    leave(&args);
    if (me() == 0) before = atomic_add_acq_rel(counter_of(&args), 1, SCOPE_GPU);
    if (is_last(shared, before)) finish(&args);
}

/* Every thread fences, and then the one that counts has not: a fence and a write are a release if
 * they are the same thread's. */
KERNEL(THREADS, 1) fences_before_the_barrier(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    uint32_t before = 0;
    leave(&args);
    fence_acq_rel(SCOPE_GPU);
    __syncthreads();
    if (me() == 0) {
        before = count(counter_of(&args));
        fence_acq_rel(SCOPE_GPU);
    }
    if (is_last(shared, before)) finish(&args);
}

/* The others are not told when the last one has acquired. */
KERNEL(THREADS, 1) every_thread_counts(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    leave(&args);
    fence_acq_rel(SCOPE_GPU);
    if (count(&counter_of(&args)[me()]) != PARTS - 1) return;
    fence_acq_rel(SCOPE_GPU);
    finish(&args);
}

/* ---- a flag for each part, and one CTA that waits for all ---- */

#define FLAGS(name, before_flag, set, after_flag, wait, ...)                                       \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        (void)shared;                                                                              \
        before_flag(&args);                                                                        \
        __syncthreads();                                                                           \
        uint32_t *flag = flag_of(&args, part());                                                   \
        if (me() == 0) { set; }                                                                    \
        __syncthreads();                                                                           \
        after_flag(&args);                                                                         \
        if (part() != 0) return;                                                                   \
        for (int p = 0; p < PARTS; ++p) {                                                          \
            flag = flag_of(&args, p);                                                              \
            if (me() == 0) { wait; }                                                               \
            __syncthreads();                                                                       \
        }                                                                                          \
        __VA_ARGS__;                                                                               \
        finish(&args);                                                                             \
    }
static void nothing(const struct gemm_args *args) { (void)args; }
#define POLL_ACQUIRE while (ld_global_acquire(flag, SCOPE_GPU) == 0) {}
#define POLL_RELAXED while (ld_global_relaxed(flag, SCOPE_GPU) == 0) {}

FLAGS(flag_release_acquire, leave, st_global_release(flag, 1, SCOPE_GPU), nothing, POLL_ACQUIRE)
FLAGS(flag_fences, leave,
      (fence_acq_rel(SCOPE_GPU), st_global_relaxed(flag, 1, SCOPE_GPU)), nothing,
      POLL_RELAXED fence_acq_rel(SCOPE_GPU))
FLAGS(flag_reset, leave, st_global_release(flag, 1, SCOPE_GPU), nothing,
      POLL_ACQUIRE st_global_b32(flag, 0))
/* A word that was released is written again by the same thread. */
FLAGS(flag_twice, leave,
      (st_global_release(flag, 1, SCOPE_GPU), st_global_relaxed(flag, 2, SCOPE_GPU)),
      nothing, while (ld_global_acquire(flag, SCOPE_GPU) != 2) {})
FLAGS(flag_polled_by_atomic, leave, st_global_release(flag, 1, SCOPE_GPU), nothing,
      while (atomic_add_acquire(flag, 0, SCOPE_GPU) == 0) {})

FLAGS(flag_not_released, leave, st_global_relaxed(flag, 1, SCOPE_GPU), nothing, POLL_ACQUIRE)
FLAGS(flag_not_acquired, leave, st_global_release(flag, 1, SCOPE_GPU), nothing, POLL_RELAXED)
FLAGS(flag_released_to_the_cta, leave,
      (fence_acq_rel(SCOPE_CTA), st_global_relaxed(flag, 1, SCOPE_GPU)), nothing, POLL_ACQUIRE)
FLAGS(flag_before_data, nothing, st_global_release(flag, 1, SCOPE_GPU), leave, POLL_ACQUIRE)
FLAGS(ordinary_poll, leave, st_global_release(flag, 1, SCOPE_GPU), nothing,
      CULPRIT while (ld_global_b32(flag) == 0) {})
FLAGS(ordinary_flag, leave, CULPRIT st_global_b32(flag, 1), nothing, POLL_ACQUIRE)
FLAGS(narrow_poll, leave, st_global_release(flag, 1, SCOPE_GPU), nothing,
      CULPRIT while (ld_global_acquire(flag, SCOPE_CTA) == 0) {})

/* No thread sets the flag. */
FLAGS(flag_never_set, leave, (void)flag, nothing, CULPRIT POLL_ACQUIRE)

/* Two words in turn. */
KERNEL(32, 1) polls_two(KERNEL_ARGS args) {
    uint32_t *const a = flag_of(&args, 0), *const b = flag_of(&args, 1);
    if (me() != 0) return;
    if (part() == 1) st_global_release(b, 1, SCOPE_GPU);
    while (part() == 0 && ld_global_acquire(a, SCOPE_GPU) == 0)
        if (ld_global_acquire(b, SCOPE_GPU) != 0) break;
}

static uint32_t load(const uint32_t *word, bool acquires) {
    return acquires ? ld_global_acquire(word, SCOPE_GPU) : ld_global_relaxed(word, SCOPE_GPU);
}
static void set(uint32_t *word, bool releases) {
    if (releases) st_global_release(word, 1, SCOPE_GPU);
    else st_global_relaxed(word, 1, SCOPE_GPU);
}

/* One CTA waits until the others have counted, without a result. */
static inline void count_by_red(const struct gemm_args *args, bool releases, bool acquires) {
    uint32_t *const counter = counter_of(args);
    leave(args);
    __syncthreads();
    if (me() == 0 && releases) red_add_release(counter, 1, SCOPE_GPU);
    if (me() == 0 && !releases) red_add_relaxed(counter, 1, SCOPE_GPU);
    if (part() != 0) return;
    if (me() == 0) while (load(counter, acquires) != PARTS) {}
    __syncthreads();
    finish(args);
}
KERNEL(THREADS, 1) red_release(KERNEL_ARGS args) { count_by_red(&args, true, true); }
KERNEL(THREADS, 1) red_relaxed(KERNEL_ARGS args) { count_by_red(&args, false, true); }
KERNEL(THREADS, 1) red_not_acquired(KERNEL_ARGS args) { count_by_red(&args, true, false); }

/* A store and additions to one word, all of them strong: without order the store may come last. */
KERNEL(32, 1) reset_at_the_start(KERNEL_ARGS args) {
    uint32_t *const counter = counter_of(&args);
    if (me() != 0) return;
    if (part() == 0) {
        MARK st_global_relaxed(counter, 0, SCOPE_GPU);
    } else {
        OTHER (void)atomic_add_acq_rel(counter, 1, SCOPE_GPU);
    }
}
static inline void reset_at_the_end(const struct gemm_args *args, bool releases, bool acquires) {
    uint32_t *const counter = counter_of(args), *const done = flag_of(args, 0);
    if (me() != 0) return;
    if (part() == 0) {
        while (load(done, acquires) != PARTS - 1) {}
        MARK st_global_relaxed(counter, 0, SCOPE_GPU);
    } else {
        OTHER red_add_relaxed(counter, 1, SCOPE_GPU);
        if (releases) red_add_release(done, 1, SCOPE_GPU);
        else red_add_relaxed(done, 1, SCOPE_GPU);
    }
}
KERNEL(32, 1) reset_acquired(KERNEL_ARGS args) { reset_at_the_end(&args, true, true); }
KERNEL(32, 1) reset_not_acquired(KERNEL_ARGS args) { reset_at_the_end(&args, true, false); }
KERNEL(32, 1) reset_not_released(KERNEL_ARGS args) { reset_at_the_end(&args, false, true); }
/* Who has read the sum comes after the additions in it. */
KERNEL(32, 1) reset_observed(KERNEL_ARGS args) {
    uint32_t *const counter = counter_of(&args);
    if (me() != 0) return;
    if (part() != 0) red_add_relaxed(counter, 1, SCOPE_GPU);
    if (part() != 0) return;
    while (ld_global_relaxed(counter, SCOPE_GPU) != PARTS - 1) {}
    st_global_relaxed(counter, 0, SCOPE_GPU);
}

/* A word may be read again and again for no reason. */
KERNEL(32, 1) reads_again(KERNEL_ARGS args) {
    uint32_t sum = 0;
    for (int i = 0; i < 1000; ++i) sum += ld_global_b32(args.workspace);
    st_global_b32((uint32_t *)args.d + 32 * part() + me(), sum);
}

/* ---- a chain: the middle one passes on what it has acquired ---- */

static inline void chain(const struct gemm_args *args, bool acquires) {
    if (me() != 0) return;
    if (part() == 0) {
        OTHER st_global_b32(args->workspace, 7);
        set(flag_of(args, 0), true);
    }
    if (part() == 1) {
        while (load(flag_of(args, 0), acquires) == 0) {}
        set(flag_of(args, 1), true);
    }
    if (part() == 2) {
        while (load(flag_of(args, 1), true) == 0) {}
        MARK st_global_b32(args->d, ld_global_b32(args->workspace));
    }
}
KERNEL(32, 1) passed_on(KERNEL_ARGS args) { chain(&args, true); }
KERNEL(32, 1) not_passed_on(KERNEL_ARGS args) { chain(&args, false); }

/* Read, and then overwritten by another: the reader has to release. */
static inline void reuse(const struct gemm_args *args, bool releases) {
    if (me() != 0) return;
    if (part() == 0) {
        OTHER (void)ld_global_b32(args->workspace);
        set(flag_of(args, 0), releases);
    }
    if (part() == 1) {
        while (load(flag_of(args, 0), true) == 0) {}
        MARK st_global_b32(args->workspace, 1);
    }
}
KERNEL(32, 1) reused(KERNEL_ARGS args) { reuse(&args, true); }
KERNEL(32, 1) reused_too_early(KERNEL_ARGS args) { reuse(&args, false); }

/* ---- all CTAs meet, several times ---- */

static inline void meet(const struct gemm_args *args, uint32_t round, bool fences) {
    uint32_t *const counter = counter_of(args);
    __syncthreads();
    if (me() == 0) {
        if (fences) fence_acq_rel(SCOPE_GPU);
        red_add_relaxed(counter, 1, SCOPE_GPU);
        while (ld_global_relaxed(counter, SCOPE_GPU) < round * PARTS) {}
        fence_acq_rel(SCOPE_GPU);
    }
    __syncthreads();
}
static inline void rounds(const struct gemm_args *args, bool fences) {
    for (uint32_t round = 0; round < 3; ++round) {
        MARK OTHER st_global_b32(layer(args, part()) + me(), round);
        meet(args, 2 * round + 1, fences);
        MARK (void)ld_global_b32(layer(args, (part() + 1) % PARTS) + me());
        meet(args, 2 * round + 2, fences);
    }
}
KERNEL(THREADS, 1) grid_barrier(KERNEL_ARGS args) { rounds(&args, true); }
KERNEL(THREADS, 1) grid_barrier_no_fence(KERNEL_ARGS args) { rounds(&args, false); }

/* Read by all threads in several steps, and then overwritten: one has read once more. */
static inline void read_by_all(const struct gemm_args *args, bool releases) {
    for (int i = 0; i < 3; ++i) {
        (void)ld_global_b32(args->workspace + (me() + i) % 8);
        (void)ld_global_b128(args->workspace + 4 * (i % 2));
        __syncthreads();
    }
    meet(args, 1, true);
    if (part() == 2 && me() == 17) {
        OTHER (void)ld_global_b32(args->workspace);
        set(flag_of(args, 0), releases);
    }
    if (part() == 0 && me() == 5) {
        while (load(flag_of(args, 0), true) == 0) {}
        MARK st_global_b128(args->workspace, values(0, 0));
    }
}
KERNEL(THREADS, 1) overwritten_behind_all(KERNEL_ARGS args) { read_by_all(&args, true); }
KERNEL(THREADS, 1) overwritten_behind_all_but_one(KERNEL_ARGS args) { read_by_all(&args, false); }

/* ---- in turn: each CTA adds its part to what those before have left, in D ---- */

static inline void in_turn(const struct gemm_args *args, bool releases) {
    uint32_t *const turn = counter_of(args);
    float *const d = (float *)args->d + 4 * me();
    if (me() == 0) while (ld_global_acquire(turn, SCOPE_GPU) != (uint32_t)part()) {}
    __syncthreads();
    float sum[4] = {0};
    MARK if (part() > 0) add(sum, ld_global_b128(d));
    add(sum, values(part(), 4 * me()));
    struct b128 chunk;
    memcpy(&chunk, sum, sizeof chunk);
    OTHER st_global_b128(d, chunk);
    __syncthreads();
    const uint32_t next = (uint32_t)part() + 1;
    if (me() == 0 && releases) st_global_release(turn, next, SCOPE_GPU);
    if (me() == 0 && !releases) st_global_relaxed(turn, next, SCOPE_GPU);
}
KERNEL(THREADS, 1) turns(KERNEL_ARGS args) { in_turn(&args, true); }
KERNEL(THREADS, 1) turns_not_released(KERNEL_ARGS args) { in_turn(&args, false); }

/* The same without a sum: only the last one's values are to be in D. */
static inline void overwrite(const struct gemm_args *args, bool releases) {
    uint32_t *const turn = counter_of(args);
    if (me() == 0) while (ld_global_acquire(turn, SCOPE_GPU) != (uint32_t)part()) {}
    __syncthreads();
    MARK OTHER st_global_b128((float *)args->d + 4 * (THREADS - 1 - me()), values(part(), 0));
    __syncthreads();
    const uint32_t next = (uint32_t)part() + 1;
    if (me() == 0 && releases) st_global_release(turn, next, SCOPE_GPU);
    if (me() == 0 && !releases) st_global_relaxed(turn, next, SCOPE_GPU);
}
KERNEL(THREADS, 1) overwritten_in_turn(KERNEL_ARGS args) { overwrite(&args, true); }
KERNEL(THREADS, 1) overwritten_no_release(KERNEL_ARGS args) { overwrite(&args, false); }

/* D is cleared, and then stored by other threads. */
static inline void clear_and_store(const struct gemm_args *args, bool meets) {
    float *const d = (float *)args->d + part() * FLOATS;
    for (int i = 0; i < 2; ++i) {
        const int at = i ? THREADS - 1 - me() : me();
        MARK OTHER st_global_b128(d + 4 * at, values(i, 0));
        if (meets) __syncthreads();
    }
}
KERNEL(THREADS, 1) cleared_first(KERNEL_ARGS args) { clear_and_store(&args, true); }
KERNEL(THREADS, 1) cleared_no_barrier(KERNEL_ARGS args) { clear_and_store(&args, false); }

/* The last one found by reading the counter back: others may have come in between. */
SPLIT(read_back, (red_add_release(counter, 1, SCOPE_GPU),
                  before = ld_global_acquire(counter, SCOPE_GPU) - 1))
/* A ticket by two accesses. */
static inline void draw(const struct gemm_args *args, bool at_once) {
    uint32_t *const counter = counter_of(args);
    uint32_t ticket = at_once ? atomic_add_relaxed(counter, 1, SCOPE_GPU)
                              : ld_global_relaxed(counter, SCOPE_GPU);
    if (!at_once) red_add_relaxed(counter, 1, SCOPE_GPU);
    st_global_b128((float *)args->d + 4 * (int)ticket, values((int)ticket, 0));
}
KERNEL(1, 1) drawn_at_once(KERNEL_ARGS args) { draw(&args, true); }
KERNEL(1, 1) drawn_in_two(KERNEL_ARGS args) { draw(&args, false); }

/* The two threads are in one CTA here, and the counter speaks to the whole device. */
KERNEL(THREADS, 1) relaxed_in_a_cta(KERNEL_ARGS args) {
    uint32_t *const flag = flag_of(&args, part());
    float *const mine = layer(&args, part());
    if (me() == 0) {
        OTHER st_global_b128(mine, values(part(), 0));
        red_add_relaxed(flag, 1, SCOPE_GPU);
    }
    if (me() != 32) return;
    while (ld_global_acquire(flag, SCOPE_GPU) == 0) {}
    MARK (void)ld_global_b128(mine);
}
KERNEL(THREADS, 1) relaxed_poll_in_a_cta(KERNEL_ARGS args) {
    uint32_t *const flag = flag_of(&args, part());
    float *const mine = layer(&args, part());
    if (me() == 0) {
        OTHER st_global_b128(mine, values(part(), 0));
        red_add_release(flag, 1, SCOPE_GPU);
    }
    if (me() != 32) return;
    while (ld_global_relaxed(flag, SCOPE_GPU) == 0) {}
    MARK (void)ld_global_b128(mine);
}

/* Each CTA waits for the next one, and half of them have no SM. */
KERNEL(1024, 1) waits_for_the_next(KERNEL_ARGS args) {
    uint32_t *const flags = args.tile_counter;
    if (me() == 0 && part() + 1 < (int)gridDim.x)
        while (ld_global_acquire(&flags[part() + 1], SCOPE_GPU) == 0) {}
    if (me() == 0) st_global_release(&flags[part()], 1, SCOPE_GPU);
}

/* In one CTA a barrier is enough, for words of global memory, too. */
KERNEL(THREADS, 1) within_a_cta(KERNEL_ARGS args) {
    float *const mine = layer(&args, part());
    st_global_b32(mine + me(), 1);
    __syncthreads();
    (void)ld_global_b32(mine + THREADS - 1 - me());
}
KERNEL(THREADS, 1) within_a_cta_no_barrier(KERNEL_ARGS args) {
    float *const mine = layer(&args, part());
    const float *const theirs = mine + THREADS - 1 - me();
    MARK OTHER st_global_b32(mine + me(), 1); (void)ld_global_b32(theirs);
}

/* ---- clusters ---- */

static inline void pair(const struct gemm_args *args, enum scope scope) {
    const int p = part() / 2;
    if (me() != 0) return;
    if (cluster_rank() == 0) {
        OTHER st_global_b32(layer(args, p), 5);
        fence_acq_rel(scope);
        st_global_relaxed(flag_of(args, p), 1, SCOPE_CLUSTER);
    } else {
        while (ld_global_acquire(flag_of(args, p), SCOPE_CLUSTER) == 0) {}
        MARK (void)ld_global_b32(layer(args, p));
    }
}
KERNEL(32, 1) in_a_cluster(KERNEL_ARGS args) { pair(&args, SCOPE_CLUSTER); }
KERNEL(32, 1) in_a_cluster_cta(KERNEL_ARGS args) { pair(&args, SCOPE_CTA); }
KERNEL(32, 1) by_the_cluster_barrier(KERNEL_ARGS args) {
    if (cluster_rank() == 0) st_global_b32(layer(&args, part() / 2) + me(), 5);
    cluster_sync();
    (void)ld_global_b32(layer(&args, part() / 2) + 31 - me());
}

/* ---- the TMA ---- */

enum tma_mistake { RIGHT, READ_ONLY_WAIT, NO_WAIT, NO_ORDER };

/* Each part goes to the workspace by a TMA store, or is added to the first layer there. */
static inline void by_tma(const struct gemm_args *args, struct smem *shared, bool reduce,
                          enum tma_mistake mistake) {
    uint32_t before = 0;
    const struct tensor_map *const map = &args->map_d;
    float *const from = shared->part;
    st_shared_b128(&shared->part[4 * me()], values(part(), 4 * me()));
    fence_proxy_async();
    __syncthreads();
    if (me() == 0) {
        const int to = reduce ? 0 : part() * ROWS;
        OTHER if (reduce) tma_reduce_add(map, to, 0, from); else tma_store(map, to, 0, from);
        bulk_commit_group();
        if (mistake == READ_ONLY_WAIT) bulk_wait_group_read(0);
        else if (mistake != NO_WAIT) bulk_wait_group(0);
        if (mistake != NO_ORDER) fence_acq_rel(SCOPE_GPU);
        before = count(counter_of(args));
        fence_acq_rel(SCOPE_GPU);
    }
    if (is_last(shared, before)) finish(args);
    if (me() == 0 && mistake == NO_WAIT) bulk_wait_group(0);
}
#define BY_TMA(name, reduce, mistake)                                                              \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        by_tma(&args, shared, reduce, mistake);                                                    \
    }
BY_TMA(tma_stored, false, RIGHT)
BY_TMA(tma_stored_read_only_wait, false, READ_ONLY_WAIT)
BY_TMA(tma_stored_no_wait, false, NO_WAIT)
BY_TMA(tma_stored_no_order, false, NO_ORDER)
BY_TMA(tma_added, true, RIGHT)
BY_TMA(tma_added_read_only_wait, true, READ_ONLY_WAIT)

/* What others have stored by st is loaded by the TMA. */
enum proxy_fence { NO_FENCE, BY_WRITERS, BY_COUNTERS, BY_READER, TOO_EARLY, OF_SHARED };

static void make_barrier(struct smem *shared) {
    if (me() != 0) return;
    mbarrier_init(&shared->full, 1);
    fence_mbarrier_init();
}

static inline void load_by_tma(const struct gemm_args *args, struct smem *shared,
                               enum proxy_fence fence) {
    uint32_t before = 0;
    make_barrier(shared);
    if (fence == TOO_EARLY) fence_proxy_async_global();
    leave(args);
    if (fence == BY_WRITERS) fence_proxy_async_global();
    if (fence == OF_SHARED) fence_proxy_async();
    __syncthreads();
    if (me() == 0) {
        if (fence == BY_COUNTERS) fence_proxy_async_global();
        before = atomic_add_acq_rel(counter_of(args), 1, SCOPE_GPU);
    }
    if (!is_last(shared, before)) return;
    float sum[4] = {0};
    for (int p = 0; p < PARTS; ++p) {
        if (me() == 0) {
            if (fence == BY_READER) fence_proxy_async_global();
            if (fence == OF_SHARED) fence_proxy_async();
            mbarrier_arrive_expect_tx(&shared->full, sizeof shared->part);
            MARK tma_load(shared->part, &args->map_d, p * ROWS, 0, &shared->full);
        }
        mbarrier_wait(&shared->full, p % 2);
        add(sum, ld_shared_b128(&shared->part[4 * me()]));
        fence_proxy_async();
        __syncthreads();
    }
    struct b128 chunk;
    memcpy(&chunk, sum, sizeof chunk);
    st_global_b128((float *)args->d + 4 * me(), chunk);
}
#define LOAD_BY_TMA(name, fence)                                                                   \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        load_by_tma(&args, shared, fence);                                                         \
    }
LOAD_BY_TMA(tma_loaded_writers, BY_WRITERS)
LOAD_BY_TMA(tma_loaded_counters, BY_COUNTERS)
LOAD_BY_TMA(tma_loaded_reader, BY_READER)
LOAD_BY_TMA(tma_loaded_no_fence, NO_FENCE)
LOAD_BY_TMA(tma_loaded_early_fence, TOO_EARLY)
LOAD_BY_TMA(tma_loaded_shared_fence, OF_SHARED)

/* Stored by the TMA, loaded by the TMA of another CTA: the end of the store is enough. */
static inline void tma_to_tma(const struct gemm_args *args, struct smem *shared, bool waits) {
    make_barrier(shared);
    if (part() == 0) {
        st_shared_b128(&shared->part[4 * me()], values(0, 4 * me()));
        fence_proxy_async();
        __syncthreads();
        if (me() == 0) {
            OTHER tma_store(&args->map_d, 0, 0, shared->part);
            bulk_commit_group();
            if (waits) bulk_wait_group(0);
            else bulk_wait_group_read(0);
            st_global_release(flag_of(args, 0), 1, SCOPE_GPU);
        }
    } else if (part() == 1 && me() == 0) {
        while (ld_global_acquire(flag_of(args, 0), SCOPE_GPU) == 0) {}
        mbarrier_arrive_expect_tx(&shared->full, sizeof shared->part);
        MARK tma_load(shared->part, &args->map_d, 0, 0, &shared->full);
        mbarrier_wait(&shared->full, 0);
    }
}
KERNEL(THREADS, 1) tma_to_tma_waited(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    tma_to_tma(&args, shared, true);
}
KERNEL(THREADS, 1) tma_to_tma_read_only_wait(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    tma_to_tma(&args, shared, false);
}

/* Read by ld, and another CTA stores over it by the TMA. */
static inline void read_and_overwrite(const struct gemm_args *args, struct smem *shared,
                                      bool fence) {
    if (part() == 0) {
        OTHER (void)ld_global_b128(layer(args, 0) + 4 * me());
        if (fence) fence_proxy_async_global();
        __syncthreads();
        if (me() == 0) st_global_release(flag_of(args, 0), 1, SCOPE_GPU);
    } else if (part() == 1) {
        st_shared_b128(&shared->part[4 * me()], values(1, 4 * me()));
        fence_proxy_async();
        __syncthreads();
        if (me() != 0) return;
        while (ld_global_acquire(flag_of(args, 0), SCOPE_GPU) == 0) {}
        MARK tma_store(&args->map_d, 0, 0, shared->part);
        bulk_commit_group();
        bulk_wait_group(0);
    }
}
KERNEL(THREADS, 1) tma_stored_after_reads(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    read_and_overwrite(&args, shared, true);
}
KERNEL(THREADS, 1) tma_stored_after_reads_no_fence(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    read_and_overwrite(&args, shared, false);
}

/* The TMA and cp.async read, and another CTA overwrites: who issued must have waited. */
static inline void copy_and_reuse(const struct gemm_args *args, struct smem *shared, bool tma,
                                  bool waits) {
    mbarrier_t *const full = &shared->full;
    float *const to = shared->part, *const from = layer(args, 0);
    if (me() != 0) return;
    if (part() == 0) {
        make_barrier(shared);
        if (tma) mbarrier_arrive_expect_tx(full, sizeof shared->part);
        OTHER if (tma) tma_load(to, &args->map_d, 0, 0, full); else cp_async_16(to, from, 16);
        if (!tma) cp_async_commit_group();
        if (waits && tma) mbarrier_wait(full, 0);
        if (waits && !tma) cp_async_wait_group(0);
        st_global_release(flag_of(args, 0), 1, SCOPE_GPU);
        if (tma) mbarrier_wait(full, 0);
        else cp_async_wait_group(0);
    } else if (part() == 1) {
        while (ld_global_acquire(flag_of(args, 0), SCOPE_GPU) == 0) {}
        MARK st_global_b32(layer(args, 0), 1);
    }
}
#define COPY_AND_REUSE(name, tma, waits)                                                           \
    KERNEL(32, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct smem);                                                                \
        copy_and_reuse(&args, shared, tma, waits);                                                 \
    }
COPY_AND_REUSE(tma_read_waited, true, true)
COPY_AND_REUSE(tma_read_not_waited, true, false)
COPY_AND_REUSE(cp_async_read_waited, false, true)
COPY_AND_REUSE(cp_async_read_not_waited, false, false)

/* ---- running them ---- */

static char *captured; /* what the last run has written to stderr */

static enum run_status run_captured(const struct test_launch *launch) {
    const struct capture capture = capture_begin();
    other_line = culprit_line = 0;
    memset(test_args.workspace, 0, PARTS * FLOATS * sizeof(float));
    memset(test_out, 0, TEST_BYTES);
    const enum run_status status = test_run(launch, NULL);
    free(captured);
    captured = capture_end(capture);
    return status;
}

static bool names_line(int line) {
    char text[64];
    snprintf(text, sizeof text, "sim_global_order.c:%d", line);
    return strstr(captured, text) != NULL;
}

static void prepare(int i) {
    test_open(i < 3 ? (enum sim_schedule)i : SCHEDULE_RANDOM, (uint64_t)i, PARTS);
}
static const char *schedule_of(int i) { return schedule_names[i < 3 ? i : SCHEDULE_RANDOM]; }
enum { RUNS = 3 + 6 };

static bool d_is_the_sum(void) {
    for (int e = 0; e < FLOATS; ++e)
        if (((const float *)test_out)[e] != value(0, e) + value(1, e) + value(2, e) + value(3, e))
            return false;
    return true;
}

/* `sum`: D is the sum of all parts. */
static void expect_right(const char *name, const struct test_launch *launch, bool sum) {
    for (int i = 0; i < RUNS; ++i) {
        prepare(i);
        const enum run_status status = run_captured(launch);
        EXPECT(status == RUN_OK, "%s, %s: %s", name, schedule_of(i), captured);
        EXPECT(!sum || d_is_the_sum(), "%s, %s: D is not the sum", name, schedule_of(i));
    }
}

/* The first hazard is of this kind, in the line that is marked or, where either side may come first
 * (`either`), in the other; the report names both lines, and contains the text. */
static void expect_wrong(const char *name, const struct test_launch *launch, const char *kind,
                         const char *text, bool either) {
    for (int i = 0; i < RUNS; ++i) {
        prepare(i);
        const enum run_status status = run_captured(launch);
        const char *got = "nothing", *file;
        int line = 0;
        hazards_get(0, &got, &file, &line);
        if (culprit_line) marked_line = culprit_line, other_line = 0;
        EXPECT(status == RUN_HAZARD && !strcmp(got, kind), "%s, %s: expected %s, got %s\n%s", name,
               schedule_of(i), kind, got, captured);
        EXPECT(line == marked_line || (either && line == other_line),
               "%s, %s: expected line %d, got %d\n%s", name, schedule_of(i), marked_line, line,
               captured);
        EXPECT(!other_line || names_line(other_line), "%s, %s: line %d is not named\n%s", name,
               schedule_of(i), other_line, captured);
        EXPECT(strstr(captured, text), "%s, %s: the report lacks \"%s\"\n%s", name,
               schedule_of(i), text, captured);
        if (i == 0 && getenv("SHOW_REPORTS")) printf("---- %s\n%s", name, captured);
    }
}

#define LAUNCH(kernel, cluster, threads)                                                           \
    &(struct test_launch){kernel, PARTS, cluster, threads, sizeof(struct smem)}
#define EXPECT_SUM(kernel) expect_right(#kernel, LAUNCH(kernel, 1, THREADS), true)
#define EXPECT_RIGHT(kernel, cluster, threads)                                                     \
    expect_right(#kernel, LAUNCH(kernel, cluster, threads), false)
#define EXPECT_WRONG(kernel, cluster, threads, kind, text)                                         \
    expect_wrong(#kernel, LAUNCH(kernel, cluster, threads), kind, text, false)
#define EXPECT_EITHER(kernel, cluster, threads, kind, text)                                        \
    expect_wrong(#kernel, LAUNCH(kernel, cluster, threads), kind, text, true)

/* The report says how many CTAs there is no room for. */
static void expect_absent(const struct test_launch *launch) {
    prepare(SCHEDULE_EARLY);
    EXPECT(run_captured(launch) == RUN_HAZARD &&
               strstr(captured, "12 of the grid's 16 CTAs have no SM until another CTA ends"),
           "no room: %s", captured);
}

/* No race: two accesses of a thread, and `late` lets the other CTAs come in between. */
static void expect_late(const char *name, const struct test_launch *launch, const char *kind) {
    const char *got = "nothing", *file;
    int line;
    prepare(SCHEDULE_LATE);
    const enum run_status status = run_captured(launch);
    hazards_get(0, &got, &file, &line);
    EXPECT(status == RUN_HAZARD && !strcmp(got, kind), "%s: expected %s, got %s\n%s", name, kind,
           got, captured);
}

/* Twice, on one counter, which is zero before the first launch only. */
static bool right_twice(const struct test_launch *launch) {
    static const struct contender contender = {.name = "test", .enqueue = test_enqueue};
    static const struct gemm_problem problem;
    prepare(0);
    EXPECT(run_captured(launch) == RUN_OK && d_is_the_sum(), "first launch: %s", captured);
    memset(test_out, 0, TEST_BYTES);
    EXPECT(backend_run(&contender, &problem, NULL) == RUN_OK, "second launch");
    return d_is_the_sum();
}

int main(void) {
    test_open(SCHEDULE_EARLY, 0, PARTS);
    test_args.workspace = backend_alloc(PARTS * FLOATS * sizeof(float), "workspace", true);
    if (gemm_tensor_map(&test_args.map_d, GEMM_FP32, test_args.workspace, PARTS * ROWS, COLUMNS,
                        COLUMNS, ROWS, COLUMNS, SWIZZLE_NONE))
        return 1;

    EXPECT_SUM(fence_and_atomic);
    EXPECT_SUM(atomic_acq_rel);
    EXPECT_SUM(atomic_acq_rel_sys);
    EXPECT_SUM(release_and_fence);
    EXPECT_SUM(fence_and_acquire);
    EXPECT_SUM(resets);
    EXPECT_SUM(two_fences);
    EXPECT_SUM(red_release);
    EXPECT_RIGHT(every_thread_counts, 1, THREADS);
    EXPECT_SUM(flag_release_acquire);
    EXPECT_SUM(flag_fences);
    EXPECT_SUM(flag_reset);
    EXPECT_SUM(flag_twice);
    EXPECT_SUM(flag_polled_by_atomic);
    EXPECT_RIGHT(polls_two, 1, 32);
    EXPECT_RIGHT(reads_again, 1, 32);
    EXPECT_RIGHT(reset_acquired, 1, 32);
    EXPECT_RIGHT(reset_observed, 1, 32);
    EXPECT_RIGHT(passed_on, 1, 32);
    EXPECT_RIGHT(reused, 1, 32);
    EXPECT_RIGHT(grid_barrier, 1, THREADS);
    EXPECT_RIGHT(overwritten_behind_all, 1, THREADS);
    EXPECT_SUM(turns);
    EXPECT_RIGHT(overwritten_in_turn, 1, THREADS);
    EXPECT_RIGHT(cleared_first, 1, THREADS);
    EXPECT_RIGHT(drawn_at_once, 1, 1);
    EXPECT_RIGHT(within_a_cta, 1, THREADS);
    EXPECT_RIGHT(in_a_cluster, 2, 32);
    EXPECT_RIGHT(by_the_cluster_barrier, 2, 32);
    EXPECT_SUM(tma_stored);
    EXPECT_RIGHT(tma_added, 1, THREADS);
    EXPECT_SUM(tma_loaded_writers);
    EXPECT_SUM(tma_loaded_counters);
    EXPECT_SUM(tma_loaded_reader);
    EXPECT_RIGHT(tma_to_tma_waited, 1, THREADS);
    EXPECT_RIGHT(tma_stored_after_reads, 1, THREADS);
    EXPECT_RIGHT(tma_read_waited, 1, 32);
    EXPECT_RIGHT(cp_async_read_waited, 1, 32);
    EXPECT(right_twice(LAUNCH(resets, 1, THREADS)), "the counter was not reset");
    EXPECT(!right_twice(LAUNCH(atomic_acq_rel, 1, THREADS)), "no reset, and yet a last one");

    EXPECT_WRONG(no_fence, 1, THREADS, "data-race", "releases none");
    EXPECT_WRONG(no_release, 1, THREADS, "data-race", "releases none");
    EXPECT_WRONG(no_acquire, 1, THREADS, "data-race", "acquires nothing");
    EXPECT_WRONG(fence_only_after, 1, THREADS, "data-race", "releases none");
    EXPECT_WRONG(fence_only_before, 1, THREADS, "data-race", "acquires nothing");
    EXPECT_WRONG(fence_of_the_cta, 1, THREADS, "data-race", "has the scope .cta");
    EXPECT_WRONG(fence_of_the_cluster, 1, THREADS, "data-race", "has the scope .cluster");
    EXPECT_WRONG(acquire_of_the_cta, 1, THREADS, "data-race", "to acquire what");
    EXPECT_WRONG(no_barrier, 1, THREADS, "data-race", "a barrier is missing");
    EXPECT_WRONG(fences_before_the_barrier, 1, THREADS, "data-race", "releases none");
    EXPECT_WRONG(red_relaxed, 1, THREADS, "data-race", "releases none");
    EXPECT_WRONG(red_not_acquired, 1, THREADS, "data-race", "acquires nothing");
    EXPECT_WRONG(relaxed_in_a_cta, 1, THREADS, "data-race", "fence_acq_rel(SCOPE_GPU) is missing");
    EXPECT_WRONG(relaxed_poll_in_a_cta, 1, THREADS, "data-race", "fence_acq_rel(SCOPE_GPU) is");
    EXPECT_WRONG(counter_of_the_cta, 1, THREADS, "data-race", "both need .gpu");
    EXPECT_EITHER(reset_at_the_start, 1, 32, "lost-update", "the addition");
    EXPECT_WRONG(reset_not_acquired, 1, 32, "lost-update", "has to acquire");
    EXPECT_WRONG(reset_not_released, 1, 32, "lost-update", "has to acquire");
    EXPECT_WRONG(flag_not_released, 1, THREADS, "data-race", "releases none");
    EXPECT_WRONG(flag_not_acquired, 1, THREADS, "data-race", "acquires nothing");
    EXPECT_WRONG(flag_released_to_the_cta, 1, THREADS, "data-race", "has the scope .cta");
    EXPECT_EITHER(flag_before_data, 1, THREADS, "data-race", "is not ordered after");
    EXPECT_WRONG(ordinary_poll, 1, THREADS, "data-race", "ordinary access");
    EXPECT_WRONG(ordinary_flag, 1, THREADS, "data-race", "ordinary access");
    EXPECT_WRONG(narrow_poll, 1, THREADS, "data-race", "both need .gpu");
    EXPECT_WRONG(flag_never_set, 1, THREADS, "deadlock", "tile counter + 4, which stays 0");
    EXPECT_WRONG(not_passed_on, 1, 32, "data-race", "Nothing orders the two");
    EXPECT_WRONG(reused_too_early, 1, 32, "data-race", "releases none");
    EXPECT_EITHER(grid_barrier_no_fence, 1, THREADS, "data-race", "releases none");
    EXPECT_WRONG(overwritten_behind_all_but_one, 1, THREADS, "data-race", "releases none");
    EXPECT_WRONG(turns_not_released, 1, THREADS, "data-race", "releases none");
    EXPECT_WRONG(overwritten_no_release, 1, THREADS, "global-write-write", "one writer");
    EXPECT_WRONG(cleared_no_barrier, 1, THREADS, "global-write-write", "one writer");
    expect_absent(
        &(struct test_launch){waits_for_the_next, 4 * PARTS, 1, 1024, sizeof(struct smem)});
    expect_late("read_back", LAUNCH(read_back, 1, THREADS), "global-write-write");
    expect_late("drawn_in_two", LAUNCH(drawn_in_two, 1, 1), "global-write-write");
    EXPECT_WRONG(within_a_cta_no_barrier, 1, THREADS, "data-race", "a barrier is missing");
    EXPECT_WRONG(in_a_cluster_cta, 2, 32, "data-race", "has the scope .cta");
    EXPECT_WRONG(tma_stored_read_only_wait, 1, THREADS, "read-before-landed", "bulk_wait_group()");
    EXPECT_WRONG(tma_stored_no_wait, 1, THREADS, "read-before-landed", "bulk_wait_group()");
    EXPECT_WRONG(tma_stored_no_order, 1, THREADS, "data-race", "releases none");
    EXPECT_WRONG(tma_added_read_only_wait, 1, THREADS, "read-before-landed", "bulk_wait_group()");
    EXPECT_WRONG(tma_loaded_no_fence, 1, THREADS, "missing-proxy-fence", "async_global()");
    EXPECT_WRONG(tma_loaded_early_fence, 1, THREADS, "missing-proxy-fence", "async_global()");
    EXPECT_WRONG(tma_loaded_shared_fence, 1, THREADS, "missing-proxy-fence", "async_global()");
    EXPECT_WRONG(tma_to_tma_read_only_wait, 1, THREADS, "read-before-landed", "bulk_wait_group()");
    EXPECT_WRONG(tma_stored_after_reads_no_fence, 1, THREADS, "missing-proxy-fence-after-read",
                 "async_global()");
    EXPECT_WRONG(tma_read_not_waited, 1, 32, "overwritten-while-read", "has to wait for it");
    EXPECT_WRONG(cp_async_read_not_waited, 1, 32, "overwritten-while-read", "has to wait for it");
    free(captured);
    backend_close();
    return expect_result();
}
