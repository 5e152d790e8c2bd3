#!/usr/bin/env python3
"""Runs the commands whose output the book shows.

    <!-- run: 05_tma_mbarrier --m 128 --n 128 --k 256 --explain mbarrier lines=4-12 -->
    ```text
    ...
    ```

runs the simulator's program of that name with these options, and holds the block against what it
prints, both streams, without the empty lines at the end. With lines=4-12 the block has only these
lines, counted from 1. A shell reads the options. With --write, the block becomes what was printed.

runs.py [--write] ROOT PROGRAMS
PROGRAMS is the folder of the simulator's programs. Exit code: 0 all blocks hold, 1 one does not, 2
usage, or something could not be read.
"""
import os
import re
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree
import pages

SECONDS = 60
LINES = re.compile(r"lines=(\d+)-(\d+)")


def printed(programs, words):
    """The lines that a command prints."""
    done = subprocess.run([os.path.join(programs, words[0]), *words[1:]], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    return [line.rstrip() for line in done.stdout.decode("utf-8", "replace").rstrip().split("\n")]


def check_run(book, page, line, programs):
    begin, end = line + 2, page.fence_end(line + 1)
    if end < 0:
        book.complain(page, line, "a run needs a ```text block behind it")
        return
    words = shlex.split(page.lines[line][len("<!-- run:"):].split("-->")[0])
    part = LINES.fullmatch(words[-1])
    if part:
        words.pop()
    try:
        now = printed(programs, words)
    except (OSError, subprocess.TimeoutExpired) as error:
        book.complain(page, line, f"it does not run: {error}")
        return
    if part:
        now = now[int(part.group(1)) - 1:int(part.group(2))]
    if page.replace(begin, end, now) or book.rewrite:
        return
    book.complain(page, line, "it prints something else: build the target docs\n" + "\n".join(now))


def main(arguments):
    rewrite = arguments[:1] == ["--write"]
    if len(arguments) != 2 + rewrite:
        print("usage: runs.py [--write] ROOT PROGRAMS", file=sys.stderr)
        return 2
    root, programs = arguments[-2:]
    book = pages.Book(root, rewrite)
    runs = 0
    for page in book.pages:
        for line in page.all("<!-- run:"):
            check_run(book, page, line, programs)
            runs += 1
    if rewrite:
        book.write_changed()
    print(f"{runs} runs, {book.complaints} complaints")
    return 1 if book.complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
