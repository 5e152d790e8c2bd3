"""right_library.py: kernels of the libraries that are unusual and right, as in right.py."""

from edit import Replace
from store import Right

GENERAL = "library/hopper_gemm/persistent.cu"

RIGHT = [
    Right("narrow tiles in fours", GENERAL,
          "Each CTA loads a quarter of B for all; RELEASES counts the warps of four CTAs.",
          macros="CLUSTER=4:BN=128:STAGES=5"),
    Right("releases of the cluster's scope", GENERAL,
          "The stronger arrival orders all that the weaker one does.",
          [Replace("mbarrier_arrive_remote(", "mbarrier_arrive_remote_release(")]),
]
