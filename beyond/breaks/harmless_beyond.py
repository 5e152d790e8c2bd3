"""harmless_beyond.py: breaks of part two with which nothing is wrong, as in harmless.py."""

from harmless import ANY_ORDER, LOADS, ORDER_BARRIER, REGISTERS_ONLY

OF_FEW_ROWS = "11_.*few_rows"
OF_MANY_ROWS = "11_.*kernel|15_.*fp8"
OF_TEAMS = "12_.*/kernel"
BEYOND = r"^beyond/1[03456]_|11_.*per_tensor"
ONE_OF_TWO = "Every configuration has only one of the two neighbouring barriers."
JOINED = ("The simulator's barriers join the lanes of a warp. PTX's aligned instructions, such as "
          "tcgen05.dealloc, ask for a warp whose lanes are together.")
LATER_COMMIT = ("The epilogue waits for a commit that comes after those of the ring, and the CTA "
                "for the epilogue.")
OWN_ROWS = ("The simulator has each warp read its own 16 rows of the first operand. PTX does not "
            "promise that, so the kernel has a barrier of the warpgroup.")

# (file, code, edit, reason)
RULES = (
    # Chapter 12. In through_smem.cu a warp's part of a wgmma reads the 16 rows of the unpacked
    # weights that the warp itself has written.
    ("12_", r"^wgmma_commit_group", "after the next",
     "The group is closed a little later, and still before the wait."),
    (OF_TEAMS, r"^fence_proxy_async", "after the next",
     "The fence comes after the wait for the multiplications, and still before the release."),
    (OF_TEAMS, r"^fence_proxy_async", "before the previous",
     "The statement before it converts; the reads of the weights precede both."),
    (OF_TEAMS, r"^wgmma_wait_group", "before the previous",
     "The fence comes after the wait, and still before the release."),
    (OF_TEAMS, r"^__syncwarp", "before the previous",
     "All lanes have read the weights before either, and the wait is the whole warp's."),
    (r"/pairs\.cu", r"^wgmma_wait_group\(1\)", "before the previous",
     "The wait comes before the next weights are loaded: earlier than necessary."),
    (OF_TEAMS, r"^wgmma_wait_group", "after the next",
     "The wait still precedes the release and the promotion."),
    ("12_.*through_smem", r"^named_barrier_sync\(1 \+ consumer", "only a warp's barrier", OWN_ROWS),
    ("12_.*through_smem", r"^named_barrier_sync\(1 \+ consumer, 128\); #1",
     "^removed|after the next|before the previous", OWN_ROWS),
    ("12_.*through_smem", r"consumer_release\(", "after the next|before the previous", OWN_ROWS),
    ("12_.*through_smem", r"^pipeline_init\(", r"count - 1",
     "The barrier before the release holds back the first three warps until the fourth is there. So "
     "three arrivals mean as much as four."),
    (OF_TEAMS, r"consumer_release\(", "after the next",
     "The stage is released after the promotion: later, but just as safely."),
    ("12_.*through_smem", r"^named_barrier_sync\(1 \+ consumer, 128\); #0", "after the next",
     "The fence orders registers; the barrier orders memory."),
    ("12_.*through_smem", r"^wgmma_fence", "before the previous",
     "The fence orders registers; the barrier orders memory."),
    ("12_.*through_smem", r"^wgmma_wait_group", "before the previous",
     "The wait comes before the next weights are loaded: earlier than necessary."),
    ("12_.*through_smem", r"^wgmma_wait_group", "after the next",
     "Each warp still waits before its release, and for the reading of the rows that it writes."),

    # Blackwell, chapters 17 to 19.
    ("1[789]_", r"^producer_tail", "removed|before the previous", LATER_COMMIT),
    (r"pipeline\.h", r"^mbarrier_wait\(.* in pipeline_producer_tail",
     "^(removed|looks once|by one thread)", LATER_COMMIT),
    ("1[789]_", r"^tcgen05_relinquish", "removed",
     "No other CTA of the SM waits for columns."),
    ("17_", r"^fence_mbarrier_init", "before the previous",
     "The TMA does not signal the barriers that are then initialized after the fence."),
    ("1[789]_", r"^pipeline_init\(shared->ring", "after the next", ANY_ORDER),
    ("1[789]_", r"^pipeline_init\(shared->(sums|answers)", "before the previous", ANY_ORDER),
    ("1[79]_", r"^pipeline_init\(shared->sums", "after the next", ANY_ORDER),
    ("18_", r"^cluster_sync_relaxed", "before the previous",
     "The second cluster barrier hands the barriers over. The first only says that both CTAs have "
     "begun."),
    ("1[79]_", r"^tma_load\(.*->a\[", "after the next", LOADS),
    ("1[79]_", r"^tma_load\(.*->b\[", "before the previous", LOADS),
    ("18_", r"^tma_load_pair\(.*->[ab]\[", "before the previous", LOADS),
    ("18_", r"^(tma_load_pair\(.*->a\[|if \(cluster_rank\(\) == 0\) mbarrier_arrive_expect_tx)",
     "after the next", LOADS),
    ("1[789]_", r"^__syncwarp", "removed|after the next|before the previous", JOINED),
    ("1[789]_", r"^(__syncthreads\(\); #1|cluster_sync\(\); #1)", "before the previous", JOINED),
    # Order on which nothing relies.
    ("10_.*split_k", r"^if \(SPLITS > 1\) cluster_sync", "after the next", ONE_OF_TWO),
    ("10_.*split_k", r"^if \(SPLITS == 1\) __syncthreads", "before the previous", ONE_OF_TWO),
    (r"^beyond/(?!.*(10_stream_k/(kernel|equal_parts)|/per_tensor|/few_rows)\.cu)",
     r"^tma_load(_multicast)?\(.*->b\[", "before the previous", LOADS),
    ("13_.*all_gather", r"^tma_load\(shared->gathered", "before the previous", LOADS),
    # few_rows.cu of chapter 11.
    (OF_FEW_ROWS, r"^tma_load\(.*->(a|scale_a)\[", "(after the next|before the previous)",
     LOADS),
    (OF_FEW_ROWS, r"^tma_load\(.*->b\[", "after the next", LOADS),
    (OF_FEW_ROWS, r"^tma_load\(.*->scale_b\[", "before the previous", LOADS),
    (OF_FEW_ROWS, r"consumer_wait\(", "after the next", REGISTERS_ONLY),
    (OF_FEW_ROWS, "^wgmma_fence", "before the previous", REGISTERS_ONLY),
    ("11_.*few_rows", r"^wgmma_commit_group", "after the next",
     "The group is closed a little later, and still before the wait."),
    ("11_.*few_rows", r"^release_stage", "after the next",
     "The stage is released after the promotion: later, but just as safely."),
    ("11_.*few_rows", r"^fence_proxy_async", "after the next",
     "The fence comes after the wait for the multiplications, and still before the release."),
    ("11_.*few_rows", r"^wgmma_wait_group", "before the previous",
     "The fence comes after the wait, and still before the release."),

    (OF_MANY_ROWS, r"^tma_load\(.*->scale_a\[", "(after the next|before the previous)", LOADS),
    (OF_MANY_ROWS, r"tma_load_multicast\(", "after the next", LOADS),
    (OF_MANY_ROWS, r"^tma_load\(.*->b\[", "after the next", LOADS),
    (OF_MANY_ROWS, r"^tma_load\(.*->scale_b\[", "before the previous", LOADS),
    (r"10_.*/kernel", r"^release_stage", "after the next",
     "The last stage of a part is released after its sums have left the registers: later than "
     "necessary, and still once. The producer refills it later."),
    (r"10_.*/(kernel|equal_parts)|/per_tensor", r"^tma_load_multicast\(", "after the next", LOADS),
    (r"10_.*/(kernel|equal_parts)", r"^tma_load\(.*->a\[", "before the previous", LOADS),
    ("11_.*per_tensor", r"^tma_load\(.*->a\[", "before the previous", LOADS),
    ("14_|15_.*/(?!fp8)|16_.*/(?!serial)", r"^pipeline_init\(",
     "(after the next|before the previous)", ANY_ORDER),
    ("16_.*/serial", r"^pipeline_init\(shared->[qk]_ring",
     "(after the next|before the previous)", ANY_ORDER),
    ("16_.*/serial", r"^pipeline_init\(shared->v_ring", "before the previous", ANY_ORDER),
    ("13_.*all_gather", r"^pipeline_init\(", "(after the next|before the previous)", ANY_ORDER),
    ("13_.*all_gather", r"^mbarrier_init\(", "before the previous", ANY_ORDER),
    ("1[456]_", r"mbarrier_init\(&shared->(order|arrived)",
     "(after the next|before the previous)", ANY_ORDER),
    ("14_.*/(?!kernel)|15_.*/(?!fp8)|16_.*/(?!serial)",
     "^fence_mbarrier_init", "before the previous",
     "Only threads of their own CTA use the barriers that are then initialized after the fence; "
     "the TMA does not signal them."),
    (BEYOND, r"^(if \(!full\) )?(consumer_wait|mbarrier_wait\(&shared->full)(?!.* in copy_warp$)"
     r"(?!.*q_ring)", "after the next", REGISTERS_ONLY),
    (BEYOND, "^wgmma_fence", "before the previous", REGISTERS_ONLY),
    ("1[456]_", r"mbarrier_arrive\(&shared->order", "after the next",
     ORDER_BARRIER),
    ("1[45]_", r"^wgmma_wait_group\(0\)", "before the previous",
     ORDER_BARRIER),
    ("16_", r"^consumer_wait\(shared->v_ring", "before the previous",
     "The values are waited for earlier than necessary."),
    ("16_.*/(pingpong|kernel)", r"^(if \(TURNS\) )?mbarrier_wait\(&shared->order",
     "^(?!the order barriers|parity|after the next)",
     "Turns are a matter of speed. The products of two consumers are independent."),
    ("16_.*/(pingpong|kernel)", r"mbarrier_arrive\(&shared->order", "before the previous",
     "The next turn begins earlier: a matter of speed."),
    ("16_.*pingpong", r"^wgmma_wait_group\(0\).* in next_block$", "before the previous",
     "The next turn begins later: a matter of speed."),
    ("16_.*kernel", r"^if \(block > 0\) consumer_wait.* in next_block$",
     "(after the next|before the previous)",
     "The keys are waited for elsewhere in the softmax, and still before the next products."),
    ("16_.*kernel", r"^wgmma_wait_group\(0\).* in next_block$", "before the previous",
     "The wait for the values comes before that for the keys: earlier than necessary."),
    ("16_.*pingpong", r"^wgmma_commit_group.* in next_block$", "after the next",
     "The group is closed a little later, and still before the wait."),
    ("16_.*kernel", r"^wgmma_commit_group.* #0 in next_block$", "after the next",
     "One group has both products: the softmax waits for the values, too."),
    ("11_.*per_tensor|1[345]_",
     r"release_stage\(shared, &release\)", "after the next",
     "The last stages of a tile are released after its epilogue: later, but just as safely."),
    ("14_", r"setmaxnreg_inc\(CONSUMER", "removed|after the next",
     "The simulator does not model how many registers a thread uses. For the GPU, ptxas compiles "
     "with the registers that are left: it spills, and the result stays right."),
    ("14_.*/kernel", r"mbarrier_init\(&shared->c_full", "before the previous", ANY_ORDER),
    ("14_.*/kernel", r"^tma_load\(.*map_c", "before the previous", LOADS),
    ("14_.*/swiglu", r"^tma_load\(shared->b\[state.index\],", "after the next", LOADS),
    ("14_.*/quantize", r"bulk_wait_group_read\(0\)", "before the previous",
     "At an edge, where nothing is staged, it waits without need."),
    ("15_.*/(host_maps|kernel)", r"^mbarrier_wait\(&shared->order", "before the previous",
     "The map is acquired or changed after the wait for the turn: later, but just as safely."),
    ("group_store", r"^if \(row >= to->rows\)", "rows beyond the group",
     "The map ends with the group, or the rows are stored one by one, as many as there are: the "
     "test only saves time."),
    ("15_.*/kernel", r"^mbarrier_wait\(&shared->ring", "by one thread",
     "That thread edits the map, and the warp's barrier before the edits orders it with the other "
     "lanes."),
    ("14_", r"^mbarrier_wait\(&shared->order", "before the previous",
     "The biases are loaded after the wait for the turn: later, but just as safely."),
    ("14_", r"^named_barrier_sync\(1 \+ consumer.* in consumer$", "before the previous",
     "The barrier comes before the last release: the biases have been written either way."),
    (OF_MANY_ROWS, r"^wgmma_commit_group", "after the next",
     "The group is closed a little later, and still before the wait."),
    (OF_MANY_ROWS, r"release_stage\(shared, read\)", "after the next",
     "The stage is released after the promotion: later, but just as safely."),
    (OF_MANY_ROWS, r"^wgmma_wait_group\(0\)", "before the previous",
     "The wait for the sums comes before the release is prepared and the next bytes are tested: "
     "nothing is multiplied meanwhile, but nothing is read too early."),
    ("13_.*kernel", r"^__syncwarp\(\); #0 in copy_warp", "",
     "It keeps the other lanes at the pace of the first. Without it they would send and fetch "
     "earlier. What has to be ordered, the flag and the staging memory, has barriers of its own."),
    ("13_.*kernel", r"^__syncwarp\(\); #1 in copy_warp", "",
     "Before the first store a barrier of the k-tile or of the staging memory follows, so the wait "
     "for credit is ordered for all lanes. This one only keeps the warp together until then, as "
     "bar.sync requires."),
    ("13_.*copy_warps", r"^__syncwarp\(\); #0 in copy_warp", "",
     "Before the first store the barrier of the staging memory follows, which orders the wait for "
     "credit for all lanes. This one only keeps the warp together until then, as bar.sync "
     "requires."),
    ("10_.*split_k", r"named_barrier_arrive\(RING_BARRIER", "waits, too",
     "The producer's next loads start a little later: it waits for consumers that come at once."),
    ("12_", r"named_barrier_arrive\(DONE_BARRIER", "waits, too",
     "The producer's warps have nothing left to do: they only end later."),
    ("13_.*(kernel|copy_warps)", r"named_barrier_arrive\((HANDED|RETURNED)", "waits, too",
     "The other side comes to this barrier next and waits for nothing before it that this side "
     "still has to do: the wait only costs time."),

    # What only costs time.
    ("1[1256]_", r"setmaxnreg_inc\((CONSUMER|240|160)", "removed|after the next",
     "The simulator does not model how many registers a thread uses. For the GPU, ptxas compiles "
     "with the registers that are left: it spills, and the result stays right."),
)

# (configuration, file, code, reason)
NOT_NEEDED = ()
