"""listed_library.py: the mutants of the libraries that are made by hand, as in listed.py."""

import os

from rules import ORDER, VALUE

GENERAL, FITTED = (f"library/hopper_gemm/{name}.cu" for name in ("persistent", "fitted"))
TRANSPOSED = "library/w4a8_gemm/transposed_store.h"

# The headers beside the kernels that synchronize, or compute what a kernel stores.
HEADERS = ()
BESIDE = ("library/hopper_gemm/packed_store.h", TRANSPOSED, "library/w4a8_gemm/few_rows.h",
          "library/w4a8_gemm/many_rows.h")
FEWEST_RIGHT = 2
# A kernel whose launch otherwise chooses how it cuts a problem is compiled with one more file.
COMPILED_WITH = {FITTED: ("-DFIT_OF=form_of_run", os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "fit_forms.c"))}

# (file, text, replacement, what is wrong, category)
EDITS = [
    (FITTED, "found != expected && found >> 16 != COUNTING >> 16", "false",
     "counts on from anything", VALUE),
    (GENERAL, "(1 << CLUSTER) - 1", "1 << cluster_rank()", "multicast to itself only", ORDER),
    (GENERAL, "(1 << CLUSTER) - 1", "1", "multicast to CTA 0 only", ORDER),
    (GENERAL, "(1 << CLUSTER) - 1", "1 << (CLUSTER - 1 - cluster_rank())",
     "multicast to the other only", ORDER),
    (GENERAL, "b[state.index][row * BK]", "b[state.index][0]", "all parts to the same place",
     ORDER),
    (GENERAL, "tile.n * BN + row", "tile.n * BN", "every CTA loads the same part", VALUE),
    (GENERAL, "int row = cluster_rank() * (BN / CLUSTER)", "int row = 0",
     "every CTA loads the first part", ORDER),
    (GENERAL, "lane < CLUSTER", "lane < 1", "releases CTA 0's stage only", ORDER),
    (GENERAL, "STAGES, RELEASES)", "STAGES, RELEASES / CLUSTER)", "counts one CTA's warps",
     ORDER),
    (GENERAL, "p->ldb, BN / CLUSTER, BK", "p->ldb, BN, BK", "box of the whole tile", ORDER),
    (GENERAL, "tile.m * CLUSTER + cluster_rank()", "tile.m * CLUSTER",
     "every CTA computes the same tile", VALUE),
    (GENERAL, "state = {0, 1}", "state = {0, 0}", "wrong initial producer phase", ORDER),
    (GENERAL, "state->index][first_row * BK]", "state->index][0]", "wrong half of the tile", VALUE),
    (GENERAL, "if (PINGPONG && consumer == 1) {", "if (PINGPONG && consumer == 0) {",
     "the wrong consumer skips", ORDER),
    (GENERAL, "(PINGPONG ? CONSUMERS : 1);", "1;", "takes the other consumer's tiles, too", ORDER),
    (TRANSPOSED, "row < args->gemm.m ? ld_global_b32(&args->scales.a[row]) : 0",
     "ld_global_b32(&args->scales.a[row])", "scales beyond m", ORDER),
    (TRANSPOSED, "chunk = (threadIdx.x % 128 / 32 * 2 + lane / 8 % 2) ^ row % 8",
     "chunk = (threadIdx.x % 128 / 32 * 2 + lane / 8 % 2)", "without the swizzle", VALUE),
    (TRANSPOSED, "first_row + 8 * (j + i / 2) + lane % 4 * 2",
     "first_row + 8 * (j + i / 2) + lane % 4", "scales of other rows", VALUE),
]
