"""right_beyond.py: kernels of part two that are unusual and right, as in right.py."""

from listed_beyond import SPLIT_K, SPLIT_REDUCE
from right import PRODUCED, Right, edits, tail

RIGHT = [
    Right("eight CTAs split k", SPLIT_K, "SPLITS=8", [],
          "Every CTA's sums are complete at the first cluster barrier and read by the second."),
    Right("the producer of a split is lane 5", SPLIT_K, "",
          edits(SPLIT_K, ("if (threadIdx.x == 128 * CONSUMERS)",
                          "if (threadIdx.x == 128 * CONSUMERS + 5)", 2)),
          "Initializing, loading and refilling are one thread's, whichever it is."),
    Right("a tail for a split", SPLIT_REDUCE, "",
          [tail(SPLIT_REDUCE, PRODUCED)] +
          edits(SPLIT_REDUCE, ("    wgmma_wait_group(0);\n    add_tile",
                               "    wgmma_wait_group(0);\n    if (threadIdx.x % 32 == 0) "
                               "consumer_release(shared->ring, release);\n    add_tile")),
          "The last stage is released, too."),
]
