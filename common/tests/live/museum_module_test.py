"""museum_module_test.py PROGRAM NODE RUN.JS MODULE [--sample N]: the museum as WebAssembly says what the
program says, of every exhibit in both forms, under every schedule. gcc names the first line of a call
of two lines and clang the last, so a line may be the next one."""

import re
import subprocess
import sys

sys.dont_write_bytecode = True
from live_runs import SCHEDULES, check_all, in_words, said, seed

LINE = re.compile(r"(?<=\.cu:)\d+")


def same(here, there):
    lines = [list(map(int, LINE.findall(text))) for text in (here, there)]
    return LINE.sub("", here) == LINE.sub("", there) and all(
        abs(one - other) <= 1 for one, other in zip(*lines))


def main():
    native, *module = sys.argv[1:5]
    every = int(sys.argv[6]) if "--sample" in sys.argv else 1
    listed = subprocess.run([native, "list"], capture_output=True, text=True, check=True)
    runs = [([name, form, "--schedule", schedule, "--schedule-seed", "2"],)
            for name in listed.stdout.split() for form in ("broken", "fixed")
            for schedule in SCHEDULES]

    def differing(options):
        here, there = said([native, *options]), said([*module, *options])
        if same(in_words(here), in_words(there)):
            return None
        return f"{' '.join(options)}:\n{here}\n---- as WebAssembly:\n{there}"

    return 1 if check_all(runs[seed() % every::every], differing) else 0


sys.exit(main())
