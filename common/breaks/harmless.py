"""harmless.py: breaks of the gallery with which nothing is wrong, and why.

One that matches must survive, and every line here must match one. The three patterns are
searched for in the file's name, the line's code and what is done to it.

NOT_NEEDED lists lines that one configuration of a kernel can do without, although others need them:
tools/gallery/removed_lines.py removes every line in every configuration.
"""

import re

ALL_BUT_RS = r"^0[6-9]_\w+/(?!rs\.cu)"

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

# (file, code, edit, reason). Its place follows the code: "#1 in consumer" is the second one with
# this code and edit in the function.
ANY_ORDER = ("Before the barrier that follows, the order in which one thread initializes barriers "
             "does not matter. The TMA does not signal those that are then initialized after the "
             "fence.")
RULES = (
    # Groups: a wait counts them, and an empty one is complete at once.
    ("", r"(cp_async|wgmma|bulk)_commit_group", "^twice$",
     "The second group is empty. The wait counts it and so waits for more than it has to."),
    ("", r"if \((elected|threadIdx\.x( % 128)? == 0)\) bulk_(commit|wait)_group", "by all threads",
     "The other threads have no stores: their groups are empty, and their waits return at once."),
    (r"^0",
     r"^tma_load(_multicast)?\(.*->b\[", "before the previous", LOADS),
    ("", r"^(tma_load(_multicast)?\(.*->a\[|mbarrier_arrive_expect_tx)", "after the next", LOADS),
    ("0[569]_", r"^tma_load\(.*->a\[", "before the previous", LOADS),
    (r"^03_.*(mbarrier|kernel)|08_.*kernel|pipeline\.h",
     r"^(for \(.*\) )?(mbarrier|pipeline)_init\(", "(after the next|before the previous)",
     ANY_ORDER),
    ("08_.*kernel", "^fence_mbarrier_init", "before the previous",
     "Only threads of their own CTA use the barriers that are then initialized after the fence; "
     "the TMA does not signal them."),
    ("03_.*kernel|05_", r"^(if \(threadIdx\.x == 0\) )?load_stage\(.*STAGES - 1", "after the next",
     "The load still follows the barrier after which the stage is free; the copy only starts "
     "later."),
    ("03_.*mbarrier", r"^load_stage\(.*STAGES - 1", "after the next", OTHER_STAGE),
    ("03_.*mbarrier", r"^mbarrier_wait\(&shared->full", "before the previous", OTHER_STAGE),
    ("05_", r"^__syncthreads\(\); #1", "after the next", EITHER_ORDER),
    ("05_", r"^mbarrier_wait\(&shared->full\[state", "before the previous", EITHER_ORDER),
    (ALL_BUT_RS, r"^(if \(!full\) )?(consumer_wait|mbarrier_wait\(&shared->full)(?!.*copy_warp$)",
     "after the next", REGISTERS_ONLY),
    (ALL_BUT_RS, "^wgmma_fence", "before the previous", REGISTERS_ONLY),
    ("rs.cu", r"^wgmma_wait_group\(WAIT", "after the next", BOTH_BEFORE),
    (r"/rs\.cu", "^fence_proxy_async", "before the previous", BOTH_BEFORE),
    ("08_.*kernel", r"mbarrier_arrive\(&shared->order", "after the next",
     ORDER_BARRIER),
    ("08_.*kernel", r"^wgmma_wait_group\(0\)", "before the previous",
     ORDER_BARRIER),
    ("0[89]_",
     r"release_stage\(shared, &release\)", "after the next",
     "The last stages of a tile are released after its epilogue: later, but just as safely."),

    # What only costs time.
    ("08_", r"setmaxnreg_inc\((CONSUMER|240|160)", "removed|after the next",
     "The simulator does not model how many registers a thread uses. For the GPU, ptxas compiles "
     "with the registers that are left: it spills, and the result stays right."),
    ("02_", r"PITCH", "rows without padding",
     "The result is right, but ldmatrix has bank conflicts."),
    ("03_.*kernel", r"chunk \^ row", "no swizzle",
     "Writer and reader use the same formula: the result is right, but ldmatrix has bank "
     "conflicts."),
)

# In headers of common/building_blocks that kernels of part one do not call.
OF_BLOCKS = (
    ("column_store", r"cluster_wait", "before the previous",
     "The wait comes before the store of D: earlier than necessary."),
    ("column_store", r"cluster_wait", "by one thread",
     "A CTA's shared memory lives until its last thread has ended, and that one waits."),
    ("column_store", r"named_barrier_sync\(SUMS_BARRIER", "barrier 1 for all",
     "The barrier of that number is not in use any more."),
)

# (configuration, file, code, reason), as above
NOT_NEEDED = (
    ("^04_.*:stages2$", "04_", r"^cp_async_wait_group\(0\)",
     "With two stages wait_stage() waits for all groups, and it follows the last copy."),
    (":(two_)?wait0$", "0[67]_", r"^wgmma_wait_group\(0\)",
     "With WAIT = 0 every turn of the loop waits for all groups, and there is at least one turn."),
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


_elsewhere = {}


def remember(edits):
    """Of (edit, text of its function): a reason holds wherever that text is the same."""
    for edit, text in edits:
        reason = reason_of(edit)
        if reason and text:
            _elsewhere[text, edit.code, edit.nth, edit.what] = reason


def reason_elsewhere(edit, text):
    return _elsewhere.get((text, edit.code, edit.nth, edit.what))


def unused(excuses, edits):
    """Of these, and of those about blocks that are among the edits' files."""
    files = {edit.file for edit in edits}
    excuses = [*excuses, *(rule for rule in OF_BLOCKS
                           if any(re.search(rule[0], file) for file in files))]
    return [rule for rule in excuses if not any(matches(rule, edit) for edit in edits)]
