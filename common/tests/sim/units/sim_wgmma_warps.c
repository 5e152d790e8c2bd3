/*
 * sim_wgmma_warps.c: who has to execute the instructions around a wgmma, and who has to have waited
 * for what it reads: every warp of the warpgroup, every lane of the warp.
 */
#include "tests/sim/sim_kernels.h"

#include "hopper/element.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

/* Reports name lines: what belongs to one report stays on one. */
// clang-format off

enum { THREADS = 128, PRODUCER = 160, TILE = 64 * 16, TILE_BYTES = TILE * 2 };

struct smem {
    element_t tile[TILE] __attribute__((aligned(1024))); /* core matrices of 8 x 8, two along k */
    mbarrier_t full, empty;
};

static int warp(void) { return (int)threadIdx.x / 32; }
static int lane(void) { return (int)threadIdx.x % 32; }
static const struct b128 some_chunk = {{1, 2, 3, 4}};

static inline void fill(struct smem *shared) {
    st_shared_b128(&shared->tile[8 * threadIdx.x], some_chunk);
    fence_proxy_async();
    __syncthreads();
}

static inline uint64_t operand(struct smem *shared) {
    return wgmma_descriptor(shared_address(shared->tile), 128, 256, SWIZZLE_NONE);
}

static inline void multiply(struct smem *shared, float *acc) {
    wgmma_fence();
    wgmma_m64nNk16(8, acc, operand(shared), operand(shared), 0);
}

/* ---- .aligned: fence, commit and wait are the same for all four warps ---- */

/* All warps agree about the condition. */
KERNEL(THREADS, 1) commit_in_two_places(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    float acc[4];
    fill(shared);
    for (int i = 0; i < 4; ++i) {
        if (i % 2 == args.m % 2) wgmma_fence();
        else
            wgmma_fence();
        wgmma_m64nNk16(8, acc, operand(shared), operand(shared), 0);
        if (i % 2 == 0)
            wgmma_commit_group();
        else
            wgmma_commit_group();
        if (i == 0) wgmma_wait_group(1);
        else
            wgmma_wait_group(0);
    }
}

/* Fences and waits with no wgmma in between; the warps come to them at different times. */
KERNEL(THREADS, 1) many_waits(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    float acc[4];
    fill(shared);
    multiply(shared, acc);
    wgmma_commit_group();
    for (int i = 0; i < 20; ++i) {
        wgmma_wait_group(1);
        if (warp() == i % 4) __syncwarp();
        wgmma_wait_group(0);
    }
    wgmma_fence();
}

static inline void one_warp(struct smem *shared, bool fences, bool waits) {
    float acc[4];
    fill(shared);
    multiply(shared, acc);
    wgmma_commit_group();
    wgmma_wait_group(0);
    if (warp() == 2 && fences) { MARK wgmma_fence(); }
    if (warp() == 2 && waits) { MARK wgmma_wait_group(0); }
    wgmma_m64nNk16(8, acc, operand(shared), operand(shared), 0);
    wgmma_commit_group();
    wgmma_wait_group(0);
}
KERNEL(THREADS, 1) fence_of_one_warp(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    one_warp(shared, true, false);
}
KERNEL(THREADS, 1) wait_of_one_warp(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    one_warp(shared, false, true);
}

KERNEL(THREADS, 1) last_wait_of_one_warp(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    float acc[4];
    fill(shared);
    multiply(shared, acc);
    wgmma_commit_group();
    if (warp() == 0) { MARK wgmma_wait_group(0); }
}

KERNEL(THREADS, 1) commit_of_one_warp(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    float acc[4];
    fill(shared);
    multiply(shared, acc);
    if (warp() == 0) wgmma_commit_group();
    wgmma_wait_group(0);
}

/* The ISA wants the same instruction, not one of the same name. */
KERNEL(THREADS, 1) commits_by_warp(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    float acc[4];
    fill(shared);
    multiply(shared, acc);
    if (warp() == 0)
        wgmma_commit_group();
    else
        wgmma_commit_group();
    wgmma_wait_group(0);
}
KERNEL(THREADS, 1) waits_by_warp(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    float acc[4];
    fill(shared);
    multiply(shared, acc);
    wgmma_commit_group();
    if (warp() == 0)
        wgmma_wait_group(0);
    else
        wgmma_wait_group(0);
}

/* argument of the three: which instruction one half of a warp skips */
static inline void some_lanes(struct smem *shared, int skipped) {
    float acc[4];
    fill(shared);
    if (skipped != 0 || lane() < 16) wgmma_fence();
    wgmma_m64nNk16(8, acc, operand(shared), operand(shared), 0);
    if (skipped != 1 || lane() < 16) wgmma_commit_group();
    if (skipped != 2 || lane() < 16) wgmma_wait_group(0);
}
KERNEL(THREADS, 1) fence_of_some_lanes(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    some_lanes(shared, 0);
}
KERNEL(THREADS, 1) commit_of_some_lanes(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    some_lanes(shared, 1);
}
KERNEL(THREADS, 1) wait_of_some_lanes(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    some_lanes(shared, 2);
}

/* ---- a lane that waits for the others of its warp ---- */

enum { ALL_LANES = -1 };

/* The TMA fills the tile; `waiting` is the lane of each warp that waits for it. */
static inline void wait_and_multiply(struct smem *shared, const struct gemm_args *args, int waiting,
                                     bool sync) {
    float acc[4];
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&shared->full, TILE_BYTES);
        tma_load(shared->tile, &args->map_a, 0, 0, &shared->full);
    }
    if (waiting == ALL_LANES || lane() == waiting) mbarrier_wait(&shared->full, 0);
    if (sync) __syncwarp();
    wgmma_fence();
    MARK wgmma_m64nNk16(8, acc, operand(shared), operand(shared), 0);
    wgmma_commit_group();
    wgmma_wait_group(0);
    mbarrier_wait(&shared->full, 0);
}
#define WAITS(name, lane, sync)                                                                    \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        wait_and_multiply(shared, &args, lane, sync);                                              \
    }
WAITS(all_lanes_wait, ALL_LANES, false)
WAITS(lane_0_waits, 0, true)
WAITS(lane_31_waits, 31, true)
WAITS(lane_0_waits_alone, 0, false)
WAITS(lane_5_waits_alone, 5, false)
WAITS(lane_31_waits_alone, 31, false)

/* The same for what threads have written: the order has to reach every lane. */
static inline void written_by_another_warp(struct smem *shared, int waiting, bool sync) {
    float acc[4];
    if (threadIdx.x == 0) mbarrier_init(&shared->full, THREADS);
    __syncthreads();
    st_shared_b128(&shared->tile[8 * threadIdx.x], some_chunk);
    fence_proxy_async();
    mbarrier_arrive(&shared->full);
    if (lane() == waiting) mbarrier_wait(&shared->full, 0);
    if (sync) __syncwarp();
    wgmma_fence();
    MARK wgmma_m64nNk16(8, acc, operand(shared), operand(shared), 0);
    wgmma_commit_group();
    wgmma_wait_group(0);
}
KERNEL(THREADS, 1) lane_0_waits_for_threads(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    written_by_another_warp(shared, 0, true);
}
KERNEL(THREADS, 1) lane_0_waits_for_threads_alone(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    written_by_another_warp(shared, 0, false);
}

/* ---- who releases a stage ---- */

enum releasing { EACH_WARP, ONE_THREAD, ONE_THREAD_BEHIND_A_BARRIER };

static inline void release_stage(struct smem *shared, const struct gemm_args *args,
                                 enum releasing releasing) {
    enum { CONSUMERS = 1 };
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, 1);
        mbarrier_init(&shared->empty, releasing == EACH_WARP ? 4 : 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (warp() == 4) { /* the producer */
        for (int i = 0; i < 2 && lane() == 0; ++i) {
            mbarrier_wait(&shared->empty, (uint32_t)i ^ 1);
            mbarrier_arrive_expect_tx(&shared->full, TILE_BYTES);
            MARK tma_load(shared->tile, &args->map_a, 0, 0, &shared->full);
        }
        return;
    }
    float acc[4];
    for (int i = 0; i < 2; ++i) {
        mbarrier_wait(&shared->full, (uint32_t)i);
        multiply(shared, acc);
        wgmma_commit_group();
        wgmma_wait_group(0);
        if (releasing == ONE_THREAD_BEHIND_A_BARRIER) named_barrier_sync(CONSUMERS, THREADS);
        if (releasing == EACH_WARP ? lane() == 0 : threadIdx.x == 0)
            mbarrier_arrive(&shared->empty);
    }
}
KERNEL(PRODUCER, 1) each_warp_releases(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    release_stage(shared, &args, EACH_WARP);
}
KERNEL(PRODUCER, 1) one_thread_releases(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    release_stage(shared, &args, ONE_THREAD);
}
KERNEL(PRODUCER, 1) one_thread_releases_behind_a_barrier(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    release_stage(shared, &args, ONE_THREAD_BEHIND_A_BARRIER);
}

int main(void) {
    test_open(SCHEDULE_EARLY, 0, 4);
    /* One box is the tile: 2048 bytes that lie together. */
    if (gemm_tensor_map(&test_args.map_a, GEMM_FP16, test_in, 16, 64, 64, 16, 64, SWIZZLE_NONE))
        return 1;
    EXPECT_CLEAN(commit_in_two_places, THREADS);
    EXPECT_CLEAN(many_waits, THREADS);
    EXPECT_HAZARD(last_wait_of_one_warp, THREADS, "diverged-warpgroup");
    EXPECT_CLEAN(all_lanes_wait, THREADS);
    EXPECT_CLEAN(lane_0_waits, THREADS);
    EXPECT_CLEAN(lane_31_waits, THREADS);
    EXPECT_HAZARD(lane_0_waits_alone, THREADS, "read-before-landed");
    EXPECT_HAZARD(lane_5_waits_alone, THREADS, "read-before-landed");
    EXPECT_HAZARD(lane_31_waits_alone, THREADS, "read-before-landed");
    EXPECT_CLEAN(lane_0_waits_for_threads, THREADS);
    EXPECT_HAZARD(lane_0_waits_for_threads_alone, THREADS, "data-race");
    EXPECT_CLEAN(each_warp_releases, PRODUCER);
    EXPECT_CLEAN(one_thread_releases_behind_a_barrier, PRODUCER);
    EXPECT_HAZARD(one_thread_releases, PRODUCER, "overwritten-while-read");
    /* Accused is the one that comes second: here the warp that executes the instruction, there
     * those that leave it out. */
    EXPECT_KIND(fence_of_one_warp, THREADS, "diverged-warpgroup");
    EXPECT_KIND(wait_of_one_warp, THREADS, "diverged-warpgroup");
    EXPECT_KIND(commit_of_one_warp, THREADS, "deadlock"); /* the warp waits for the other three */
    EXPECT_KIND(commits_by_warp, THREADS, "diverged-warpgroup");
    EXPECT_KIND(waits_by_warp, THREADS, "diverged-warpgroup");
    EXPECT_KIND(fence_of_some_lanes, THREADS, "diverged-warp");
    EXPECT_KIND(commit_of_some_lanes, THREADS, "diverged-warp");
    EXPECT_KIND(wait_of_some_lanes, THREADS, "diverged-warp");
    backend_close();
    return expect_result();
}
