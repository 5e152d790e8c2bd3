#!/usr/bin/env python3
"""Runs the broken kernels that the book shows.

    <!-- break: 05.the-proxy-fence -->

names one of the store (store.py). Behind it stand two blocks: the edit as a ```diff, and a ```text
with what the kernel says of itself, edited so, compiled for the simulator and run with the break's
options; others may stand in the marker. Both blocks are held against what comes out today: the edit
line for line, of the report the kind of hazard, the file, and the exit code; --check has to find the
mistake, too. With --write the blocks become what came out, also where there were none.

Whatever follows COMPILER is handed on to it: the libraries, and the options of the reader's build.

shown_breaks.py [--write] [--only PAGE] [--jobs N] ROOT WORK COMPILER ARGUMENT...
Exit code: 0 all hold, 1 one does not, 2 usage, or something could not be read.
"""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree
import edit
import report
import store
from program import Linker
from source import Source

sys.path.append(os.path.join(store.HERE, "..", "tools", "book"))
import pages

MARKER = "<!-- break:"
SECONDS = 120


class Failure(Exception):
    """Why nothing can be said of a break."""


class Shown:
    """A marker, and the two blocks behind it, which end before line `end`."""

    def __init__(self, book, page, line, written):
        self.page, self.line, self.book = page, line, book
        name, *options = page.lines[line][len(MARKER):].split("-->")[0].split()
        if name not in written:
            raise Failure(f"there is no break {name}")
        self.broken = written[name]
        self.options = options or self.broken.run.split()
        diff_end = page.fence_end(line + 1)
        said_end = page.fence_end(diff_end + 1) if diff_end >= 0 else -1
        self.diff = page.lines[line + 2:diff_end] if said_end >= 0 else None
        self.said = page.lines[diff_end + 2:said_end] if said_end >= 0 else None
        self.end = said_end + 1 if said_end >= 0 else line + 1

    def source(self):
        text = self.book.text(self.broken.path(self.book.root))
        if text is None:
            raise Failure(f"there is no file {self.broken.file}")
        return Source(self.broken.file, text)

    def text(self):
        try:
            return self.broken.edit.applied(self.source())
        except edit.DoesNotFit as why:
            raise Failure(str(why)) from why

    def run(self, work, compiler, arguments):
        """The two blocks anew, and whether --check finds the mistake."""
        root, broken = self.book.root, self.broken
        files = {os.path.join(broken.house, broken.kernel): None, broken.path(root): self.text()}
        for path, text in files.items():
            os.makedirs(os.path.join(work, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(work, path), "w", encoding="utf-8") as file:
                file.write(text or self.book.text(path))
        os.makedirs(os.path.join(work, "program"))
        program = f"program/{broken.chapter}"
        kind = dict(zip(self.options, self.options[1:])).get("--dtype", "bf16")
        command = Linker(root, [compiler], arguments).command(
            os.path.join(broken.house, broken.chapter), f"./{next(iter(files))}", program,
            before=["common"], kind=kind)
        if self.call(work, "build.log", command)[0]:
            raise Failure(f"the edited kernel does not compile: see {work}/build.log")
        code, log = self.call(work, "run.log", [program, *self.options])
        found = code == 0 or self.call(work, "check.log", [program, "--check"])[0] in (1, 4)
        return edit.shown(broken.edit, self.source()), list(report.shown(log, code)), found

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

    def hold(self, work, diff, said, found):
        book = self.book
        if book.rewrite:
            self.page.replace(self.line + 1, self.end,
                              ["```diff", *diff, "```", "```text", *said, "```"])
        elif self.diff is None:
            book.complain(self.page, self.line, "no edit and no report stand behind it: build docs")
        elif self.diff != diff:
            book.complain(self.page, self.line, "the edit is stale: build the target docs")
        elif report.essence(said) != report.essence(self.said):
            book.complain(self.page, self.line, "the report has changed:\n" + "\n".join(said))
        if not found:
            book.complain(self.page, self.line, f"--check does not find it: see {work}/check.log")


def collect(book, only=""):
    written = store.named(book.root)
    for page in book.pages:
        for line in page.all(MARKER) if page.path.startswith(only) else ():
            try:
                shown = Shown(book, page, line, written)
            except Failure as failure:
                book.complain(page, line, str(failure))
                continue
            if page.may_show(os.path.join(shown.broken.house, shown.broken.kernel)):
                yield shown
            else:
                book.complain(page, line, "this page cannot break a kernel of another house")


def main():
    parser = argparse.ArgumentParser(description="runs the broken kernels that the book shows")
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
    shown = store.sample(list(collect(book, options.only)), options.sample, root)
    # Rewriting moves what follows in a page, so the last are looked at first.
    works = [os.path.join(top, str(i)) for i in range(len(shown))]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(one.run, work, options.compiler, options.arguments)
                for one, work in zip(shown, works)]
        for one, work, run in list(zip(shown, works, runs))[::-1 if book.rewrite else 1]:
            before = book.complaints
            try:
                one.hold(work, *run.result())
            except Failure as failure:
                book.complain(one.page, one.line, str(failure))
            if book.complaints == before:
                shutil.rmtree(work)
    if book.rewrite:
        book.write_changed()
    print(f"{len(shown)} breaks, {book.complaints} complaints")
    return 1 if book.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
