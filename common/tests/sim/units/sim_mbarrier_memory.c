/*
 * sim_mbarrier_memory.c: the 8 bytes of an mbarrier. While it is valid, nothing but mbarrier
 * operations may touch them; mbarrier_inval() ends that, after its last use.
 */
#include "tests/sim/sim_kernels.h"

#include "hopper/cp_async.h"
#include "hopper/mbarrier.h"
#include "hopper/tma.h"

/* Reports name lines: what belongs to one report stays on one. */
// clang-format off

enum { THREADS = 64, BOX = 8 * 64, BOX_BYTES = BOX * 2 };

/* A barrier, or the end of a box, in the same place. */
struct smem {
    union {
        element_t box[BOX];
        struct {
            element_t most_of_it[BOX - 8];
            mbarrier_t reused, neighbour;
        };
    } __attribute__((aligned(1024)));
    mbarrier_t full, told;
};

static int me(void) { return (int)threadIdx.x; }

static inline void begin(struct smem *shared, int arrivals) {
    if (me() == 0) {
        mbarrier_init(&shared->reused, arrivals);
        mbarrier_init(&shared->full, 1);
        mbarrier_init(&shared->told, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
}

static inline void meet(struct smem *shared) {
    mbarrier_arrive(&shared->reused);
    mbarrier_wait(&shared->reused, 0);
}

static inline void load(struct smem *shared, const struct gemm_args *args) {
    mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
    tma_load(shared->box, &args->map_a, 0, 0, &shared->full);
}

/* ---- right ---- */

/* A barrier for 64, then for 1, then data of a thread, then of the TMA. */
KERNEL(THREADS, 1) reused(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, THREADS);
    meet(shared);
    __syncthreads();
    if (me() == 0) {
        mbarrier_inval(&shared->reused);
        mbarrier_init(&shared->reused, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (me() == 40) mbarrier_arrive(&shared->reused);
    mbarrier_wait(&shared->reused, 0);
    __syncthreads();
    if (me() == 20) mbarrier_inval(&shared->reused);
    __syncthreads();
    if (me() == 63) {
        st_shared_b32(&shared->reused, 1);
        (void)ld_shared_b32(&shared->reused);
    }
    fence_proxy_async();
    __syncthreads();
    if (me() == 0) load(shared, &args);
    mbarrier_wait(&shared->full, 0);
    (void)ld_shared_b32(&shared->box[2 * me()]);
}

/* A phase that all uses precede orders them as well as a barrier does; and the bytes beside an
 * mbarrier are anybody's. */
KERNEL(THREADS, 1) invalidated_after_a_phase(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, 1);
    if (me() == 32) {
        st_shared_b32(&shared->neighbour, 1);
        mbarrier_arrive(&shared->reused);
        mbarrier_arrive(&shared->told);
    }
    if (me() == 0) {
        mbarrier_wait(&shared->told, 0);
        mbarrier_inval(&shared->reused);
        st_shared_b32(&shared->reused, 1);
    }
}

/* ---- wrong ---- */

KERNEL(THREADS, 1) initialized_over(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, THREADS);
    meet(shared);
    __syncthreads();
    if (me() == 0) { MARK mbarrier_init(&shared->reused, 1); }
}

KERNEL(THREADS, 1) stored_over(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, THREADS);
    meet(shared);
    __syncthreads();
    if (me() == 63) { MARK st_shared_b32(&shared->reused, 1); }
}

KERNEL(THREADS, 1) loaded_from(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, THREADS);
    if (me() == 63) { MARK (void)ld_shared_b128(&shared->reused); }
}

KERNEL(THREADS, 1) copied_over(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1);
    if (me() == 63) {
        MARK cp_async_16(&shared->reused, args.a, 16);
        cp_async_commit_group();
        cp_async_wait_group(0);
    }
}

KERNEL(THREADS, 1) loaded_over_by_the_tma(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, THREADS);
    meet(shared);
    fence_proxy_async();
    __syncthreads();
    if (me() == 0) {
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
        MARK tma_load(shared->box, &args.map_a, 0, 0, &shared->full);
    }
    mbarrier_wait(&shared->full, 0);
}

/* Thread 32 still waits, or is about to. */
KERNEL(THREADS, 1) invalidated_too_early(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, 1);
    if (me() == 32) {
        mbarrier_wait(&shared->reused, 1);
        mbarrier_arrive(&shared->told);
        mbarrier_wait(&shared->reused, 1);
    }
    if (me() == 0) {
        mbarrier_wait(&shared->told, 0);
        MARK mbarrier_inval(&shared->reused);
    }
}

/* The invalidation is a write like any other: those after it have to be ordered. */
KERNEL(THREADS, 1) stored_beside_the_invalidation(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, 1);
    if (me() == 0) {
        mbarrier_inval(&shared->reused);
    }
    if (me() == 32) st_shared_b32(&shared->reused, 1);
}

/* And for the TMA it is one through the other proxy. */
KERNEL(THREADS, 1) no_proxy_fence(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1);
    if (me() == 0) {
        mbarrier_inval(&shared->reused);
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
        MARK tma_load(shared->box, &args.map_a, 0, 0, &shared->full);
    }
    mbarrier_wait(&shared->full, 0);
}

KERNEL(THREADS, 1) used_after_the_end(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, 1);
    if (me() == 0) {
        mbarrier_inval(&shared->reused);
        MARK mbarrier_arrive(&shared->reused);
    }
}

KERNEL(THREADS, 1) invalidated_twice(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, 1);
    if (me() == 0) {
        mbarrier_inval(&shared->reused);
        MARK mbarrier_inval(&shared->reused);
    }
}

int main(void) {
    test_open(SCHEDULE_EARLY, 0, 4);
    if (gemm_tensor_map(&test_args.map_a, GEMM_FP16, test_in, 8, 64, 64, 8, 64, SWIZZLE_NONE))
        return 1;
    EXPECT_CLEAN(reused, THREADS);
    EXPECT_CLEAN(invalidated_after_a_phase, THREADS);
    EXPECT_HAZARD(initialized_over, THREADS, "mbarrier-reinit");
    EXPECT_HAZARD(stored_over, THREADS, "mbarrier-not-invalidated");
    EXPECT_HAZARD(loaded_from, THREADS, "mbarrier-not-invalidated");
    EXPECT_HAZARD(copied_over, THREADS, "mbarrier-not-invalidated");
    EXPECT_HAZARD(loaded_over_by_the_tma, THREADS, "mbarrier-not-invalidated");
    EXPECT_HAZARD(no_proxy_fence, THREADS, "missing-proxy-fence");
    EXPECT_HAZARD(used_after_the_end, THREADS, "mbarrier-uninitialized");
    EXPECT_HAZARD(invalidated_twice, THREADS, "mbarrier-uninitialized");
    /* Either side may come first, and kind and line say which. */
    EXPECT_RACE(invalidated_too_early, THREADS);
    EXPECT_RACE(stored_beside_the_invalidation, THREADS);
    backend_close();
    return expect_result();
}
