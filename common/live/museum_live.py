"""museum_live.py ROOT MODULE OUT: the museum's page, one file: the exhibits of common/tests/museum, the
module that runs them (MODULE.js, MODULE.wasm), and the questions of museum_cases.py. What each is about
is in docs/museum.md."""

import os
import sys

sys.dont_write_bytecode = True
import cases
import museum_cases
import one_file

# What the page has from the exhibit, or does not need.
LEFT_OUT = ("id", "chapter", "kind", "exhibit", "title", "explanation", "options", "asked", "right",
            "verdict", "early")


def main():
    root, module, out = sys.argv[1:]
    verdicts = cases.read_verdicts(os.path.join(root, "docs", "debugging.md"))
    asked, about = museum_cases.load(root, verdicts)
    cases_of = {case["exhibit"]: {key: value for key, value in case.items() if key not in LEFT_OUT}
                for case in asked}
    exhibits = [{"name": name, "case": cases_of.get(name),
                 **{key: about[name][key] for key in ("title", "project", "story")},
                 "source": one_file.read(root, museum_cases.museum_page.FOLDER, f"{name}.cu")}
                for name in sorted(about)]
    verdicts = one_file.reportable(verdicts, module)
    one_file.write(out, "museum.html", module, {"exhibits": exhibits, "verdicts": verdicts},
                   "museum", {})


main()
