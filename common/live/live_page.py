"""live_page.py LIVE.JSON MODULE_DIRECTORY BEGIN.HTML OUT [CASES.JSON]: a live page, one
file.

It has the module (module.js, module.wasm, packed), the kernels and their switches, what each verdict
means, and the cases of the practice, if there are any.
"""

import os
import re
import sys

sys.dont_write_bytecode = True
import cases
import one_file
import simulate

# What only the program and the tests need.
LEFT_OUT = {"switches": ("key", "function"), "chapters": ("type",), "cases": ("verdict", "asks", "call", "asked", "bands", "edit", "answer", "want")}


def moved(line, edits):
    """Where a line of a file stands after the edits; None: it is in one of them."""
    by = 0
    for first, gone, come in edits:
        if first <= line < first + gone:
            return None
        if line >= first + gone:
            by += len(come) - gone
    return line + by


def lines_told(kernel, file, switches):
    """{number: where the call stands, 0 if it is gone}: of the calls that are not where the edits
    around them put them (kernels.js)."""
    told = {}
    for one in switches:
        if one["file"] != file:
            continue
        place = [moved(one[end], kernel["edits"][file]) for end in ("line", "end")]
        there = kernel["lines"][file].get(str(one["number"]))
        if there != (None if None in place else place):
            told[one["number"]] = there or 0
    return told


def unusual(run):
    """What differs from the usual run, which page/address.js has, too."""
    return {name: value for name, value in run.items() if value != simulate.USUAL.get(name)}


def without(one, *empty):
    """A chapter or another kernel, without those of these that are empty."""
    return {name: value for name, value in one.items() if value or name not in empty}


def smaller(book):
    book = {name: value for name, value in book.items()
            if name not in ("repairs", "arguments", "house", "left_out")}
    for name, fields in LEFT_OUT.items():
        book[name] = [{key: value for key, value in one.items() if key not in fields}
                      for one in book[name]]
    runs = {one["name"]: one["run"] for one in book["chapters"]}
    book["chapters"] = [without({**one, "run": unusual(one["run"])}, "run", "options", "needs")
                        for one in book["chapters"]]
    for case in book["cases"]:  # page/practice.js completes them
        for part in [case, *(one for one in case.get("choices", []) if isinstance(one, dict))]:
            usual = runs[part.get("chapter", case["chapter"])]
            part["run"] = {name: value for name, value in part["run"].items()
                           if usual[name] != value}
            if part is not case:
                part.pop("right", None)
    book["kernels"] = [without(one, "needs", "of_case") for one in book["kernels"]]
    for kernel in book["kernels"]:
        kernel["lines"] = {file: lines_told(kernel, file, book["switches"])
                           for file in kernel["lines"]}
        if kernel["kind"] == "break" and "of_case" in kernel:  # in no list of the page
            kernel["title"] = ""
    for one in [*book["switches"], *book["kernels"]]:  # page/main.js numbers them
        del one["number"]
    return book


def main():
    live, module, begin, out, *recorded = sys.argv[1:]
    module = os.path.join(module, "module")
    book = cases.load(live, *recorded)
    book["verdicts"] = one_file.reportable(book["verdicts"], module)
    begin = one_file.read(begin).rstrip()
    marks = {"@TITLE@": re.search(r"<h1>(.*)</h1>", begin).group(1), "@PRACTICE@": ""}
    if recorded:
        fences = [one["line"] for one in book["switches"] if one["call"] == "fence_proxy_async()"]
        begin = begin.replace("@FENCE@", str(next(iter(fences), "")))
        marks["@PRACTICE@"] = one_file.read(one_file.PAGE, "practice.html").rstrip()
    one_file.write(out, "live.html", module, smaller(book),
                   "live" if recorded else "beyond", {**marks, "@BEGIN@": begin})


main()
