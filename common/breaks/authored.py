"""authored.py: the breaks of part one's kernels that are written, by chapter. Pages name
them, and the live page has them. A name is a part of addresses; a title is what the live page calls the
kernel."""

from edit import Diff, Remove, Replace
from rules import ORDER, VALUE
from store import Break

# chapter: name, edit, the run that shows it
BREAKS = {
    "01_naive": [
        Break("the-bounds", Remove("if (row >= args.m || column >= args.n) return;"),
              "--m 100 --n 100 --k 64"),
    ],
    "02_smem_tiled": [
        Break("the-first-barrier", Remove("__syncthreads();"), "--size 256"),
        Break("the-second-barrier", Remove("__syncthreads();", 1), "--size 256"),
        Break("the-mask", Remove("if (valid < CHUNK) chunks[i] = mask_chunk(chunks[i], valid);"),
              "--size 256 --k 100", gallery=("missing tail: padding not masked", VALUE)),
    ],
    "03_cp_async_multistage": [
        Break("waiting-for-one-group-too-few",
              Replace("cp_async_wait_group(STAGES - 2", "cp_async_wait_group(STAGES - 1"),
              "--size 256"),
        Break("the-barrier-after-the-wait", Remove("__syncthreads();"), "--size 256"),
        Break("the-commit", Remove("cp_async_commit_group();"), "--size 256"),
        Break("the-last-wait", Remove("cp_async_wait_group(0);"), "--size 256"),
        Break("in-the-variant-the-release", Remove("mbarrier_arrive(&shared->empty[stage]);"),
              "--m 128 --n 128 --k 512", file="mbarrier.cu", title="In the variant: the release"),
    ],
    "04_rf_double_buffer": [
        Break("one-group-too-few-in-the-wait",
              Replace("cp_async_wait_group(STAGES - 2", "cp_async_wait_group(STAGES - 1"),
              "--size 256"),
        Break("the-barrier", Remove("__syncthreads();"), "--size 256"),
        Break("the-wrong-stage-for-the-fragments-ahead", Replace("(k_tile + 1) % STAGES", "stage"),
              "--size 256"),
        Break("the-wrong-set-of-registers", Replace("fragments[step", "fragments[(step + 1)"),
              "--size 256"),
    ],
    "05_tma_mbarrier": [
        Break("rows-and-columns-the-order-of-dimensions",
              Replace("tile.m * BM, k_tile * BK", "k_tile * BK, tile.m * BM"),
              "--m 128 --n 128 --k 192", title="Rows and columns: the order of dimensions",
              gallery=("row and column exchanged", VALUE)),
        Break("the-proxy-fence", Remove("fence_proxy_async();"), "--size 256"),
        Break("the-fence-in-one-thread-only",
              Replace("fence_proxy_async", "if (threadIdx.x == 0) fence_proxy_async"),
              "--size 256"),
        Break("the-wait-for-the-data",
              Remove("mbarrier_wait(&shared->full[state.index], state.phase);"), "--size 256"),
        Break("the-wrong-first-phase", Replace("shared->full[0], 0", "shared->full[0], 1"),
              "--size 256"),
        Break("too-few-bytes", Replace("stage], STAGE_BYTES", "stage], STAGE_BYTES / 2"),
              "--size 256", reports="tx-count",
              asks={"deadlock": "No phase lacks bytes: too many come.",
                    "verified": "A wait may end while a box is still on its way.",
                    "overwritten-while-read": "Something is reported before any stage is used again."},
              because="Half of the bytes complete the phase, and the other half still comes and counts "
                      "for it. That is reported at once; a read that comes too early is only what may "
                      "follow."),
        Break("too-many-bytes", Replace("stage], STAGE_BYTES", "stage], 2 * STAGE_BYTES"),
              "--m 128 --n 128 --k 256"),
        Break("a-copy-of-the-tensor-map", Diff("""
-    tma_load(shared->a[stage], &args->map_a, tile.m * BM, k_tile * BK, &shared->full[stage]);
+    const struct tensor_map map = args->map_a;
+    tma_load(shared->a[stage], &map, tile.m * BM, k_tile * BK, &shared->full[stage]);"""),
              "--size 256"),
        Break("the-alignment", Diff("""
 struct smem {
+    element_t gap[64];"""),
              "--size 256"),
        Break("the-fence-after-mbarrier-init", Remove("fence_mbarrier_init();"), "--size 256",
              title="The fence after mbarrier_init"),
        Break("can-one-full-barrier-serve-several-stages", Diff("""
-    mbarrier_arrive_expect_tx(&shared->full[stage], STAGE_BYTES);
-    tma_load(shared->a[stage], &args->map_a, tile.m * BM, k_tile * BK, &shared->full[stage]);
-    tma_load(shared->b[stage], &args->map_b, tile.n * BN, k_tile * BK, &shared->full[stage]);
+    mbarrier_arrive_expect_tx(&shared->full[0], STAGE_BYTES);
+    tma_load(shared->a[stage], &args->map_a, tile.m * BM, k_tile * BK, &shared->full[0]);
+    tma_load(shared->b[stage], &args->map_b, tile.n * BN, k_tile * BK, &shared->full[0]);
@@
-            mbarrier_wait(&shared->full[state.index], state.phase);
+            mbarrier_wait(&shared->full[0], (k_tile + 1) % 2);"""),
              "--size 256", title="Can one full barrier serve several stages?"),
        Break("waiting",
              Replace("mbarrier_wait(&shared->full[state", "mbarrier_try_wait(&shared->full[state"),
              "--size 256 --schedule random"),
        Break("a-run-that-shows-it", Replace("fence_proxy_async", "__syncthreads"), "--size 256"),
    ],
    "06_wgmma": [
        Break("the-release-one-k-tile-late", Replace("k_tile - WAIT +", "k_tile +"),
              "--size 512 --schedule late", title="The release one k-tile late",
              gallery=("fills the stage in use", ORDER)),
        Break("the-right-stride",
              Replace("shared_address(b), 0, 1024", "shared_address(b), 0, 512"),
              "--size 256 --schedule late", gallery=("wrong stride", VALUE)),
        Break("the-fence", Remove("wgmma_fence();"), "--size 256 --schedule late"),
        Break("the-wait-for-the-bytes", Remove("mbarrier_wait("), "--size 256 --schedule late"),
        Break("the-commit", Remove("wgmma_commit_group();"), "--size 512 --schedule late"),
        Break("the-wait-in-the-main-loop", Remove("wgmma_wait_group(WAIT);"),
              "--size 512 --schedule late"),
        Break("the-barrier-after-the-wait", Remove("__syncthreads();", 1),
              "--size 512 --schedule random"),
        Break("the-last-wait", Diff("""
     /* The accumulators are complete. wgmma.wait_group */
-    wgmma_wait_group(0);"""),
              "--size 512 --schedule late"),
        Break("the-alignment", Diff("""
 struct smem {
+    element_t gap[64];"""),
              "--size 256 --schedule late"),
        Break("arithmetic-before-the-wait", Diff("""
     /* The accumulators are complete. wgmma.wait_group */
+    const float alpha = gridDim.y; /* 1 */
+    UNROLL for (int i = 0; i < 64; ++i) acc[1][i] *= alpha;
     wgmma_wait_group(0);"""),
              "--size 256 --schedule early"),
        Break("in-rs-the-proxy-fence", Remove("fence_proxy_async();"), "--size 512 --schedule late",
              file="rs.cu", title="In RS: the proxy fence"),
        Break("in-rs-fragments-loaded-after-the-fence", Diff("""
-            const int row = i * 64 + warp * 16 + lane % 16, chunk = 2 * step + lane / 16;
-            ldmatrix_x4(f->a[step][i], &a[row * BK + (chunk ^ row % 8) * CHUNK]);
+            UNROLL for (int r = 0; r < 4; ++r) {
+                const int row = i * 64 + warp * 16 + lane / 4 + r % 2 * 8;
+                const int chunk = (2 * step + r / 2) ^ row % 8;
+                f->a[step][i][r] =
+                    ld_shared_b32(&a[row * BK + chunk * CHUNK + lane % 4 * 2]);
+            }
@@
-    load_fragments(fragments, shared->a[state->index]);
     /* The fragments, and what was done to the accumulators, come before the multiplications.
      * wgmma.fence */
     wgmma_fence();
+    load_fragments(fragments, shared->a[state->index]);"""),
              "--m 200 --n 264 --k 1064 --schedule early", file="rs.cu",
              title="In RS: fragments loaded after the fence"),
        Break("in-rs-a-fragment-changed-after-the-fence", Diff("""
     wgmma_fence();
+    fragments->a[0][0][0] ^= 0x80008000u;"""),
              "--m 200 --n 264 --k 1064 --schedule early", file="rs.cu",
              title="In RS: a fragment changed after the fence"),
        Break("in-rs-a-fragment-changed-before-the-wait", Diff("""
     wgmma_commit_group();
+    fragments->a[BK / 16 - 1][0][0] ^= 0x80008000u;"""),
              "--m 200 --n 264 --k 1064 --schedule early", file="rs.cu",
              title="In RS: a fragment changed before the wait"),
        Break("no-fence-after-mbarrier-init", Remove("fence_mbarrier_init();"),
              "--size 256 --schedule late", title="No fence after mbarrier_init"),
        Break("with-two-warpgroups-a-barrier-for-each",
              Replace("     __syncthreads();", "     named_barrier_sync(1 + half, 128);"),
              "--size 512 --schedule random", file="two_warpgroups.cu",
              title="With two warpgroups: a barrier for each"),
        Break("with-two-warpgroups-whose-rows", Replace("half * 64 * BK", "0"), "--size 256",
              file="two_warpgroups.cu", title="With two warpgroups: whose rows?",
              gallery=("wrong half of the tile", VALUE)),
        Break("the-step-along-k", Diff("""
-            const uint64_t a_step = a_tile + ((i * 64 * BK + step * 16) * sizeof(element_t) >> 4);
-            const uint64_t b_step = b_tile + (step * 16 * sizeof(element_t) >> 4);
+            const uint64_t a_step = a_tile + (i * 64 * BK * sizeof(element_t) >> 4);
+            const uint64_t b_step = b_tile;"""),
              "--size 256"),
    ],
    "07_warp_specialized": [
        Break("releasing-what-was-issued-not-what-was-waited-for", Diff("""
         wgmma_wait_group(WAIT);
-        release_stage(shared, &release);
@@
+        release_stage(shared, &release);
         /* The group of k-tile k_tile - WAIT is complete: this warp has read its stage."""),
              "--m 128 --n 256 --k 1024 --schedule late",
              title="Releasing what was issued, not what was waited for"),
        Break("the-producer-s-first-phase",
              Replace("1}; /* phase 1: the first round of acquires passes at once */", "0};"),
              "--m 128 --n 256 --k 512 --schedule late", title="The producer's first phase"),
        Break("the-consumer-s-first-phase",
              Replace("0}, release = {0, 0}; /* the next to read, to release */",
                      "1}, release = {0, 0};"), "--m 128 --n 256 --k 512",
              title="The consumer's first phase"),
        Break("the-count-of-arrivals", Replace(" CONSUMERS * 4", " 4"),
              "--m 128 --n 256 --k 1024 --schedule late"),
        Break("the-acquire",
              Replace("producer_acquire(shared->ring, state", "mbarrier_arrive_expect_tx(full"),
              "--size 1024 --schedule random"),
        Break("the-consumer-s-wait", Remove("consumer_wait(shared->ring, *state);"),
              "--size 1024 --schedule random", title="The consumer's wait"),
        Break("that-wait-by-one-lane-for-its-warp",
              Replace("consumer_wait", "if (threadIdx.x % 32 == 0) consumer_wait"), "--size 256",
              reports="read-before-landed",
              asks={"deadlock": "A wait takes part in nothing: nobody counts who waits.",
                    "verified": "That the lane has waited orders its own instructions alone.",
                    "diverged-warpgroup": "The lanes are together again when the wgmma is issued."},
              because="All 32 lanes issue the wgmma, and only one of them is ordered after the load. A "
                      "__syncwarp() behind the wait would order the others."),
        Break("the-release",
              Remove("if (threadIdx.x % 32 == 0) consumer_release(shared->ring, *state);"),
              "--m 128 --n 256 --k 512 --schedule late"),
        Break("the-wait-before-the-release", Remove("wgmma_wait_group(WAIT);"),
              "--m 128 --n 256 --k 1024 --schedule late"),
        Break("that-wait-in-one-warp-of-each-consumer",
              Replace("wgmma_wait_group(WAIT", "if (warp_index() % 4 == 0) wgmma_wait_group(WAIT"),
              "--m 128 --n 256 --k 1024"),
        Break("one-release-for-the-warpgroup", Diff("""
-    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, *state);
+    if (threadIdx.x % 128 == 0) consumer_release(shared->ring, *state);
@@
-        pipeline_init(shared->ring, STAGES, CONSUMERS * 4);
+        pipeline_init(shared->ring, STAGES, CONSUMERS);"""),
              "--m 128 --n 256 --k 1024"),
        Break("the-wait-before-the-epilogue", Remove("wgmma_wait_group(0);"),
              "--size 256 --schedule late"),
        Break("the-barrier-after-the-initialization",
              Remove("/* The barriers are initialized before any other thread uses one. bar.sync */"),
              "--size 512 --schedule late"),
        Break("four-producers", Replace("warp == 0 && elect_one", "elect_one"),
              "--m 128 --n 256 --k 512 --schedule late",
              gallery=("a thread of each warp produces", ORDER)),
        Break("two-counts-of-k-tiles",
              Replace("0; k_tile < args->tiles_k; ++k_tile) {",
                      "0; k_tile < args->k / BK; ++k_tile) {"), "--m 128 --n 256 --k 1000",
              title="Two counts of k-tiles"),
        Break("any-order-gives-the-right-result",
              Replace("rows_left < RASTER_GROUP ? rows_left : RASTER_GROUP", "RASTER_GROUP"),
              "--m 256 --n 512 --k 64", file="building_blocks/tile_order.h"),
        Break("one-arrival-too-many", Replace("threadIdx.x % 32", "threadIdx.x % 16"),
              "--m 128 --n 256 --k 1024 --schedule late"),
        Break("arriving-on-the-full-barrier-twice", Diff("""
         producer_acquire(shared->ring, state, STAGE_BYTES);
+        producer_commit(shared->ring, state);"""),
              "--size 256"),
        Break("a-run-that-shows-it",
              Replace("pipeline_state state = {0, 1", "pipeline_state state = {0, 0"),
              "--m 128 --n 256 --k 512", gallery=("wrong initial producer phase", ORDER)),
    ],
    "08_persistent_pingpong": [
        Break("can-d-be-staged-in-the-ring", Diff("""
-        epilogue_store(shared->d[half], args, tile.m * BM + half * 64, tile.n * BN, 64, BN, acc,
-                       1 + half);
+        epilogue_store((element_t(*)[EPILOGUE_M * EPILOGUE_N])shared->a[half], args,
+                       tile.m * BM + half * 64, tile.n * BN, 64, BN, acc, 1 + half);"""),
              "--m 512 --n 1024 --k 128", file="persistent.cu",
              title="Can D be staged in the ring?"),
        Break("a-ring-that-starts-anew-for-each-tile", Diff("""
+        state = (struct pipeline_state){0, 1};
         NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
@@
+        state = release = (struct pipeline_state){0, 0};
         /* Prologue: a group that will stay in flight. There is nothing to release yet. */"""),
              "--m 128 --n 512 --k 320 --sms 1", file="persistent.cu"),
        Break("the-order-barrier", Remove("mbarrier_wait("), "--m 128 --n 384 --k 384 --sms 1"),
        Break("in-persistent-cu-the-last-release", Remove("release_stage(shared, &release);", 1),
              "--m 256 --n 512 --k 512 --sms 1", file="persistent.cu",
              title="In persistent.cu: the last release"),
        Break("the-same-in-kernel-cu", Remove("release_stage(shared, &release);", 1),
              "--m 256 --n 384 --k 512 --sms 1", title="The same in kernel.cu"),
        Break("in-persistent-cu-the-next-tile", Diff("""
     struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
-    for (int number = blockIdx.x; number < args->items; number += gridDim.x) {
+    for (int number = blockIdx.x; number < args->items;) {
@@
     struct pipeline_state state = {0, 0}, release = {0, 0}; /* the next to read, to release */
-    for (int number = blockIdx.x; number < args->items; number += gridDim.x) {
+    for (int number = blockIdx.x; number < args->items;) {"""),
              "--m 128 --n 256 --k 64 --sms 1", file="persistent.cu",
              title="In persistent.cu: the next tile"),
        Break("the-hand-over",
              Remove("if (threadIdx.x % 32 == 0) mbarrier_arrive(&shared->order[1 - consumer]);"),
              "--m 256 --n 384 --k 512 --sms 1", title="The hand-over"),
        Break("which-consumer-begins",
              Replace("consumer == 0; /* consumer 0 begins: parity 1 passes at once */", "0;"),
              "--m 256 --n 384 --k 512 --sms 1", title="Which consumer begins?",
              gallery=("nobody begins", ORDER)),
        Break("skipping-the-stages-of-the-other-consumer", Remove("pipeline_skip("),
              "--m 256 --n 384 --k 512 --sms 1",
              gallery=("does not skip the other's stages", ORDER)),
        Break("the-count-of-releases", Replace("ring, STAGES, 4", "ring, STAGES, 8"),
              "--m 256 --n 384 --k 512 --sms 1"),
        Break("one-fence-for-all-tiles", Diff("""
-    wgmma_fence();
     multiply(acc, shared->a[state->index], shared->b[state->index], k_tile > 0);
@@
     float acc[BM / 64][BN / 2] = {{0}};
+    wgmma_fence();"""),
              "--m 512 --n 384 --k 512 --sms 1 --schedule early"),
        Break("returning-no-registers", Remove("setmaxnreg_dec(PRODUCER_REGISTERS);"),
              "--size 128"),
        Break("too-many-registers", Replace("CONSUMER_REGISTERS 232", "CONSUMER_REGISTERS 240"),
              "--size 128", gallery=("register budget over the pool", ORDER)),
        Break("the-proxy-fence", Remove("fence_proxy_async();"), "--size 512 --schedule late",
              file="building_blocks/epilogue_store.h"),
        Break("the-fence-in-the-elected-thread-alone", Diff("""
-        fence_proxy_async();
         /* The same holds for every thread before the store is issued. bar.sync */
         named_barrier_sync(barrier, 128);
+        if (elected) fence_proxy_async();"""),
              "--size 512 --schedule late", file="building_blocks/epilogue_store.h"),
        Break("the-barrier-between-fence-and-store", Remove("named_barrier_sync(barrier, 128);", 1),
              "--size 512 --schedule random", file="building_blocks/epilogue_store.h"),
        Break("the-wait-before-writing",
              Replace("bulk_wait_group_read(BUFFERS - 1", "bulk_wait_group_read(BUFFERS"),
              "--size 512 --schedule late", file="building_blocks/epilogue_store.h"),
        Break("the-barrier-after-that-wait", Remove("named_barrier_sync(barrier, 128);"),
              "--size 512 --schedule late", file="building_blocks/epilogue_store.h"),
        Break("a-named-barrier-of-its-own", Replace("1 + consumer", "1"), "--size 1024"),
        Break("a-named-barrier-of-its-own-2", Replace("1 + half", "1"),
              "--size 512 --schedule late", file="persistent.cu",
              title="A named barrier of its own",
              gallery=("both consumers use one named barrier", ORDER)),
        Break("the-last-wait", Remove("if (elected) bulk_wait_group(0);"),
              "--size 512 --schedule late"),
        Break("the-edge", Replace("epilogue_at_edge(args, first_column)", "false"),
              "--m 512 --n 508 --k 128", file="building_blocks/epilogue_store.h"),
        Break("in-persistent-cu-two-counts-of-k-tiles",
              Replace("0; k_tile < args->tiles_k; ++k_tile) {",
                      "0; k_tile < args->k / BK; ++k_tile) {"), "--m 256 --n 512 --k 200 --sms 1",
              file="persistent.cu", title="In persistent.cu: two counts of k-tiles"),
        Break("in-persistent-cu-the-ring-initialized-again-for-each-tile", Diff("""
         const struct tile tile = tile_at(number, args->tiles_m, args->tiles_n);
+        if (number != (int)blockIdx.x) pipeline_init(shared->ring, STAGES, CONSUMERS * 4);
         NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {"""),
              "--m 256 --n 512 --k 512 --sms 1", file="persistent.cu",
              title="In persistent.cu: the ring initialized again for each tile"),
        Break("may-a-cta-wait-for-another", Diff("""
 #include "gemm.h"
+#include "hopper/atomics.h"
@@
+    if (threadIdx.x == 0) {
+        red_add_release(args.tile_counter, 1, SCOPE_GPU);
+        while (ld_global_acquire(args.tile_counter, SCOPE_GPU) < gridDim.x) {}
+        if (atomic_add_relaxed(args.tile_counter, 1, SCOPE_GPU) == 2 * gridDim.x - 1)
+            st_global_relaxed(args.tile_counter, 0, SCOPE_GPU); /* for the next launch */
+    }
+    __syncthreads();
     if (warpgroup == 0) {
         if (warp == 0 && elect_one()) producer(shared, &args);
@@
-    return gemm_launch_grid(&GEMM_KERNEL, args.items < sms ? args.items : sms, &args, stream);
+    return gemm_launch_grid(&GEMM_KERNEL, args.items + 0 * sms, &args, stream);"""),
              "--m 512 --n 512 --k 64 --sms 4", file="persistent.cu",
              title="May a CTA wait for another?"),
    ],
    "09_cluster_multicast": [
        Break("the-last-cluster-barrier", Diff("""
     /* No CTA exits while the other may write to its memory or arrive at its barriers.
      * barrier.cluster */
-    cluster_sync();"""),
              "--size 1024 --schedule late"),
        Break("releases-to-the-warp-s-own-cta-only", Diff("""
-    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[state->index].empty, lane);
+    if (lane == 0) mbarrier_arrive(&shared->ring[state->index].empty);
@@
-        pipeline_init(shared->ring, STAGES, CLUSTER * CONSUMERS * 4);
+        pipeline_init(shared->ring, STAGES, CONSUMERS * 4);"""),
              "--size 1024 --schedule late", title="Releases to the warp's own CTA only"),
        Break("releases-to-cta-0-only",
              Replace("< CLUSTER) mbarrier_arrive_remote(&shared->ring[state->index].empty, lane",
                      "== 0) mbarrier_arrive_remote(&shared->ring[state->index].empty, 0"),
              "--size 1024 --schedule late", title="Releases to CTA 0 only"),
        Break("the-mask", Replace("(1 << CLUSTER) - 1", "1 << cluster_rank()"),
              "--size 1024 --schedule late", gallery=("multicast to itself only", ORDER)),
        Break("the-wrong-half-of-the-stage", Replace("index][row * BK", "index][0"),
              "--size 1024 --schedule late", gallery=("both halves to the same place", ORDER)),
        Break("the-box", Replace("ldb, BN / CLUSTER", "ldb, BN"), "--size 1024 --schedule late",
              gallery=("box of the whole tile", ORDER)),
        Break("the-announced-bytes",
              Replace("state, STAGE_BYTES", "state, (BM + BN / CLUSTER) * BK * sizeof(element_t)"),
              "--size 1024 --schedule late"),
        Break("the-fence-after-the-initialization", Remove("fence_mbarrier_init();"),
              "--size 1024 --schedule late"),
        Break("the-first-cluster-barrier", Replace("cluster_sync_relaxed", "__syncthreads"),
              "--size 1024 --schedule late"),
        Break("the-rank-in-the-tile", Replace("CLUSTER + cluster_rank()", "CLUSTER"),
              "--size 1024 --schedule late", gallery=("both CTAs compute the same tile", VALUE)),
        Break("arrivals-without-mapa",
              Replace("mbarrier_arrive_remote(&shared->ring[state->index].empty, lane",
                      "mbarrier_arrive(&shared->ring[state->index].empty"),
              "--size 1024 --schedule late"),
        Break("the-pair-beside-the-tile-order", Diff("""
-    struct tile tile = tile_at(number, args->items / args->tiles_n, args->tiles_n);
-    tile.m = tile.m * CLUSTER + cluster_rank();
+    const struct tile tile =
+        tile_at(number * CLUSTER + (int)cluster_rank(), args->tiles_m, args->tiles_n);"""),
              "--m 640 --n 1024 --k 128"),
    ],
}
