"""gallery_breaks_library.py: breaks of the libraries' kernels that are written for the gallery alone,
by file; and what else its gallery asks for."""

import os

from edit import Replace
from store import order, value

# A kernel whose launch otherwise chooses how it cuts a problem is compiled with one more file.
COMPILED_WITH = {"library/hopper_gemm/fitted.cu": ("-DFIT_OF=cut_of_run", os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "fit_cuts.c"))}

BREAKS = {
    "hopper_gemm/fitted.cu": [
        value(Replace("found != expected && found >> 16 != COUNTING >> 16", "false"),
              "counts on from anything"),
    ],
    "hopper_gemm/persistent.cu": [
        order(Replace("(1 << CLUSTER) - 1", "1 << cluster_rank()"), "multicast to itself only"),
        order(Replace("(1 << CLUSTER) - 1", "1"), "multicast to CTA 0 only"),
        order(Replace("(1 << CLUSTER) - 1", "1 << (CLUSTER - 1 - cluster_rank())"),
              "multicast to the other only"),
        order(Replace("b[state.index][row * BK]", "b[state.index][0]"),
              "all parts to the same place"),
        value(Replace("tile.n * BN + row", "tile.n * BN"), "every CTA loads the same part"),
        order(Replace("int row = cluster_rank() * (BN / CLUSTER)", "int row = 0"),
              "every CTA loads the first part"),
        order(Replace("lane < CLUSTER", "lane < 1"), "releases CTA 0's stage only"),
        order(Replace("STAGES, RELEASES)", "STAGES, RELEASES / CLUSTER)"),
              "counts one CTA's warps"),
        order(Replace("p->ldb, BN / CLUSTER, BK", "p->ldb, BN, BK"), "box of the whole tile"),
        value(Replace("tile.m * CLUSTER + cluster_rank()", "tile.m * CLUSTER"),
              "every CTA computes the same tile"),
        order(Replace("state = {0, 1}", "state = {0, 0}"), "wrong initial producer phase"),
        value(Replace("state->index][first_row * BK]", "state->index][0]"),
              "wrong half of the tile"),
        order(Replace("if (PINGPONG && consumer == 1) {", "if (PINGPONG && consumer == 0) {"),
              "the wrong consumer skips"),
        order(Replace("(PINGPONG ? CONSUMERS : 1);", "1;"),
              "takes the other consumer's tiles, too"),
    ],
    "w4a8_gemm/transposed_store.h": [
        order(Replace("row < args->gemm.m ? ld_global_b32(&args->scales.a[row]) : 0",
                      "ld_global_b32(&args->scales.a[row])"), "scales beyond m"),
        value(Replace("chunk = (threadIdx.x % 128 / 32 * 2 + lane / 8 % 2) ^ row % 8",
                      "chunk = (threadIdx.x % 128 / 32 * 2 + lane / 8 % 2)"),
              "without the swizzle"),
        value(Replace("first_row + 8 * (j + i / 2) + lane % 4 * 2",
                      "first_row + 8 * (j + i / 2) + lane % 4"), "scales of other rows"),
    ],
}
