"""right_beyond.py: kernels of part two that are unusual and right, as in right.py."""

from edit import Replace
from right import PRODUCED, tail
from store import Right

SPLIT_K, SPLIT_REDUCE = "beyond/10_stream_k/split_k.cu", "beyond/10_stream_k/split_reduce.cu"
TENSOR = "beyond/17_tcgen05/kernel.cu"
PAIR = "beyond/18_cta_pair/kernel.cu"
STEALING = "beyond/19_work_stealing/kernel.cu"
RELEASE = ("                tcgen05_fence_before();\n"
           "                mbarrier_arrive_relaxed(&shared->sums[sums.index].empty);\n")

RIGHT = [
    Right("eight CTAs split k", SPLIT_K,
          "Every CTA's sums are complete at the first cluster barrier and read by the second.",
          macros="SPLITS=8"),
    Right("the producer of a split is lane 5", SPLIT_K,
          "Initializing, loading and refilling are one thread's, whichever it is.",
          [Replace("if (threadIdx.x == 128 * CONSUMERS)", "if (threadIdx.x == 128 * CONSUMERS + 5)",
                   2)]),
    Right("a tail for a split", SPLIT_REDUCE, "The last stage is released, too.",
          [tail(PRODUCED),
           Replace("    wgmma_wait_group(0);\n    add_tile",
                   "    wgmma_wait_group(0);\n"
                   "    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, release);\n"
                   "    add_tile")]),
    # ---- Blackwell ----
    Right("three stages and one set of sums", TENSOR,
          "The barriers of a set order its uses, however many there are.",
          macros="STAGES=3:SUMS=1"),
    Right("an arrival for each warp of the epilogue", TENSOR,
          "Every lane has waited and fenced before its warp's barrier, and the arrival comes "
          "behind.",
          [Replace(RELEASE,
                   "                tcgen05_fence_before();\n                __syncwarp();\n"
                   "                if (threadIdx.x % 32 == 0) "
                   "mbarrier_arrive(&shared->sums[sums.index].empty);\n"),
           Replace("SUMS, EPILOGUE)", "SUMS, EPILOGUE / 32)")]),
    Right("a release and an acquire instead of fences", TENSOR,
          "The standard synchronization of the memory model applies, too; on demand in doubt.",
          [Replace(RELEASE, "                mbarrier_arrive(&shared->sums[sums.index].empty);\n"),
           Replace("mbarrier_wait_relaxed(", "mbarrier_wait(", 2),
           Replace("        tcgen05_fence_after();\n", "", 2)]),
    Right("n of the last tiles cut", TENSOR,
          "The epilogue reads columns that nothing has written, and stores none of them.",
          [Replace("tcgen05_instruction(BM, BN)", "tcgen05_instruction(BM, n)"),
           Replace("const element_t *b, bool accumulate)",
                   "const element_t *b, int n, bool accumulate)"),
           Replace("shared->b[state.index], k_tile > 0)", "shared->b[state.index], n, k_tile > 0)"),
           Replace("        const uint32_t d = tensor_memory",
                   "        const int left = args->n - tile_at(number, args->tiles_m, "
                   "args->tiles_n).n * BN;\n"
                   "        const int n = left < BN ? (left + 15) / 16 * 16 : BN;\n"
                   "        const uint32_t d = tensor_memory")]),
    Right("a barrier that only arrivals pass releases the sums", TENSOR,
          "The next arrival at a barrier follows a commit that was issued behind the last one.",
          [Replace("        mbarrier_wait_relaxed(&shared->sums[sums.index].empty, sums.phase);\n",
                   "        if (number >= (int)gridDim.x * SUMS) named_barrier_sync(3 + "
                   "sums.index, EPILOGUE + 32);\n"),
           Replace("multiply(d, ", "if (elect_one()) multiply(d, "),
           Replace("            tcgen05_commit(", "            if (elect_one()) tcgen05_commit("),
           Replace("        tcgen05_commit(1, &shared->sums",
                   "        if (elect_one()) tcgen05_commit(1, &shared->sums"),
           Replace("if (column + STORE_N == BN) {",
                   "if (column + STORE_N == BN && number + (int)gridDim.x * SUMS < args->items) {"),
           Replace("mbarrier_arrive_relaxed(&shared->sums[sums.index].empty)",
                   "named_barrier_arrive(3 + sums.index, EPILOGUE + 32)"),
           Replace("if (elect_one()) issuer(", "issuer(")]),
    Right("a handoff to the other CTA with the default scopes", PAIR,
          "CUTLASS and DeepGEMM have it so; on demand in doubt.",
          [Replace("mbarrier_arrive_remote_relaxed(", "mbarrier_arrive_remote("),
           Replace("mbarrier_wait_relaxed(&shared->sums[sums.index].empty",
                   "mbarrier_wait(&shared->sums[sums.index].empty")]),
    Right("two allocations of a pair", PAIR,
          "The second follows the first in both SMs, and both are freed in one order.",
          [Replace("        tcgen05_alloc(2, &shared->tensor_memory, TENSOR_COLUMNS);\n",
                   "        tcgen05_alloc(2, &shared->tensor_memory, TENSOR_COLUMNS / 2);\n"
                   "        tcgen05_alloc(2, &shared->second, TENSOR_COLUMNS / 2);\n"),
           Replace("    uint32_t tensor_memory; ", "    uint32_t second, tensor_memory; "),
           Replace("    if (warp == ISSUER_WARP) tcgen05_dealloc(2, tensor_memory, "
                   "TENSOR_COLUMNS);\n",
                   "    if (warp == ISSUER_WARP) {\n"
                   "        tcgen05_dealloc(2, ld_shared_b32(&shared->second), TENSOR_COLUMNS "
                   "/ 2);\n        tcgen05_dealloc(2, tensor_memory, TENSOR_COLUMNS / 2);\n"
                   "    }\n")]),
    Right("an answer by a shuffle", STEALING,
          "The lane that reads an answer fences and releases it; the others never touch it.",
          [Replace("READERS = EPILOGUE + 3", "READERS = EPILOGUE / 32 + 3"),
           Replace("    struct pipeline_state sums = {0, 0}, answers = {0, 0};\n"
                   "    for (int number = blockIdx.x; number >= 0; number = next_tile(shared, "
                   "&answers)) {",
                   "    struct pipeline_state sums = {0, 0}, answers = {0, 0};\n"
                   "    for (int number = blockIdx.x; number >= 0;) {"),
           Replace("        pipeline_advance(&sums, SUMS);\n    }\n    /* The stores",
                   "        pipeline_advance(&sums, SUMS);\n"
                   "        if (threadIdx.x % 32 == 0) number = next_tile(shared, &answers);\n"
                   "        number = __shfl_sync(0xffffffffu, number, 0);\n    }\n"
                   "    /* The stores")]),
]
