"""live_page.py LIVE.JSON CASES.JSON DEBUGGING.MD MODULE_DIRECTORY OUT: the live page, one file.

It has the module (module.js, module.wasm, packed), the kernels and their switches, the cases of the
practice and what docs/debugging.md says of each verdict.
"""

import base64
import gzip
import json
import os
import sys

sys.dont_write_bytecode = True
import cases

SCRIPTS = ("simulator", "versions", "source", "address", "result", "checks", "choose", "predict",
           "practice", "main")
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page")


def read(*path, mode="r"):
    with open(os.path.join(*path), mode, encoding=None if "b" in mode else "utf-8") as file:
        return file.read()


def packed(path):
    return base64.b64encode(gzip.compress(read(path, mode="rb"), 9, mtime=0)).decode("ascii")


# What only the program and the tests need.
LEFT_OUT = {"switches": ("key", "function"), "cases": ("verdict", "asks", "call", "asked", "bands", "edit")}


def smaller(book):
    book = {name: value for name, value in book.items() if name != "repairs"}
    for name, fields in LEFT_OUT.items():
        book[name] = [{key: value for key, value in one.items() if key not in fields}
                      for one in book[name]]
    for version in book["versions"]:
        if version["kind"] == "mend":  # in no list of the page
            version["title"] = ""
    return book


def main():
    live, recorded, debugging, module, out = sys.argv[1:]
    book = cases.load(live, recorded, debugging)
    data = json.dumps(smaller(book), separators=(",", ":")).replace("<", "\\u003c")
    fence = next(one for one in book["switches"] if one["call"] == "fence_proxy_async()")
    parts = {
        "@FENCE@": str(fence["line"]),
        "@STYLE@": read(PAGE, "live.css"),
        "@WASM@": packed(os.path.join(module, "module.wasm")),
        "@MODULE@": packed(os.path.join(module, "module.js")),
        "@WORKER@": read(PAGE, "worker.js"),
        "@DATA@": data,
        "@SCRIPT@": "\n".join(read(PAGE, f"{name}.js") for name in SCRIPTS),
    }
    page = read(PAGE, "live.html")
    for mark, text in parts.items():
        assert page.count(mark) == 1, mark
        assert "</script" not in text, mark
        page = page.replace(mark, text)
    with open(out, "w", encoding="utf-8") as file:
        file.write(page)


main()
