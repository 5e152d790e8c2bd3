"""two_routes.py: broken kernels, by two routes to one verdict.

Takes the breaks that are written (common/breaks), or a seeded sample of the computed ones, compiles
each as C and, by nvcc, as PTX, and makes the recorded run of each by both routes (two_routes.c).
Prints a line for each that differs, and how many there were of each sort:

    same        the same kind of hazard at the same line of the kernel, or a wrong result by both
    later       the line that one route names first is one of those that the other names behind it
    other line  the same kind of hazard, of another line
    other kind  two hazards of different kinds: other schedules, or a cause that shows first elsewhere
    other run   by the PTX only in another run of --check's list
    moved       nvcc has moved what is wrong to where it is right
    words       a race of words in shared memory, whose wrappers are volatile: to PTX they are strong
                accesses, which do not race
    not shown   neither route notices it in the run that is recorded
    missed      one route notices it, and the other does not; the test fails

    --house NAME     beyond: the kernels of that house
    --written        the breaks that are written, with their own runs
    --chapters TEXT  only breaks of files that contain TEXT
    --only TEXT      only breaks whose description contains TEXT; prints their reports
    --sample N       every N-th, beginning at one that the seed draws; 0: all
"""

import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "common",
                                "tools", "gallery"))

import gallery
import store
from source import Source

RUN = re.compile(r"^run .* c (\d+) (\S+) ptx (\d+) (\S+) (same|DIFFERENT)\nc (.*)\nptx (.*)$", re.M)
PLACE = re.compile(r"(\w+/\w+\.(?:cu|h)):(\d+)")
WORDS = ("ld_shared_b32", "st_shared_b32")
CLEAN = "0"
SECONDS = 600  # of processor time, of both runs of a break, or of the search: however busy the machine

# Plain arithmetic on accumulators before the wait: nvcc puts it behind the wait. Fragments that a
# wgmma still reads it writes into registers of their own. The C build runs what is written.
MOVED = {"06.arithmetic-before-the-wait",
         "16.o-rescaled-while-the-product-of-the-values-still-runs"}


def compile_both(arguments):
    """The compiler of the gallery: makes the shared object, and beside it the PTX."""
    nvcc, *command = arguments
    kernel, path = command[command.index("-x") + 2], command[command.index("-o") + 1]
    wrapped = ("kernel", "devices")
    done = subprocess.run([*command, *(f"-Wl,--wrap=gemm_launch_{name}" for name in wrapped),
                           "-Wl,--wrap=gemm_devices_begin", "-Wl,--wrap=gemm_devices_end"], check=False)
    if done.returncode:
        return done.returncode
    # Under its own name for a place in the source, as #line has it there.
    options = [a for a in command if a.startswith(("-D", "-I"))]
    return subprocess.run([nvcc, "-std=c++17", "-O3", "-w", "-lineinfo", "-ptx", "-arch=sm_90a",
                           *options, "-x", "cu", kernel, "-o", path + ".ptx"],
                          check=False).returncode


class Written:
    """A break of the store, as the gallery takes an edit. run: its options, or a number."""

    def __init__(self, broken, breaks):
        self.file = broken.source
        self.line, self.function, self.code, self.what = 0, broken.chapter, broken.id, broken.title
        self.applied = broken.edit.applied
        kernel = os.path.join(broken.house, broken.kernel)
        self.configuration = next((c for c in breaks.configurations if c.file == kernel), None)
        self.run = broken.run or "1"


def chosen(breaks, options):
    """(break, configuration, run) of each."""
    if options.written:
        found = [Written(broken, breaks) for broken in store.written(options.root, options.house)
                 if broken.name]
        found = [(edit, edit.configuration, edit.run) for edit in found if edit.configuration]
    else:
        found = [(edit, *breaks.where(edit)) for edit in breaks.selected()
                 if gallery.key_of(edit) in breaks.rows and breaks.where(edit)]
    return [(edit, configuration, str(run)) for edit, configuration, run in found
            if options.chapters in edit.file and options.only in gallery.describe(edit) and
            not re.search(options.without, configuration.label)]


Result = collections.namedtuple("Result", "sort edit text")


def places(text, edit, breaks):
    """The lines that it names, those of one statement as one."""
    source = breaks.sources[edit.file]
    edited = Source(edit.file, edit.applied(source))
    for file, line in PLACE.findall(text):
        if edit.file.endswith(file):
            yield file, edited.first_line(int(line))
        else:
            yield file, int(line)


def of_words(text, breaks):
    """Whether this line accesses a word of shared memory."""
    return any(name.endswith(file) and any(word in source.line_text(int(line)) for word in WORDS)
               for file, line in PLACE.findall(text) for name, source in breaks.sources.items())


def judge(breaks, options, edit, configuration, number):
    kernel = configuration.label
    path, errors = breaks.compile(edit, configuration)
    if not path:
        return Result("does not compile", edit, errors[-300:])

    def make(what):
        limited = ["sh", "-c", f'ulimit -t {SECONDS}; exec "$@"', "sh"]
        return subprocess.run([*limited, options.runner, path, path + ".ptx", configuration.type,
                               what], capture_output=True, text=True, errors="replace", check=False)

    run = make(number)
    found = RUN.search(run.stdout)
    if not found:
        return Result("no verdict", edit, f"exit code {run.returncode}\n{run.stderr[-1500:]}")
    c, c_kind, ptx, ptx_kind, same, c_places, ptx_places = found.groups()
    reports = [r.split("\t") for r in (c_places, ptx_places)]
    words = c_kind == "data-race" != ptx_kind and of_words(reports[0][0], breaks)
    search = make("search").returncode if ptx == CLEAN != c and not words else 0
    if search < 0:
        return Result("no verdict", edit, f"the search ends with signal {-search}")
    elsewhere = search == 1
    text = f"c {c} {reports[0][0]}, ptx {ptx} {reports[1][0]}, run {number} of {kernel}"
    if options.only:
        text += "\n" + run.stderr
    if edit.code in MOVED:
        return Result("moved", edit, text)
    if words:
        return Result("words", edit, text)
    if c == ptx == CLEAN:
        return Result("not shown", edit, text)
    if elsewhere:
        return Result("other run", edit, text)
    if c_kind == "fragment-in-flight" and ptx == CLEAN:
        return Result("moved", edit, text)
    if same != "same":
        return Result("missed" if CLEAN in (c, ptx) else "other kind", edit, text)
    first = [set(places(r[0], edit, breaks)) for r in reports]
    every = [set(places(" ".join(of for of in r if of.split(" ")[0] == c_kind), edit, breaks))
             for r in reports]
    if first[0] & first[1] or not any(first):
        return Result("same", edit, text)
    later = first[0] & every[1] or first[1] & every[0]
    return Result("later" if later else "other line", edit, text)


def main():
    if sys.argv[1:2] == ["--compile-both"]:
        sys.exit(compile_both(sys.argv[2:]))
    parser = argparse.ArgumentParser()
    for option in ("root", "work", "runner", "compiler", "kernels", "nvcc"):
        parser.add_argument("--" + option, required=True)
    for option in ("chapters", "only", "house"):
        parser.add_argument("--" + option, default="")
    parser.add_argument("--without", default="^$", help="a pattern of kernels that are left out")
    parser.add_argument("--written", action="store_true")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.compiler = ",".join([sys.executable, os.path.abspath(__file__), "--compile-both",
                                 options.nvcc, options.compiler])
    breaks = gallery.Gallery(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda one: judge(breaks, options, *one), chosen(breaks, options)))
    for result in results:
        if result.sort != "same" or options.only:
            print(f"{result.sort}: {gallery.describe(result.edit)}\n    {result.text}")
    counts = collections.Counter(result.sort for result in results)
    print(f"{len(results)} breaks: " + ", ".join(f"{n} {sort}" for sort, n in counts.most_common()))
    sys.exit(1 if not results or counts["missed"] or counts["no verdict"] else 0)


if __name__ == "__main__":
    main()
