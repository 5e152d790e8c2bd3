"""pictured_page.py PAGE MODULE OUT: the page of layouts or of the ring, one file, whose colours are
the pictures'. MODULE: the path without .wasm, and without .js, which a program has, too."""

import os
import sys

sys.dont_write_bytecode = True
import one_file

sys.path.append(os.path.join(one_file.PAGE, "..", "..", "tools", "pictures"))
import palette

COLOURS = {"layouts": ("load", "ink", "lane", "item1", "hot", "mmapale"),
           "ring": ("load", "ink", "lane", "held", "mma", "mma1", "wait", "onbright", "edge")}


def main():
    page, module, out = sys.argv[1:]
    parts = {"@STYLE@": palette.style(":root", COLOURS[page]) + one_file.style("live", page),
             "@WASM@": one_file.packed(f"{module}.wasm"),
             "@SCRIPT@": one_file.script(*one_file.SCRIPTS[page])}
    if os.path.exists(f"{module}.js"):
        parts["@MODULE@"] = one_file.packed(f"{module}.js")
        parts["@WORKER@"] = one_file.script(*one_file.SCRIPTS["worker"])
    one_file.fill(out, f"{page}.html", parts)


main()
