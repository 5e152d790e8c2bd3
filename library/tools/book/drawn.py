"""The shapes that a seed drew: a figure and two tables.

    <!-- drawn: results=h100-drawn figure=hopper_gemm-drawn lowest=8 -->
    ...
    <!-- end -->

What stands between the markers is made from the record of a library, and so is
figures/<figure>.svg: the ratios to cuBLASLt's best, their means side by side, and the shapes with
the lowest ratios. The shapes whose n and k are multiples of 8, the aligned ones, are told apart
from the others; and of them those for which the selection takes direct.cu.
"""
import re

import drawn_figure
import drawn_shapes
import pages
import records
from records import number, text


class Row:
    def __init__(self, value):
        best = records.baseline(value, "cublaslt-best") or {}
        own, rival = (number(of, "burst", "tflops") for of in (value, best))
        self.shape = tuple(int(length) for length in records.size(value))
        self.ratio = own / rival if rival else 0
        self.is_aligned = self.shape[1] % 8 == 0 and self.shape[2] % 8 == 0
        self.selected = text(value, "selected")
        self.algorithm = best.get("algo") or {}

    def name(self):
        return records.shape_text(self.shape)

    def pair(self, what):
        """"8×64", or a dash if the library does not report it."""
        m, n = (number(self.algorithm, f"{what}_{side}") for side in "mn")
        return f"{m}×{n}" if m and n else "–"


class Drawn:
    """The rows of a run without a variant. They must be the seed's shapes, in their order, and some
    may be left out; `wrong` says if they are not. `tuned` has the ratios of that variant."""

    def __init__(self, run):
        self.run = run
        self.rows, self.left_out, self.tuned = [], [], {}
        self.wrong = None
        seed = re.search(r"--drawn (\d+)", text(run.header, "command"))
        self.seed = int(seed.group(1)) if seed else 0
        self.drawn = 0  # the seed's shapes up to that of the last row
        self.dtype = ""
        for value in run.results:
            self.dtype = text(value, "dtype")
            row = Row(value)
            if text(value, "variant") == "tuned":
                self.tuned[row.shape] = row.ratio
            elif not text(value, "variant"):
                self.wrong = self.add(row)
            if self.wrong:
                return

    def add(self, row):
        """Goes on to the row's shape among the seed's. Why the row cannot follow, or None."""
        if self.drawn == drawn_shapes.COUNT:
            return "has more rows than shapes are drawn"
        while drawn_shapes.shape(self.seed, self.drawn) != row.shape:
            self.left_out.append(drawn_shapes.shape(self.seed, self.drawn))
            self.drawn += 1
            if self.drawn == drawn_shapes.COUNT:
                return "has a row that is none of the seed's next shapes"
        self.drawn += 1
        if not row.ratio > 0:
            return "has a row without burst of the kernel or cublaslt-best"
        self.rows.append(row)
        return None


def lowest_of(rows):
    row = min(rows, key=lambda row: row.ratio)
    return f"{row.ratio:.2f}, {row.name()}"


def percentile(rows):
    return f"{sorted(row.ratio for row in rows)[(len(rows) + 19) // 20 - 1]:.2f}"


def means(record):
    which = ""
    if record.left_out:
        shapes = "".join(f" {records.shape_text(shape)}" for shape in record.left_out)
        which += f" without{shapes}"
    if record.drawn < drawn_shapes.COUNT:
        which += f", the first {record.drawn}"
    aligned = [row for row in record.rows if row.is_aligned]
    groups = [aligned, [row for row in aligned if not row.selected.startswith("direct")],
              record.rows]

    def line(name, cell):
        return f"| {name} |" + "".join(f" {cell(rows) if rows else '–'} |" for rows in groups)

    def tuned(rows):
        ratios = [record.tuned.get(row.shape, 0) for row in rows]
        return f"{records.geometric_mean(ratios):.3f}" if min(ratios) > 0 else "–"

    return [f"| of the seed's {drawn_shapes.COUNT} shapes{which} | n and k multiples of 8 | the same "
            "without `direct.cu` | all |", "|---|---:|---:|---:|",
            line("shapes", len),
            line("geometric mean of the ratios",
                 lambda rows: f"{records.geometric_mean([row.ratio for row in rows]):.3f}"),
            *([line("the same, tuned", tuned)] if record.tuned else []),
            line("5th percentile¹", percentile), line("lowest", lowest_of),
            "", "¹ the ratio of rank *shapes* / 20, rounded up, from the lowest", ""]


def lowest_lines(record, count):
    yield ("| the lowest, n and k multiples of 8 | ratio | configuration | cuBLASLt's best: tile | "
           "cluster | parts of k |")
    yield "|---|---:|---|---:|---:|---:|"
    aligned = [row for row in record.rows if row.is_aligned]
    for row in sorted(aligned, key=lambda row: row.ratio)[:count]:
        yield (f"| {row.name()} | {row.ratio:.2f} | `{row.selected}` | {row.pair('tile')} |"
               f" {row.pair('cluster')} | {number(row.algorithm, 'splits')} |")


def check_figure(book, page, line, name, record):
    """Compares the file with the figure that the record yields, and replaces it if rewriting."""
    path = book.path_for(page, f"figures/{name}.svg")
    made = drawn_figure.draw(record)
    if book.text(path) == made:
        return path
    if book.rewrite:
        book.write(path, made)
    else:
        book.complain(page, line, f"{path} is stale: build the target docs")
    return path


def make(book, page, line):
    marker = page.lines[line]
    name, figure, lowest = (pages.marker_value(marker, key)
                            for key in ("results", "figure", "lowest"))
    if not (name and figure and lowest):
        book.complain(page, line, "drawn shapes need results=, figure= and lowest=")
        return None
    runs = records.load(book, page, name)
    if not runs:
        return ["", f"*Not yet recorded: there is no `docs/results/{name}.jsonl`.*", ""]
    record = Drawn(runs[-1])
    if record.wrong:
        book.complain(page, line, f"{name}.jsonl {record.wrong}")
    if not record.rows:
        return []
    path = check_figure(book, page, line, figure, record)
    return ["", "![Ratio to cuBLASLt's best over the FLOP of the drawn shapes, measured]"
            f"({page.link(path)})", "", *means(record), *lowest_lines(record, int(lowest)),
            "", records.source(page, record.run, record.dtype), ""]


def check(book, page):
    book.remake(page, "<!-- drawn:", "block", make)
