"""layouts_page.py WASM OUT: the page of layouts, one file. Its colours are the pictures'."""

import os
import sys

sys.dont_write_bytecode = True
import one_file

sys.path.append(os.path.join(one_file.PAGE, "..", "..", "tools", "pictures"))
import palette

COLOURS = ("load", "ink", "lane", "item1", "hot", "mmapale")


def colours():
    light, dark = ("".join(f"--{name}: {theme[name]}; " for name in COLOURS)
                   for theme in palette.themes())
    return f":root {{ {light}}}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n"


def main():
    wasm, out = sys.argv[1:]
    one_file.fill(out, "layouts.html", {
        "@STYLE@": colours() + one_file.style("live", "layouts"),
        "@WASM@": one_file.packed(wasm),
        "@SCRIPT@": one_file.script("simulator", "text", "layouts")})


main()
