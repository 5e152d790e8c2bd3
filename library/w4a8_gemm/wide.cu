/*
 * w4a8_gemm, wide.cu: many rows of A, where the Tensor Core sets the speed.
 *
 * The idea: with hundreds of rows each weight is used hundreds of times, so this is 11's kernel.cu:
 * persistent CTAs, two consumers whose promotions run under each other's multiplications, and two
 * CTAs that share the bytes of A. They do not share weights, which ordinary loads read; see
 * producer(). What it costs against FP8: the conversion. There are no registers for a second set of
 * fragments, so the conversion comes after the promotion. Both of them have to fit under the other
 * consumer's multiplications.
 */
#define CONSUMERS 2 /* of configuration.h, as the next two */
#define SLABS 2
#define STAGES 5
#define CONSUMER_REGISTERS 240 /* 24 + 2 * 240 <= 3 * 168, those at launch */
#include "many_rows.h"

/* Releases the stage before this one, which this warp has read, to the producers of both CTAs:
 * lane r arrives at CTA r's barrier. A whole warp. */
DEVICE void release_previous(struct smem *shared, struct pipeline_state state) {
    const int lane = threadIdx.x % 32, index = (state.index ? state.index : STAGES) - 1;
    /* This lane has read its weights, before the TMA overwrites them. fence.proxy.async */
    fence_proxy_async();
    /* So have all lanes, before one arrives. bar.warp.sync */
    __syncwarp();
    /* mapa, mbarrier.arrive */
    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[index].empty, lane);
}

/* Stores 64 channels of sums, 64 rows of D at a time, and clears the sums for the next tile. One
 * warpgroup. */
DEVICE void store_slab(struct smem *shared, const struct gemm_scaled_args *args, int number,
                       int consumer, int slab, float sum[BM / 2]) {
    const struct tile tile = cluster_tile(&args->gemm, number);
    const int column = tile.n * BN + (consumer * SLABS + slab) * 64;
    UNROLL for (int i = 0; i < BM / 64; ++i)
        transposed_store(shared->d[consumer][i % BUFFERS], args, tile.m * BM + i * 64, column,
                         &sum[i * 32], W4_UNIT, 1 + consumer);
    UNROLL for (int i = 0; i < BM / 2; ++i) sum[i] = 0;
}

/* Multiplies, promotes and stores its channels of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_scaled_args *args, int consumer) {
    const int first_slab = consumer * SLABS;
    const uint64_t a_first = descriptor_of_a(shared->a[0]); /* of the first stage */
    uint64_t a = a_first; /* of the stage to multiply */
    float acc[BM / 2], sum[SLABS][BM / 2];
    UNROLL for (int i = 0; i < SLABS * BM / 2; ++i) sum[i / (BM / 2)][i % (BM / 2)] = 0;
    struct weights w;
    struct fragments f;
    struct pipeline_state state = {0, 0};
    const int step = gridDim.x / CLUSTER; /* from one tile's number to the next */
    int number = blockIdx.x / CLUSTER;
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, state);
    load_weights(&w, shared->b[0], first_slab);
    convert(&f, &w);
    for (; number < args->gemm.items; number += step) {
        /* In the first tile there is no stage to release yet and no slab to store. */
        const bool first = number < step;
        NO_UNROLL for (int k_tile = 0; k_tile < args->gemm.tiles_k; ++k_tile) {
            UNROLL for (int slab = 0; slab < SLABS; ++slab) {
                /* The conversion's writing of the fragments, and the promotion's reading of the
                 * accumulators, come before the multiplications. wgmma.fence */
                wgmma_fence();
                multiply(acc, &f, a);
                /* They are one group, the unit that waits count. wgmma.commit_group */
                wgmma_commit_group();

                /* Under these multiplications: whatever is not the promotion or the conversion. */
                if (slab == 0 && (k_tile > 0 || !first)) release_previous(shared, state);
                /* The slab before this one is complete, if that was its last k-tile. */
                if (slab > 0 && k_tile == args->gemm.tiles_k - 1)
                    store_slab(shared, args, number, consumer, slab - 1, sum[slab - 1]);
                if (slab == 0 && k_tile == 0 && !first)
                    store_slab(shared, args, number - step, consumer, SLABS - 1,
                               sum[SLABS - 1]);
                const bool more = slab < SLABS - 1 || k_tile < args->gemm.tiles_k - 1 ||
                                  number + step < args->gemm.items;
                if (slab == SLABS - 1) {
                    pipeline_advance(&state, STAGES);
                    a = a_first + (unsigned)(state.index * sizeof shared->a[0] >> 4);
                    /* All bytes of the next k-tile have arrived. mbarrier.try_wait */
                    if (more) consumer_wait(shared->ring, state);
                }
                /* The sums of 128 products are complete. wgmma.wait_group */
                wgmma_wait_group(0);
                keep(&f);
                /* There are no registers for them earlier; they arrive under the promotion. */
                if (more)
                    load_weights(&w, shared->b[state.index], first_slab + (slab + 1) % SLABS);
                /* Adds them to the sums in fp32, times the scales of this thread's channels. */
                wgmma_promote(sum[slab], acc, f.scale, BM / 2);
                convert(&f, &w);
            }
        }
    }
    /* A CTA has at least one tile. */
    release_previous(shared, state);
    store_slab(shared, args, number - step, consumer, SLABS - 1, sum[SLABS - 1]);
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (threadIdx.x % 128 == 0) bulk_wait_group(0);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "w4a8_gemm", .variant = GEMM_VARIANT,
    .technique = "many rows: persistent clusters, conversion under the other warpgroup",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .kind = &w4a8_kind,
};
