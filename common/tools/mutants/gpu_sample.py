"""gpu_sample.py: what the GPU and compute-sanitizer see of broken kernels.

Takes the mutants that gpu_list.py chooses out of the gallery, and the kernels they are made from,
unbroken, as controls. Compiles each for the GPU, as it is and with random_delays.h in front, makes
a program of it (gpu_main.c), and runs that by itself and under compute-sanitizer's four
tools. Prints one line of tab-separated values per program:

    file function code edit nth   the mutant, as in verdicts.tsv; edit "none": the unbroken kernel
    kernel                        which configuration of it: that of the simulator's verdict
    compiler                      what ptxas remarks
    plain, delays                 correct; wrong, in how many runs; hangs; fails, with what
    memcheck ... initcheck        nothing, or what was reported

A report counts as new if the unbroken kernel's run has none of this kind about these lines. Fails
if a program could not be made or run, or if an unbroken kernel's result was wrong.

    gpu_sample.py @build/gpu/mutants.args > docs/results/mutants-gpu.tsv

    --only TEXT   programs whose description contains TEXT
"""

import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # what follows lies in the source tree

import gpu_list
import gpu_page
import mutants

FLAGS = ("-O3", "--generate-code=arch=compute_90a,code=[sm_90a]", "-std=c++17", "-lineinfo",
         "-Xptxas", "-v", "-DGEMM_KERNEL=kernel_mutant", "-DGEMM_BF16_ELEMENTS=1", "-DTRACE=0")
FIELDS = ("file", "function", "code", "edit", "nth", "kernel", "compiler", "plain", "delays",
          "memcheck", "racecheck", "synccheck", "initcheck")
# Buffers lie next to each other: without padding memcheck takes a neighbour's bytes for good.
TOOLS = {"memcheck": ("--padding", "1048576"), "racecheck": (), "synccheck": (), "initcheck": ()}
REPETITIONS = 20          # of every small shape, in plain runs
PLAIN_S, TOOL_S = 15, 40  # patience
HUNG_S = 10               # patience of the other runs of a kernel that hangs by itself
KILLED = (4, 124, 137, -9)  # the harness lost its patience, or timeout(1)
NOT_RUN = "not run"

REPORT = re.compile(r"^=+ (\S.*)$")
PLACE = re.compile(r"[\w.]+\.(?:h|cu):\d+")
NO_REPORT = re.compile(r"COMPUTE-SANITIZER|SUMMARY|Target application|No attachable|"
                       r"process didn't terminate|Program hit|Saved ")
REMARKS = (("C75(?:0[4-8])", "ignores setmaxnreg"), ("C75(?:1[0-9])", "serializes wgmma"),
           ("[1-9][0-9]* bytes spill", "spills registers"))

# edit: None for the unbroken kernel. directory: its sources and programs.
Program = collections.namedtuple("Program", "edit configuration key directory")


def key_of(program):
    if program.edit:
        return program.edit.key()
    return (program.configuration.file, "", "", "none", 0)


def describe(program):
    return f"{program.configuration.label}: {program.edit.code} [{program.edit.what}]" \
        if program.edit else f"{program.configuration.label}: unbroken"


class Sample:
    def __init__(self, options):
        self.options = options
        self.gallery = mutants.Gallery(argparse.Namespace(
            compiler="", kernels=options.kernels, work=options.work, root=options.root,
            house=""))
        self.began = time.monotonic()
        self.failures = []
        self.programs = self.find_programs()
        self.cells = collections.defaultdict(dict)  # [program's key][column]
        self.reports = {}                           # [program's key, tool]: a list of reports

    def find_programs(self):
        """The chosen mutants, each in the configuration of its verdict, and their originals."""
        by_label = {c.label: c for c in self.gallery.configurations}
        mutated, originals = [], {}
        for line in gpu_list.CHOSEN:
            try:
                edit = gpu_list.one(self.gallery.edits, line, lambda edit: edit.key())
                where = self.gallery.where(edit)
                label = (where[0] if where else self.gallery.users(edit.file)[0]).label
                originals[label] = by_label[label]
                mutated.append((edit, by_label[label]))
            except LookupError as error:
                self.failures.append(str(error))
        everything = [(None, c) for c in originals.values()] + mutated
        programs = [Program(edit, c, (edit.key() if edit else None, c.label),
                            os.path.join(self.options.work, f"program{i:02}"))
                    for i, (edit, c) in enumerate(everything)]
        found = [p for p in programs if self.options.only in describe(p)]
        needed = {p.configuration.label for p in found}
        return [p for p in programs if p in found or (not p.edit and p.key[1] in needed)]

    # ---- making the programs ----

    def write(self, program):
        """The kernel, and its own copy of the headers, one of which may be the broken one."""
        edit, configuration = program.edit, program.configuration
        shutil.rmtree(program.directory, ignore_errors=True)
        shutil.copytree(os.path.join(self.gallery.root, "common", mutants.BLOCKS),
                        os.path.join(program.directory, mutants.BLOCKS))
        text = self.gallery.sources[configuration.file].text
        if edit:
            mutated = self.gallery.sources[edit.file].edited(edit.replacements)
            if edit.file == configuration.file:
                text = mutated
            else:
                with open(os.path.join(program.directory, edit.file), "w",
                          encoding="ascii") as file:
                    file.write(mutated)
        with open(os.path.join(program.directory, "kernel.cu"), "w", encoding="ascii") as file:
            file.write(f'#line 1 "{configuration.file}"\n' + text)

    def make(self, program, name):
        """Compiles and links plain or delays; returns what the compiler said, or None."""
        root, here = self.gallery.root, program.directory
        delays = os.path.join(root, "common/tests/gpu/random_delays.h")
        command = [self.options.nvcc, *FLAGS, *(f"-D{m}" for m in program.configuration.macros),
                   *(("-include", delays) if name == "delays" else ()), "-I", here,
                   "-I", os.path.join(root, "common"),
                   "-I", os.path.join(root, os.path.dirname(program.configuration.file)),
                   "-x", "cu", "-c", os.path.join(here, "kernel.cu"),
                   "-o", os.path.join(here, f"{name}.o")]
        # nvcc links its runtime statically, as the other programs have it.
        link = [self.options.nvcc, "--generate-code=arch=compute_90a,code=[sm_90a]",
                os.path.join(here, f"{name}.o"), *self.options.link,
                "-L", self.options.library_directory,
                f"-Xlinker=-rpath={self.options.library_directory}", "-lcublas", "-lcublasLt",
                "-lm", "-ldl", "-lpthread", "-o", os.path.join(here, name)]
        said = ""
        for step in (command, link):
            run = subprocess.run(step, capture_output=True, text=True, check=False)
            said += run.stdout + run.stderr
            if run.returncode:
                self.fail(program, f"{name}: could not be made:\n{said}")
                return None
        return said

    def make_both(self, program):
        self.write(program)
        said = self.make(program, "plain")
        if said is None or self.make(program, "delays") is None:
            return
        remarks = [what for pattern, what in REMARKS if re.search(pattern, said)]
        self.cells[program.key]["compiler"] = ", ".join(remarks) or "nothing"

    def fail(self, program, what):
        self.failures.append(f"{describe(program)}: {what}")

    # ---- running them ----

    def may_run(self, program, column):
        """Not so: a program that could not be made, and any when the time is up."""
        self.cells[program.key][column] = NOT_RUN
        if "compiler" not in self.cells[program.key]:
            return False
        if time.monotonic() - self.began <= self.options.seconds:
            return True
        self.fail(program, f"{column}: not run, the time is up")
        return False

    def run(self, program, name, arguments, patience, tool=None):
        """(exit code, output); the exit code of a run that was stopped is in KILLED."""
        command = ["timeout", "-k", "2", str(patience)]
        if tool:
            command += [self.options.sanitizer, "--tool", tool, *TOOLS[tool], "--show-backtrace",
                        "no", "--print-limit", "200"]
        command += [os.path.join(program.directory, name), *arguments]
        log = os.path.join(program.directory, f"{tool or name}.log")
        with open(log, "w", encoding="utf-8") as file:
            code = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT,
                                  check=False).returncode
        with open(log, encoding="utf-8", errors="replace") as file:
            return code, file.read()

    def run_plain(self, program, name):
        cells = self.cells[program.key]
        if not self.may_run(program, name):
            return
        code, said = self.run(program, name, ("all", str(REPETITIONS)), PLAIN_S)
        cells[name] = judge_runs(code, said)
        if cells[name] == NOT_RUN:
            self.fail(program, f"{name}: did not run:\n{said}")
        elif not program.edit and cells[name] != "correct":
            self.fail(program, f"{name}: {cells[name]}:\n{said}")

    def run_tool(self, program, tool):
        cells = self.cells[program.key]
        if not self.may_run(program, tool):
            return
        patience = HUNG_S if cells.get("plain", "").startswith("hangs") else TOOL_S
        code, said = self.run(program, "plain", ("small", "1"), patience, tool)
        if "COMPUTE-SANITIZER" not in said:
            cells[tool] = NOT_RUN
            self.fail(program, f"{tool}: did not run:\n{said}")
            return
        self.reports[program.key, tool] = reports_in(said)
        cells[tool] = "hangs" if code in KILLED else ""

    def compare(self, program, tool):
        """Completes a tool's cell: what it reports that it does not report of the original."""
        cell, own = self.cells[program.key].get(tool), self.reports.get((program.key, tool))
        if cell is None or own is None:
            return
        known = set(self.reports.get(((None, program.key[1]), tool), ())) if program.edit else set()
        new = [report for report in dict.fromkeys(own) if report not in known]
        words = [cell] if cell else []
        if own:
            of = f"{len(set(own))} reported"
            words.append(f"{of}, {len(new)} new: {new[0]}" if program.edit and new else
                         f"{of}, none new" if program.edit else f"{of}: {own[0]}")
        self.cells[program.key][tool] = "; ".join(words) or "nothing"

    def work(self):
        everything = self.programs
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(self.make_both, everything))
        self.say("made")
        if self.options.make_only:
            return
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            # By themselves first: the rest then knows which of them hang.
            list(pool.map(lambda p: self.run_plain(p, "plain"), everything))
            self.say("run by themselves")
            jobs = [pool.submit(self.run_plain, p, "delays") for p in everything]
            jobs += [pool.submit(self.run_tool, p, tool) for p in everything for tool in TOOLS]
            for job in jobs:
                job.result()
        self.say("run under all tools")
        for program in everything:
            for tool in TOOLS:
                self.compare(program, tool)

    def say(self, what):
        print(f"{len(self.programs)} programs {what}: {time.monotonic() - self.began:.0f} s",
              file=sys.stderr, flush=True)

    def print(self):
        print("\t".join(FIELDS))
        for program in self.programs:
            fields = dict(zip(FIELDS, key_of(program)), kernel=program.configuration.label,
                          **self.cells[program.key])
            print("\t".join(" ".join(str(fields.get(name, NOT_RUN)).split()) for name in FIELDS))


def judge_runs(code, said):
    """What the runs of mutant_main.c amount to."""
    shapes = [(int(runs), int(wrong)) for runs, wrong in
              re.findall(r"^shape .*: (\d+) runs, (\d+) wrong$", said, re.M)]
    runs, wrong = sum(s[0] for s in shapes), sum(s[1] for s in shapes)
    error = re.search(r"^CUDA: [^:]*: (.*)$", said, re.M)
    if code in KILLED:
        return "hangs" + (f" after {runs} runs, {wrong} of them wrong" if runs else "")
    if code not in (0, 1) or not runs:
        return NOT_RUN
    if error:
        return f"fails: {error.group(1)}"
    return f"wrong in {wrong} of {runs} runs" if wrong else "correct"


def kind_of(line):
    """What happened, without where in the code, to which thread, and at what address."""
    kind = re.sub(r"\s+at\s.*$", "", line)
    return re.sub(r"0x[0-9a-f]+|\[.*?\]|\(\d+,\d+,\d+\)", "", kind).strip(" .")


def place_of(lines):
    found = (PLACE.search(line) for line in lines)
    return next((f" {match.group()}" for match in found if match), "")


def reports_in(said):
    """Each report as its kind and the line of code it names; a race as its two sides."""
    blocks = []
    for line in said.splitlines():
        begins = REPORT.match(line)
        if begins:
            blocks.append([begins.group(1)])
        elif blocks and line.startswith("====="):
            blocks[-1].append(line.strip("= "))
    found = []
    for head, *rest in blocks:
        if NO_REPORT.search(head):
            continue
        others = [line for line in rest if line.startswith("and ") and " access " in line]
        if others:
            found += [f"{kind_of(head)}{place_of([head])} {kind_of(other)}{place_of([other])}"
                      for other in others]
        else:
            found.append(kind_of(head) + place_of([head, *rest]))
    return found


def main():
    parser = argparse.ArgumentParser(description="Runs mutants on the GPU.",
                                     fromfile_prefix_chars="@")
    parser.add_argument("--root", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--link", action="append", default=[])
    parser.add_argument("--library_directory", required=True)
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=12, help="programs that run at a time")
    parser.add_argument("--seconds", type=int, default=240, help="nothing begins after them")
    parser.add_argument("--make_only", action="store_true", help="compile and link, run nothing")
    sample = Sample(parser.parse_args())
    sample.work()
    sample.print()
    for failure in sample.failures:
        print(failure, file=sys.stderr)
    return 1 if sample.failures else 0


if __name__ == "__main__":
    sys.exit(main())
