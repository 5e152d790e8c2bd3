"""museum_places.py: a case of the museum, with each of its lines as the answer.

The broken form is compiled once, with a switch at every statement of the kernel: there what is missing is
executed before it, or, if no line is missing, the statement is left out. A place is right if the kernel
then passes every run of RUNS.
"""

import os
import re
import subprocess
import sys
import tempfile

import museum_cases

RUNS = [["--schedule", name] for name in ("time", "late", "early")] + [
    ["--schedule", "random", "--schedule-seed", str(seed)] for seed in range(6)]
TRIAL = """#include <stdlib.h>
static int trial;
__attribute__((constructor)) static void read_trial(void) { trial = atoi(getenv("TRIAL")); }
"""
LIST = """#include "tests/museum/museum.h"
extern const struct museum_form form;
const struct museum_exhibit museum_exhibits[] = {{"NAME", {&form, &form}}};
const int museum_exhibit_count = 1;
"""
DECLARES = re.compile(r"(const|bool|float|u?int\w*|struct|mbarrier_t|element_t)\b[^=(]*[=;]|SHARED_MEMORY")


class Places:
    """root: of the repository; compiler, libraries: words separated by commas, as linked.py has them."""

    def __init__(self, root, compiler, libraries):
        self.root, self.compiler, self.libraries = root, compiler.split(","), libraries.split(",")

    def switched(self, case, rows, left_out):
        """The exhibit with a switch at each statement; (text, the statements)."""
        with open(os.path.join(self.root, museum_cases.museum_page.FOLDER, f"{case['exhibit']}.cu"),
                  encoding="utf-8") as file:
            lines = file.read().split("\n")
        missing = " ".join(text.strip() for sign, text, _ in rows if sign == "+") if case["asked"] == "missing" else ""
        kernel, tried = next(i for i, line in enumerate(case["lines"]) if line.startswith("KERNEL(")), []
        for i in sorted(set(museum_cases.statements(case["lines"]))):
            code = case["lines"][i].strip()
            here = DECLARES.match(code) or code[0] == "}"
            if i <= kernel or i in left_out or code.startswith("else") or (here and not missing):
                continue
            at = case["numbers"][i] - 1
            lines[at] = (f"if (trial == {i}) {{ {missing} }} {lines[at]}" if here else
                         f"if (trial == {i} && ({{ {missing} 1; }}) == {int(not missing)}) {{}} else {lines[at]}")
            tried.append(i)
        return "\n".join(lines), tried

    def compile(self, case, directory):
        rows, left_out = museum_cases.read_forms(self.root, case["exhibit"]), set()
        numbers = {number: i for i, number in enumerate(case["numbers"])}
        paths = {name: os.path.join(directory, name) for name in ("exhibit.c", "trial.h", "list.c", "museum")}
        for name, text in (("trial.h", TRIAL), ("list.c", LIST.replace("NAME", case["exhibit"]))):
            with open(paths[name], "w", encoding="ascii") as file:
                file.write(text)
        options = ["-std=gnu11", "-O1", "-w", "-Wno-psabi", f"-I{self.root}/common", "-DGEMM_BF16_ELEMENTS=1",
                   "-DTRACE=0"]
        form = ["-DFIXED=0", "-DMUSEUM_FORM=form", "-include", paths["trial.h"]]
        while True:  # where a variable is not yet declared, the line cannot stand
            text, tried = self.switched(case, rows, left_out)
            with open(paths["exhibit.c"], "w", encoding="utf-8") as file:
                file.write(text)
            made = subprocess.run([*self.compiler, *options, *form, "-c", paths["exhibit.c"], "-o",
                                   paths["museum"] + ".o"], capture_output=True, text=True, check=False)
            if not made.returncode:
                break
            wrong = {numbers[int(line)] for line in re.findall(r"exhibit\.c:(\d+):\d+: error", made.stderr)}
            if not wrong - left_out:
                sys.exit(made.stderr)
            left_out |= wrong
        museum = [f"{self.root}/common/tests/museum/{name}.c" for name in ("museum", "museum_run")]
        subprocess.run([*self.compiler, *options, paths["museum"] + ".o", paths["list.c"], *museum,
                        "-Wl,--start-group", *self.libraries, "-Wl,--end-group", "-lm", "-lpthread", "-o",
                        paths["museum"]], check=True)
        return paths["museum"], tried

    def right(self, case):
        """(the statements that are right, all that were tried)"""
        with tempfile.TemporaryDirectory() as directory:
            program, tried = self.compile(case, directory)

            def passes(place):
                environment = dict(os.environ, TRIAL=str(place))
                return all(subprocess.run([program, case["exhibit"], "broken", *run], env=environment,
                                          capture_output=True, check=False).returncode == 0 for run in RUNS)
            return [place for place in tried if passes(place)], tried
