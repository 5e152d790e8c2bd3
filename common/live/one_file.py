"""one_file.py: a page in one file, with its module, its data and its scripts, without their comments."""

import base64
import gzip
import json
import os
import re

COMMENT = re.compile(r"^ *(/\*.*?\*/|//[^\n]*)\n+", re.S | re.M)
BOOK = ("simulator", "judge", "text", "kernels", "source", "address", "reported", "result", "checks",
        "predict")
TIMELINE = "../../timeline/page/"  # the report's scripts, which read the same data
SCRIPTS = {  # of each page, page/*.js
    "live": (*BOOK, "choose", "practice", "main"), "beyond": (*BOOK, "no_practice", "main"),
    "museum": ("simulator", "judge", "text", "reported", "find_first", "museum"),
    "layouts": ("simulator", "text", "shareable", "layouts"),
    "ring": ("simulator", "text", f"{TIMELINE}barriers", "shareable", "ring"), "worker": ("worker",)}
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page")


def read(*path, mode="r"):
    with open(os.path.join(*path), mode, encoding=None if "b" in mode else "utf-8") as file:
        return file.read()


def packed(path):
    return base64.b64encode(gzip.compress(read(path, mode="rb"), 9, mtime=0)).decode("ascii")


def reportable(verdicts, module):
    """The verdicts that the module can report: it has their names."""
    code = read(f"{module}.wasm", mode="rb")
    return {name: rule for name, rule in verdicts.items() if name.encode("ascii") in code}


def style(*names):
    return COMMENT.sub("", "\n".join(read(PAGE, f"{name}.css") for name in names))


def script(*names):
    return COMMENT.sub("", "\n".join(read(PAGE, f"{name}.js") for name in names))


def fill(out, template, parts):
    page = read(PAGE, template)
    for mark, text in parts.items():
        assert page.count(mark) == 1, mark
        assert "</script" not in text, mark
        page = page.replace(mark, text)
    with open(out, "w", encoding="utf-8") as file:
        file.write(page)


def write(out, template, module, data, page, more):
    """module: the path without .js and .wasm. page: whose scripts it has. more: what else stands in the template."""
    fill(out, template, {
        "@STYLE@": style("live"),
        "@WASM@": packed(f"{module}.wasm"),
        "@JUDGE@": packed(os.path.join(os.path.dirname(module), "..", "live", "judge.wasm")),
        "@MODULE@": packed(f"{module}.js"),
        "@WORKER@": script(*SCRIPTS["worker"]),
        "@DATA@": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        "@SCRIPT@": script(*SCRIPTS[page]),
        **more,
    })
