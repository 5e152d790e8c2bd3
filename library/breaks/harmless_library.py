"""harmless_library.py: breaks of the libraries with which nothing is wrong, as in harmless.py."""

from harmless import ANY_ORDER, LOADS, ORDER_BARRIER, REGISTERS_ONLY

# (file, code, edit, reason)
RULES = (
    (r"/fitted\.cu", r"^if \(last\) atomic_cas", "scope of the CTA",
     "All parts have been counted: no other CTA accesses the counter any more."),
    (r"/fitted\.cu", r"^if \(last\) atomic_cas", "before the previous",
     "The word for the CTA's other threads is stored a little later, and still before the barrier."),

    (r"/fitted\.cu", r"named_barrier_sync\(RING_BARRIER", "^barrier 1 for all$",
     "The consumers' barrier has this number. Its first use comes after all threads have left this "
     "one."),
    (r"/fitted\.cu", r"named_barrier_sync\(1, CONSUMER_THREADS\).* in consumer$", "after the next",
     "Parts of a sum leave through registers and global memory. The barrier still comes before the "
     "ring is overwritten."),
    (r"/fitted\.cu", r"setmaxnreg_dec", "before the previous",
     "The producer gives registers away before the first loads instead of after them, and loads "
     "need few: they only start later."),
    (r"/fitted\.cu", r"^griddepcontrol_wait", "before the previous",
     "B is loaded after the wait, too: later than necessary."),
    (r"/fitted\.cu", r"tma_load(_multicast)?\(side_tile", "after the next", LOADS),
    (r"/fitted\.cu", r"tma_load(_multicast)?\(fitted_tile", "before the previous", LOADS),

    # w4a8_gemm.
    ("w4a8_gemm/", r"^wgmma_commit_group", "after the next",
     "The group is closed a little later, and still before the wait."),
    ("w4a8_gemm/teams", r"^fence_proxy_async", "after the next",
     "The fence comes after the wait for the multiplications, and still before the release."),
    ("w4a8_gemm/teams", r"^fence_proxy_async", "before the previous",
     "The statement before it converts; the reads of the weights precede both."),
    ("w4a8_gemm/teams", r"^wgmma_wait_group", "before the previous",
     "The fence comes after the wait, and still before the release."),
    ("w4a8_gemm/teams", r"^__syncwarp", "before the previous",
     "All lanes have read the weights before either, and the wait is the whole warp's."),
    ("w4a8_gemm/pairs", r"^wgmma_wait_group\(1\)", "before the previous",
     "The wait comes before the next weights are loaded: earlier than necessary."),
    ("w4a8_gemm/teams", r"^wgmma_wait_group", "after the next",
     "The wait still precedes the release and the promotion."),
    ("w4a8_gemm/teams", r"consumer_release\(", "after the next",
     "The stage is released after the promotion: later, but just as safely."),
    (r"w4a8_gemm/few_rows", r"griddepcontrol_wait", "before the previous",
     "The registers are given away after the wait instead of before it."),
    (r"w4a8_gemm/few_rows", r"^setmaxnreg_dec", "after the next",
     "The same exchange: the registers are given away after the wait."),
    ("w4a8_gemm/wide", r"^wgmma_wait_group", "after the next",
     "The next statement is keep(), which only the compiler for the GPU sees."),
    ("w4a8_gemm/wide", r"^wgmma_wait_group", "before the previous",
     "The wait comes before the next weights are loaded: earlier than necessary."),
    ("w4a8_gemm/three", r"^fence_proxy_async", "after the next",
     "The fence comes after the wait for the multiplications, and still before the release."),
    ("w4a8_gemm/three", r"^fence_proxy_async", "before the previous",
     "The statement before it closes a group; the reads of the weights precede both."),
    ("w4a8_gemm/three", r"^wgmma_wait_group", "before the previous",
     "The fence comes after the wait, and still before the release."),
    ("w4a8_gemm/few_rows", r"named_barrier_arrive\(DONE_BARRIER", "waits, too",
     "The producer's warps have nothing left to do: they only end later."),

    # Order on which nothing relies.
    ("", r"^tma_load(_multicast)?\(.*->b\[", "before the previous", LOADS),
    ("hopper_gemm/persistent", r"^pipeline_init\(", "(after the next|before the previous)",
     ANY_ORDER),
    ("hopper_gemm/persistent", r"mbarrier_init\(&shared->order",
     "(after the next|before the previous)", ANY_ORDER),
    ("hopper_gemm/persistent", "^fence_mbarrier_init", "before the previous",
     "Only threads of their own CTA use the barriers that are then initialized after the fence; "
     "the TMA does not signal them."),
    ("hopper_gemm/", r"^(if \(!full\) )?(consumer_wait|mbarrier_wait\(&shared->full)",
     "after the next", REGISTERS_ONLY),
    ("hopper_gemm/", "^wgmma_fence", "before the previous", REGISTERS_ONLY),
    ("hopper_gemm/persistent", r"mbarrier_arrive\(&shared->order", "after the next",
     ORDER_BARRIER),
    ("hopper_gemm/persistent", r"^wgmma_wait_group\(0\)", "before the previous", ORDER_BARRIER),
    ("hopper_gemm/persistent", r"release_stage\(shared, &release\)", "after the next",
     "The last stages of a tile are released after its epilogue: later, but just as safely."),
    ("hopper_gemm/persistent", r"named_barrier_arrive\(RING_BARRIER", "waits, too",
     "The producer's next loads start a little later: it waits for consumers that come at once."),

    # What only costs time.
    ("", r"setmaxnreg_inc\((CONSUMER|240|160)", "removed|after the next",
     "The simulator does not model how many registers a thread uses. For the GPU, ptxas compiles "
     "with the registers that are left: it spills, and the result stays right."),
)

# (configuration, file, code, reason)
NOT_NEEDED = (
    ("^hopper_gemm:coop", "hopper_gemm/persistent", r"mbarrier_init\(&shared->order",
     "Only ping-pong waits for the order barriers or arrives at them."),
    ("^w4a8_gemm:slabs64$", "w4a8_gemm/pairs", r"^wgmma_wait_group\(0\)",
     "SLABS is 2: every k-tile has two slabs, and none is left alone."),
    ("^w4a8_gemm:slabs64$", "w4a8_gemm/pairs", r"^if \(again\) wgmma_wait_group",
     "PAIRS is 1: no other pair comes in the same iteration."),
)
