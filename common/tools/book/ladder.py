"""The ladder on the front page: what each step adds, its speed, and the size of its diff.

    <!-- ladder: results=h100-tour shape=8192
         steps=01,02,...,06,06:two_warpgroups,07,08:persistent,08,09<08:persistent -->
    ...
    <!-- end -->

A step is written as in a table (tables.py), and is a link to its chapter. "Lines of diff" are those
that `diff` shows, removed and added, between the step's file and that of the step before. The line
below the table names the run, wrapped.
"""
import re
import subprocess
import textwrap

import pages
import records
import tables

COLUMNS = 100


def diff_lines(book, old, new):
    """How many lines `diff` shows of two files."""
    done = subprocess.run(["diff", old, new], cwd=book.root, stdout=subprocess.PIPE, check=False)
    return len(re.findall(rb"^[<>]", done.stdout, re.MULTILINE))


class Step:
    def __init__(self, book, runs, row):
        self.row = row
        self.number, _, self.variant = row.word.partition(":")
        self.folder = row.folder(book, runs)
        self.path = f"{self.folder}/{self.variant or 'kernel'}.cu"
        self.source = book.text(self.path) or ""

    def name(self):
        """Without underscores: on a phone a table is as wide as its longest words."""
        return self.number + (f", {self.variant.replace('_', ' ')}" if self.variant else "")


def make(book, page, line):
    marker = " ".join(page.lines[line:page.marker_end(line) + 1])
    shape = records.shape_of(pages.marker_value(marker, "shape", "0"))
    runs = records.load_all(book, page, pages.marker_value(marker, "results", "?"))
    steps, rows = [], []
    for word in pages.marker_words(marker, "steps"):
        steps.append(Step(book, runs, tables.Row(word, steps[-1].row.word if steps else "")))
    words = [step.row.word for step in steps]
    run = next((run for run in runs[::-1] if all(run.find(w, shape, "bf16") for w in words)), None)
    if not steps or not run:
        book.complain(page, line, "no run has all steps of the ladder at this shape")
        return None
    for step in steps:
        share = tables.COLUMNS["cublas"][1](run.find(step.row.word, shape, "bf16"))
        before = next((other for other in steps if other.row.word == step.row.before), None)
        lines = diff_lines(book, before.path, step.path) if before else tables.EMPTY
        link = page.link(f"{step.folder}/README.md")
        rows.append(f"| [{step.name()}]({link}) | {tables.technique(step.source)} | {share[:-2]} | "
                    f"{lines} |")
    source = textwrap.wrap(records.source(page, run, "bf16"), COLUMNS, break_long_words=False,
                           break_on_hyphens=False)
    heading = f"| step | what it adds | % of cuBLAS at {records.shape_text(shape)} | lines of diff |"
    return [*page.lines[line + 1:page.marker_end(line) + 1], "", heading, "|---|---|---:|---:|",
            *rows, "", *source, ""]


def check(book, page):
    book.remake(page, "<!-- ladder:", "table", make)
