"""right_kernels.py: unusual kernels that are right, and a few of them broken.

Makes the kernels of right.py out of the chapters' kernels and runs each in the simulator
(gallery_run.c): a right one must pass every run, a broken one must be reported as what right.py
says. Fails also if an edit no longer applies, be it of a kernel that the sample leaves out.

    --only TEXT    the kernels whose description contains TEXT. Also: the environment's BREAKS
    --all          every run of --check's list, not those of every shape and schedule alone
"""

import concurrent.futures
import os
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree

import gallery
from house_kernels import House

import report
from edit import DoesNotFit
from source import Source
from store import sample
from workshop import Workshop


class Runner:
    def __init__(self, options):
        self.options = options
        self.house = House(options.root, options.house, options.kernels)
        self.workshop = Workshop(options, self.house, options.root)

    def read(self, name):
        path = os.path.join(self.options.root, self.house.path_of(name))
        with open(path, encoding="ascii") as file:
            return file.read()

    def sources(self, right, *broken):
        """The texts of the kernel and of the headers that the edits change. broken: a break of the
        kernel, of a text that the right one's edits have put there, too."""
        texts = {right.file: self.read(right.file)}
        own = [*right.edits, *(one.edit for one in broken)]
        for name, edits in {**right.elsewhere, right.file: own}.items():
            texts.setdefault(name, self.read(name))
            for edit in edits:
                texts[name] = edit.applied(Source(name, texts[name]))
        return texts

    def verdict(self, *kernel):
        """"" if all runs pass, or the kind of the hazard, or what else went wrong; and how many
        runs there were; and the report."""
        try:
            texts = self.sources(*kernel)
        except DoesNotFit as error:
            return str(error), 0, ""
        file, macros = kernel[0].file, kernel[0].macros
        path, errors = self.workshop.compile(file, macros.split(":") if macros else (), texts)
        if not path:
            return f"does not compile:\n{errors}", 0, ""
        run, runs = self.workshop.run(path, "all" if self.options.all else "spread")
        if run.returncode or not runs:
            return f"crash ({run.returncode})", len(runs), run.stderr
        verdict = report.verdict_of(int(runs[-1][-1]), run.stderr)
        if verdict == report.VERIFIED:
            return "", len(runs), ""
        return verdict, len(runs), " ".join(runs[-1]) + "\n" + run.stderr

    def unfit(self, right):
        """What keeps an edit from applying; None: nothing."""
        try:
            self.sources(right)
        except DoesNotFit as error:
            return str(error)
        return None

    def run(self, right, *broken):
        """How many runs there were, and what is wrong with the verdict."""
        verdict, runs, said = self.verdict(right, *broken)
        expected = broken[0].reports if broken else ""
        if verdict == expected:
            return runs, None
        what = f"is broken: {expected} expected" if broken else f"is right ({right.why})"
        return runs, f"{what}, but: {verdict or 'passes'}\n{said}"


def describe(right, *broken):
    if broken:
        return f"broken '{right.name}'"
    return f"{right.file}{' ' + right.macros if right.macros else ''}: {right.name}"


def main():
    parser = gallery.parser_of("Runs kernels that are unusual and right.")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    runner = Runner(options)
    right = runner.house.right
    kernels = [*((one,) for one in sample(right, options.sample, options.root)),
               *((one, one.broken) for one in right if one.broken)]
    kernels = [kernel for kernel in kernels if options.only in describe(*kernel)]
    total = failures = 0
    for one in right:
        problem = None if (one,) in kernels else runner.unfit(one)  # run() fits the others
        if problem:
            failures += 1
            print(f"{describe(one)}\n    {problem}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = pool.map(lambda kernel: runner.run(*kernel), kernels)
        for kernel, (runs, problem) in zip(kernels, work):
            total += runs
            if problem:
                failures += 1
                print(f"{describe(*kernel)}\n    {problem}", flush=True)
    broken = sum(len(kernel) == 2 for kernel in kernels)
    print(f"{len(kernels) - broken} right kernels and {broken} broken ones, {total} runs: "
          f"{failures} with the wrong verdict")
    return 1 if failures or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
