"""gpu_record.py: what the GPU and compute-sanitizer make of the museum's exhibits.

Runs build/gpu/museum for each exhibit in both forms: by itself, many times, and under three of
compute-sanitizer's tools. Prints one line of tab-separated values for each form:

    exhibit form                     01_empty_sequence broken
    alone                            correct; wrong in so many runs; hangs; fails
    memcheck racecheck synccheck     nothing, or what was reported; of the broken form, what the
                                     fixed one does not have, too, is new

Fails if a program could not be run, or if a fixed form was not correct.

    gpu_record.py build/gpu/museum > docs/results/museum.tsv

    --only TEXT   exhibits whose name contains TEXT
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mutants"))

import gpu_sample

FIELDS = ("exhibit", "form", "alone", "memcheck", "racecheck", "synccheck")
FORMS = ("fixed", "broken")  # the fixed form first: the other is compared with it
TOOLS = FIELDS[3:]
RUNS, TOOL_RUNS = 500, 3
ALONE_S, TOOL_S, HUNG_S = 20, 60, 15
NOT_RUN = gpu_sample.NOT_RUN


def run(command, patience):
    """(exit code, output); the exit code of a run that was stopped is in gpu_sample.KILLED."""
    done = subprocess.run(["timeout", "-k", "2", str(patience), *command], capture_output=True,
                          text=True, errors="replace", check=False)
    return done.returncode, done.stdout + done.stderr


class Record:
    def __init__(self, options):
        self.options = options
        self.failures = []
        self.cells, self.reports = {}, {}
        names = subprocess.run([options.program, "list"], capture_output=True, text=True,
                               check=True).stdout.split()
        self.names = [name for name in names if options.only in name]

    def fail(self, name, form, what):
        self.failures.append(f"{name} {form}: {what}")

    def run_alone(self, name, form):
        code, said = run([self.options.program, name, form, str(RUNS)], ALONE_S)
        counted = re.search(r": (\d+) runs, (\d+) wrong(, then one failed)?$", said, re.M)
        if code in gpu_sample.KILLED:
            cell = "hangs"
        elif not counted or code not in (0, 1):
            cell = NOT_RUN
        elif counted.group(3):
            error = re.search(r"^CUDA: [^:]*: (.*)$", said, re.M)
            cell = f"fails after {counted.group(1)} runs" + (f": {error.group(1)}" if error else "")
        else:
            runs, wrong = int(counted.group(1)), int(counted.group(2))
            cell = f"wrong in {wrong} of {runs} runs" if wrong else "correct"
        self.cells[name, form, "alone"] = cell
        if cell == NOT_RUN or (form == "fixed" and cell != "correct"):
            self.fail(name, form, f"{cell}:\n{said}")

    def run_tool(self, name, form, tool):
        hung = self.cells[name, form, "alone"] == "hangs"
        code, said = run([self.options.sanitizer, "--tool", tool, "--show-backtrace", "no",
                          "--print-limit", "200", self.options.program, name, form,
                          str(TOOL_RUNS)], HUNG_S if hung else TOOL_S)
        if "COMPUTE-SANITIZER" not in said:
            self.cells[name, form, tool] = NOT_RUN
            self.fail(name, form, f"{tool}: did not run:\n{said}")
            return
        self.reports[name, form, tool] = list(dict.fromkeys(gpu_sample.reports_in(said)))
        self.cells[name, form, tool] = "hangs" if code in gpu_sample.KILLED else ""

    def complete(self, name, form, tool):
        """A tool's cell in words."""
        own = self.reports.get((name, form, tool))
        if own is None:
            return
        known = self.reports.get((name, "fixed", tool), ()) if form == "broken" else ()
        new = [report for report in own if report not in known]
        words = [self.cells[name, form, tool]] if self.cells[name, form, tool] else []
        if new:
            words.append(f"{len(new)} reported: {new[0]}")
        elif own:
            words.append(f"{len(own)} reported, of the fixed form, too")
        self.cells[name, form, tool] = "; ".join(words) or "nothing"

    def work(self):
        pairs = [(name, form) for name in self.names for form in FORMS]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(lambda pair: self.run_alone(*pair), pairs))
            list(pool.map(lambda job: self.run_tool(*job),
                          [(*pair, tool) for pair in pairs for tool in TOOLS]))
        for name, form in pairs:
            for tool in TOOLS:
                self.complete(name, form, tool)

    def print(self):
        print("\t".join(FIELDS))
        for name in self.names:
            for form in reversed(FORMS):
                cells = [self.cells[name, form, column] for column in FIELDS[2:]]
                print("\t".join(" ".join(text.split()) for text in (name, form, *cells)))


def main():
    parser = argparse.ArgumentParser(description="Runs the museum on the GPU.")
    parser.add_argument("program")
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=6, help="programs that run at a time")
    record = Record(parser.parse_args())
    record.work()
    record.print()
    for failure in record.failures:
        print(failure, file=sys.stderr)
    return 1 if record.failures else 0


if __name__ == "__main__":
    sys.exit(main())
