"""The recorded runs: docs/results/NAME.jsonl, or the same in a house, such as
beyond/docs/results/NAME.jsonl.

A file has runs. A run is a line that says where and how it was recorded, followed by the programs'
own --json lines (docs/results/README.md). What a record has:

    jq -r 'select(.chapter or .stage) | [(.chapter // .stage), .variant, .m, .n, .k] | @tsv' FILE
"""
import json
import math
import re

import pages


def text(value, key):
    """A member's text; "" where there is none."""
    found = value.get(key) if value else None
    return found if isinstance(found, str) else ""


def number(value, *keys):
    """A number inside of nested objects; 0 where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0


# The libraries' configurations, by the chapters under whose names older records have them.
MOVED = {"10_stream_k": ("hopper_gemm", r"(coop|pp|direct_|fitted|tuned).*"),
         "12_w4a8": ("w4a8_gemm", r"(teams|quads|pairs|halves|slabs)\d+|wide|three")}


def chapter(value):
    """A result's chapter, "06_wgmma", or library; "" if the line is no result. The key was once
    "stage". The libraries were once part of chapters 10 and 12: what was selected
    there, or is one of their configurations, is the library's."""
    name = text(value, "chapter") or text(value, "stage")
    library, configuration = MOVED.get(name, ("", ""))
    variant = text(value, "variant").partition("+")[0]
    if library and (text(value, "selected") or re.fullmatch(configuration, variant)):
        return library
    return name


def is_named(value, word):
    """Is this a result of "06", or of "06:wait0"?"""
    name, _, variant = word.partition(":")
    full = chapter(value)
    return (full[:2] == name[:2] if name[:2].isdigit() else full == name) and \
        text(value, "variant") == variant


def baseline(value, name):
    """A result's baseline of this name, or None."""
    for item in value.get("baselines") or []:
        if text(item, "name") == name:
            return item
    return None


def is_kernel(word):
    """A chapter's, as in "06:wait0", or a library's, as in "hopper_gemm:tuned"?"""
    return re.match(r"\d\d|hopper_gemm|w4a8_gemm", word) is not None


def shape_of(word):
    """"4096" or "8192x8192x512", as m, n and k."""
    lengths = [int(length) for length in re.findall(r"\d+", word)]
    return tuple(lengths) if len(lengths) == 3 else (lengths[0],) * 3 if lengths else (0, 0, 0)


def shape_text(shape, times="×"):
    """"4096³", or "16×4096×4096"; `times`: what stands between the lengths."""
    m, n, k = shape
    return f"{m:.0f}³" if m == n == k else f"{m:.0f}{times}{n:.0f}{times}{k:.0f}"


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def size(value):
    return number(value, "m"), number(value, "n"), number(value, "k")


class Found:
    """What a run has of a kernel or library at a shape."""

    def __init__(self, run, value, row):
        self.run = run
        self.value = value  # the kernel's result, or the baseline's
        self.cublas = baseline(row, "cublas")
        self.traced = None  # the kernel with the recorder in it
        self.before = None  # the step that it builds on


class Run:
    def __init__(self, header, place):
        self.header = header
        self.place = place  # of the record
        self.results = []
        self.at = {}  # the results of a shape and type

    def add(self, value):
        self.results.append(value)
        self.at.setdefault((size(value), text(value, "dtype")), []).append(value)

    def find(self, word, shape, dtype):
        """Of several results the last; None if there is none."""
        found = traced = None
        for value in self.at.get((shape, dtype), []):
            if is_named(value, word + ("+trace" if ":" in word else ":+trace")):
                traced = value
            # Beside a kernel of another kind of problem a chapter's kernel is a baseline.
            wanted = baseline(value, word)
            if not wanted and is_kernel(word) and is_named(value, word):
                wanted = value
            if wanted:
                found = Found(self, wanted, value)
        if found:
            found.traced = traced
        return found

    def is_simulated(self):
        return any(text(value, "backend") == "sim" for value in self.results)


def read(book, place):
    """The runs of a file; [] if there is no such file."""
    if place not in book.loaded:
        runs = book.loaded[place] = []
        for line in (book.text(place) or "").split("\n"):
            if not line:
                continue
            try:
                value = json.loads(line)
            except ValueError as error:
                pages.fail(f"{place}: {error}")
            if not chapter(value):
                runs.append(Run(value, place))
            else:
                if not runs:
                    runs.append(Run({}, place))
                runs[-1].add(value)
    return book.loaded[place]


def load(book, page, name):
    """The runs of a record that the page names."""
    return read(book, book.path_for(page, f"results/{name}.jsonl"))


def load_all(book, page, prefix):
    """The runs of every record whose name begins so, in the order of the names."""
    names = {name for house in book.houses(page) for name in book.list(f"{house}/results")
             if name.startswith(prefix) and name.endswith(".jsonl")}
    return [run for name in sorted(names) for run in load(book, page, name[:-len(".jsonl")])]


def find(runs, word, shape, dtype, first=None):
    """From the run `first`, or where it has none from the last that has."""
    for run in ([first] if first else []) + runs[::-1]:
        found = run.find(word, shape, dtype)
        if found:
            return found
    return None


def source(page, run, dtype, simulated=False):
    """The line below a table: measured or simulated, on what, when, how."""
    header = run.header
    words = [text(header, "gpu")]
    for before, key in (("driver ", "driver"), ("CUDA ", "toolkit"),
                        ("power limit ", "power_limit"), ("", "date")):
        words += [before + text(header, key)] if text(header, key) else []
    how = "Simulated, not measured" if simulated else "Measured"
    return (f"{how}: {', '.join(words)}, {dtype}; `{text(header, 'command')}` "
            f"([record]({page.link(run.place)})).")
