"""museum_live.py ROOT MODULE OUT: the museum's page, one file: the exhibits of common/tests/museum and
the module that runs them (MODULE.js, MODULE.wasm). What each is about is in docs/museum.md."""

import glob
import os
import re
import sys

sys.dont_write_bytecode = True
import cases
import one_file


def told(root):
    """{number: (title, story)}: the headings of docs/museum.md, and the paragraph below each."""
    text = one_file.read(root, "docs", "museum.md")
    found = re.findall(r"^### ((\d\d) .*)\n\n((?:.+\n)+)", text, re.M)
    return {number: (title, cases.plain(" ".join(story.split()))) for title, number, story in found}


def main():
    root, module, out = sys.argv[1:]
    stories = told(root)
    exhibits = []
    for path in sorted(glob.glob(os.path.join(root, "common/tests/museum/[0-9]*.cu"))):
        name = os.path.splitext(os.path.basename(path))[0]
        title, story = stories[name[:2]]
        exhibits.append({"name": name, "title": title, "story": story, "source": one_file.read(path)})
    verdicts = cases.read_verdicts(os.path.join(root, "docs", "debugging.md"))
    one_file.write(out, "museum.html", module, {"exhibits": exhibits, "verdicts": verdicts},
                   ("simulator", "text", "reported", "museum"), {})


main()
