"""right_run.py: unusual kernels that are right, and a few of them broken.

Makes the kernels of right.py out of the chapters' kernels and runs each in the simulator
(mutant_run.c): a right one must pass every run, a broken one must be reported as what right.py
says. Fails also if an edit no longer applies, or if there are fewer right kernels than FEWEST.

    --only TEXT    the kernels whose description contains TEXT. Also: the environment's MUTANTS
    --all          every run of --check's list, not those of every shape and schedule alone
"""

import argparse
import concurrent.futures
import itertools
import os
import shutil
import subprocess
import sys
import threading

sys.dont_write_bytecode = True  # what follows lies in the source tree

import house
import mutants
import program
import report
import right
from edit import DoesNotFit, Replace
from source import Source

BLOCKS = mutants.BLOCKS


class Runner:
    def __init__(self, options):
        self.options = options
        self.house = house.House(options.root, options.house)
        self.local = threading.local()
        self.workers = itertools.count()

    def directory(self):
        if not hasattr(self.local, "path"):
            self.local.path = os.path.join(self.options.work, f"right{next(self.workers)}")
            shutil.rmtree(self.local.path, ignore_errors=True)
            os.makedirs(os.path.join(self.local.path, BLOCKS))
        return self.local.path

    def read(self, name):
        path = os.path.join(self.options.root, self.house.path_of(name))
        with open(path, encoding="ascii") as file:
            return file.read()

    def sources(self, file, edits):
        """The texts of the kernel and of the headers that the edits change."""
        texts = {file: self.read(file)}
        for name, old, new, *times in edits:
            text = texts.get(name) or self.read(name)
            texts[name] = Replace(old, new, *times).applied(Source(name, text))
        return texts

    def compile(self, file, macros, edits):
        """The path of a shared object; ValueError if there is none."""
        work, root = self.directory(), self.options.root
        shutil.rmtree(os.path.join(work, BLOCKS))
        for blocks in self.house.blocks:
            shutil.copytree(os.path.join(root, blocks), os.path.join(work, BLOCKS),
                            dirs_exist_ok=True)
        for name, text in self.sources(file, edits).items():
            path = os.path.join(work, name if name.startswith(BLOCKS) else "kernel.cu")
            with open(path, "w", encoding="ascii") as made:
                made.write(text if name.startswith(BLOCKS) else f'#line 1 "{file}"\n{text}')
        path = os.path.join(work, "right.so")
        command = program.shared_object(
            self.options.compiler.split(","), macros.split(":") if macros else (),
            (work, *self.house.directories(root), os.path.join(root, os.path.dirname(file))),
            self.house.compiled_with.get(file, ()), os.path.join(work, "kernel.cu"), path)
        compiled = subprocess.run(command, capture_output=True, text=True, check=False)
        if compiled.returncode:
            raise ValueError(f"does not compile:\n{compiled.stderr}")
        return path

    def verdict(self, file, macros, edits):
        """"" if all runs pass, or the kind of the hazard, or what else went wrong; and how many
        runs there were; and the report."""
        try:
            path = self.compile(file, macros, edits)
        except (DoesNotFit, ValueError) as error:
            return str(error), 0, ""
        run = subprocess.run([self.options.runner, path, "all" if self.options.all else "spread"],
                             capture_output=True, text=True, errors="replace", check=False)
        runs = [line.split() for line in run.stdout.splitlines() if line.startswith("run ")]
        if run.returncode or not runs:
            return f"crash ({run.returncode})", len(runs), run.stderr
        code = int(runs[-1][-1])
        if code == 0:
            return "", len(runs), ""
        hazard = report.HAZARD.search(run.stderr)
        kind = hazard.group(1) if code == report.EXIT_HAZARD and hazard else f"exit code {code}"
        return kind, len(runs), " ".join(runs[-1]) + "\n" + run.stderr

    def run_right(self, variant):
        verdict, runs, said = self.verdict(variant.file, variant.macros, variant.edits)
        problem = f"is right ({variant.why}), but: {verdict}\n{said}" if verdict else None
        return runs, problem

    def run_broken(self, broken):
        of = next(variant for variant in right.RIGHT if variant.name == broken.of)
        # Of a text that the right variant has put there, too.
        verdict, runs, said = self.verdict(of.file, of.macros, of.edits + broken.edits)
        expected = verdict == broken.verdict
        return runs, None if expected else f"is broken: {broken.verdict} expected, but: " \
            f"{verdict or 'passes'}\n{said}"


def describe(item):
    if isinstance(item, right.Right):
        return f"{item.file}{' ' + item.macros if item.macros else ''}: {item.name}"
    return f"broken '{item.of}'"


def main():
    parser = argparse.ArgumentParser(description="Runs kernels that are unusual and right.")
    parser.add_argument("--root", required=True)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default=os.environ.get("MUTANTS", ""))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--house", default="")
    parser.add_argument("--sample", type=int, default=1, help="every N-th right kernel")
    options = parser.parse_args()
    runner = Runner(options)
    sample = house.sample(right.RIGHT, options.sample, options.root)
    items = [item for item in [*sample, *right.BROKEN]
             if options.only in describe(item)]
    counts, failures = {right.Right: 0, right.Broken: 0}, 0
    total = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = pool.map(lambda item: runner.run_right(item) if isinstance(item, right.Right)
                        else runner.run_broken(item), items)
        for item, (runs, problem) in zip(items, work):
            counts[type(item)] += 1
            total += runs
            if problem:
                failures += 1
                print(f"{describe(item)}\n    {problem}", flush=True)
    print(f"{counts[right.Right]} right kernels and {counts[right.Broken]} broken ones, {total} runs:"
          f" {failures} with the wrong verdict")
    fewest = runner.house.fewest_right
    if not options.only and len(right.RIGHT) < fewest:
        print(f"right.py has {len(right.RIGHT)} right kernels: at least {fewest} are promised")
        return 1
    return 1 if failures or not items else 0


if __name__ == "__main__":
    sys.exit(main())
