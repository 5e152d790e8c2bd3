"""live_runs.py: runs of the live book's program, for its tests: on this machine and, under node, as
WebAssembly. What a run says is the whole of its output, and its exit code."""

import concurrent.futures
import functools
import json
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.append(os.path.join(ROOT, "common", "live"))
sys.path.append(os.path.join(ROOT, "common", "breaks"))
import simulate
import report
from source import Source

SCHEDULES = ("early", "late", "random", "time")
ENDED = 124  # of a run that did not


def seed():
    """The commit's."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "seed.sh")
    return int(subprocess.run([script], capture_output=True, text=True, check=True).stdout)


def read_live(path):
    with open(path, encoding="ascii") as file:
        return json.load(file)


def kernels_of(live):
    """(chapter, kernel): each chapter's own kernel, then its other files."""
    for chapter in live["chapters"]:
        yield chapter["name"], -1
        for kernel in live["kernels"]:
            if kernel["chapter"] == chapter["name"] and kernel["kind"] == "variant" \
                    and not kernel["edits"]:
                yield chapter["name"], kernel["number"]


def files_of(live, chapter, kernel):
    return simulate.kernel_of(live, chapter, kernel)["files"]


def options_of(live, chapter, kernel, shape, schedule, *more):
    """Of a run of this kernel."""
    m, n, k = shape
    needs = simulate.kernel_of(live, chapter, kernel)["needs"]
    return ["--chapters", str(int(chapter[:2])), "--m", str(m), "--n", str(n), "--k", str(k),
            *(word for name, value in needs.items() for word in (f"--{name}", str(value))),
            "--schedule", schedule, *more]


def said(command, off=(), kernel=-1):
    environment = dict(os.environ, LIVE_OFF=",".join(map(str, off)), LIVE_KERNEL=str(kernel))
    try:
        run = subprocess.run(command, env=environment, capture_output=True, text=True,
                             timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return f"exit code {ENDED}"
    text = f"{run.stdout}{run.stderr}exit code {run.returncode}"
    return re.sub(r"^live_\w+:", "live:", text, flags=re.M)  # the module's only name


# emcc compiles no calls for plain C's loads and stores (sim/units/registers/calls.c), so the module
# sees of some accesses to accumulators only what the wrappers say. Kind and lines are the same.
ACCESSED = re.compile(r"the kernel's own code has read or written accumulators|"
                      r"accumulators were read \(packed, converted, stored\)")


@functools.lru_cache(maxsize=None)
def source_of(file):
    for folder in ("", "common/", "beyond/"):
        path = os.path.join(ROOT, folder, file)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as opened:
                return Source(path, opened.read())
    return None


@functools.lru_cache(maxsize=None)
def first_line(file, line):
    source = source_of(file)
    return f"{file}:{source.first_line(line) if source else line}"


def comparable(text):
    """Without what follows a first report of registers that are accessed under a wgmma: where the
    other accesses lie, and what the registers hold, is the choice of each compiler."""
    first, *reports = re.split(r"(?m)^(?=hazard: )", text)
    early = reports and re.match("hazard: (accumulator-in-use|fragment-in-flight):", reports[0])
    return first + reports[0] if early else text


def in_words(text):
    """The same between compilers, and wherever lines end."""
    text = " ".join(comparable(text).split())
    text = report.PLACE.sub(lambda place: first_line(place[1], int(place[2])), text)
    return ACCESSED.sub("accumulators were accessed", text)


class Programs:
    """native: the program; node, script, module: node, run.js and the module."""

    def __init__(self, native, node="", script="", module=""):
        self.native, self.module = [native], [node, script, module]

    def differing(self, options, off=(), kernel=-1):
        """None, or what differs between the two."""
        here = said(self.native + options, off, kernel)
        there = said(self.module + options, off, kernel)
        if here == there or in_words(here) == in_words(there):
            return None
        return f"{' '.join(options)}, off {list(off)}, kernel {kernel}:\n{here}\n---- as WebAssembly:\n{there}"


def check_all(runs, check):
    """Calls check(*run) for all, two at once; the number of those with which something is wrong."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [text for text in pool.map(lambda run: check(*run), runs) if text]
    for text in wrong[:5]:
        print(text)
    print(f"{len(runs)} runs, {len(wrong)} of them differ")
    return len(wrong)
