#!/usr/bin/env python3
"""Runs the broken kernels that the book quotes.

    <!-- verdict: 05_tma_mbarrier --size 256 --schedule late -->
    ```diff
    -            fence_proxy_async();
    ```
    ```text
    hazard: ...
    ```

makes the edit in a copy of 05_tma_mbarrier/kernel.cu (or of file=PATH, in the marker; or, with
header=common/hopper/NAME, of that header, which the kernel then includes), compiles the kernel for
the simulator, runs it with the options, and holds the second block against what it said: the kinds
of hazard, the file, and the exit code; --check has to find the mistake, too. Words such as -DWAIT=0
go to the compiler. Lines of an edit begin with '-', '+' or ' ' as in diff -u; "@@" separates edits.
The old lines must occur exactly once in the file. With --write, the second block becomes what was
said.

Whatever follows COMPILER is handed on to it: the libraries, and the options of the reader's build.

verdicts.py [--write] [--only PAGE] [--jobs N] ROOT WORK COMPILER ARGUMENT...
Exit code: 0 all verdicts hold, 1 one does not, 2 usage, or something could not be read.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree
import pages

SHOWN = 10  # lines of a report
MORE = "more about "  # where to read on, behind the reports
COLUMNS = 96
SECONDS = 120
REGISTRY = """#include "harness/registry.h"
extern const struct gemm_kernel docs_kernel;
const struct kernel_entry kernel_registry[] = {
    {{&docs_kernel, &docs_kernel, &docs_kernel, &docs_kernel}, 1, true, NULL, 0}};
const struct kernel_entry kernel_trace_registry[] = {
    {{&docs_kernel, &docs_kernel, &docs_kernel, &docs_kernel}, 1, true, NULL, 0}};
const int kernel_registry_count = 1;
const char *const kernel_sources[1];
const char *const program_target = NULL;
const bool program_is_tour = false;
"""


class Failure(Exception):
    """Why there is no verdict."""


def edited(source, diff):
    """The source with the edits of a diff."""
    edits = "\n".join(diff).split("\n@")
    for edit in edits:
        lines = edit.split("\n")
        lines = lines[1:] if lines[0].startswith("@") else lines
        old = "\n" + "".join(line[1:] + "\n" for line in lines if line[:1] != "+")
        new = "\n" + "".join(line[1:] + "\n" for line in lines if line[:1] != "-")
        if old == "\n" or source.count(old) != 1:
            return None
        source = source.replace(old, new)
    return source


def wrapped(line):
    """A line of a report, wrapped."""
    indent = len(line) - len(line.lstrip(" ")) + 4
    width = COLUMNS
    while len(line) > width:
        cut = line.rfind(" ", 20, width + 1)
        if cut < 0:
            break
        yield line[:cut]
        line = " " * indent + line[cut + 1:]
    yield line


def shown(log, code):
    """What a program said, without the hazards behind the first; what a deadlock says about CTA 0
    stands for the other CTAs."""
    hazards = lines = 0
    for line in filter(None, log.split("\n")):
        if line.startswith(MORE):
            continue
        hazards += line.startswith("hazard")
        if not (hazards == 1 or hazards == 0 and code) or lines == SHOWN:
            continue
        lines += 1
        cta = re.match(r"\s*CTA\s*(\d+)", line)
        if not cta or int(cta.group(1)) == 0:
            yield from wrapped(line)
    yield f"exit code {code}"


def essence(lines):
    """What has to stay the same: the first line's kind and file without its numbers, and the exit
    code."""
    text = "\n".join(lines)
    first = re.match(r"hazard: ([^:]+): ([^:]+):", text)
    return (first.groups() if first else None), text[text.find("exit code"):]


class Verdict:
    """A marker, and the two blocks behind it."""

    def __init__(self, book, page, line):
        self.page, self.line = page, line
        self.diff, self.said = line + 1, page.fence_end(line + 1) + 1
        self.end = page.fence_end(self.said) if self.said else -1
        words = page.lines[line][len("<!-- verdict:"):].split("-->")[0].split()
        values = dict(word.split("=", 1) for word in words if re.match(r"(file|header)=", word))
        options = [word for word in words if not re.match(r"(file|header)=", word)]
        self.chapter = options[0]
        self.macros = [word for word in options if word.startswith("-D")]
        self.options = [word for word in options[1:] if not word.startswith("-D")]
        self.file = values.get("file", f"{self.chapter}/kernel.cu")
        self.header = values.get("header")
        self.source = book.text(self.header or self.file)

    def paths(self):
        return [self.chapter, self.file, self.header or ""]

    def run(self, root, work, compiler, arguments):
        """What the edited kernel says, and whether --check finds the mistake."""
        subject = self.header or self.file
        if self.source is None:
            raise Failure(f"there is no file {subject}")
        source = edited(self.source, self.page.lines[self.diff + 1:self.said - 1])
        if source is None:
            raise Failure(f"the edit does not fit exactly one place of {subject}")
        os.makedirs(os.path.join(work, os.path.dirname(subject)))
        os.makedirs(os.path.join(work, "program"))
        for name, text in ((subject, source), ("registry.c", REGISTRY)):
            with open(os.path.join(work, name), "w", encoding="utf-8") as file:
                file.write(text)
        program = "program/" + os.path.basename(self.chapter)
        kernel = os.path.join(root, self.file) if self.header else f"./{self.file}"
        house = pages.house_of(self.chapter)
        house = [f"-I{root}/{house}"] if house else []
        command = [compiler, "-std=gnu11", "-DGEMM_KERNEL=docs_kernel", "-DGEMM_BF16_ELEMENTS=1",
                   "-DTRACE=0", *self.macros, "-Icommon", f"-I{root}/common",
                   f"-I{root}/common/hopper", f"-I{root}/{self.chapter}", *house, "-x", "c",
                   kernel, *pages.kinds_of(root, self.chapter), "registry.c", "-x", "none",
                   "-o", program, *arguments]
        if self.call(work, "build.log", command)[0]:
            raise Failure(f"the edited kernel does not compile: see {work}/build.log")
        code, log = self.call(work, "run.log", [program, *self.options])
        now = list(shown(log, code))
        found = code == 0 or self.call(work, "check.log", [program, "--check"])[0] in (1, 4)
        return now, found

    @staticmethod
    def call(work, log, command):
        """Exit code, 124 if it takes too long, and what was said on stderr; all of it is in the
        log."""
        try:
            done = subprocess.run(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env={**os.environ, "COLUMNS": "10000"},  # wrapped here
                                  timeout=SECONDS, check=False)
            code, out, said = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            code, out, said = 124, late.stdout or b"", late.stderr or b""
        with open(os.path.join(work, log), "wb") as file:
            file.write(said + out)
        return (128 if code < 0 else code), said.decode("utf-8", "replace")

    def judge(self, book, work, now, found):
        then = self.page.lines[self.said + 1:self.end]
        if book.rewrite:
            self.page.replace(self.said + 1, self.end, now)
        elif essence(now) != essence(then):
            book.complain(self.page, self.line, "the verdict has changed:\n" + "\n".join(now))
        if not found:
            book.complain(self.page, self.line, f"--check does not find it: see {work}/check.log")


def collect(book, only):
    for page in book.pages:
        for line in page.all("<!-- verdict:") if page.path.startswith(only) else ():
            verdict = Verdict(book, page, line)
            if verdict.end < 0:
                book.complain(page, line, "a verdict needs a ```diff and a ```text block behind it")
            elif not all(map(page.may_show, verdict.paths())):
                book.complain(page, line, "this page cannot break a kernel of another house")
            else:
                yield verdict


def sample(verdicts, every, root):
    """Every `every`-th; where it begins is drawn from the commit."""
    if every <= 1:
        return verdicts
    script = os.path.join(root, "common", "tests", "support", "seed.sh")
    seed = int(subprocess.run([script], stdout=subprocess.PIPE, text=True, check=True).stdout)
    print(f"one of {every}, seed {seed}; HOPPER_SEED={seed} repeats this", flush=True)
    return verdicts[seed % every::every]


def main():
    parser = argparse.ArgumentParser(description="runs the broken kernels that the book quotes")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="", metavar="PAGE")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sample", type=int, default=1, metavar="N",
                        help="every N-th, beginning at one that the commit's seed draws")
    for name in ("root", "work", "compiler"):
        parser.add_argument(name)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    root, top = os.path.abspath(options.root), os.path.abspath(options.work)
    book = pages.Book(root, options.write)
    shutil.rmtree(top, ignore_errors=True)
    verdicts = sample(list(collect(book, options.only)), options.sample, root)
    # Rewriting moves what follows in a page, so the last verdicts are judged first.
    works = [os.path.join(top, str(i)) for i in range(len(verdicts))]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(verdict.run, root, work, options.compiler, options.arguments)
                for verdict, work in zip(verdicts, works)]
        for verdict, work, run in list(zip(verdicts, works, runs))[::-1 if book.rewrite else 1]:
            before = book.complaints
            try:
                verdict.judge(book, work, *run.result())
            except Failure as failure:
                book.complain(verdict.page, verdict.line, str(failure))
            if book.complaints == before:
                shutil.rmtree(work)
    if book.rewrite:
        book.write_changed()
    print(f"{len(verdicts)} verdicts, {book.complaints} complaints")
    return 1 if book.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
