/*
 * w4a8_gemm, teams.cu: few rows of A, and teams of warpgroups that take turns at the k-tiles.
 *
 * The idea: chapter 12's kernel.cu with four consumers, in two teams of two or four of one. While a
 * team promotes and converts, the other teams' multiplications are under way. What it costs: a
 * CTA's sums lie in as many places as it has teams, and are added up once more.
 */
#include "few_rows.h"

/* Waits for a k-tile and loads its weights. One warpgroup. */
DEVICE void take_weights(struct smem *shared, struct pipeline_state state, struct weights *w,
                         int consumer) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, state);
    load_weights(w, shared->memory.tiles.b[state.index], consumer);
}

/* Multiplies a k-tile whose weights are in `f`, takes those of the next one meanwhile, and promotes
 * the sums. They are converted meanwhile, too, to other fragments. One warpgroup. */
DEVICE void multiply_k_tile(struct smem *shared, struct pipeline_state *state, int stages,
                            float sum[BM / 2], struct fragments *f, struct fragments *next,
                            bool more, int consumer) {
    float acc[BM / 2];
    struct weights w;
    struct pipeline_state release = *state;
    /* The conversion's writing of the fragments, and the promotion's reading of the accumulators,
     * come before the multiplications. wgmma.fence */
    wgmma_fence();
    multiply(acc, f, descriptor_of_a(shared->memory.tiles.a[state->index]));
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    UNROLL for (int i = 0; i < TEAMS; ++i) pipeline_advance(state, stages);
    if (more) take_weights(shared, *state, &w, consumer);
    if (more) convert(next, &w);
    /* This thread's reads of the weights come before the TMA's next write to their stage.
     * fence.proxy.async */
    fence_proxy_async();
    /* The sums of 128 products are complete, and A's part of the stage has been read.
     * wgmma.wait_group */
    wgmma_wait_group(0);
    keep(f);
    /* This warp has read the stage: all its lanes have, and then one arrives. bar.warp.sync,
     * mbarrier.arrive */
    __syncwarp();
    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, release);
    /* Adds them to the sums in fp32, times the scales of this thread's two channels. */
    wgmma_promote(sum, acc, f->scale, BM / 2);
}

/* Multiplies its team's k-tiles, every TEAMS-th of the CTA's, and leaves the sums in shared memory.
 * One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct w4a8_args *args, int team, int consumer) {
    const int k_tiles = (cluster_k_tiles(args->parts) - team + TEAMS - 1) / TEAMS;
    float sum[BM / 2] = {0};
    struct weights w;
    struct fragments f[2]; /* of even and odd k-tiles */
    struct pipeline_state state = {team, 0}; /* there are more stages than teams */
    if (k_tiles > 0) {
        take_weights(shared, state, &w, consumer);
        convert(&f[0], &w);
    }
    NO_UNROLL for (int i = 0; i < k_tiles; i += 2) {
        multiply_k_tile(shared, &state, args->stages, sum, &f[0], &f[1], i + 1 < k_tiles, consumer);
        if (i + 1 == k_tiles) continue;
        multiply_k_tile(shared, &state, args->stages, sum, &f[1], &f[0], i + 2 < k_tiles, consumer);
    }
    /* All consumer warps have read their last stage, and no load is under way, so the sums may
     * overwrite the ring; and the scales have been fetched. bar.sync */
    named_barrier_sync(DONE_BARRIER, THREADS);
    column_sum_put(shared->memory.sums[team] + consumer * 64, PITCH, sum, BM / 2);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "w4a8_gemm", .variant = GEMM_VARIANT,
    .technique = "teams of warpgroups take turns at the k-tiles",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .earliest = GEMM_EARLY_B,
    .kind = &w4a8_kind,
};
