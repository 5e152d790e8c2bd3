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
import exhibits
import program

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
    """root: of the repository; compiler, libraries: words separated by commas, as program.py has them."""

    def __init__(self, root, compiler, libraries):
        self.root, self.linker = root, program.quick_linker(root, compiler, libraries)

    def switched(self, case, left_out):
        """The exhibit with a switch at each statement, and the statements that have one."""
        rows = museum_cases.read_forms(self.root, case["exhibit"])
        missing = " ".join(text.strip() for sign, text, _ in rows if sign == "+")
        if case["asked"] != "missing":
            missing = ""
        lines = exhibits.source_of(self.root, case["exhibit"]).split("\n")
        kernel = next(i for i, line in enumerate(case["lines"]) if line.startswith("KERNEL("))
        tried = []
        for i in sorted(set(museum_cases.statements(case["lines"]))):
            code = case["lines"][i].strip()
            # Before a declaration and a brace there can be a statement, but they cannot be left out.
            apart = DECLARES.match(code) or code[0] == "}"
            if i <= kernel or i in left_out or code.startswith("else") or (apart and not missing):
                continue
            here = f"trial == {i}"
            if apart:
                switch = f"if ({here}) {{ {missing} }}"
            elif missing:  # and what follows may be all that an if or a loop has
                switch = f"if ({here} && ({{ {missing} false; }})) {{}} else"
            else:
                switch = f"if ({here}) {{}} else"
            at = case["numbers"][i] - 1
            lines[at] = f"{switch} {lines[at]}"
            tried.append(i)
        return "\n".join(lines), tried

    def compile(self, case, directory):
        """(the program, the statements that have a switch)"""
        def write(name, text):
            with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                file.write(text)
            return os.path.join(directory, name)

        command = [*self.linker.compiler, *program.LANGUAGE, "-DTRACE=0", f"-I{self.root}/common"]
        form = ["-DFIXED=0", "-DMUSEUM_FORM=form", "-include", write("trial.h", TRIAL)]
        exhibit, made = os.path.join(directory, "exhibit.o"), os.path.join(directory, "museum")
        numbers = {number: i for i, number in enumerate(case["numbers"])}
        left_out = set()
        while True:  # where a variable is not yet declared, the line cannot stand
            text, tried = self.switched(case, left_out)
            compiled = subprocess.run([*command, *form, "-c", write("exhibit.c", text), "-o", exhibit],
                                  capture_output=True, text=True, check=False)
            if not compiled.returncode:
                break
            wrong = {numbers[int(line)]
                     for line in re.findall(r"exhibit\.c:(\d+):\d+: error", compiled.stderr)} - left_out
            if not wrong:
                sys.exit(compiled.stderr)
            left_out |= wrong
        museum = [f"{self.root}/common/tests/museum/{name}.c" for name in ("museum", "museum_run")]
        listed = write("list.c", LIST.replace("NAME", case["exhibit"]))
        subprocess.run([*command, exhibit, listed, *museum, *self.linker.linked, "-o", made],
                       check=True)
        return made, tried

    def right(self, case):
        """(the statements that are right, all that were tried)"""
        with tempfile.TemporaryDirectory() as directory:
            made, tried = self.compile(case, directory)

            def passes(place, run):
                return not subprocess.run([made, case["exhibit"], "broken", *run], check=False,
                                          env=dict(os.environ, TRIAL=str(place)),
                                          capture_output=True).returncode
            return [place for place in tried if all(passes(place, run) for run in RUNS)], tried
