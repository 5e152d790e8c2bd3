"""harmless.py: mutants with which nothing is wrong, and why.

A mutant that matches must survive, and every line here must match one. The three patterns are
searched for in the file's name, the line's code and what is done to it.

NOT_NEEDED lists lines that one configuration of a kernel can do without, although others need them:
removed.py removes every line in every configuration.
"""

import re

OF_FEW_ROWS = "11_.*(few_rows|pairs)"
OF_MANY_ROWS = "11_.*(kernel|whole)"
ALL_BUT_RS = r"^(0[6-9]|beyond/1[03])_\w+/(?!rs\.cu)|11_.*(per_tensor|pingpong)"

LOADS = ("Loads and the announcement of their bytes may come in any order: the arrival is part of "
         "the announcement, so the phase cannot complete before it, and the tx-count may be "
         "negative.")
OTHER_STAGE = "The wait and the load concern different stages; the copy only starts later."
EITHER_ORDER = "Wait and barrier both come after the fence and before the reads, in either order."
REGISTERS_ONLY = "The fence orders registers; the wait for bytes does not access them."
BOTH_BEFORE = ("The fence covers the reads of ldmatrix, the wait covers those of wgmma; the "
               "barrier after them passes both on.")
ORDER_BARRIER = ("The order barrier flips a little later, or the wait comes a little earlier; the "
                 "barrier hands over the Tensor Core, not data.")
ORDER_TURN = ("The named barriers hand over the Tensor Core, not data or registers: the other "
              "consumer issues a little earlier or later. A consumer that waits where it should "
              "only arrive waits for the other to take its turn, which it does.")
ONE_OF_TWO = "Every configuration has only one of the two neighbouring barriers."

# (file, code, edit, reason). Its place follows the code: "#1 in consumer" is the second one with
# this code and edit in the function.
ANY_ORDER = ("Before the barrier that follows, the order in which one thread initializes barriers "
             "does not matter. The TMA does not signal those that are then initialized after the "
             "fence.")
OWN_ROWS = ("The simulator has each warp read its own 16 rows of the first operand. PTX does not "
            "promise that, so the kernel has a barrier of the warpgroup.")
ONE_BOX = "A part in one box follows signal_part(), which has waited for the store before it."
RULES = (
    # Groups: a wait counts them, and an empty one is complete at once.
    ("", r"(cp_async|wgmma|bulk)_commit_group", "^twice$",
     "The second group is empty. The wait counts it and so waits for more than it has to."),
    ("", r"if \((elected|threadIdx\.x % 128 == 0)\) bulk_(commit|wait)_group", "by all threads",
     "The other threads have no stores: their groups are empty, and their waits return at once."),

    (r"/fitted\.cu", r"^st_global_relaxed\(counter", "before the previous",
     "The word for the CTA's other threads is stored a little later, and still before the barrier."),

    (r"/fitted\.cu", r"^cluster_arrive", "after the next",
     "The next statement reads nothing from another CTA."),
    (r"/(fitted\.cu|column_store\.h)", r"cluster_wait", "before the previous",
     "The wait comes before the store of D: earlier than necessary."),
    (r"/(fitted\.cu|column_store\.h)", r"cluster_wait", "by one thread",
     "A CTA's shared memory lives until its last thread has ended, and that one waits."),

    (r"/fitted\.cu", r"named_barrier_sync\(RING_BARRIER", "^barrier 1 for all$",
     "The consumers' barrier has this number. Its first use comes after all threads have left this "
     "one."),
    (r"/fitted\.cu", r"setmaxnreg_dec", "before the previous",
     "The producer gives registers away before the first loads instead of after them, and loads "
     "need few: they only start later."),
    (r"/fitted\.cu", r"^griddepcontrol_wait", "before the previous",
     "B is loaded after the wait, too: later than necessary."),
    (r"/12_w4a8/(kernel|pairs)", r"griddepcontrol_wait", "before the previous",
     "The registers are given away after the wait instead of before it."),
    (r"/12_w4a8/(kernel|pairs)", r"^setmaxnreg_dec", "after the next",
     "The same exchange: the registers are given away after the wait."),

    # Chapter 13: in through_tma.cu a part is one box.
    ("13_.*through_tma", r"bulk_wait_group_read\(0\)", "(depth|removed|after the next)", ONE_BOX),
    ("13_.*through_tma", r"^named_barrier_sync.*#0 in send_part", "before the previous", ONE_BOX),

    # Chapter 12. In through_smem.cu a warp's part of a wgmma reads the 16 rows of the unpacked
    # weights that the warp itself has written.
    ("12_", r"^wgmma_commit_group", "after the next",
     "The group is closed a little later, and still before the wait."),
    ("12_.*/kernel", r"^fence_proxy_async", "after the next",
     "The fence comes after the wait for the multiplications, and still before the release."),
    ("12_.*/kernel", r"^fence_proxy_async", "before the previous",
     "The statement before it converts; the reads of the weights precede both."),
    ("12_.*/kernel", r"^wgmma_wait_group", "before the previous",
     "The fence comes after the wait, and still before the release."),
    ("12_.*/kernel", r"^__syncwarp", "before the previous",
     "All lanes have read the weights before either, and the wait is the whole warp's."),
    ("12_.*/wide", r"^wgmma_wait_group", "after the next",
     "The next statement is keep(), which only the compiler for the GPU sees."),
    ("12_.*/wide", r"^wgmma_wait_group", "before the previous",
     "The wait comes before the next weights are loaded: earlier than necessary."),
    ("12_.*/pairs", r"^wgmma_wait_group\(1\)", "before the previous",
     "The wait comes before the next weights are loaded: earlier than necessary."),
    ("12_.*/three", r"^fence_proxy_async", "after the next",
     "The fence comes after the wait for the multiplications, and still before the release."),
    ("12_.*/three", r"^fence_proxy_async", "before the previous",
     "The statement before it closes a group; the reads of the weights precede both."),
    ("12_.*/three", r"^wgmma_wait_group", "before the previous",
     "The fence comes after the wait, and still before the release."),
    ("12_.*/wide", r"% 128 == 0\) bulk_wait_group", "by all threads",
     "The other threads have no stores, and their waits return at once."),
    ("12_.*/kernel", r"^wgmma_wait_group", "after the next",
     "The wait still precedes the release and the promotion."),
    ("12_.*through_smem", r"^named_barrier_sync\(1 \+ consumer", "only a warp's barrier", OWN_ROWS),
    ("12_.*through_smem", r"^named_barrier_sync\(1 \+ consumer, 128\); #1",
     "^removed|after the next|before the previous", OWN_ROWS),
    ("12_.*through_smem", r"consumer_release\(", "after the next|before the previous", OWN_ROWS),
    ("12_.*through_smem", r"^pipeline_init\(", r"count - 1",
     "The barrier before the release holds back the first three warps until the fourth is there. So "
     "three arrivals mean as much as four."),
    ("12_.*/kernel", r"consumer_release\(", "after the next",
     "The stage is released after the promotion: later, but just as safely."),
    ("12_.*through_smem", r"^named_barrier_sync\(1 \+ consumer, 128\); #0", "after the next",
     "The fence orders registers; the barrier orders memory."),
    ("12_.*through_smem", r"^wgmma_fence", "before the previous",
     "The fence orders registers; the barrier orders memory."),
    ("12_.*through_smem", r"^wgmma_wait_group", "before the previous",
     "The wait comes before the next weights are loaded: earlier than necessary."),
    ("12_.*through_smem", r"^wgmma_wait_group", "after the next",
     "Each warp still waits before its release, and for the reading of the rows that it writes."),

    # Order on which nothing relies.
    ("10_.*split_k", r"^if \(SPLITS > 1\) cluster_sync", "after the next", ONE_OF_TWO),
    ("10_.*split_k", r"^if \(SPLITS == 1\) __syncthreads", "before the previous", ONE_OF_TWO),
    (r"^(?!.*(/stream_k|/per_tensor|/few_rows|11_\w+/pairs)\.cu)",
     r"^tma_load(_multicast)?\(.*->b\[", "before the previous", LOADS),
    ("13_.*all_gather", r"^tma_load\(shared->gathered", "before the previous", LOADS),
    (r"/fitted\.cu", r"tma_load(_multicast)?\(side_tile", "after the next", LOADS),
    (r"/fitted\.cu", r"tma_load(_multicast)?\(fitted_tile", "before the previous", LOADS),
    # few_rows.cu and pairs.cu of chapter 11.
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
    ("11_.*/pairs", r"^wgmma_wait_group", "before the previous",
     "The scales are loaded after the wait, and still before the release."),

    (OF_MANY_ROWS, r"^tma_load\(.*->scale_a\[", "(after the next|before the previous)", LOADS),
    (OF_MANY_ROWS, r"^tma_load\(.*->b\[", "after the next", LOADS),
    (OF_MANY_ROWS, r"^tma_load\(.*->scale_b\[", "before the previous", LOADS),
    (r"/stream_k\.cu", r"^release_stage", "after the next",
     "The last stage of a piece is released after its sums have left the registers: later than "
     "necessary, and still once. The producer refills it later."),
    (r"/(stream_k|per_tensor)\.cu", r"^tma_load_multicast\(", "after the next", LOADS),
    (r"/stream_k\.cu", r"^tma_load\(.*->a\[", "before the previous", LOADS),
    ("", r"^(tma_load(_multicast)?\(.*->a\[|mbarrier_arrive_expect_tx)", "after the next", LOADS),
    ("0[569]|11_.*per_tensor", r"^tma_load\(.*->a\[", "before the previous", LOADS),
    (r"^03_.*(mbarrier|kernel)|08_.*kernel|11_.*pingpong|pipeline\.h",
     r"^(for \(.*\) )?(mbarrier|pipeline)_init\(", "(after the next|before the previous)",
     ANY_ORDER),
    ("10_.*kernel", r"^pipeline_init\(", "(after the next|before the previous)", ANY_ORDER),
    ("10_.*kernel", r"mbarrier_init\(&shared->order", "before the previous", ANY_ORDER),
    ("13_.*all_gather", r"^pipeline_init\(", "(after the next|before the previous)", ANY_ORDER),
    ("13_.*all_gather", r"^mbarrier_init\(", "before the previous", ANY_ORDER),
    ("13_.*pingpong", r"mbarrier_init\(&shared->(order|arrived)",
     "(after the next|before the previous)", ANY_ORDER),
    ("08_.*kernel|1[13]_.*pingpong", "^fence_mbarrier_init", "before the previous",
     "Only threads of their own CTA use the barriers that are then initialized after the fence; "
     "the TMA does not signal them."),
    ("03_.*kernel|05_", r"^(if \(threadIdx\.x == 0\) )?load_stage\(.*STAGES - 1", "after the next",
     "The load still follows the barrier after which the stage is free; the copy only starts "
     "later."),
    ("03_.*mbarrier", r"^load_stage\(.*STAGES - 1", "after the next", OTHER_STAGE),
    ("03_.*mbarrier", r"^mbarrier_wait\(&shared->full", "before the previous", OTHER_STAGE),
    ("05_", r"^__syncthreads\(\); #1", "after the next", EITHER_ORDER),
    ("05_", r"^mbarrier_wait\(&shared->full\[state", "before the previous", EITHER_ORDER),
    (ALL_BUT_RS, r"^(if \(!full\) )?(consumer_wait|mbarrier_wait\(&shared->full)(?!.* in mover$)",
     "after the next", REGISTERS_ONLY),
    (ALL_BUT_RS, "^wgmma_fence", "before the previous", REGISTERS_ONLY),
    ("rs.cu", r"^wgmma_wait_group\(WAIT", "after the next", BOTH_BEFORE),
    ("rs.cu", "^fence_proxy_async", "before the previous", BOTH_BEFORE),
    ("(08|10)_.*kernel|1[13]_.*pingpong", r"mbarrier_arrive\(&shared->order", "after the next",
     ORDER_BARRIER),
    ("(08|10)_.*kernel|1[13]_.*pingpong", r"^wgmma_wait_group\(0\)", "before the previous",
     ORDER_BARRIER),
    ("0[89]_|10_.*kernel|11_.*(per_tensor|pingpong|kernel)|13_",
     r"release_stage\(shared, &release\)", "after the next",
     "The last stages of a tile are released after its epilogue: later, but just as safely."),
    ("11_.*kernel", r"release_stage\(shared, &release\)", "before the previous",
     "It releases the stage of the k-tile before, whose scales have been read since."),
    ("11_.*kernel", r"^wgmma_wait_group\(0\)", "before the previous",
     "The wait for the next bytes comes after that for the sums: nothing is multiplied meanwhile, "
     "but nothing is read too early."),
    ("11_.*whole", r"^wgmma_commit_group", "after the next",
     "The group is closed a little later, and still before the wait."),
    ("11_.*whole", r"release_stage\(shared, read\)", "after the next",
     "The stage is released after the promotion: later, but just as safely."),
    ("11_.*whole", r"^wgmma_wait_group\(0\)", "before the previous",
     "The wait for the sums comes before the release is prepared and the next bytes are tested: "
     "nothing is multiplied meanwhile, but nothing is read too early."),
    ("11_.*whole", r"consumer_wait\(", "before the previous",
     "The wait for the next bytes comes before the promotion: earlier than necessary."),
    ("11_.*kernel", r"consumer == 0\) named_barrier_sync\(ORDER",
     "removed|only a warp|arrives without|after the next|before the previous",
     "The barrier only pairs the last arrival of consumer 1. Nothing follows that consumer 0 would "
     "have to wait for, and a named barrier ends with its CTA."),
    ("11_.*kernel", r"bulk_wait_group\(0\)", "before the previous",
     "The barrier before it hands over the Tensor Core, and has nothing to do with the stores."),
    ("11_.*kernel", r"named_barrier_(sync|arrive)\(ORDER \+",
     "(after the next|before the previous|waits, too)", ORDER_TURN),
    ("11_.*kernel", r"consumer == 1\) named_barrier_arrive\(ORDER,", "waits, too", ORDER_TURN),
    ("13_.*kernel", r"^__syncwarp\(\); #0 in mover", "",
     "It keeps the other lanes at the pace of the first. Without it they would send and fetch "
     "earlier. What has to be ordered, the flag and the staging memory, has barriers of its own."),
    ("13_.*kernel", r"^__syncwarp\(\); #1 in mover", "",
     "Before the first store a barrier of the k-tile or of the staging memory follows, so the wait "
     "for room is ordered for all lanes. This one only keeps the warp together until then, as "
     "bar.sync requires."),
    ("10_.*(kernel|split_k)", r"named_barrier_arrive\(RING_BARRIER", "waits, too",
     "The producer's next loads start a little later: it waits for consumers that come at once."),
    ("column_store", r"named_barrier_sync\(SUMS_BARRIER", "barrier 1 for all",
     "The barrier of that number is not in use any more."),
    ("12_", r"named_barrier_arrive\(DONE_BARRIER", "waits, too",
     "The producer's warps have nothing left to do: they only end later."),
    ("13_.*kernel", r"named_barrier_arrive\((HANDED|RETURNED)", "waits, too",
     "The other side comes to this barrier next and waits for nothing before it that this side "
     "still has to do: the wait only costs time."),
    ("11_.*kernel", "^wgmma_fence", "before the previous", ORDER_TURN),
    ("11_.*kernel", "^wgmma_commit_group", "after the next", ORDER_TURN),

    # What only costs time.
    ("08_|1[012]_|13_.*pingpong", r"setmaxnreg_inc\((CONSUMER|240|160)", "removed|after the next",
     "The simulator does not model how many registers a thread uses. For the GPU, ptxas compiles "
     "with the registers that are left: it spills, and the result stays right."),
    ("02_", r"PITCH", "rows without padding",
     "The result is right, but ldmatrix has bank conflicts."),
    ("03_.*kernel", r"chunk \^ row", "no swizzle",
     "Writer and reader use the same formula: the result is right, but ldmatrix has bank "
     "conflicts."),
)

# (configuration, file, code, reason), as above
NOT_NEEDED = (
    ("^13_two_gpus:through_tma$", "13_.*through_tma", r"bulk_wait_group_read\(0\)",
     "A part in one box follows signal_part(), which has waited for the store before it."),
    ("^04_.*:stages2$", "04_", r"^cp_async_wait_group\(0\)",
     "With two stages wait_stage() waits for all groups, and it follows the last copy."),
    (":(two_)?wait0$", "0[67]_", r"^wgmma_wait_group\(0\)",
     "With WAIT = 0 every turn of the loop waits for all groups, and there is at least one turn."),
    ("^10_.*:coop", "10_.*kernel", r"mbarrier_init\(&shared->order",
     "Only ping-pong waits for the order barriers or arrives at them."),
    ("^10_.*:stream256_alone$", r"/stream_k\.cu", r"^cluster_sync\(\);",
     "The last barrier is for the peers' sake, and a cluster of one CTA has none."),
    ("^11_.*:(many_rows|ordered)$", "11_.*/kernel", r"^else mbarrier_wait",
     "The only loader is the one that announces the bytes."),
    ("^12_.*:pairs16_two$", "12_.*/pairs", r"^if \(again\) wgmma_wait_group",
     "PAIRS is 1: no other pair comes in the same turn."),
    ("^12_(?!.*:(quads|halves))", "12_.*/(kernel|pairs)", r"^else mbarrier_wait",
     "The only loader is the one that announces the bytes."),
)


def place_of(edit):
    return f"{edit.code} #{edit.nth} in {edit.function}"


def not_needed(edit, configuration):
    """Why this configuration can do without the line; None if it cannot."""
    if edit.what != "removed":
        return None
    return next((rule[3] for rule in NOT_NEEDED if is_about(rule, edit, configuration)), None)


def is_about(rule, edit, configuration):
    return (re.search(rule[0], configuration) and re.search(rule[1], edit.file) and
            re.search(rule[2], place_of(edit)))


def reason_of(edit):
    return next((rule[3] for rule in RULES if matches(rule, edit)), None)


def matches(rule, edit):
    file, code, what = rule[:3]
    return (re.search(file, edit.file) and re.search(code, place_of(edit)) and
            re.search(what, edit.what))


def unused(edits):
    return [rule for rule in RULES if not any(matches(rule, edit) for edit in edits)]
