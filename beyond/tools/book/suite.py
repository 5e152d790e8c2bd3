"""One kernel on many shapes, a row for each.

    <!-- suite: results=h200-suite timing=burst -->
    ...
    <!-- end -->

What stands between the markers is made from the record, the only run in it: the chapter's own
kernel beside cuBLAS and cuBLASLt's best, and the geometric means of the ratios.

    <!-- suite-means: results=h200-suite:burst,h200-suite-sustained:sustained -->

has a row for each such run: the means and the shape with the lowest ratio to cuBLAS alone.
h200-suite:burst:tuned is the same for the variant `tuned`.
"""
import pages
import records
from records import geometric_mean, number, text

SLOW = 3  # Where cuBLAS is slower by this factor, the mean says more of cuBLAS than of the kernel.


class Suite:
    """A variant's rows in a record, or with "" those of the chapter's own kernel."""

    def __init__(self, book, page, name, timing, variant=""):
        self.rows = []  # shape, configuration, own speed, cuBLAS's, cuBLASLt's best
        self.runs = records.load(book, page, name)
        self.dtype = ""
        for run in self.runs:
            for value in run.results:
                if text(value, "variant") != variant:
                    continue
                speeds = [number(value, timing, "tflops")] + [
                    number(records.baseline(value, rival), timing, "tflops")
                    for rival in ("cublas", "cublaslt-best")]
                if min(speeds) <= 0:
                    book.complain(page, 0, f"{name}.jsonl: a row has no {timing} of 10, cublas or "
                                  "cublaslt-best")
                    continue
                self.dtype = text(value, "dtype")
                self.rows.append((records.shape_text(records.size(value)),
                                  text(value, "selected") or "-", *speeds))
        self.usual = [row for row in self.rows if row[2] < SLOW * row[3]]


def make_suite(book, page, line):
    name = pages.marker_value(page.lines[line], "results")
    timing = pages.marker_value(page.lines[line], "timing")
    if not name or not timing:
        book.complain(page, line, "a suite needs results= and timing=")
        return None
    suite = Suite(book, page, name, timing)
    if not suite.runs:
        return ["", f"*Not yet recorded: there is no `docs/results/{name}.jsonl`.*", ""]
    out = ["", f"| m×n×k | configuration | 10, TFLOPS ({timing}) | cuBLAS | cuBLASLt's best | of "
           "cuBLAS | of cuBLASLt's best |", "|---|---|---:|---:|---:|---:|---:|"]
    for shape, selected, own, cublas, best in suite.rows:
        out.append(f"| {shape} | `{selected}` | {own:.0f} | {cublas:.0f} | {best:.0f} |"
                   f" {own / cublas:.2f} | {own / best:.2f} |")
    means = [("all", suite.rows)] if suite.rows else []
    if 0 < len(suite.usual) < len(suite.rows):
        means.append(("without those where cuBLAS takes three times as long as 10,", suite.usual))
    for which, rows in means:
        out.append(f"| *geometric mean, {which} {len(rows)}* | | | | |"
                   f" {geometric_mean([r[2] / r[3] for r in rows]):.3f} |"
                   f" {geometric_mean([r[2] / r[4] for r in rows]):.3f} |")
    return out + ["", records.source(page, suite.runs[-1], suite.dtype), ""]


def mean_cells(rows):
    if not rows:
        return " 0 | – | – |"
    return (f" {len(rows)} | {geometric_mean([row[2] / row[3] for row in rows]):.3f} |"
            f" {geometric_mean([row[2] / row[4] for row in rows]):.3f} |")


def make_means(book, page, line):
    words = pages.marker_words(page.lines[line], "results")
    if not words:
        book.complain(page, line, "means of suites need results=NAME:TIMING,...")
        return None
    out = ["", "| suite | shapes | of cuBLAS | of cuBLASLt's best | shapes¹ | of cuBLAS¹ | of "
           "cuBLASLt's best¹ | lowest of cuBLAS |", "|---|---:|---:|---:|---:|---:|---:|---|"]
    for word in words:
        parts = word.split(":")
        if len(parts) not in (2, 3):
            book.complain(page, line, f"'{word}' is not NAME:TIMING or NAME:TIMING:VARIANT")
            return None
        suite = Suite(book, page, *parts)
        if not suite.rows:
            out.append(f"| *not yet recorded: `{parts[0]}.jsonl`* | | | | | | | |")
            continue
        lowest = min(suite.rows, key=lambda row: row[2] / row[3])
        out.append(f"| {', '.join([suite.dtype] + parts[1:])} |{mean_cells(suite.rows)}"
                   f"{mean_cells(suite.usual)} {lowest[2] / lowest[3]:.2f}, {lowest[0]} |")
    return out + ["", "¹ without those where cuBLAS takes three times as long as 10", ""]


def check(book, page):
    book.remake(page, "<!-- suite:", "table", make_suite)
    book.remake(page, "<!-- suite-means:", "table", make_means)
