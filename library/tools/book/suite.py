"""A library on many shapes, a row for each.

    <!-- suite: results=h100-suite -->
    ...
    <!-- end -->

What stands between the markers is made from the record: the library beside cuBLAS and cuBLASLt's
best in burst, then `tuned`, where the run has it, and the geometric means of the ratios.
"""
import pages
import records
from records import geometric_mean, number, text

SLOW = 3  # Where cuBLAS is slower by this factor, the mean says more of cuBLAS than of the kernel.


class Row:
    """A shape: what is selected, and the speeds of the library, cuBLAS, cuBLASLt's best, tuned."""

    def __init__(self, value, tuned):
        self.shape = records.shape_text(records.size(value))
        self.selected = text(value, "selected") or "-"
        self.own, self.cublas, self.best = (
            number(of, "burst", "tflops") for of in
            (value, records.baseline(value, "cublas"), records.baseline(value, "cublaslt-best")))
        self.tuned = number(tuned, "burst", "tflops")
        self.is_complete = min(self.own, self.cublas, self.best) > 0


def read(run):
    tuned = {records.size(value): value for value in run.results
             if text(value, "variant") == "tuned"}
    return [Row(value, tuned.get(records.size(value))) for value in run.results
            if not text(value, "variant")]


def mean_line(name, rows):
    tuned = [row.tuned / row.best for row in rows if row.tuned > 0]
    return (f"| *geometric mean, {name} {len(rows)}* | | | | |"
            f" {geometric_mean([row.own / row.cublas for row in rows]):.3f} |"
            f" {geometric_mean([row.own / row.best for row in rows]):.3f} |"
            f" {f'{geometric_mean(tuned):.3f}' if len(tuned) == len(rows) else '–'} |")


def make(book, page, line):
    name = pages.marker_value(page.lines[line], "results")
    if not name:
        book.complain(page, line, "a suite needs results=")
        return None
    runs = records.load(book, page, name)
    if not runs:
        return ["", f"*Not yet recorded: there is no `docs/results/{name}.jsonl`.*", ""]
    rows = read(runs[-1])
    if not all(row.is_complete for row in rows):
        book.complain(page, line, f"{name}.jsonl: a row has no burst of the library, cublas or "
                      "cublaslt-best")
        rows = [row for row in rows if row.is_complete]
    out = ["", "| m×n×k | configuration | TFLOPS | cuBLAS | cuBLASLt's best | of cuBLAS | of "
           "cuBLASLt's best | tuned, of cuBLASLt's best |", "|---|---|---:|---:|---:|---:|---:|---:|"]
    for row in rows:
        out.append(f"| {row.shape} | `{row.selected}` | {row.own:.0f} | {row.cublas:.0f} |"
                   f" {row.best:.0f} | {row.own / row.cublas:.2f} | {row.own / row.best:.2f} |"
                   f" {f'{row.tuned / row.best:.2f}' if row.tuned > 0 else '–'} |")
    if rows:
        out.append(mean_line("all", rows))
    usual = [row for row in rows if row.own < SLOW * row.cublas]
    if 0 < len(usual) < len(rows):
        out.append(mean_line("without those where cuBLAS takes three times as long,", usual))
    dtype = text(runs[-1].results[-1], "dtype")
    return out + ["", records.source(page, runs[-1], dtype), ""]


def check(book, page):
    book.remake(page, "<!-- suite:", "table", make)
