"""right_library.py: kernels of the libraries that are unusual and right, as in right.py."""

from listed_library import GENERAL
from right import Right, edits

RIGHT = [
    Right("narrow tiles in fours", GENERAL, "CLUSTER=4:BN=128:STAGES=5", [],
          "Each CTA loads a quarter of B for all; RELEASES counts the warps of four CTAs."),
    Right("releases of the cluster's scope", GENERAL, "",
          edits(GENERAL, ("mbarrier_arrive_remote(", "mbarrier_arrive_remote_release(")),
          "The stronger arrival orders all that the weaker one does."),
]
