"""What the pictures are made of: the simulator's output, the kernels' constants, and the book's own
functions, compiled. No formula of the book is written here a second time.

BOOK is the source tree and PROGRAMS are folders with simulator programs, the first that has one
first; make.py and edits.py set both.
"""
import collections
import functools
import json
import os
import re
import subprocess
import tempfile

BOOK, PROGRAMS, COMPILER = ".", ["build/sim"], "cc"


def forget():
    """After a change of the above."""
    for function in (run, trace_events, c_table):
        function.cache_clear()


def program(name, args):
    """An edited program has one kernel, so a variant is in the folder behind it."""
    for folder in PROGRAMS[-1:] if "--variant" in args else PROGRAMS:
        if os.path.exists(f"{folder}/{name}"):
            return f"{folder}/{name}"
    raise SystemExit(f"error: no program {name} in {', '.join(PROGRAMS)}: build it first")


@functools.lru_cache(None)
def run(name, *args):
    done = subprocess.run([program(name, args), *args], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, f"{name} {' '.join(args)}: {done.stderr[:500]}"
    return done.stdout


def bank_table(*args):
    """The 8-column table of `inspect`: a list of lines, each eight cells ('' if empty)."""
    lines = [line for line in run("inspect", *args).splitlines() if re.match(r" +0x", line)]
    head = next(line for line in run("inspect", *args).splitlines() if line.startswith("address"))
    ends = [found.end() for found in re.finditer(r"[\d-]+", head)]
    begins = [len("address")] + ends[:-1]
    return [[line[begin:end].strip() for begin, end in zip(begins, ends)] for line in lines]


def wavefronts(*args):
    return [int(x) for x in re.findall(r"\): (\d+) wavefront", run("inspect", "tile", *args))]


Event = collections.namedtuple("Event", "cycle phase parity pending bytes name words who")
TOLD = re.compile(r" *(\d+) +(\d+) +(\d+) +(\d+) +(-?\d+)  (\w+): (.*?)  +(.*)")


def told(name, *args, barrier=0):
    """What --explain tells of an mbarrier, a list of Events; counts and bytes are those afterwards."""
    lines = map(TOLD.match, run(name, *args, "--explain", f"mbarrier:{barrier}").splitlines())
    return [Event(*map(int, line.groups()[:5]), *line.groups()[5:]) for line in lines if line]


def loads(name, *args, barrier=0):
    """The KB of each load that completes in the barrier's first phase, the smallest first."""
    events = told(name, *args, barrier=barrier)
    end = next(i for i, event in enumerate(events) if event.name == "flip")
    return sorted(int(event.words.split()[0]) // 1024 for event in events[:end]
                  if event.name == "complete_tx")


@functools.lru_cache(None)
def trace_events(name, *args, sms=1):
    """The events of --trace."""
    with tempfile.TemporaryDirectory() as folder:
        run(name, *args, "--trace", f"{folder}/t", "--trace-sms", str(sms))
        with open(f"{folder}/t", encoding="utf-8") as file:
            return json.load(file)["traceEvents"]


def tiles(name, *args, sms):
    """[(SM, tile, begin, end)]: of each tile, from its first load to the end of its epilogue."""
    events = trace_events(name, *args, sms=sms)
    sm_of = {e["pid"]: int(re.search(r", SM (\d+)", e["args"]["name"]).group(1)) for e in events
             if e["name"] == "process_name"}
    spans = {}
    for e in events:
        if e["ph"] == "X" and "output_tile" in e["args"]:
            begin, at = e["args"]["cycle"], (sm_of[e["pid"]], e["args"]["output_tile"])
            before = spans.get(at, (begin, 0))
            spans[at] = (min(before[0], begin), max(before[1], begin + e["args"]["cycles"]))
    return [(*at, *span) for at, span in spans.items()]


def trace(name, *args, sms=1):
    """[(track, name, begin, cycles, args)] of the first CTAs, from --trace."""
    events = trace_events(name, *args, sms=sms)
    tracks = {e["tid"]: e["args"]["name"] for e in events
              if e["name"] == "thread_name" and e["pid"] == 1}
    return [(tracks[e["tid"]], re.sub(r" \d+$", "", e["name"]), e["args"]["cycle"],
             e["args"]["cycles"], e["args"]) for e in events if e["ph"] == "X" and e["pid"] == 1]


def source(path):
    with open(f"{BOOK}/{path}", encoding="utf-8") as file:
        return file.read()


SHEET = "docs/machine.md"


def sheet(row):
    """A cell of the machine's table."""
    found = re.search(rf"^\| {re.escape(row)} \| ([^|]*) \|", source(SHEET), re.M)
    assert found, f"{SHEET} has no row '{row}'"
    return found.group(1)


def sms_of_a_gpu():
    return int(sheet("SMs, sub-partitions each").split(",")[0])


def constants(path):
    """The numbers of a kernel's enum and its #defines."""
    text = source(path)
    found = dict(re.findall(r"#define (\w+) (\d+)", text))
    found.update(re.findall(r"\b([A-Z][A-Z_]*) = (\d+)", text))
    return {k: int(v) for k, v in found.items()}


def between(path, begin, end):
    """A piece of a file: from the text `begin` to the text `end` behind it."""
    text = source(path)
    assert text.count(begin) == 1, f"{path} has not one '{begin}'"
    start = text.index(begin)
    return text[start:text.index(end, start + len(begin))]


def function(path, head):
    """A function of a file, from the text of its head to the brace that closes it."""
    return between(path, head, "\n}\n") + "\n}\n"


@functools.lru_cache(None)
def c_table(code, *flags):
    """Compiles and runs a few lines of C around the book's own function; rows of integers."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/t.c", "w", encoding="utf-8") as file:
            file.write("#include <stdbool.h>\n#include <stdint.h>\n#include <stdio.h>\n" + code)
        subprocess.run([COMPILER, "-std=gnu11", "-O0", f"-I{BOOK}/common", *flags, f"{folder}/t.c",
                        "-lm", "-o", f"{folder}/t"], check=True)
        out = subprocess.run([f"{folder}/t"], check=True, text=True, stdout=subprocess.PIPE).stdout
    return [tuple(int(x) for x in line.split()) for line in out.splitlines()]


# For a function of hopper/ or building_blocks/ that is compiled as C.
DEVICE = "#define DEVICE static inline\n#define HOPPER_THREAD_H\n#define UNROLL\n"
