"""harmless.py: mutants with which nothing is wrong, and why.

A mutant that matches must survive, and every line here must match one. The three patterns are
searched for in the file's name, the line's code and what is done to it.
"""

import re

ALL_BUT_RS = r"^(0[6-9]|beyond/10)_\w+/(?!rs\.cu)|11_.*per_tensor"

LOADS = ("Loads and the announcement of their bytes may come in any order: the arrival is part of "
         "the announcement, so the phase cannot complete before it, and the tx-count may be "
         "negative.")
OTHER_STAGE = "The wait and the load are about different stages; the copy only starts later."
EITHER_ORDER = "Wait and barrier both come after the fence and before the reading, in either order."
REGISTERS_ONLY = "The fence orders registers, which the wait for bytes does not touch."
BOTH_BEFORE = ("The fence is about what ldmatrix has read, the wait about what wgmma reads; the "
               "barrier behind both hands the two on.")
ORDER_BARRIER = ("The order barrier flips a little later or the wait comes a little earlier; the "
                 "barrier hands over the Tensor Core, not data.")
ONE_OF_TWO = "Of the two barriers that stand side by side, every configuration has one."

# (file, code, edit, reason); the n-th place with the same code ends in #n, from 0
RULES = (
    # Groups: a wait counts them, and an empty one is complete at once.
    ("", r"(cp_async|wgmma|bulk)_commit_group", "^twice$",
     "The second group is empty; the wait counts it and so waits for more than it must."),
    ("", r"if \(elected\) bulk_(commit|wait)_group", "by all threads",
     "The other threads have no stores: their groups are empty, their waits return at once."),

    # Order that nobody relies on.
    ("10_.*split_k", r"^if \(SPLITS > 1\) cluster_sync", "after the next", ONE_OF_TWO),
    ("10_.*split_k", r"^if \(SPLITS == 1\) __syncthreads", "before the previous", ONE_OF_TWO),
    ("", r"^tma_load(_multicast)?\(.*->b\[", "before the previous", LOADS),
    ("", r"^(tma_load(_multicast)?\(.*->a\[|mbarrier_arrive_expect_tx)", "after the next", LOADS),
    ("0[56]|11_.*per_tensor", r"^tma_load\(.*->a\[", "before the previous", LOADS),
    (r"^03_.*(mbarrier|kernel)|(08|10)_.*kernel|pipeline\.h",
     r"^(for \(.*\) )?(mbarrier|pipeline)_init\(", "(after the next|before the previous)",
     "The order in which one thread initializes barriers means nothing before the barrier that "
     "follows. Those that may be initialized behind the fence are not signalled by the TMA."),
    ("(08|10)_.*kernel", "^fence_mbarrier_init", "before the previous",
     "The barriers that are then initialized behind the fence are used by their own CTA's threads "
     "alone, not signalled by the TMA."),
    ("03_.*kernel|05_", r"^(if \(threadIdx\.x == 0\) )?load_stage\(.*STAGES - 1", "after the next",
     "Still behind the barrier that says the stage is free; the copy only starts later."),
    ("03_.*mbarrier", r"^load_stage\(.*STAGES - 1", "after the next", OTHER_STAGE),
    ("03_.*mbarrier", r"^mbarrier_wait\(&shared->full", "before the previous", OTHER_STAGE),
    ("05_", r"^__syncthreads\(\); #1", "after the next", EITHER_ORDER),
    ("05_", r"^mbarrier_wait\(&shared->full\[state", "before the previous", EITHER_ORDER),
    (ALL_BUT_RS, r"^(consumer_wait|mbarrier_wait\(&shared->full)", "after the next",
     REGISTERS_ONLY),
    (ALL_BUT_RS, "^wgmma_fence", "before the previous", REGISTERS_ONLY),
    ("rs.cu", r"^wgmma_wait_group\(WAIT", "after the next", BOTH_BEFORE),
    ("rs.cu", "^fence_proxy_async", "before the previous", BOTH_BEFORE),
    ("(08|10)_.*kernel", r"mbarrier_arrive\(&shared->order", "after the next", ORDER_BARRIER),
    ("(08|10)_.*kernel", r"^wgmma_wait_group\(0\)", "before the previous", ORDER_BARRIER),
    ("0[89]_|10_.*kernel|11_.*per_tensor", r"release_stage\(shared, &release\)", "after the next",
     "The last stages of a tile are released after its epilogue: later, and no less safely."),

    # What only costs time.
    ("08_|10_", r"setmaxnreg_inc\(CONSUMER", "removed|after the next",
     "The simulator does not know how many registers a thread uses. On the GPU ptxas compiles for "
     "what is left: it spills, and the result stays right."),
    ("02_", r"PITCH", "rows without padding", "Right, but ldmatrix has bank conflicts."),
    ("03_.*kernel", r"chunk \^ row", "no swizzle",
     "Writer and reader share the formula: right, but ldmatrix has bank conflicts."),
)


def reason_of(edit):
    return next((rule[3] for rule in RULES if matches(rule, edit)), None)


def matches(rule, edit):
    file, code, what = rule[:3]
    return (re.search(file, edit.file) and re.search(code, f"{edit.code} #{edit.nth}") and
            re.search(what, edit.what))


def unused(edits):
    return [rule for rule in RULES if not any(matches(rule, edit) for edit in edits)]
