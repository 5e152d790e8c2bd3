/*
 * w4a8_gemm, pairs.cu: a warpgroup promotes while its own next multiplications are under way.
 *
 * The idea: in teams.cu a k-tile is a chain in its warpgroup. The next multiplications start after
 * the wait for the last ones and after their promotion. Here a warpgroup has two sets of
 * accumulators and issues two slabs of 64 channels at a time: of two k-tiles, or with SLABS 2 of
 * the same k-tile, of which more channels then share the rows of A. It waits for the first slab,
 * promotes it and converts the next weights while the Tensor Core multiplies the second. Teams of
 * warpgroups do the same for each other, but they have twice the sums to add up, and fewer
 * registers for each thread. What it costs: registers, so with many rows one CTA has the SM to
 * itself.
 */
#include "few_rows.h"

/* Moves on to the next slab's stage: that of the team's next k-tile, after a k-tile's last slab. */
DEVICE void next_slab(struct pipeline_state *state, int stages, int slab) {
    if (slab == SLABS - 1)
        UNROLL for (int i = 0; i < TEAMS; ++i) pipeline_advance(state, stages);
}

/* Loads the weights of a slab, and waits for its k-tile first. One warpgroup. */
DEVICE void take_slab(struct smem *shared, struct pipeline_state *state, int stages,
                      struct weights *w, int consumer, int slab) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    if (slab == 0) consumer_wait(shared->ring, *state);
    load_weights(w, shared->memory.tiles.b[state->index], consumer * SLABS + slab);
    next_slab(state, stages, slab);
}

/* Sends the multiplications of a slab, whose weights are in `f`, to the Tensor Core. One
 * warpgroup. */
DEVICE void issue_slab(struct smem *shared, struct pipeline_state *state, int stages,
                       float acc[BM / 2], const struct fragments *f, int slab) {
    /* The conversion's writing of the fragments, and the promotion's reading of the accumulators,
     * come before the multiplications. wgmma.fence */
    wgmma_fence();
    multiply(acc, f, descriptor_of_a(shared->memory.tiles.a[state->index]));
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    next_slab(state, stages, slab);
}

/* Adds a slab's sums, which have been waited for, to those in fp32, times the scales of this
 * thread's two channels. Releases the k-tile's stage after its last slab. One warpgroup. */
DEVICE void finish_slab(struct smem *shared, struct pipeline_state *state, int stages,
                        float sum[BM / 2], float acc[BM / 2], struct fragments *f, int slab) {
    keep(f);
    if (slab == SLABS - 1) {
        /* This thread's reads of the weights come before the TMA's next write to their stage.
         * Before the wait, under more multiplications, this takes longer. fence.proxy.async */
        fence_proxy_async();
        /* This warp has read the stage: all its lanes have, and then one arrives. bar.warp.sync,
         * mbarrier.arrive */
        __syncwarp();
        if (threadIdx.x % 32 == 0) consumer_release(shared->ring, *state);
    }
    next_slab(state, stages, slab);
    wgmma_promote(sum, acc, f->scale, BM / 2);
}

enum { LAST = SLABS - 1 };

/* What a consumer has in flight: the weights taken last, and of the first and the second slab of a
 * pair the fragments and accumulators; the sums; the next stages to take, multiply, release, of so
 * many. */
struct flight {
    struct weights w;
    struct fragments f, g;
    float first[BM / 2], second[BM / 2], sum[SLABS][BM / 2];
    struct pipeline_state take, issue, done;
    int stages;
};

/* Multiplies the next `pairs` pairs of slabs, a constant, of `left` slabs that are left. The first
 * slab is converted and the second one's weights are taken, and so they are afterwards. One
 * warpgroup. */
DEVICE void multiply_pairs(struct smem *shared, struct flight *flight, int consumer, int pairs,
                           int left) {
    issue_slab(shared, &flight->issue, flight->stages, flight->first, &flight->f, 0);
    convert(&flight->g, &flight->w);
    keep(&flight->g); /* all of it comes before the next multiplications */
    UNROLL for (int pair = 1; pair <= pairs; ++pair) {
        const bool again = pair < pairs; /* another one comes here */
        issue_slab(shared, &flight->issue, flight->stages, flight->second, &flight->g, LAST);
        if (again || 2 * pair < left)
            take_slab(shared, &flight->take, flight->stages, &flight->w, consumer, 0);
        /* The first slab's sums are complete, and the Tensor Core has read its part of A. The
         * second slab stays under way. wgmma.wait_group */
        wgmma_wait_group(1);
        finish_slab(shared, &flight->done, flight->stages, flight->sum[0], flight->first,
                    &flight->f, 0);
        if (again || 2 * pair < left) convert(&flight->f, &flight->w);
        if (again) {
            keep(&flight->f);
            issue_slab(shared, &flight->issue, flight->stages, flight->first, &flight->f, 0);
        }
        if (again || 2 * pair + 1 < left)
            take_slab(shared, &flight->take, flight->stages, &flight->w, consumer, LAST);
        /* The second slab's sums are complete, too; if another pair comes, its first slab stays
         * under way. wgmma.wait_group */
        if (again) wgmma_wait_group(1);
        else wgmma_wait_group(0);
        finish_slab(shared, &flight->done, flight->stages, flight->sum[LAST], flight->second,
                    &flight->g, LAST);
        if (again) {
            convert(&flight->g, &flight->w);
            keep(&flight->g);
        }
    }
}

/* Multiplies its team's k-tiles, every TEAMS-th of the CTA's, two slabs at a time, and leaves the
 * sums in shared memory. With SLABS 2 the two are of one k-tile, with SLABS 1 of two. One
 * warpgroup. */
DEVICE void consumer(struct smem *shared, const struct w4a8_args *args, int team, int consumer) {
    int left = (cluster_k_tiles(args->parts) - team + TEAMS - 1) / TEAMS * SLABS;
    struct flight flight;
    UNROLL for (int i = 0; i < SLABS * BM / 2; ++i) flight.sum[i / (BM / 2)][i % (BM / 2)] = 0;
    const struct pipeline_state start = {team, 0}; /* there are more stages than teams */
    flight.take = flight.issue = flight.done = start;
    flight.stages = args->stages;
    if (left > 0) {
        take_slab(shared, &flight.take, args->stages, &flight.w, consumer, 0);
        convert(&flight.f, &flight.w);
    }
    if (left > 1) take_slab(shared, &flight.take, args->stages, &flight.w, consumer, LAST);
    NO_UNROLL for (; left >= 2 * PAIRS; left -= 2 * PAIRS)
        multiply_pairs(shared, &flight, consumer, PAIRS, left);
    NO_UNROLL for (; left > 1; left -= 2) multiply_pairs(shared, &flight, consumer, 1, left);
    if (left > 0) {
        issue_slab(shared, &flight.issue, args->stages, flight.first, &flight.f, 0);
        /* The last slab has no other beside it. wgmma.wait_group */
        wgmma_wait_group(0);
        finish_slab(shared, &flight.done, args->stages, flight.sum[0], flight.first, &flight.f, 0);
    }
    /* All consumer warps have read their last stage, and no load is under way, so the sums may
     * overwrite the ring; and the scales have been fetched. bar.sync */
    named_barrier_sync(DONE_BARRIER, THREADS);
    UNROLL for (int slab = 0; slab < SLABS; ++slab)
        column_sum_put(shared->memory.sums[team] + (consumer * SLABS + slab) * 64, PITCH,
                       flight.sum[slab], BM / 2);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "w4a8_gemm", .variant = GEMM_VARIANT,
    .technique = "a warpgroup promotes while its own next multiplications are under way",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .earliest = GEMM_EARLY_B,
    .kind = &w4a8_kind,
};
