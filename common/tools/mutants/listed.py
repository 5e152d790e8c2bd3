"""listed.py: mutants made by hand: a text that occurs once in a kernel, and what it becomes; those that a
page shows, too, are in the store (breaks/store.py)."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "breaks"))
import store
from rules import ORDER, VALUE, Edit

NAIVE, TILED = "01_naive/kernel.cu", "02_smem_tiled/kernel.cu"
CP_ASYNC, CP_MBARRIER = "03_cp_async_multistage/kernel.cu", "03_cp_async_multistage/mbarrier.cu"
REGISTERS, TMA = "04_rf_double_buffer/kernel.cu", "05_tma_mbarrier/kernel.cu"
WGMMA, RS = "06_wgmma/kernel.cu", "06_wgmma/rs.cu"
TWO_WARPGROUPS = "06_wgmma/two_warpgroups.cu"
SPECIALIZED, PINGPONG = "07_warp_specialized/kernel.cu", "08_persistent_pingpong/kernel.cu"
PERSISTENT, MULTICAST = "08_persistent_pingpong/persistent.cu", "09_cluster_multicast/kernel.cu"
PIPELINE, TILE_ORDER = "building_blocks/pipeline.h", "building_blocks/tile_order.h"
EPILOGUE_STORE = "building_blocks/epilogue_store.h"
WIDE_STORE = "building_blocks/wide_store.h"

# (file, text, replacement, what is wrong, category)
EDITS = [
    (NAIVE, "row >= args.m || column >= args.n", "row >= args.m", "columns not checked", VALUE),
    (NAIVE, "row >= args.m || column >= args.n", "column >= args.n", "rows not checked", VALUE),
    (NAIVE, "k < args.k; ++k", "k <= args.k; ++k", "one product too many", VALUE),
    (NAIVE, "k < args.k; ++k", "k + 1 < args.k; ++k", "one product too few", VALUE),
    (NAIVE, "row * args.ldd + column", "row * args.n + column", "n for the pitch", VALUE),
    (NAIVE, "row * args.lda;", "row * args.k;", "k for the pitch", VALUE),

    (TILED, "row < rows ? columns - chunk * CHUNK : 0", "columns - chunk * CHUNK",
     "rows not checked", VALUE),
    (TILED, "valid > 0 ? ld_global_b128(", "true ? ld_global_b128(", "loads outside", VALUE),
    (TILED, "if (valid < CHUNK) chunks[i] = mask_chunk(chunks[i], valid);", ";",
     "missing tail: padding not masked", VALUE),
    (TILED, "valid <= 2 * i", "valid < 2 * i", "mask one element short", VALUE),
    (TILED, "chunk.word[i] &= 0xffff", "chunk.word[i] &= 0xffffffff", "half a word not masked",
     VALUE),
    (TILED, "2 * step + lane / 8 % 2", "2 * step + lane / 16", "wrong half of the fragment",
     VALUE),
    (TILED, "args.lda, args.m - row, args.k - k", "args.lda, args.m, args.k - k",
     "bound counts from the matrix", VALUE),
    (TILED, "row + i * 16, column", "row, column", "all accumulators to the same 16 rows", VALUE),
    (TILED, "PITCH = BK + CHUNK", "PITCH = BK", "rows without padding", VALUE),

    (CP_ASYNC, "left < CHUNK ? left : CHUNK", "CHUNK", "missing tail: copies the padding", VALUE),
    (CP_ASYNC, "inside || row + i < rows", "inside || row < rows", "rows not checked", VALUE),
    (CP_ASYNC, "stage = k_tile % STAGES;\n    load_rows", "stage = k_tile % (STAGES - 1);\n    "
     "load_rows", "ring one stage short", ORDER),
    (CP_ASYNC, "k_tile < STAGES - 1; ++k_tile", "k_tile < STAGES - 2; ++k_tile",
     "prologue one stage short", ORDER),
    (CP_ASYNC, "tile, k_tile + STAGES - 1, inside", "tile, k_tile + STAGES, inside",
     "fills the stage in use", ORDER),
    (CP_ASYNC, "(chunk ^ row % 8)", "chunk", "no swizzle", VALUE),

    (CP_MBARRIER, "tile, k_tile + STAGES - 1, inside", "tile, k_tile + STAGES, inside",
     "fills the stage in use", ORDER),
    (CP_MBARRIER, "round & 1);", "k_tile & 1);", "phase flips too often", ORDER),

    (REGISTERS, "k_tile + STAGES - 1, step", "k_tile + STAGES, step", "fills the stage in use",
     ORDER),
    (REGISTERS, "next_stage = (k_tile + 1) % STAGES", "next_stage = k_tile % STAGES",
     "fragments of the old stage", VALUE),
    (REGISTERS, "if (step < PARTS)", "if (step < PARTS - 1)", "half of the tile not copied",
     VALUE),
    (REGISTERS, "fragments[(step + 1) % 2]", "fragments[step % 2]",
     "fragments loaded over those in use", VALUE),

    (TMA, "pipeline_state state = {0, 0}", "pipeline_state state = {0, 1}",
     "wrong initial phase", ORDER),
    (TMA, "STAGE_BYTES = (BM + BN)", "STAGE_BYTES = BM", "expects A's bytes only", ORDER),
    (TMA, "&args, tile, k_tile + STAGES - 1);", "&args, tile, k_tile + STAGES);",
     "fills the stage in use", ORDER),
    (TMA, "k_tile < STAGES - 1; ++k_tile", "k_tile < STAGES; ++k_tile",
     "prologue one stage too long", ORDER),
    (TMA, "(chunk ^ row % 8)", "chunk", "reads without the swizzle", VALUE),
    (TMA, "tile.n * BN, k_tile * BK", "tile.n * BN, 0", "the same k-tile of B again", VALUE),
    (TMA, "if (k_tile >= args->tiles_k) return;", "", "loads behind the last k-tile", ORDER),
    (TMA, "if (k_tile + 1 < args.tiles_k) {", "if (true) {", "waits behind the last k-tile",
     ORDER),
    (TMA, "state->phase ^= 1;", "", "phase never flips", ORDER),
    (TMA, "p->lda, BM, BK,", "p->lda, BM / 2, BK,", "box of half the tile", ORDER),

    (WGMMA, "shared_address(a), 0, 1024, SWIZZLE_128B", "shared_address(a), 0, 1024, SWIZZLE_64B",
     "wrong swizzle", VALUE),
    (WGMMA, "shared_address(b), 0, 1024, SWIZZLE_128B",
     "shared_address(b), 0, 1024, SWIZZLE_NONE", "no swizzle", VALUE),
    (WGMMA, "(step * 16 * sizeof", "(step * 32 * sizeof", "wrong step along k", VALUE),
    (WGMMA, "i * 64 * BK + step", "i * 32 * BK + step", "wrong half of the tile", VALUE),
    (WGMMA, "* sizeof(element_t) >> 4);\n            const", "* sizeof(element_t));\n"
     "            const", "address not divided by 16", VALUE),
    (WGMMA, "accumulate || step > 0", "accumulate", "overwrites instead of adding", VALUE),
    (TWO_WARPGROUPS, "tile, k_tile - WAIT + STAGES", "tile, k_tile + STAGES", "fills the stage in use",
     ORDER),
    (WGMMA, "k_tile < STAGES; ++k_tile", "k_tile < STAGES - 1; ++k_tile",
     "prologue one stage short", ORDER),
    (WGMMA, "pipeline_state state = {0, 0}", "pipeline_state state = {0, 1}",
     "wrong initial phase", ORDER),
    (WGMMA, "++state->index == STAGES", "++state->index == STAGES - 1", "ring one stage short",
     ORDER),
    (WGMMA, "state->phase ^= 1;", "", "phase never flips", ORDER),
    (WGMMA, "tile.m * BM + i * 64, tile.n", "tile.m * BM, tile.n", "both halves to the same rows",
     VALUE),

    (PERSISTENT, "half * 64 * BK", "0", "wrong half of the tile", VALUE),
    (TWO_WARPGROUPS, "tile.m * BM + half * 64, tile.n", "tile.m * BM, tile.n",
     "both halves to the same rows", VALUE),

    (RS, "&fragments[(WAIT + 1) % 2]", "&fragments[WAIT % 2]",
     "one set of fragments for all k-tiles", ORDER),
    (RS, "(chunk ^ row % 8)", "chunk", "reads without the swizzle", VALUE),
    (RS, "k_tile - WAIT + STAGES", "k_tile + STAGES", "fills the stage in use", ORDER),

    (SPECIALIZED, "release = {0, 0}", "release = {1, 0}", "releases the next stage", ORDER),
    (SPECIALIZED, "half * 64 * BK", "0", "wrong half of the tile", VALUE),
    (SPECIALIZED, "tile.m * BM + half * 64, tile.n", "tile.m * BM, tile.n",
     "both halves to the same rows", VALUE),
    (SPECIALIZED, "tile, warpgroup - 1)", "tile, 0)", "both consumers on one half", VALUE),
    (SPECIALIZED, "warp == 0 && elect_one()", "warp == 0", "a whole warp produces", ORDER),
    (SPECIALIZED, "int k_tile = 0; k_tile < args->tiles_k;", "int k_tile = 1; k_tile < "
     "args->tiles_k;", "one k-tile too few", ORDER),
    (SPECIALIZED, "int k_tile = 0; k_tile < args->tiles_k;", "int k_tile = 0; k_tile <= "
     "args->tiles_k;", "one k-tile too many", ORDER),
    (SPECIALIZED, "int k_tile = 0; k_tile < args->tiles_k;", "int k_tile = 0; k_tile < "
     "(args->k > 8192 ? args->k / BK : args->tiles_k);", "a long k without its tail", ORDER),
    (SPECIALIZED, "        consumer(shared, &args,",
     "        if (tile.m * BM + warpgroup * 64 - 64 < args.m) consumer(shared, &args,",
     "early exit of a consumer outside of D", ORDER),
    (SPECIALIZED, "CONSUMERS * 4);", "CONSUMERS);", "arrivals of warpgroups, not of warps", ORDER),

    (PERSISTENT, "NO_UNROLL for (int k_tile = 0;",
     "struct pipeline_state state = {0, 1}; NO_UNROLL for (int k_tile = 0;",
     "the producer begins every tile with stage 0", ORDER),
    (PERSISTENT, "issue_k_tile(shared, &state, half, acc, 0",
     "state = (struct pipeline_state){0, 0}; issue_k_tile(shared, &state, half, acc, 0",
     "the consumers begin every tile with stage 0", ORDER),
    (PERSISTENT, "issue_k_tile(shared, &state, half, acc, 0",
     "release = (struct pipeline_state){0, 0}; issue_k_tile(shared, &state, half, acc, 0",
     "releases from stage 0 on in every tile", ORDER),
    (PERSISTENT, "at once */\n    for (int number = blockIdx.x; number < args->items; number += "
     "gridDim.x)", "at once */\n    for (int number = blockIdx.x; number < args->items; number += "
     "gridDim.x + 1)", "the producer takes other tiles than the consumers", ORDER),
    (PERSISTENT, "to release */\n    for (int number = blockIdx.x; number < args->items; number += "
     "gridDim.x)", "to release */\n    for (int number = blockIdx.x; number < args->items; number "
     "+= gridDim.x + 1)", "the consumers take other tiles than the producer", ORDER),
    (PERSISTENT, "to release */\n    for (int number = blockIdx.x; number < args->items;",
     "to release */\n    for (int number = blockIdx.x; number < 1;",
     "the consumers leave after the first tile", ORDER),
    (PERSISTENT, "tile.m * BM + half * 64, tile.n", "tile.m * BM, tile.n",
     "both halves to the same rows", VALUE),
    (PERSISTENT, "epilogue_store(shared->d[half]", "epilogue_store(shared->d[0]",
     "consumers share their staging", ORDER),
    (PERSISTENT, "args, warpgroup - 1)", "args, 0)", "both consumers on one half", VALUE),
    (PERSISTENT, "CONSUMERS * 4);", "CONSUMERS);", "arrivals of warpgroups, not of warps", ORDER),

    (PINGPONG, "state = {0, 1}", "state = {0, 0}", "wrong initial producer phase", ORDER),
    (PINGPONG, "#define PRODUCER_REGISTERS 40", "#define PRODUCER_REGISTERS 64",
     "register budget over the pool", ORDER),
    (PINGPONG, "warp == 0 && elect_one()", "warp == 0", "a whole warp produces", ORDER),
    (PINGPONG, "order_phase = consumer == 0", "order_phase = 0", "nobody begins", ORDER),
    (PINGPONG, "if (consumer == 1) pipeline_skip", "if (consumer == 0) pipeline_skip",
     "the wrong consumer skips", ORDER),
    (PINGPONG, "number += CONSUMERS * gridDim.x", "number += gridDim.x",
     "takes the other consumer's tiles, too", ORDER),
    (PINGPONG, "blockIdx.x + consumer * gridDim.x", "blockIdx.x",
     "both consumers store the same tiles", VALUE),
    (PINGPONG, "epilogue_store(shared->d[consumer]", "epilogue_store(shared->d[0]",
     "consumers share their staging", ORDER),
    (PINGPONG, "shared->order[1 - consumer]", "shared->order[consumer]",
     "arrives on its own order barrier", ORDER),
    (PINGPONG, "order_phase ^= 1;", "", "the order barrier's phase never flips", ORDER),
    (PINGPONG, "pipeline_skip(&state, args->tiles_k, STAGES); /* the other", "/* the other",
     "does not skip the other's stages", ORDER),
    (PINGPONG, "i * 64 * BK", "0", "wrong half of the tile", VALUE),

    (MULTICAST, "(1 << CLUSTER) - 1", "1", "multicast to CTA 0 only", ORDER),
    (MULTICAST, "(1 << CLUSTER) - 1", "1 << (CLUSTER - 1 - cluster_rank())",
     "multicast to the other only", ORDER),
    (MULTICAST, "tile.n * BN + row", "tile.n * BN", "both CTAs load the same half", VALUE),
    (MULTICAST, "cluster_rank() * (BN / CLUSTER)", "0", "both CTAs load the first half", ORDER),
    (MULTICAST, "lane < CLUSTER", "lane < 1", "releases CTA 0's stage only", ORDER),
    (MULTICAST, "CLUSTER * CONSUMERS * 4", "CONSUMERS * 4", "counts one CTA's warps", ORDER),
    (MULTICAST, "ceil_div(args.tiles_m, CLUSTER)", "args.tiles_m / CLUSTER",
     "a last row of single tiles is left out", VALUE),
    (MULTICAST, "state = {0, 1}", "state = {0, 0}", "wrong initial producer phase", ORDER),

    (PIPELINE, "state->phase ^= 1;", "", "phase never flips", ORDER),
    (PIPELINE, "state->phase ^= (uint32_t)", "state->phase ^= 0 & (uint32_t)",
     "phase not carried over a skip", ORDER),
    (PIPELINE, "++state->index == stages", "++state->index == stages - 1", "ring one stage short",
     ORDER),

    (WIDE_STORE, "column + 1 < args->n)", "column < args->n)", "a pair across the edge", VALUE),
    (WIDE_STORE, "column + 8 <= args->n", "column < args->n", "16 bytes across the edge", VALUE),
    (WIDE_STORE, "i == 0 && row < args->m", "i == 0", "rows not checked", VALUE),
    (WIDE_STORE, "first_row + half * 8 + lane / 4", "first_row + lane / 4",
     "both halves to the same rows", VALUE),
    (WIDE_STORE, "first_row + threadIdx.x % 128 / 32 * 16", "first_row",
     "every warp stores the same rows", VALUE),
    (WIDE_STORE, "if (WIDE_STORES) transpose_quad(chunk.word);", "",
     "words not exchanged between the lanes", VALUE),
    (WIDE_STORE, "WIDE_STORES ? j + lane % 4 : j + i", "j + i",
     "every lane stores the first eight columns", VALUE),

    (EPILOGUE_STORE, "(2 * i + half) ^ swizzle", "2 * i + half",
     "stages without the swizzle", VALUE),
    (EPILOGUE_STORE, "(i * (columns / EPILOGUE_N) + j) % BUFFERS", "0", "staging reused too early",
     ORDER),
    (EPILOGUE_STORE, "return args->n % 8 != 0", "return false && args->n % 8 != 0",
     "missing tail: the TMA writes into the padding", VALUE),
    (EPILOGUE_STORE, "row < args->m && column < args->n", "row < args->m", "columns not checked",
     VALUE),

    (TILE_ORDER, "rows_left < RASTER_GROUP ?", "group == 0 && rows_left < RASTER_GROUP ?",
     "a last group of two as high as the first", VALUE),
    (TILE_ORDER, "in_group % rows", "in_group % RASTER_GROUP", "a last group as high as the others",
     VALUE),
    (TILE_ORDER, "tile.n = in_group / rows", "tile.n = in_group / RASTER_GROUP",
     "columns of a full group in the last one", VALUE),
]


def of_store(root, house):
    """Those breaks of the store that are in the gallery of this house, in the form of EDITS."""
    return [(one.file if one.file.startswith("building_blocks/") else os.path.join(house, one.file),
             one.edit.old, one.edit.new, *one.mutant)
            for one in store.written(root).values() if one.house == house and one.mutant]


def edits(listed, source, stale):
    """Those edits of a list that are of this file; to `stale` is added what no longer applies."""
    found, names = [], {}
    for file, text, new, what, category in listed:
        if file != source.name:
            continue
        if source.text.count(text) != 1:
            stale.append(f"listed.py: {file}: '{text}' occurs {source.text.count(text)} times, not "
                         "once")
            continue
        at = source.text.index(text)
        line = source.line_of(at)
        function = next((name for name, brace, end in source.functions() if at < end), "")
        code = source.line_text(line)
        nth = names[function, code, what] = names.get((function, code, what), -1) + 1
        found.append(Edit(file, function, line, code, what, nth, category,
                          ((at, at + len(text), new),)))
    return found
