"""museum_live.py ROOT MODULE OUT: the museum's page, one file: the exhibits of common/tests/museum, the
module that runs them (MODULE.js, MODULE.wasm), and the questions of museum_cases.py."""

import sys

sys.dont_write_bytecode = True
import museum_cases
import exhibits
import hazards
import one_file

# What the page has from the exhibit, or does not need.
LEFT_OUT = ("id", "chapter", "kind", "exhibit", "title", "explanation", "options", "asked",
            "verdict", "early")


def main():
    root, module, out = sys.argv[1:]
    asked, about = museum_cases.load(root)
    cases_of = {case["exhibit"]: {key: value for key, value in case.items() if key not in LEFT_OUT}
                for case in asked}
    shown = [{"name": name, "case": cases_of.get(name),
                 **{key: about[name][key] for key in ("title", "project", "story")},
                 "source": exhibits.source_of(root, name)}
                for name in sorted(about)]
    verdicts = one_file.reportable(hazards.verdicts(), module)
    one_file.write(out, "museum.html", module, {"exhibits": shown, "verdicts": verdicts},
                   "museum", {})


main()
