"""listed_beyond.py: the mutants of part two that are made by hand, as in listed.py."""

import os

from rules import ORDER, VALUE

STREAM_K, SPLIT_K = "beyond/10_stream_k/kernel.cu", "beyond/10_stream_k/split_k.cu"
EQUAL_PARTS = "beyond/10_stream_k/equal_parts.cu"
SPLIT_REDUCE = "beyond/10_stream_k/split_reduce.cu"
PER_TENSOR, PROMOTED = "beyond/11_fp8_scaling/per_tensor.cu", "beyond/11_fp8_scaling/promoted.cu"
SCALED, FEW_ROWS = "beyond/11_fp8_scaling/kernel.cu", "beyond/11_fp8_scaling/few_rows.cu"
CLUSTER_SUM = "building_blocks/cluster_sum.h"
COLUMN_SUM = "building_blocks/column_sum.h"
COLUMN_STORE = "building_blocks/column_store.h"
W4A8 = "beyond/12_w4a8/kernel.cu"
ONE_MAP, HOST_MAPS, GROUPED = (f"beyond/15_grouped_gemm/{name}.cu"
                               for name in ("one_map", "host_maps", "kernel"))
GROUPED_FP8 = "beyond/15_grouped_gemm/fp8.cu"
GROUP_STORE, GROUPS = "building_blocks/group_store.h", "beyond/15_grouped_gemm/groups.h"

# The headers of beyond/ that synchronize, or compute what a kernel stores.
HEADERS = ("cluster_sum.h", "part_store.h", "group_store.h")
BESIDE = ("beyond/14_fused_epilogue/pingpong.h", "beyond/15_grouped_gemm/groups.h",
          "beyond/16_attention/softmax.h", "beyond/16_attention/attention_tiles.h")
FEWEST_RIGHT = 3
# A kernel with a kind of problem of its own is compiled with one more file.
HERE = os.path.dirname(os.path.abspath(__file__))
FUSED = "beyond/14_fused_epilogue"
ATTENTION = "beyond/16_attention"
TILES = f"{ATTENTION}/attention_tiles.h"
GROUPED_GEMM, TWO_GPUS = "beyond/15_grouped_gemm", "beyond/13_two_gpus"
KERNELS_OF = {TWO_GPUS: ("serial", "through_tma", "copy_warps", "kernel", "all_gather"),
              FUSED: ("bias_gelu", "kernel", "swiglu", "quantize"),
              GROUPED_GEMM: ("one_map", "host_maps", "kernel", "fp8"),
              ATTENTION: ("serial", "pingpong", "kernel")}
COMPILED_WITH = {f"{chapter}/{file}.cu":
                 ("-DKIND_ON_GPU=0", os.path.join(HERE, "../../..", chapter, "kind.c"))
                 for chapter, files in KERNELS_OF.items() for file in files}

# (file, text, replacement, what is wrong, category)
EDITS = [
    (SPLIT_REDUCE, "const int first = part * args->tiles_k", "const int first = 0",
     "every part is the first", VALUE),
    (SPLIT_K, "item * SPLITS + cluster_rank()", "item * SPLITS",
     "every CTA the first one's k-tiles", VALUE),

    (f"{FUSED}/kernel.cu", "piece / BUFFERS % 2", "piece / BUFFERS % 2 ^ 1",
     "the phase of C before", ORDER),
    (f"{FUSED}/kernel.cu", "piece + BUFFERS);", "piece + BUFFERS - 1);",
     "C into the buffer that is used next", ORDER),
    (f"{FUSED}/kernel.cu", "biases[r / 2]", "biases[r % 2]",
     "the biases of the other eight columns", VALUE),
    (f"{FUSED}/quantize.cu", "lane ^ 2)", "lane ^ 1)", "the greatest of two lanes", VALUE),
    (f"{FUSED}/quantize.cu", "reciprocal[w % 2]", "reciprocal[w / 2]", "the other row's scale",
     VALUE),
    (f"{FUSED}/quantize.cu", "greatest >= LEAST_GREATEST", "greatest > 0",
     "a scale whose reciprocal overflows", VALUE),
    *((f"{FUSED}/{file}.cu", "if (column + 1 < args->gemm.n)\n        two =",
       "if (true)\n        two =", "biases in pairs beyond n", VALUE)
      for file in ("bias_gelu", "kernel", "quantize")),

    (f"{ATTENTION}/kernel.cu", "step * 16 * 64 *", "step * 8 * 64 *", "eight keys a step", VALUE),
    (f"{ATTENTION}/softmax.h", "key >= rows->seen", "key > rows->seen", "a key too many", VALUE),
    (f"{ATTENTION}/softmax.h", "rows->sum[r] *= rescale[r];", "",
     "the sum is not rescaled", VALUE),
    (f"{ATTENTION}/softmax.h", "rows.max[r] = -INFINITY;", "rows.max[r] = 0;",
     "no greatest score below 0", VALUE),
    (TILES, "tile_at(item, args->all_heads,",
     "tile_at(item, args->all_heads <= RASTER_GROUP ? args->all_heads "
     ": (args->all_heads + RASTER_GROUP - 1) / RASTER_GROUP * RASTER_GROUP,",
     "a last group of heads as large as the others", ORDER),
    *((TILES, "tile->head = at.m;", f"tile->head = at.m % {heads};", f"at most {heads} heads",
       ORDER)
      for heads in (8, 16)),
    (TILES, "args->sharing = of->heads / of->kv_heads;",
     "args->sharing = of->heads / of->kv_heads < 4 ? of->heads / of->kv_heads : 4;",
     "at most 4 heads share keys", VALUE),
    (TILES, "args->gemm.m) - 1);", "args->gemm.m) - 1 - (second > 0));",
     "the second tile of a pair without its last key", VALUE),

    (STREAM_K, "(1 << CLUSTER) - 1", "1 << cluster_rank()", "multicast to itself only", ORDER),
    (STREAM_K, "tile.n * BN + row", "tile.n * BN", "both CTAs load the same half", VALUE),
    (STREAM_K, "lane < CLUSTER", "lane < 1", "releases CTA 0's stage only", ORDER),
    (STREAM_K, "CLUSTER * CONSUMERS * 4", "CONSUMERS * 4", "counts one CTA's warps", ORDER),
    (STREAM_K, "tile.m * CLUSTER + cluster_rank()", "tile.m * CLUSTER",
     "both CTAs compute the same tile", VALUE),
    (STREAM_K, "[half * 64 * BK]", "[0]", "both consumers on one half", VALUE),
    (STREAM_K, "((int64_t)place * CONSUMERS + half) * CHUNKS",
     "(int64_t)place * CONSUMERS * CHUNKS", "the sums of both halves in one place", ORDER),
    (STREAM_K, "tile_counter[place * CONSUMERS + half]", "tile_counter[place * CONSUMERS]",
     "one flag for both halves", ORDER),
    (STREAM_K, "c * CLUSTER + cluster_rank(), half", "c * CLUSTER, half",
     "the sums of CTA 0's tile", ORDER),
    (STREAM_K, "acc[4 * i + j] += sum[j]", "acc[4 * i + j] = sum[j]", "one part's sums alone",
     VALUE),

    (EQUAL_PARTS, "number * CLUSTER + cluster_rank(), half", "number * CLUSTER, half",
     "both CTAs' sums in one place", ORDER),
    (EQUAL_PARTS, "other * CLUSTER + cluster_rank(), half", "other * CLUSTER, half",
     "the sums of CTA 0's tile", ORDER),
    (EQUAL_PARTS, "(index + 1) / args->splits", "(index + 1) / args->splits - 1",
     "the last k-tile of each part left out", VALUE),

    (PER_TENSOR, "load_scale(args->scales.a) * ", "", "the scale of B only", VALUE),
    (PER_TENSOR, "step * 32 * sizeof", "step * 16 * sizeof", "wrong step along k", VALUE),

    (PROMOTED, "first_row + part * 64 + row", "first_row + row", "the scales of the first part",
     VALUE),
    (PROMOTED, "row + 8 * i < args->gemm.m ?", "true ?", "the scales of rows that do not exist",
     VALUE),
    (PROMOTED, "column < args->gemm.n;", "true;", "the scales of columns that do not exist", VALUE),
    (PROMOTED, "wgmma_promote(sum[part]", "wgmma_promote(sum[0]", "one set of sums for both parts",
     VALUE),

    (GROUPED_FP8, "[k_tile % SCALES_B];", "[0];", "the first of four scales of B", VALUE),
    (SCALED, "map_scale_a, k_tile, tile.m", "map_scale_a, 0, tile.m",
     "the scales of the first block", VALUE),
    (SCALED, "[consumer * ROWS + row];", "[row];", "both consumers read the same scales", VALUE),
    (SCALED, "&scale_a[part * 64 + 8]", "&scale_a[part * 64]", "one scale for both rows", VALUE),
    (SCALED, "(BM + SCALES_B) * sizeof(float)", "BM * sizeof(float)",
     "does not expect B's scales", ORDER),
    (SCALED, "if (turn == rank)", "", "both CTAs load all rows", ORDER),
    (SCALED, "(1 << CLUSTER) - 1", "1 << cluster_rank()", "multicast to itself only", ORDER),
    (SCALED, "lane < CLUSTER", "lane < 1", "releases CTA 0's stage only", ORDER),
    (SCALED, "CLUSTER * CONSUMERS * 4", "CONSUMERS * 4", "counts one CTA's warps", ORDER),
    (SCALED, "release_stage(shared, read)", "release_stage(shared, state.index)",
     "releases the next stage", ORDER),
    (SCALED, "&& reloads-- > 0)", ")", "arrivals at a CTA that may have ended", ORDER),
    (SCALED, "b = b_first + (unsigned)(state.index", "b = b_first + (unsigned)(0 * state.index",
     "B of the first stage always", ORDER),
    (SCALED, "if (part > 0 && k_tile == args->tiles_k - 1)", "if (part > 0 && k_tile == 0)",
     "stores rows after their first k-tile", VALUE),
    (SCALED, "if (part == PARTS - 1 && k_tile == 0) tile =", "if (first) tile =",
     "the rows of every tile to the first one", VALUE),
    (SCALED, "UNROLL for (int i = 0; i < BN / 2; ++i) sum[i] = 0;", "",
     "adds to the sums of the tile before", VALUE),
    (SCALED, "shared->d[consumer][part]", "shared->d[0][part]", "consumers share their staging",
     ORDER),
    (SCALED, "shared->d[consumer][part]", "shared->d[consumer][0]",
     "both parts share their staging", ORDER),
    (SCALED, "sum, 1 + consumer);", "sum, 1);", "both consumers use one named barrier", ORDER),
    (SCALED, "consumer * ROWS + part * 64;", "consumer * ROWS;", "both parts to the same rows",
     VALUE),

    (FEW_ROWS, "[k_tile_at(args, item) % SCALES_B]", "[0]", "the first of four scales of B", VALUE),
    (FEW_ROWS, "&scale_a[8 * j + threadIdx", "&scale_a[threadIdx", "the scales of the first rows",
     VALUE),
    (FEW_ROWS, "tiles->scale_a[release.index]", "tiles->scale_a[state.index]",
     "the scales of the next k-tile", ORDER),
    (FEW_ROWS, "item * args->splits + cluster_rank()", "item * args->splits",
     "every CTA the first one's k-tiles", VALUE),
    (FEW_ROWS, "(BM + SCALES_B) * sizeof(float)", "BM * sizeof(float)",
     "does not expect B's scales", ORDER),
    (FEW_ROWS, "[consumer * 64 * BK]", "[0]", "both consumers on one half", VALUE),
    (FEW_ROWS, "rows_left < BM ? rows_left : BM", "BM", "rows not checked", VALUE),

    (CLUSTER_SUM, "down * 32 + (lane ^ j)]", "down * 32 + lane]", "reads without the swizzle",
     VALUE),

    (W4A8, "wgmma_promote(sum, acc, f->scale,", "wgmma_promote(sum, acc, next->scale,",
     "the next k-tile's scales", VALUE),
    (W4A8, "i * args->gemm.splits + cluster_rank()", "i * args->gemm.splits",
     "every CTA the first one's k-tiles", VALUE),
    (W4A8, "block_row(&args->gemm, place.n, k_tile)", "block_row(&args->gemm, place.n, 0)",
     "the first block for every k-tile", VALUE),
    (W4A8, "W4_UNIT);", "1.0f);", "without the unit of the weights", VALUE),
    (ONE_MAP, "group.first_row + tile.m * BM;", "tile.m * BM;", "the first group's rows", VALUE),
    (ONE_MAP, "group.number * args->n + tile.n * BN;", "tile.n * BN;", "the first group's weights",
     VALUE),
    (HOST_MAPS, "&all->maps[group.number].d", "&all->maps[0].d", "the first group's map", VALUE),
    (HOST_MAPS, "if (elected && group.number != acquired)", "if (elected && acquired < 0)",
     "acquires the first group's map only", ORDER),
    (HOST_MAPS, "if (group.number != acquired)", "if (acquired < 0)",
     "acquires the first group's map only", ORDER),
    (HOST_MAPS, "p->workspace + g;", "p->workspace;", "later maps over the first twelve", VALUE),
    (GROUPED, "            turn ^= 1;\n", "", "one map of A", ORDER),
    (GROUPED, "wait_for_loads(shared, last_before, issued)",
     "wait_for_loads(shared, last_before - 1, issued)", "waits for all loads but the last", ORDER),
    (GROUPED, "last_before = last;", "", "waits for no loads", ORDER),
    (GROUPED, "map_d, &shared->edited[1 + consumer],", "map_d, &shared->edited[1],",
     "both consumers edit one map", ORDER),
    (GROUPED, "shared->edited[0], &args->map_a", "shared->edited[0], &args->map_d",
     "D's pattern for A", VALUE),
    (GROUPED, "].d[consumer];", "].d[0];", "both consumers have the same map", ORDER),
    (GROUPED, "tensor_map_replace_dim(edited, 1, rows);", "", "the map does not end with the group",
     VALUE),
    (GROUPED_FP8, "SCALES_A + PARTS * SCALES_B", "BM + PARTS * SCALES_B",
     "does not expect the four scales more", ORDER),
    (GROUPED_FP8, "[part * SCALES_B]", "[0]", "one scale of B for both parts", VALUE),
    (GROUPED_FP8, "group.number * all->rows_b + place.column", "place.column",
     "the first group's weights", VALUE),
    (GROUPED_FP8, "if (turn == rank)", "", "both CTAs load all rows", ORDER),
    (GROUPED_FP8, "tile.n * CLUSTER + cluster_rank()", "tile.n * CLUSTER",
     "both CTAs compute the same tile", VALUE),
    (GROUPED_FP8, "row + 64 > place.end || ", "", "the TMA stores into the next group's rows",
     VALUE),
    (GROUPED_FP8, "group.m = place.end;", "group.m = args->m;", "rows not checked", VALUE),
    (GROUPED_FP8, "if (part > 0 && last)", "if (part > 0 && k_tile == 0)",
     "stores columns after their first k-tile", VALUE),
    (GROUPED_FP8, "shared->d[consumer][part]", "shared->d[consumer][0]",
     "both parts share their staging", ORDER),
    (GROUPS, "group->number == grouping->groups)",
     "group->number == (grouping->groups < 16 ? grouping->groups : 16))", "at most 16 groups",
     VALUE),
    (GROUPS, "group->first_row += group->rows;", "", "every group begins with row 0", VALUE),
    (GROUPS, "(group->rows + tile_rows - 1) / tile_rows * tiles_n;", "group->rows / tile_rows * "
     "tiles_n;", "no tile for a group's last rows", VALUE),
    (GROUPS, "to.rows = group->rows - row;", "to.rows = group->rows;", "rows not counted from the "
     "tile", VALUE),
    (GROUP_STORE, "row + EPILOGUE_M > to->rows", "row > to->rows",
     "the TMA stores into the next group's rows", VALUE),
    (GROUP_STORE, "if (row >= to->rows) {", "if (false) {", "rows beyond the group", VALUE),
    (GROUP_STORE, "tile.m = to->rows;", "tile.m = 1 << 30;", "rows not checked", VALUE),

    (COLUMN_SUM, "column + SUM_CHUNK <= args->n", "true", "a chunk beyond n", VALUE),
    (COLUMN_SUM, "rank < ctas", "rank < 1", "the sums of one CTA", VALUE),
    (COLUMN_STORE, "rows_left < BM ? rows_left : BM", "BM", "rows not checked", VALUE),
    (COLUMN_STORE, "rank < args->splits", "rank < 1", "the sums of one CTA", VALUE),
    (COLUMN_STORE, "number < chunks", "true", "a share beyond the tile", VALUE),
]
