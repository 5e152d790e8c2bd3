"""Some kernels against some rivals on many shapes, a row for each shape.

    <!-- ratios: results=h200-fp8-layers kernels=11 against=cublaslt-blocks timing=burst -->
    ...
    <!-- end -->

What stands between the markers is made from the record: TFLOPS of every kernel and every baseline
in `against`, and the ratio of the fastest of the former to the fastest of the latter; then the
geometric mean of the ratios, and the lowest.
"""
import pages
import records
from records import number


class Speeds:
    """The TFLOPS of kernels and rivals; rows stand in the order of the record."""

    def __init__(self, runs, kernels, rivals, timing):
        self.rows = {}  # of a shape: the speeds of the kernels, and of the rivals; 0: not measured
        self.dtype = ""
        for value in (value for run in runs for value in run.results):
            own, others = self.rows.setdefault(records.size(value),
                                               ([0] * len(kernels), [0] * len(rivals)))
            self.dtype = records.text(value, "dtype")
            for i, kernel in enumerate(kernels):
                if records.is_named(value, kernel):
                    own[i] = number(value, timing, "tflops")
            for i, name in enumerate(rivals):
                if records.baseline(value, name):
                    others[i] = number(records.baseline(value, name), timing, "tflops")


def make(book, page, line):
    marker = page.lines[line]
    name, timing = (pages.marker_value(marker, key) for key in ("results", "timing"))
    kernels, rivals = (pages.marker_words(marker, key) for key in ("kernels", "against"))
    if not (name and timing and kernels and rivals):
        book.complain(page, line, "ratios need results=, kernels=, against= and timing=")
        return None
    runs = records.load(book, page, name)
    if not runs:
        return ["", f"*Not yet recorded: there is no `docs/results/{name}.jsonl`.*", ""]
    speeds = Speeds(runs, kernels, rivals, timing)
    columns = kernels + rivals
    out = ["", f"| m×n×k, TFLOPS ({timing}) |" + "".join(f" {c} |" for c in columns) + " ratio |",
           "|---|" + "---:|" * (len(columns) + 1)]
    ratios = []
    for shape, (own, others) in speeds.rows.items():
        if not max(own) > 0 or not max(others) > 0:
            book.complain(page, line,
                          f"{name}.jsonl: a shape has no {timing} of a kernel or a rival")
            continue
        ratios.append(max(own) / max(others))
        cells = "".join(f" {speed:.0f} |" if speed > 0 else " – |" for speed in own + others)
        out.append(f"| {records.shape_text(shape)} |{cells} {ratios[-1]:.2f} |")
    if ratios:
        out.append(f"| *geometric mean of {len(ratios)}; the lowest is {min(ratios):.2f}* |"
                   + " |" * len(columns) + f" {records.geometric_mean(ratios):.3f} |")
    return out + ["", records.source(page, runs[-1], speeds.dtype), ""]


def check(book, page):
    book.remake(page, "<!-- ratios:", "table", make)
