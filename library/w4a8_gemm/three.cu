/*
 * w4a8_gemm, three.cu: many rows of A, and three consumers that take turns at the Tensor Core.
 *
 * The idea: in wide.cu a consumer waits, promotes and converts under the multiplications of one
 * other consumer, 256 cycles, and that is not enough. Here there are three consumers of 64 channels
 * each, so the multiplications of two others are queued meanwhile, 512 cycles. Then nothing else
 * has to be hidden: a consumer waits for a k-tile, converts its weights, multiplies, releases the
 * stage and promotes, one after the other. What it costs: there are 160 registers for a thread,
 * and the main loop takes them all, so a tile is stored with no multiplication of its consumer
 * under way. And a tile has 192 channels, which are three halves of blocks.
 */
#define CONSUMERS 3 /* of configuration.h, as the next one */
#define STAGES 6
#define CONSUMER_REGISTERS 160 /* 24 + 3 * 160 <= 4 * 128, those at launch */
#include "many_rows.h"

/* Releases a stage, which this warp has read, to the producers of both CTAs: lane r arrives at CTA
 * r's barrier. A whole warp. */
DEVICE void release(struct smem *shared, struct pipeline_state state) {
    const int lane = threadIdx.x % 32;
    /* All lanes have read their weights, before one arrives. bar.warp.sync */
    __syncwarp();
    /* mapa, mbarrier.arrive */
    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[state.index].empty, lane);
}

/* Stores 64 channels of sums, 64 rows of D at a time. One warpgroup. */
DEVICE void store_slab(struct smem *shared, const struct gemm_scaled_args *args, int number,
                       int consumer, const float sum[BM / 2]) {
    const struct tile tile = cluster_tile(&args->gemm, number);
    UNROLL for (int i = 0; i < BM / 64; ++i)
        transposed_store(shared->d[consumer][i % BUFFERS], args, tile.m * BM + i * 64,
                         tile.n * BN + consumer * 64, &sum[i * 32], W4_UNIT, 1 + consumer);
}

/* Multiplies, promotes and stores its channels of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_scaled_args *args, int consumer) {
    struct pipeline_state state = {0, 0};
    for (int number = blockIdx.x / CLUSTER; number < args->gemm.items;
         number += gridDim.x / CLUSTER) {
        float acc[BM / 2], sum[BM / 2] = {0};
        NO_UNROLL for (int k_tile = 0; k_tile < args->gemm.tiles_k; ++k_tile) {
            struct weights w;
            struct fragments f;
            /* All bytes of the k-tile have arrived. mbarrier.try_wait */
            consumer_wait(shared->ring, state);
            load_weights(&w, shared->b[state.index], consumer);
            convert(&f, &w);
            /* The conversion's writing of the fragments, and the promotion's reading of the
             * accumulators, come before the multiplications. wgmma.fence */
            wgmma_fence();
            multiply(acc, &f, descriptor_of_a(shared->a[state.index]));
            /* They are one group, the unit that waits count. wgmma.commit_group */
            wgmma_commit_group();
            /* This thread's reads of the weights come before the TMA's next write to their stage.
             * fence.proxy.async */
            fence_proxy_async();
            /* The sums of 128 products are complete, and A's part of the stage has been read.
             * wgmma.wait_group */
            wgmma_wait_group(0);
            keep(&f);
            release(shared, state);
            /* Adds them to the sums in fp32, times the scales of this thread's channels. */
            wgmma_promote(sum, acc, f.scale, BM / 2);
            pipeline_advance(&state, STAGES);
        }
        store_slab(shared, args, number, consumer, sum);
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (threadIdx.x % 128 == 0) bulk_wait_group(0);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "w4a8_gemm", .variant = GEMM_VARIANT,
    .technique = "many rows: persistent clusters of three consumers that take turns",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .kind = &w4a8_kind,
};
