"""Tables of recorded runs.

    <!-- table: results=h200 kernels=05,06:wait0,cublas shapes=4096,8192x8192x512
         columns=burst,cublas dtype=bf16 link=yes -->     (in one line)
    ...
    <!-- end -->

What stands between the markers is made from the records whose names begin with <results>
(records.py). A kernel is a chapter's number, with a variant behind a colon, or a baseline's name.
With link=yes a row links to its chapter, and to the section that follows the name behind a #
(06:two_warpgroups#two-warpgroups-on-a-wider-tile). The column "gain" compares a row with the one
above, or with what follows the name behind a < (09<08:persistent). A later record replaces an
earlier one of the same kernel, shape and type. COLUMNS has the columns. Speeds, clocks, watts and
cycles of a shape come from one run of the GPU; shares may come from several.
"""
import math
import re

import pages
import records
from records import number

EMPTY = "–"


def share(part, whole):
    if not (part > 0 and whole > 0):
        return EMPTY
    return f"{100 * part / whole:.{1 if 100 * part / whole < 10 else 0}f} %"


def plain(value):
    if not value > 0:
        return EMPTY
    return f"{value:.{0 if value >= 100 or value == int(value) else 1 if value >= 10 else 2}f}"


def whole(value):
    return plain(math.floor(value + 0.5))


def gain(found):
    then = found.before and number(found.before.value, "burst", "tflops")
    now = number(found.value, "burst", "tflops")
    return f"{now / then:.{2 if now / then < 10 else 0}f}×" if then and now else EMPTY


def traced(found):
    longer = number(found.traced, "burst", "ms")
    alone = number(found.value, "burst", "ms")
    return f"{100 * (longer / alone - 1):+.1f} %" if longer and alone else EMPTY


def spread(found):
    value = number(found.value, "burst", "spread")
    return f"{100 * value:.1f} %" if value > 0 else EMPTY


# Each column's heading, and what its cell says of what is found.
COLUMNS = {
    "burst": ("TFLOPS (burst)", lambda f: plain(number(f.value, "burst", "tflops"))),
    "cublas": ("of cuBLAS", lambda f: share(number(f.value, "burst", "tflops"),
                                            number(f.cublas, "burst", "tflops"))),
    "sustained": ("TFLOPS (sustained)", lambda f: plain(number(f.value, "sustained", "tflops"))),
    "sustained_cublas": ("of cuBLAS (sustained)",
                         lambda f: share(number(f.value, "sustained", "tflops"),
                                         number(f.cublas, "sustained", "tflops"))),
    "utilization": ("Tensor Core", lambda f: share(number(f.value, "tensor_core_utilization"), 1)),
    "clock": ("SM clock, MHz (burst)", lambda f: whole(number(f.value, "burst", "clock_mhz"))),
    "power": ("W (sustained)", lambda f: whole(number(f.value, "sustained", "power_w"))),
    "spread": ("spread", spread),
    "cycles": ("cycles", lambda f: plain(number(f.value, "cycles"))),
    "registers": ("registers", lambda f: plain(number(f.value, "registers"))),
    "smem": ("shared memory, KB", lambda f: plain(number(f.value, "smem_bytes") / 1024)),
    "traced": ("longer with the recorder", traced),
    "gain": ("over the step before", gain),
}


OF_ONE_RUN = ("burst", "sustained", "clock", "power", "cycles")


def technique(source):
    """What a kernel says that it adds."""
    found = re.search(r'\.technique = "([^"]*)', source)
    return found.group(1) if found else ""


class Row:
    """A word of kernels=."""

    def __init__(self, word, above):
        word, mark, section = word.partition("#")
        self.word, _, before = word.partition("<")
        self.section = mark + section
        self.is_kernel = records.is_kernel(self.word)
        self.before = (before or above) if self.is_kernel else ""

    def folder(self, book, runs):
        """The chapter's, or that of the libraries. The records of part two's chapters name them
        where beyond/ is not."""
        if not self.word[:2].isdigit():
            return "library"
        for house in ("", pages.BEYOND):
            for name in book.list(house):
                if name.startswith(self.word[:2] + "_"):
                    return house + name
        names = [records.chapter(value) for run in runs for value in run.results]
        return next((pages.BEYOND + name for name in names if name[:2] == self.word[:2]), "")

    def heading(self, book, page, runs, link):
        folder = self.folder(book, runs) if self.is_kernel else self.word
        kernel, _, variant = self.word.partition(":") if self.is_kernel else ("", "", "")
        name = folder if kernel[:2].isdigit() or not kernel else kernel
        name += f", {variant}" if variant else ""
        if not link or not self.is_kernel:
            return f"| {name} |" + (" |" if link else "")
        source = book.text(f"{folder}/{variant or 'kernel'}.cu") or ""
        return (f"| [{name}]({page.link(folder)}/README.md{self.section}) |"
                f" {technique(source)} |")


class Table:
    def __init__(self, book, page, line):
        marker = page.lines[line]
        self.results = pages.marker_value(marker, "results", "")
        self.rows = []
        for word in pages.marker_words(marker, "kernels"):
            self.rows.append(Row(word, self.rows[-1].word if self.rows else ""))
        self.shapes = [records.shape_of(word) for word in pages.marker_words(marker, "shapes")]
        self.columns = pages.marker_words(marker, "columns")
        self.dtype = pages.marker_value(marker, "dtype", "bf16")
        self.link = pages.marker_value(marker, "link") is not None
        self.runs = records.load_all(book, page, self.results)
        self.used = []

    def best_run(self, shape):
        """Numbers of different runs should not stand side by side: the run that fills most of a
        shape's cells; of equal ones the last."""
        best, most = None, 1
        for run in self.runs:
            found = [run.find(row.word, shape, self.dtype) for row in self.rows]
            cells = sum(COLUMNS[c][1](f) != EMPTY for f in found if f for c in self.columns)
            if cells >= most:
                best, most = run, cells
        return best

    def cells(self, row, shape, run):
        found = records.find(self.runs, row.word, shape, self.dtype, run)
        if not found:
            return [EMPTY] * len(self.columns)
        if found.run not in self.used:
            self.used.append(found.run)
        if row.before:
            found.before = (run.find(row.before, shape, self.dtype) if run
                            else records.find(self.runs, row.before, shape, self.dtype))
        return [COLUMNS[column][1](found) for column in self.columns]

    def strangers(self):
        """The rows with numbers of another run than the others have at their shape."""
        if not any(column in OF_ONE_RUN for column in self.columns):
            return
        for shape in self.shapes:
            run = self.best_run(shape)
            for row in self.rows:
                found = records.find(self.runs, row.word, shape, self.dtype, run)
                if found and found.run is not run and not found.run.is_simulated():
                    yield f"{row.word} at {records.shape_text(shape)}"

    def lines(self, book, page):
        # A column is as wide as the longest word of its heading, so the lengths are words, each
        # with its × behind a no-break space.
        heading = "| chapter | what it adds |" if self.link else "| |"
        for shape in self.shapes:
            for column in self.columns:
                name = records.shape_text(shape, "\u00a0× ")
                heading += f" {name}: {COLUMNS[column][0]} |"
        yield heading
        yield ("|---|---|" if self.link else "|---|") + \
            "---:|" * (len(self.shapes) * len(self.columns))
        best = [self.best_run(shape) for shape in self.shapes]
        for row in self.rows:
            cells = [cell for shape, run in zip(self.shapes, best)
                     for cell in self.cells(row, shape, run)]
            yield row.heading(book, page, self.runs, self.link) + "".join(f" {c} |" for c in cells)

    def sources(self, page):
        """A line for each run that the table has numbers of."""
        for run in self.runs:
            if run in self.used and run.header:
                yield ""
                yield records.source(page, run, self.dtype, run.is_simulated())


def make(book, page, line):
    table = Table(book, page, line)
    if not (table.rows and table.shapes and table.columns):
        book.complain(page, line, "a table needs results=, kernels=, shapes= and columns=")
        return None
    for column in table.columns:
        if column not in COLUMNS:
            book.complain(page, line, f"there is no column '{column}'")
            return None
    if table.runs:
        for row in table.rows:
            if not any(records.find(table.runs, row.word, s, table.dtype) for s in table.shapes):
                book.complain(page, line, f"docs/results/{table.results}*.jsonl have no "
                              f"'{row.word}' at these shapes")
        for stranger in table.strangers():
            book.complain(page, line, f"{stranger} is of another run than the rest of the table")
        return ["", *table.lines(book, page), *table.sources(page), ""]
    missing = f"*Not yet recorded: there is no `docs/results/{table.results}*.jsonl`.*"
    return ["", *([*table.lines(book, page), ""] if table.link else []), missing, ""]


def check(book, page):
    book.remake(page, "<!-- table:", "table", make)
