"""two_routes.py: broken kernels of the gallery, by two routes to one verdict.

Takes a seeded sample of the computed breaks (common/tools/gallery), compiles each as C and, by
nvcc, as PTX, and makes the recorded run of each by both routes (two_routes.c). Prints a line for
each that differs, and how many there were of each sort:

    same        the same kind of hazard, or a wrong result by both
    other kind  two hazards of different kinds: other schedules, or a cause that shows first elsewhere
    explained   differs for a reason that EXPLAINED names
    missed      one route notices it, and the other does not; the test fails

    --chapters TEXT  only the breaks of files that contain TEXT
    --only TEXT      only the breaks whose description contains TEXT; prints their reports
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

LINE = re.compile(r"^run (\d+) c (\d+) (\S+) ptx (\d+) (\S+) (same|DIFFERENT)$", re.M)
CLEAN = "0"
SECONDS = 120  # of both runs of a break

# What differs by its nature: (words of the description, why).
EXPLAINED = []


def compile_both(arguments):
    """The compiler of the gallery: makes the shared object, and beside it the PTX."""
    nvcc, *command = arguments
    kernel, path = command[command.index("-x") + 2], command[command.index("-o") + 1]
    done = subprocess.run([*command, "-Wl,--wrap=gemm_launch_kernel"], check=False)
    if done.returncode:
        return done.returncode
    # Under its own name for a place in the source, as #line has it there.
    options = [a for a in command if a.startswith(("-D", "-I"))]
    return subprocess.run([nvcc, "-std=c++17", "-O3", "-w", "-lineinfo", "-ptx", "-arch=sm_90a",
                           *options, "-x", "cu", kernel, "-o", path + ".ptx"],
                          check=False).returncode


Result = collections.namedtuple("Result", "sort edit text")


def judge(breaks, options, edit):
    configuration, number = breaks.where(edit)
    kernel, number = configuration.label, str(number)
    path, errors = breaks.compile(edit, configuration)
    if not path:
        return Result("does not compile", edit, errors[-300:])
    try:
        run = subprocess.run([options.runner, path, path + ".ptx", number], capture_output=True,
                             text=True, errors="replace", check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return Result("no verdict", edit, f"takes more than {SECONDS} s, run {number} of {kernel}")
    found = LINE.search(run.stdout)
    if not found:
        return Result("no verdict", edit, f"exit code {run.returncode}\n{run.stderr[-1500:]}")
    _, c, c_kind, ptx, ptx_kind, same = found.groups()
    text = f"c {c} {c_kind}, ptx {ptx} {ptx_kind}, run {number} of {kernel}"
    if options.only:
        text += "\n" + run.stderr
    if same == "same":
        return Result("same", edit, text)
    if any(all(word in gallery.describe(edit) for word in words) for words, _ in EXPLAINED):
        return Result("explained", edit, text)
    return Result("missed" if CLEAN in (c, ptx) else "other kind", edit, text)


def main():
    if sys.argv[1:2] == ["--compile-both"]:
        sys.exit(compile_both(sys.argv[2:]))
    parser = argparse.ArgumentParser()
    for option in ("root", "work", "runner", "compiler", "kernels", "nvcc"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("--chapters", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.house = ""
    options.compiler = ",".join([sys.executable, os.path.abspath(__file__), "--compile-both",
                                 options.nvcc, options.compiler])
    breaks = gallery.Gallery(options)
    edits = [e for e in breaks.selected()
             if options.chapters in e.file and
             breaks.where(e) and
             not e.file.startswith(gallery.BLOCKS)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda e: judge(breaks, options, e), edits))
    for result in results:
        if result.sort != "same" or options.only:
            print(f"{result.sort}: {gallery.describe(result.edit)}\n    {result.text}")
    counts = collections.Counter(result.sort for result in results)
    print(f"{len(results)} breaks: " + ", ".join(f"{n} {sort}" for sort, n in counts.most_common()))
    sys.exit(0 if results and set(counts) <= {"same", "other kind", "explained",
                                              "does not compile"} else 1)


if __name__ == "__main__":
    main()
