"""authored_beyond.py: the breaks of part two's kernels that are
written, as authored.py has part one's."""

from edit import Diff, Remove, Replace
from rules import ORDER, VALUE
from store import Break

BREAKS = {
    "10_stream_k": [
        Break("a-release-for-the-cta-only", Replace(", 1, SCOPE_GPU", ", 1, SCOPE_CTA"),
              "--m 256 --n 768 --k 1024", title="A release for the CTA only"),
        Break("the-barrier-before-the-flag", Diff("""
-    named_barrier_sync(1 + half, 128);
     if (threadIdx.x % 128 == 0) st_global_release(flag_of(args, place, half), 1, SCOPE_GPU);"""),
              "--m 256 --n 768 --k 1024"),
        Break("the-workspace-is-not-zeroed",
              Replace("gemm_zero(args.workspace, workspace_bytes(problem), stream)", "GEMM_OK"),
              file="split_reduce.cu"),
    ],
    "11_fp8_scaling": [
        Break("scales-that-are-read-after-the-release", Diff("""
-                const float s = load_scale(scale_b);
-                const float scale[2] = {load_scale(&scale_a[part * 64]) * s,
-                                        load_scale(&scale_a[part * 64 + 8]) * s};
@@
                 if (part == PARTS - 1 && reloads-- > 0) release_stage(shared, read);
+                const float s = load_scale(scale_b);
+                const float scale[2] = {load_scale(&scale_a[part * 64]) * s,
+                                        load_scale(&scale_a[part * 64 + 8]) * s};"""),
              "--dtype e4m3 --m 256 --n 256 --k 900"),
        Break("the-proxy-fence",
              Remove("/* This lane has read its scales, before the TMA overwrites them. fence.proxy.async */"),
              "--dtype e4m3 --m 256 --n 256 --k 900"),
        Break("the-promotion-before-the-wait",
              Replace("                wgmma_wait_group(0);\n"
                      "                if (part",
                      "                wgmma_promote(sum[part], acc, scale, BN / 2);\n"
                      "                wgmma_wait_group(0);\n"
                      "                if (part")),
        Break("an-arrival-for-every-stage", Replace(" && reloads-- > 0)", ")"),
              gallery=("arrivals at a CTA that may have ended", ORDER)),
        Break("a-box-that-begins-anywhere", Replace("k_tile / SCALES_B * SCALES_B", "k_tile"),
              gallery=("a box that begins anywhere", ORDER)),
        Break("the-first-of-four-scales", Replace("[k_tile % SCALES_B]", "[0]"),
              gallery=("the first of four scales of B", VALUE)),
    ],
    "12_w4a8": [
        Break("fragments-that-change-too-early", Replace("more) convert(next", "more) convert(f"),
              "--dtype w4a8 --m 16 --n 256 --k 900",
              gallery=("fragments that are being read", ORDER)),
        Break("the-proxy-fence", Remove("fence_proxy_async();"),
              "--dtype w4a8 --m 16 --n 256 --k 2700 --sms 1"),
        Break("a-wait-for-neither-of-two-k-tiles",
              Replace("second k-tile stays under way. wgmma.wait_group */\n"
                      "        wgmma_wait_group(1);",
                      "second k-tile stays under way. wgmma.wait_group */\n"
                      "        wgmma_wait_group(2);"), file="pairs.cu",
              title="A wait for neither of two k-tiles"),
    ],
    "13_two_gpus": [
        Break("gpu-instead-of-sys", Replace("flag, 1, SCOPE_SYS", "flag, 1, SCOPE_GPU"),
              "--m 256 --n 512 --k 1024", title=".gpu instead of .sys"),
        Break("no-wait-for-credit", Replace(" wait_for_credit(args, consumer);", ";")),
    ],
    "14_fused_epilogue": [
        Break("an-activation-in-a-part-of-k", Diff("""
         NO_UNROLL for (int k_tile = 1; k_tile < args->tiles_k; ++k_tile) {
+            if (k_tile == args->tiles_k / 2) { /* a part ends */
+                wgmma_wait_group(0);
+                for (int i = 0; i < BM / 64 * BN / 2; ++i)
+                    acc[i / (BN / 2)][i % (BN / 2)] = gelu(acc[i / (BN / 2)][i % (BN / 2)]);
+            }
             issue_k_tile(shared, &state, acc, k_tile);"""),
              "--size 256 --input integer", file="bias_gelu.cu"),
        Break("the-proxy-fence-of-c-and-d", Remove("fence_proxy_async();"), "--size 256",
              title="The proxy fence of C and D"),
        Break("c-requested-before-d-has-been-read", Diff("""
-        bulk_wait_group_read(0);
         request_c(shared, args, tile, consumer, piece + BUFFERS);"""),
              "--size 256 --schedule late", title="C requested before D has been read"),
        Break("the-bias-of-another-column", Replace("threadIdx.x % 4", "threadIdx.x % 32 / 8"),
              "--size 256 --input integer", file="bias_gelu.cu",
              gallery=("the biases of the fragment's row", VALUE)),
        Break("one-piece-of-c-too-many", Replace("piece < BUFFERS;", "piece < BUFFERS + 1;"),
              title="One piece of C too many"),
        Break("the-rows-below-the-gates", Replace("args->n + tile.n * DN,", "DN + tile.n * DN,"),
              file="swiglu.cu", gallery=("the rows below the gates' as values", VALUE)),
        Break("the-greatest-of-two-lanes",
              Replace("    greatest = fmaxf(greatest, float_of_lane(greatest, lane ^ 2));\n", ""),
              file="quantize.cu"),
    ],
    "15_grouped_gemm": [
        Break("no-acquire", Remove("fence_tensor_map_acquire("), "--m 512 --n 200 --k 100"),
        Break("one-map-of-a-without-a-wait", Remove("turn ^= 1;"), "--m 512 --n 200 --k 100",
              title="One map of A, without a wait", gallery=("one map of A", ORDER)),
        Break("a-tile-stored-into-the-next-group",
              Replace("group.first_row, false)", "group.first_row, true)"), file="one_map.cu",
              gallery=("the TMA stores into the next group's rows", VALUE)),
        Break("a-wait-for-the-last-load-alone",
              Replace("int i = issued > STAGES ? issued - STAGES : 0;",
                      "int i = k_tile < 0 ? 0 : k_tile;"),
              gallery=("waits for the last load of a group only", ORDER)),
        Break("a-map-copied-by-ordinary-stores",
              Replace("    tensor_map_copy_release(map, edited, SCOPE_CTA);",
                      "    st_global_b32((uint32_t *)map + threadIdx.x % 32,\n"
                      "                  ld_shared_b32((uint32_t *)edited + threadIdx.x % 32));")),
        Break("a-box-of-scales-that-begins-anywhere", Replace("place.row / 4 * 4", "place.row"),
              file="fp8.cu", gallery=("a box that begins anywhere", ORDER)),
        Break("the-scales-of-rows-before",
              Replace("[group.first_row % 4 + consumer * 64 + row]", "[consumer * 64 + row]"),
              file="fp8.cu", gallery=("the scales of other rows", VALUE)),
    ],
    "16_attention": [
        Break("o-rescaled-while-the-product-of-the-values-still-runs", Diff("""
     softmax_exponentials(s, rows, 0, args->scale, BN); /* and under them row 1's maximum */
+    softmax_rescale(o, rescale, HEAD);
     /* All bytes of the next keys have arrived. This wait is a loop, and that PINS THE ORDER: within"""),
              "--m 128 --n 520 --k 128"),
        Break("the-values-released-after-the-wrong-wait", Diff("""
-    release(shared->k_ring, &places->k, STAGES);
+    release(shared->k_ring, &places->k, STAGES);
+    struct pipeline_state values = places->v;
+    release(shared->v_ring, &values, STAGES);
     /* The next consumer's turn; one arrival per warp. mbarrier.arrive */
@@
-    wgmma_use_fragments(p[0], BN / 4);
-    release(shared->v_ring, &places->v, STAGES);
+    wgmma_use_fragments(p[0], BN / 4);
+    pipeline_advance(&places->v, STAGES);
     softmax_exponentials(s, rows, 1, args->scale, BN); /* and under them what follows */"""),
              "--m 128 --n 1000 --k 128"),
        Break("a-mask-one-column-off",
              Replace("  softmax_mask(s, rows, block * BN, BN);",
                      "  softmax_mask(s, rows, block * BN - 1, BN);"),
              "--m 300 --n 300 --k 128 --mask causal"),
        Break("the-order-barriers-exchanged",
              Replace("mbarrier_wait(&shared->order[consumer]",
                      "mbarrier_wait(&shared->order[1 - consumer]"), file="pingpong.cu",
              gallery=("the order barriers exchanged", ORDER)),
        Break("an-empty-row", Replace("fmaxf(max * scale, -FLT_MAX)", "max * scale"),
              file="softmax.h", gallery=("a row of -infinity", VALUE)),
        Break("a-factor-that-is-not-1-where-the-maximum-stays",
              Replace("exp2_approx(rows->shift[r] - shift)",
                      "exp2_approx(fmaf(rows->max[r], scale, -shift))"), file="softmax.h",
              gallery=("a factor that is not 1", VALUE)),
        Break("a-sum-that-is-not-rescaled", Replace("    rows->sum[r] *= rescale[r];\n", ""),
              file="softmax.h", gallery=("the sum is not rescaled", VALUE)),
        Break("o-is-not-rescaled",
              Replace("    softmax_rescale(o, rescale, HEAD);\n"
                      "    softmax_pack(p, s, BN);",
                      "    softmax_pack(p, s, BN);"), gallery=("O is not rescaled", VALUE)),
        Break("rows-and-columns-of-a-exchanged",
              Replace("p[i / 4][i % 4]", "p[i / 4][i % 2 * 2 + i % 4 / 2]"), file="softmax.h",
              title="Rows and columns of A exchanged",
              gallery=("rows and columns of A exchanged", VALUE)),
        Break("a-softmax-of-scores-under-way",
              Replace("wgmma_wait_group(1);", "wgmma_wait_group(2);"),
              gallery=("the softmax of scores that are under way", ORDER)),
    ],
    "17_tcgen05": [
        Break("no-fence-after-the-wait", Diff("""
         mbarrier_wait_relaxed(&shared->sums[sums.index].full, sums.phase);
         /* They come before these loads. tcgen05.fence::after_thread_sync */
-        tcgen05_fence_after();"""),
              "--m 512 --n 768 --k 384 --sms 2"),
        Break("an-arrival-that-overtakes-the-loads", Remove("tcgen05_wait_load();"),
              "--m 512 --n 768 --k 384 --sms 2"),
        Break("the-wait-for-the-loads-behind-the-fence",
              Replace("            tcgen05_wait_load();\n"
                      "            if (column + STORE_N == BN) {\n"
                      "                /* They were the last of its row: the issuer may overwrite it.\n"
                      "                 * tcgen05.fence::before_thread_sync, mbarrier.arrive.relaxed */\n"
                      "                tcgen05_fence_before();\n",
                      "            if (column + STORE_N == BN) tcgen05_fence_before();\n"
                      "            tcgen05_wait_load();\n"
                      "            if (column + STORE_N == BN) {\n")),
        Break("released-after-the-first-columns",
              Replace("if (column + STORE_N == BN) {", "if (column == 0) {")),
        Break("a-stage-released-at-once",
              Replace("tcgen05_commit(1, &shared->ring[", "mbarrier_arrive(&shared->ring[")),
        Break("the-first-multiplication-accumulates", Replace("accumulate || step > 0", "true")),
        Break("one-set-for-all-tiles",
              Replace("const uint32_t d = tensor_memory + sums.index * BN;",
                      "const uint32_t d = tensor_memory;")),
        Break("all-lanes-multiply", Replace("if (elect_one()) issuer(", "issuer(")),
        Break("the-lanes-of-another-warp",
              Replace("(uint32_t)warp_index() * 32", "(uint32_t)(warp_index() ^ 1) * 32")),
        Break("192-rows", Replace("tcgen05_instruction(BM, BN)", "tcgen05_instruction(192, BN)")),
    ],
    "18_cta_pair": [
        Break("a-wait-for-half-of-the-bytes", Replace("CLUSTER * STAGE_BYTES", "STAGE_BYTES"),
              "--m 512 --n 768 --k 384 --sms 2"),
        Break("an-allocation-before-both-ctas-have-begun",
              Remove("/* Both CTAs have begun. barrier.cluster */"),
              "--m 512 --n 768 --k 384 --sms 2", title="An allocation before both CTAs have begun"),
        Break("only-the-barrier-of-the-cta",
              Replace("cluster_sync();\n"
                      "    const uint32_t",
                      "__syncthreads();\n"
                      "    const uint32_t"), title="Only the barrier of the CTA"),
        Break("only-the-even-cta-allocates",
              Replace("if (warp == ISSUER_WARP) {\n"
                      "        /* All",
                      "if (warp == ISSUER_WARP && cluster_rank() == 0) {\n"
                      "        /* All"), title="Only the even CTA allocates"),
        Break("a-commit-for-the-even-cta-alone",
              Replace("ring[state.index].empty, (1 << CLUSTER) - 1", "ring[state.index].empty, 1"),
              title="A commit for the even CTA alone"),
        Break("both-announce",
              Replace("if (cluster_rank() == 0) mbarrier_arrive_expect_tx",
                      "mbarrier_arrive_expect_tx")),
        Break("each-on-its-own-barrier", Replace("tma_load_pair(shared->a", "tma_load(shared->a")),
        Break("the-arrivals-of-one-epilogue", Replace("CLUSTER * EPILOGUE)", "EPILOGUE)")),
        Break("two-issuers",
              Replace("if (cluster_rank() == 0 && elect_one()) issuer(", "if (elect_one()) issuer(")),
        Break("the-halves-of-b-exchanged",
              Replace("(int)cluster_rank() * (BN / 2)", "(1 - (int)cluster_rank()) * (BN / 2)"),
              title="The halves of B exchanged"),
    ],
    "19_work_stealing": [
        Break("no-proxy-fence-after-the-read", Diff("""
-    fence_proxy_async();
     consumer_release(shared->answers, *state);"""),
              "--m 640 --n 1100 --k 200 --sms 2"),
        Break("the-index-of-a-refusal", Diff("""
-    return cluster_is_canceled(answer) ? cluster_first_cta(answer) : -1;
+    const int next = cluster_first_cta(answer);
+    return cluster_is_canceled(answer) ? next : -1;"""),
              "--m 640 --n 1100 --k 200 --sms 2"),
        Break("released-before-it-is-read",
              Replace("    consumer_wait(shared->answers, *state);\n"
                      "    const struct b128 answer",
                      "    consumer_wait(shared->answers, *state);\n"
                      "    consumer_release(shared->answers, *state);\n"
                      "    const struct b128 answer")),
        Break("a-reader-too-few", Replace("READERS = EPILOGUE + 3,", "READERS = EPILOGUE + 2,")),
        Break("a-reader-too-many", Replace("READERS = EPILOGUE + 3,", "READERS = EPILOGUE + 4,")),
        Break("half-of-the-bytes", Replace("sizeof(struct b128))", "sizeof(struct b128) / 2)")),
        Break("a-request-after-the-refusal",
              Replace("    } while (next_tile(shared, &answers) >= 0);\n",
                      "    } while (next_tile(shared, &answers) >= 0);\n"
                      "    cluster_try_cancel(&shared->answer[0], &shared->answers[0].full);\n")),
        Break("the-answer-is-ignored", Replace("? cluster_first_cta(answer) : -1", "? -1 : -1")),
    ],
}
