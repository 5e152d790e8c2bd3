"""live_page.py LIVE.JSON CASES.JSON DEBUGGING.MD MODULE_DIRECTORY OUT: the live page, one file.

It has the module (module.js, module.wasm, packed), the kernels and their switches, the cases of the
practice and what docs/debugging.md says of each verdict.
"""

import os
import sys

sys.dont_write_bytecode = True
import cases
import one_file

SCRIPTS = ("simulator", "text", "versions", "source", "address", "reported", "result", "checks",
           "choose", "predict", "practice", "main")


# What only the program and the tests need.
LEFT_OUT = {"switches": ("key", "function"), "cases": ("verdict", "asks", "call", "asked", "bands", "edit")}


def moved(line, edits):
    """Where a line of a file stands after the edits; None: it is in one of them."""
    by = 0
    for first, gone, come in edits:
        if first <= line < first + gone:
            return None
        if line >= first + gone:
            by += len(come) - gone
    return line + by


def lines_told(version, file, switches):
    """{number: where the call stands, 0 if it is gone}: of the calls that are not where the edits
    around them put them (versions.js)."""
    told = {}
    for one in switches:
        if one["file"] != file:
            continue
        place = [moved(one[end], version["edits"][file]) for end in ("line", "end")]
        there = version["lines"][file].get(str(one["number"]))
        if there != (None if None in place else place):
            told[one["number"]] = there or 0
    return told


def smaller(book):
    book = {name: value for name, value in book.items() if name != "repairs"}
    for name, fields in LEFT_OUT.items():
        book[name] = [{key: value for key, value in one.items() if key not in fields}
                      for one in book[name]]
    for version in book["versions"]:
        version["lines"] = {file: lines_told(version, file, book["switches"])
                            for file in version["lines"]}
        if version["kind"] == "mend":  # in no list of the page
            version["title"] = ""
    return book


def main():
    live, recorded, debugging, module, out = sys.argv[1:]
    book = cases.load(live, recorded, debugging)
    fence = next(one for one in book["switches"] if one["call"] == "fence_proxy_async()")
    one_file.write(out, "live.html", os.path.join(module, "module"), smaller(book), SCRIPTS,
                   {"@FENCE@": str(fence["line"])})


main()
