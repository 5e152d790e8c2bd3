/*
 * pingpong.h: what the kernels of this chapter share, all but their epilogues: 08's ping-pong. One
 * thread fills the ring. A consumer issues the multiplications of a k-tile, and releases its stage
 * when they have read it. The loop over tiles, which calls these functions, is in each kernel.
 *
 * A kernel includes this file after its constants (STAGES, BM, BN, BK, STAGE_BYTES) and its struct
 * smem, of which a, b and ring are used here. BN is a macro, for the name of the wgmma.
 */
#ifndef FUSED_EPILOGUE_PINGPONG_H
#define FUSED_EPILOGUE_PINGPONG_H

#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

/* Issues acc += a * b for a k-tile: 64 x BN x 16 at a time, four steps along k for each 64 rows.
 * Rows of a tile are 128 bytes; eight of them make the swizzle's 1024-byte pattern, hence the
 * stride. A warpgroup. */
DEVICE void multiply(float acc[BM / 64][BN / 2], const element_t *a, const element_t *b,
                     bool accumulate) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 16; ++step)
        UNROLL for (int i = 0; i < BM / 64; ++i) {
            const uint64_t along_k = step * 16 * sizeof(element_t) >> 4;
            const uint64_t down = i * 64 * BK * sizeof(element_t) >> 4;
            wgmma_m64nNk16(BN, acc[i], a_tile + down + along_k, b_tile + along_k,
                           accumulate || step > 0);
        }
}

/* Fills the ring with all k-tiles of tile after tile, for the consumers in turn. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    for (int number = blockIdx.x; number < args->items; number += gridDim.x) {
        const struct tile tile = tile_at(number, args->tiles_m, args->tiles_n);
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* The four warps that used the stage last have read it; then announces the bytes.
             * mbarrier.try_wait, .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            tma_load(shared->a[state.index], &args->map_a, tile.m * BM, k_tile * BK, full);
            tma_load(shared->b[state.index], &args->map_b, tile.n * BN, k_tile * BK, full);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state,
                         float acc[BM / 64][BN / 2], int k_tile) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* Ordinary accesses to the accumulators come before the multiplications' writes to them.
     * wgmma.fence */
    wgmma_fence();
    multiply(acc, shared->a[state->index], shared->b[state->index], k_tile > 0);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Releases the stage, which this warp has read. One arrival per warp. mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, struct pipeline_state *state) {
    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, *state);
    pipeline_advance(state, STAGES);
}

#endif
