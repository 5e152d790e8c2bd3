"""rules.py: the breaks that are computed: what can be done wrong with each synchronization wrapper,
and with a pitch.

Every call of a wrapper, in every kernel and in the headers made of wrappers, is found in the source
and broken in all the ways that mean something for it; so is every product of a row and a pitch. So
the gallery follows the kernels.
"""

import re
from dataclasses import dataclass

from source import spaces

# What must become of a break. A broken order must be reported as such; a result that merely comes
# out wrong is enough only where an address, a size or a number is wrong.
ORDER, VALUE = "order", "value"


@dataclass(frozen=True)
class Found:
    """A break of the gallery, and its place in the source."""
    file: str       # 06_wgmma/kernel.cu, or building_blocks/pipeline.h
    function: str   # around the edited place
    line: int
    code: str       # the line's code: with `what` and `nth`, the break's name
    what: str       # what is wrong with it
    nth: int        # among those of the same name in the file
    category: str   # ORDER or VALUE
    replacements: tuple  # ((start, end, text), ...)

    def key(self):
        return (self.file, self.function, self.code, self.what, self.nth)

    def applied(self, source):
        return source.edited(self.replacements)


NOTHING = "((void)0)"


def depth(arguments, i):
    return ("depth + 1", i, f"({arguments[i]}) + 1")


def state_changes(arguments, i):
    state = arguments[i]
    return [("parity inverted", i,
             f"((struct pipeline_state){{({state}).index, ({state}).phase ^ 1}})")]


def more_less(arguments, i, what, step="1"):
    return [(f"{what} + {step}", i, f"({arguments[i]}) + {step}"),
            (f"{what} - {step}", i, f"({arguments[i]}) - {step}")]


def half_double(arguments, i):
    return [("half the bytes", i, f"({arguments[i]}) / 2"),
            ("twice the bytes", i, f"({arguments[i]}) * 2")]


def narrower(arguments, i):
    changes = [("scope of the CTA", i, "SCOPE_CTA")]
    if arguments[i] == "SCOPE_SYS":
        changes.append(("scope of the GPU", i, "SCOPE_GPU"))
    return changes


def barrier_count(arguments, i):
    changes = more_less(arguments, i, "count")
    return changes[:1] if arguments[i] == "1" else changes


# An addition of 64 bits that orders nothing.
ADD_B64 = ("uint64_t seen = 0, before; while ((before = atomic_cas_relaxed_b64("
           "{0}, seen, seen + {1}, {2})) != seen) seen = before;")

# Per wrapper: argument changes as (what, argument, new text), and replacements of the whole call as
# (what, text with {0}, {1} for the arguments).
ARGUMENTS = {
    "cp_async_wait_group": lambda a: [depth(a, 0)],
    "wgmma_wait_group": lambda a: [depth(a, 0)],
    "bulk_wait_group_read": lambda a: [depth(a, 0)],
    "bulk_wait_group": lambda a: [depth(a, 0)],
    "mbarrier_wait": lambda a: [("parity inverted", 1, f"({a[1]}) ^ 1")],
    "mbarrier_test_wait": lambda a: [("parity inverted", 1, f"({a[1]}) ^ 1")],
    "mbarrier_wait_relaxed": lambda a: [("parity inverted", 1, f"({a[1]}) ^ 1")],
    "mbarrier_init": lambda a: barrier_count(a, 1),
    "mbarrier_arrive_expect_tx": lambda a: half_double(a, 1),
    "mbarrier_arrive_remote": lambda a: [("always CTA 0", 1, "0")],
    "mbarrier_arrive_remote_relaxed": lambda a: [("always CTA 1", 1, "1")],
    "pipeline_init": lambda a: more_less(a, 2, "count") + more_less(a, 1, "stages")[1:],
    "producer_acquire": lambda a: state_changes(a, 1) + half_double(a, 2),
    "producer_tail": lambda a: state_changes(a, 1),
    "consumer_wait": lambda a: state_changes(a, 1),
    "consumer_test_wait": lambda a: state_changes(a, 1),
    "named_barrier_sync": lambda a: (more_less(a, 1, "count", "32") +
                                     [("barrier 1 for all", 0, "1")]),
    "named_barrier_arrive": lambda a: (more_less(a, 1, "count", "32") +
                                       [("the next barrier", 0, f"({a[0]}) + 1")]),
    "setmaxnreg_dec": lambda a: [("24 registers more", 0, f"({a[0]}) + 24")],
    "setmaxnreg_inc": lambda a: [("16 registers more", 0, f"({a[0]}) + 16")],
    "st_global_release": lambda a: narrower(a, 2),
    "st_global_relaxed": lambda a: [],
    "red_add_release": lambda a: narrower(a, 2),
    "atomic_add_acq_rel": lambda a: narrower(a, 2),
    "atomic_add_acq_rel_b64": lambda a: narrower(a, 2),
    "atomic_cas_relaxed_b64": lambda a: narrower(a, 3),
    "ld_global_acquire": lambda a: narrower(a, 1),
    "tensor_map_copy_release": lambda a: narrower(a, 2),
    "fence_tensor_map_release": lambda a: narrower(a, 0),
    "fence_tensor_map_acquire": lambda a: narrower(a, 1),
    "pipeline_advance": lambda a: more_less(a, 1, "stages"),
    "pipeline_skip": lambda a: more_less(a, 1, "count"),
    "tcgen05_alloc": lambda a: [("half the columns", 2, f"({a[2]}) / 2")],
    "tcgen05_dealloc": lambda a: [("half the columns", 2, f"({a[2]}) / 2")],
    "tcgen05_mma": lambda a: [("always accumulates", 5, "true"), ("never accumulates", 5, "false")],
    "tcgen05_commit_multicast": lambda a: [("to CTA 0 alone", 2, "1"), ("to CTA 1 alone", 2, "2")],
}
WHOLE = {
    "__syncthreads": [("only a warp's barrier", "__syncwarp()")],
    "named_barrier_sync": [("only a warp's barrier", "__syncwarp()"),
                           ("arrives without waiting", "named_barrier_arrive({0}, {1})")],
    "named_barrier_arrive": [("waits, too", "named_barrier_sync({0}, {1})")],
    "cluster_sync": [("only the CTA's barrier", "__syncthreads()")],
    "cluster_sync_relaxed": [("only the CTA's barrier", "__syncthreads()")],
    "cluster_arrive": [("waits, too", "cluster_sync()")],
    "cluster_wait": [("arrives, too", "cluster_sync()")],
    "mbarrier_wait": [("looks once instead of waiting", "(void)mbarrier_try_wait({0}, {1})")],
    "consumer_wait": [("looks once instead of waiting", "(void)consumer_try_wait({0}, {1})"),
                      ("waits for the empty barrier",
                       "mbarrier_wait(&({0})[({1}).index].empty, ({1}).phase)")],
    "consumer_test_wait": [("is taken for granted", "true")],
    "producer_acquire": [("announces without waiting",
                          "mbarrier_arrive_expect_tx(&({0})[({1}).index].full, {2})"),
                         ("waits without announcing",
                          "mbarrier_wait(&({0})[({1}).index].empty, ({1}).phase)")],
    "mbarrier_wait_relaxed": [("looks once instead of waiting", "(void)mbarrier_try_wait({0}, {1})")],
    "mbarrier_arrive_remote": [("arrives at the own CTA only", "mbarrier_arrive({0})")],
    "mbarrier_arrive_remote_relaxed": [("arrives at the own CTA only",
                                        "mbarrier_arrive_relaxed({0})")],
    "mbarrier_arrive_expect_tx": [("arrives without announcing bytes", "mbarrier_arrive({0})")],
    "consumer_release": [("arrives at the full barrier",
                          "mbarrier_arrive(&({0})[({1}).index].full)")],
    "setmaxnreg_dec": [("inc instead of dec", "setmaxnreg_inc({0})")],
    "setmaxnreg_inc": [("dec instead of inc", "setmaxnreg_dec({0})")],
    "st_global_release": [("relaxed", "st_global_relaxed({0}, {1}, {2})")],
    "ld_global_acquire": [("relaxed", "ld_global_relaxed({0}, {1})")],
    "red_add_release": [("relaxed", "red_add_relaxed({0}, {1}, {2})")],
    "atomic_add_acq_rel": [("no release", "atomic_add_acquire({0}, {1}, {2})"),
                           ("no acquire", "atomic_add_release({0}, {1}, {2})")],
    "atomic_add_acq_rel_b64": [
        ("no release", f"({{{{ {ADD_B64} fence_acq_rel({{2}}); before; }}}})"),
        ("no acquire", f"({{{{ fence_acq_rel({{2}}); {ADD_B64} before; }}}})")],
    "tensor_map_copy_release": [("copies by ordinary stores",
                                 "st_global_b32((uint32_t *)({0}) + threadIdx.x % 32, "
                                 "ld_shared_b32((uint32_t *)({1}) + threadIdx.x % 32))")],
    "cp_async_mbarrier_arrive_noinc": [("arrives before the copies land", "mbarrier_arrive({0})")],
    "tcgen05_commit": [("arrives without waiting for the multiplications", "mbarrier_arrive({1})")],
    "tcgen05_commit_multicast": [("not multicast", "tcgen05_commit({0}, {1})")],
    "tma_load_pair": [("completes on the own CTA's barrier", "tma_load({0}, {1}, {2}, {3}, {4})")],
    "cluster_is_canceled": [("is taken for granted", "true")],
}
# A second call in the same place; where that only waits or fences twice, there is nothing to try.
REPEATED = {"mbarrier_init", "mbarrier_arrive", "mbarrier_arrive_expect_tx", "producer_acquire",
            "producer_commit", "consumer_release", "mbarrier_arrive_remote", "tma_load",
            "tma_load_3d", "tma_load_multicast", "cp_async_mbarrier_arrive_noinc",
            "cp_async_commit_group", "wgmma_commit_group", "bulk_commit_group", "pipeline_init",
            "release_stage", "named_barrier_arrive", "cluster_arrive", "mbarrier_arrive_relaxed",
            "mbarrier_arrive_remote_relaxed", "tma_load_pair", "tcgen05_commit",
            "tcgen05_commit_multicast", "cluster_try_cancel"}
# Every one of many threads has to make these; here one does.
BY_ALL = {"fence_proxy_async", "__syncthreads", "named_barrier_sync", "named_barrier_arrive",
          "cluster_sync", "cluster_sync_relaxed", "cluster_arrive", "cluster_wait", "mbarrier_wait",
          "mbarrier_wait_cluster", "mbarrier_wait_relaxed", "consumer_wait",
          "cp_async_wait_group", "cp_async_commit_group", "cp_async_mbarrier_arrive_noinc",
          "wgmma_fence", "wgmma_commit_group", "wgmma_wait_group", "__syncwarp", "setmaxnreg_inc",
          "setmaxnreg_dec", "tcgen05_wait_load", "tcgen05_fence_before", "tcgen05_fence_after"}
# Not moved, removed and so on by themselves: they only keep count, or their value is used.
COUNTING = {"pipeline_advance", "pipeline_skip", "ld_global_acquire", "atomic_add_acq_rel",
            "atomic_add_acq_rel_b64", "consumer_test_wait", "mbarrier_test_wait", "tcgen05_mma",
            "cluster_is_canceled"}
SYNCHRONIZING = (set(ARGUMENTS) | set(WHOLE) | REPEATED | BY_ALL |
                 {"fence_mbarrier_init", "producer_tail", "wait_stage", "load_stage", "tma_store",
                  "tma_store_3d", "tma_reduce_add", "epilogue_stage_elements",
                  "stage_epilogue_tile", "cluster_sum_put", "column_sum_put",
                  "transposed_stage_elements",
                  "mbarrier_arrive_remote_release", "griddepcontrol_wait", "tcgen05_relinquish"})
# A synchronizing statement is moved past the next one that touches memory or synchronizes itself:
# one with a call of these, or of a function that calls them.
TOUCHING = SYNCHRONIZING - COUNTING | {
    "ld_shared_b32", "ld_shared_b64", "st_shared_b32", "ld_shared_b128", "st_shared_b128",
    "ldmatrix_x4",
    "stmatrix_x4", "stmatrix_x2", "stmatrix_x4_trans", "cp_async_16", "ld_shared_cluster_b128",
    "wgmma_m64nNk16", "wgmma_m64nNk16_rs", "wgmma_m64nNk16_rs_mn_major", "wgmma_m64nNk32_e4m3",
    "wgmma_m64nNk32_e4m3_rs", "wgmma_promote", "wgmma_promote_columns", "epilogue_store_elements",
    "epilogue_store", "part_store_elements", "part_store", "group_store", "store_64_rows", "take_map",
    "change_map", "tensor_map_replace_address", "tensor_map_replace_dim", "cluster_sum_get",
    "column_sum_get", "column_store_add", "column_store", "load_weights", "unpack", "tcgen05_mma",
    "tcgen05_load"}
ONE_THREAD = "(threadIdx.x % 128 == 0)"
FOR_ONE = re.compile(r"if \(\s*(?:elected|threadIdx\.x\s*(?:%\s*\d+\s*)?==\s*0)\s*\)\s*")
DECLARATION = re.compile(r"(?:const\s+)?(?:struct\s+)?\w+\s+\**(?:const\s+)?(\w+)\s*[=;\[]")
# What a row's number is multiplied by: elements from one row to the next.
PITCH = re.compile(r"\*\s*((?:\w+(?:->|\.))*ld[abd]?)\b")
# Removing the call gives a wrong value, not a broken order.
VALUE_IF_REMOVED = {"tma_store", "tma_store_3d", "tma_reduce_add", "st_global_relaxed",
                    "column_sum_put", "atomic_cas_relaxed_b64"}


class Places:
    """Of the breaks of one source file; names them."""

    def __init__(self, source):
        self.source = source
        self.function = ""  # that is looked at
        self.edits = []
        self.names = {}

    def add(self, at, what, replacements, category=ORDER):
        line = self.source.line_of(at)
        name = (self.function, self.source.line_text(line), what)
        nth = self.names[name] = self.names.get(name, -1) + 1
        self.edits.append(Found(self.source.name, self.function, line, *name[1:], nth, category,
                                tuple(replacements)))


class Finder(Places):
    """Makes the edits of the rules."""

    def __init__(self, source):
        super().__init__(source)
        self.touching = set(TOUCHING)
        bodies = {name: source.code[brace:end] for name, brace, end in source.functions()}
        grown = True
        while grown:
            new = {name for name, body in bodies.items() if self.names_in(body) & self.touching}
            grown = bool(new - self.touching)
            self.touching |= new

    def device_functions(self):
        return (f for f in self.source.functions() if f[0] not in ("launch", "tile_at"))

    def calls(self):
        for self.function, brace, end in self.device_functions():
            for match in re.finditer(r"\b(\w+)\s*\(", self.source.code[brace:end]):
                if match.group(1) in SYNCHRONIZING:
                    yield match.group(1), brace + match.start(), brace + match.end() - 1

    def find(self):
        for name, at, opening in self.calls():
            end = self.source.closing(opening)
            self.change_call(name, at, opening, end)
            if name in COUNTING or self.is_value(at):
                continue
            self.add(at, "removed", [(at, end, NOTHING)],
                     VALUE if name in VALUE_IF_REMOVED else ORDER)
            call = self.source.code[at:end]
            flat = " ".join(call.split())
            if name in REPEATED:
                self.add(at, "twice", [(at, end, f"({flat}, {flat})")])
            if name in BY_ALL:
                self.add(at, "by one thread of the warpgroup",
                         [(at, end, f"({ONE_THREAD} ? {flat} : (void)0)")])
            self.change_statement(at, end)
        self.narrow_pitches()
        return self.edits

    def is_value(self, at):
        """Is the call's value assigned? Then nothing can take its place."""
        return self.source.code[:at].endswith(" = ")

    def narrow_pitches(self):
        """Counts the elements between rows in 32 bits; on the device."""
        for self.function, brace, end in self.device_functions():
            head = self.source.code.rfind("\n\n", 0, brace)
            if not re.search(r"\b(DEVICE|DEVICE_ONCE|KERNEL\w*)\b", self.source.code[head:brace]):
                continue
            for match in PITCH.finditer(self.source.code, brace, end):
                self.add(match.start(), "pitch of 32 bits",
                         [(match.start(1), match.end(1), f"(int){match.group(1)}")], VALUE)

    def change_call(self, name, at, opening, end):
        arguments = self.source.arguments(opening)
        category = VALUE if name in COUNTING else ORDER
        changes = ARGUMENTS[name](arguments) if name in ARGUMENTS else []
        for what, i, text in changes:
            new = ", ".join(arguments[:i] + [text] + arguments[i + 1:])
            if arguments[i] != text:
                self.add(at, what, [(at, end, f"{name}({new})")], category)
        for what, text in WHOLE.get(name, []):
            self.add(at, what, [(at, end, text.format(*arguments))])

    def change_statement(self, at, end):
        """Moves the whole statement past a neighbour; lets all threads execute it."""
        source = self.source
        start = source.statement_start(at)
        stop = source.statement_end(start)
        siblings = source.siblings(at)
        if (start, stop) not in siblings or source.word(start) == "else":
            return
        statement = source.code[start:stop]
        if len(re.findall(r";", statement)) > (3 if "for" in statement else 1):
            return  # a block with more in it
        flat = " ".join(statement.split())
        one = FOR_ONE.match(statement)
        if one and "st_global_release" not in statement:  # a flag set twice is a wrong value
            self.add(at, "by all threads", [(start, start + one.end(), " " * one.end())])
        i = siblings.index((start, stop))
        gone = (start, stop, spaces(source.text[start:stop]))
        for other in siblings[i + 1:]:
            if self.touches(*other):
                self.add(at, "after the next statement", [gone, (other[1], other[1], " " + flat)])
                break
        for other in reversed(siblings[:i]):
            if self.touches(*other):
                self.add(at, "before the previous statement",
                         [gone, (other[0], other[0], flat + " ")])
                break
            declared = DECLARATION.match(source.code[other[0]:other[1]])
            if declared and re.search(rf"\b{declared.group(1)}\b", flat):
                break

    @staticmethod
    def names_in(code):
        return set(re.findall(r"\b(\w+)\s*\(", code))

    def touches(self, start, end):
        return bool(self.names_in(self.source.code[start:end]) & self.touching)


def generated(source):
    return Finder(source).find()
