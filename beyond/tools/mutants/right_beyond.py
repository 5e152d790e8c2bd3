"""right_beyond.py: kernels of part two that are unusual and right, as in right.py."""

from listed_beyond import GENERAL, SPLIT_K, SPLIT_REDUCE
from right import PRODUCED, Right, edits, tail

RIGHT = [
    Right("narrow tiles in fours", GENERAL, "CLUSTER=4:BN=128:STAGES=5", [],
          "Each CTA loads a quarter of B for all; RELEASES counts the warps of four CTAs."),
    Right("eight CTAs split k", SPLIT_K, "SPLITS=8", [],
          "Every CTA's sums are complete at the first cluster barrier and read by the second."),
    Right("the producer of a split is lane 5", SPLIT_K, "",
          edits(SPLIT_K, ("if (threadIdx.x == 128 * CONSUMERS)",
                          "if (threadIdx.x == 128 * CONSUMERS + 5)", 2)),
          "Initializing, loading and refilling are one thread's, whichever it is."),
    Right("releases of the cluster's scope", GENERAL, "",
          edits(GENERAL, ("mbarrier_arrive_remote(", "mbarrier_arrive_remote_release(")),
          "The stronger arrival orders all that the weaker one does."),
    Right("a tail for a split", SPLIT_REDUCE, "",
          [tail(SPLIT_REDUCE, PRODUCED)] +
          edits(SPLIT_REDUCE, ("    wgmma_wait_group(0);\n    add_tile",
                               "    wgmma_wait_group(0);\n    if (threadIdx.x % 32 == 0) "
                               "consumer_release(shared->ring, release);\n    add_tile")),
          "The last stage is released, too."),
]
