"""listed.py: mutants made by hand: a text that occurs once in a kernel, and what it becomes."""

from rules import ORDER, VALUE, Edit

NAIVE, TILED = "01_naive/kernel.cu", "02_smem_tiled/kernel.cu"
CP_ASYNC, CP_MBARRIER = "03_cp_async_multistage/kernel.cu", "03_cp_async_multistage/mbarrier.cu"
REGISTERS, TMA = "04_rf_double_buffer/kernel.cu", "05_tma_mbarrier/kernel.cu"
WGMMA, RS = "06_wgmma/kernel.cu", "06_wgmma/rs.cu"
SPECIALIZED, PINGPONG = "07_warp_specialized/kernel.cu", "08_persistent_pingpong/kernel.cu"
COOPERATIVE = "08_persistent_pingpong/cooperative.cu"
SPLIT_K = "08_persistent_pingpong/split_k.cu"
MULTICAST = "09_cluster_multicast/kernel.cu"
PIPELINE, SCHEDULER = "building_blocks/pipeline.h", "building_blocks/tile_scheduler.h"
EPILOGUE_STORE = "building_blocks/epilogue_store.h"
TILE_ORDER = "building_blocks/tile_order.h"
PARTIAL_SUMS = "building_blocks/partial_sums.h"
CLUSTER_SUM = "building_blocks/cluster_sum.h"

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
    (TILED, "column + 1 < args->n)", "column < args->n)", "a pair across the edge", VALUE),
    (TILED, "i * 16 + half * 8 + lane / 4", "i * 16 + lane / 4", "both halves to the same rows",
     VALUE),
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
    (TMA, "tile.m * BM, k_tile * BK", "k_tile * BK, tile.m * BM", "row and column exchanged",
     VALUE),
    (TMA, "tile.n * BN, k_tile * BK", "tile.n * BN, 0", "the same k-tile of B again", VALUE),
    (TMA, "if (k_tile >= args->tiles_k) return;", "", "loads behind the last k-tile", ORDER),
    (TMA, "if (k_tile + 1 < args.tiles_k) {", "if (true) {", "waits behind the last k-tile",
     ORDER),
    (TMA, "state->phase ^= 1;", "", "phase never flips", ORDER),
    (TMA, "p->lda, BM, BK,", "p->lda, BM / 2, BK,", "box of half the tile", ORDER),

    (WGMMA, "shared_address(b), 0, 1024,", "shared_address(b), 0, 512,", "wrong stride", VALUE),
    (WGMMA, "shared_address(a), 0, 1024, SWIZZLE_128B", "shared_address(a), 0, 1024, SWIZZLE_64B",
     "wrong swizzle", VALUE),
    (WGMMA, "shared_address(b), 0, 1024, SWIZZLE_128B",
     "shared_address(b), 0, 1024, SWIZZLE_NONE", "no swizzle", VALUE),
    (WGMMA, "(step * 16 * sizeof", "(step * 32 * sizeof", "wrong step along k", VALUE),
    (WGMMA, "i * 64 * BK + step", "i * 32 * BK + step", "wrong half of the tile", VALUE),
    (WGMMA, "* sizeof(element_t) >> 4);\n            const", "* sizeof(element_t));\n"
     "            const", "address not divided by 16", VALUE),
    (WGMMA, "accumulate || step > 0", "accumulate", "overwrites instead of adding", VALUE),
    (WGMMA, "tile, k_tile - WAIT + STAGES", "tile, k_tile + STAGES", "fills the stage in use",
     ORDER),
    (WGMMA, "k_tile < STAGES; ++k_tile", "k_tile < STAGES - 1; ++k_tile",
     "prologue one stage short", ORDER),
    (WGMMA, "pipeline_state state = {0, 0}", "pipeline_state state = {0, 1}",
     "wrong initial phase", ORDER),
    (WGMMA, "++state->index == STAGES", "++state->index == STAGES - 1", "ring one stage short",
     ORDER),
    (WGMMA, "state->phase ^= 1;", "", "phase never flips", ORDER),
    (WGMMA, "i * 64 + warp * 16 + half", "i * 64 + half", "every warp stores the same rows",
     VALUE),

    (RS, "&fragments[(WAIT + 1) % 2]", "&fragments[WAIT % 2]",
     "one set of fragments for all k-tiles", ORDER),
    (RS, "(chunk ^ row % 8)", "chunk", "reads without the swizzle", VALUE),
    (RS, "k_tile - WAIT + STAGES", "k_tile + STAGES", "fills the stage in use", ORDER),

    (SPECIALIZED, "pipeline_state state = {0, 1}", "pipeline_state state = {0, 0}",
     "wrong initial producer phase", ORDER),
    (SPECIALIZED, "release = {0, 0}", "release = {1, 0}", "releases the next stage", ORDER),
    (SPECIALIZED, "half * 64 * BK", "0", "wrong half of the tile", VALUE),
    (SPECIALIZED, "tile.m * BM + half * 64, tile.n", "tile.m * BM, tile.n",
     "both halves to the same rows", VALUE),
    (SPECIALIZED, "tile, warpgroup - 1)", "tile, 0)", "both consumers on one half", VALUE),
    (SPECIALIZED, "#define PRODUCER_REGISTERS 40", "#define PRODUCER_REGISTERS 64",
     "register budget over the pool", ORDER),
    (SPECIALIZED, "#define CONSUMER_REGISTERS 232", "#define CONSUMER_REGISTERS 240",
     "register budget over the pool", ORDER),
    (SPECIALIZED, "if (threadIdx.x == 0) producer(", "if (threadIdx.x < 32) producer(",
     "a whole warp produces", ORDER),
    (SPECIALIZED, "int k_tile = 0; k_tile < args->tiles_k;", "int k_tile = 1; k_tile < "
     "args->tiles_k;", "one k-tile too few", ORDER),
    (SPECIALIZED, "int k_tile = 0; k_tile < args->tiles_k;", "int k_tile = 0; k_tile <= "
     "args->tiles_k;", "one k-tile too many", ORDER),
    (SPECIALIZED, "        consumer(shared, &args,",
     "        if (tile.m * BM + warpgroup * 64 - 64 < args.m) consumer(shared, &args,",
     "early exit of a consumer outside of D", ORDER),
    (SPECIALIZED, "CONSUMERS * 4);", "CONSUMERS);", "arrivals of warpgroups, not of warps", ORDER),

    (PINGPONG, "state = {0, 1}, slot = {0, 1}", "state = {0, 0}, slot = {0, 1}",
     "wrong initial producer phase", ORDER),
    (PINGPONG, "state = {0, 1}, slot = {0, 1}", "state = {0, 1}, slot = {0, 0}",
     "wrong initial phase of the slots", ORDER),
    (PINGPONG, "slot = {consumer, 0}", "slot = {0, 0}", "both consumers take from one slot",
     ORDER),
    (PINGPONG, "order_phase = consumer == 0", "order_phase = 0", "nobody begins", ORDER),
    (PINGPONG, "if (consumer == 1) pipeline_skip", "if (consumer == 0) pipeline_skip",
     "the wrong consumer skips", ORDER),
    (PINGPONG, "epilogue_store(shared->d[consumer]", "epilogue_store(shared->d[0]",
     "consumers share their staging", ORDER),
    (PINGPONG, "shared->order[1 - consumer]", "shared->order[consumer]",
     "arrives on its own order barrier", ORDER),
    (PINGPONG, "slot.phase ^= 1;", "", "the slot's phase never flips", ORDER),
    (PINGPONG, "order_phase ^= 1;", "", "the order barrier's phase never flips", ORDER),
    (PINGPONG, "pipeline_skip(&state, args->tiles_k, STAGES); /*", "/*",
     "does not skip the other's stages", ORDER),
    (PINGPONG, "i < CONSUMERS; ++i) tile_put", "i < 1; ++i) tile_put",
     "one consumer is not told the end", ORDER),

    (COOPERATIVE, "state->index][consumer * ROWS * BK]", "state->index][0]",
     "wrong half of the tile", VALUE),

    (SPLIT_K, "const int first = part * args->tiles_k", "const int first = 0",
     "every part is the first", VALUE),
    (PARTIAL_SUMS, "column + CHUNK <= args->n", "column < args->n", "stores across the edge",
     VALUE),
    (PARTIAL_SUMS, "if (row >= args->m) return;", "", "rows not checked", VALUE),
    (PARTIAL_SUMS, "if (row >= args->m || column >= args->n) return;", "",
     "a layer's edges not checked", VALUE),
    (PARTIAL_SUMS, "(int64_t)layer * args->m + row", "(int64_t)row", "one layer for all", VALUE),
    (PARTIAL_SUMS, "layer < args.splits", "layer < 1", "adds the first layer only", VALUE),

    (MULTICAST, "(1 << CLUSTER) - 1", "1 << rank", "multicast to itself only", ORDER),
    (MULTICAST, "(1 << CLUSTER) - 1", "1", "multicast to CTA 0 only", ORDER),
    (MULTICAST, "(1 << CLUSTER) - 1", "1 << (CLUSTER - 1 - rank)", "multicast to the other only",
     ORDER),
    (MULTICAST, "b[state.index][row * BK]", "b[state.index][0]", "all parts to the same place",
     ORDER),
    (MULTICAST, "tile.n * BN + row", "tile.n * BN", "every CTA loads the same part", VALUE),
    (MULTICAST, "int row = rank * BOX", "int row = 0", "every CTA loads all parts", ORDER),
    (MULTICAST, "lane < CLUSTER", "lane < 1", "releases CTA 0's stage only", ORDER),
    (MULTICAST, "STAGES, RELEASES)", "STAGES, RELEASES / CLUSTER)", "counts one CTA's warps",
     ORDER),
    (MULTICAST, "p->ldb, BOX, BK", "p->ldb, BN, BK", "box of the whole tile", ORDER),
    (MULTICAST, "tile.m * CLUSTER + cluster_rank()", "tile.m * CLUSTER",
     "every CTA computes the same tile", VALUE),
    (MULTICAST, "state = {0, 1}", "state = {0, 0}", "wrong initial producer phase", ORDER),

    (CLUSTER_SUM, "slab * 32 + (lane ^ j)]", "slab * 32 + lane]", "reads without the swizzle",
     VALUE),

    (PIPELINE, "state->phase ^= 1;", "", "phase never flips", ORDER),
    (PIPELINE, "state->phase ^= (uint32_t)", "state->phase ^= 0 & (uint32_t)",
     "phase not carried over a skip", ORDER),
    (PIPELINE, "++state->index == stages", "++state->index == stages - 1", "ring one stage short",
     ORDER),

    (SCHEDULER, "if (!STATIC_TILES && asked == tiles - 1) st_global_b32(counter, 0);", "",
     "the counter is not reset", VALUE),
    (SCHEDULER, "return asked + gridDim.x;", "return asked + gridDim.x + 1;", "a tile is left out",
     VALUE),

    (EPILOGUE_STORE, "(2 * i + half) ^ swizzle", "2 * i + half",
     "stages without the swizzle", VALUE),
    (EPILOGUE_STORE, "(i * (columns / EPILOGUE_N) + j) % BUFFERS", "0", "staging reused too early",
     ORDER),
    (EPILOGUE_STORE, "return args->n % 8 != 0", "return false && args->n % 8 != 0",
     "missing tail: the TMA writes into the padding", VALUE),
    (EPILOGUE_STORE, "row < args->m && column < args->n", "row < args->m", "columns not checked",
     VALUE),

    (TILE_ORDER, "in_group % rows", "in_group % RASTER_GROUP", "a last band as high as the others",
     VALUE),
    (TILE_ORDER, "tile.n = in_group / rows", "tile.n = in_group / RASTER_GROUP",
     "columns of a full band in the last one", VALUE),
]


def edits(source, stale):
    """The edits of this file; to `stale` is added what no longer applies."""
    found, names = [], {}
    for file, text, new, what, category in EDITS:
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
