"""module_test.py PROGRAM NODE RUN.JS MODULE.JS [--all]: every chapter says the same as WebAssembly,
byte for byte: its JSON and its simulated cycles, under every schedule."""

import sys

sys.dont_write_bytecode = True
from live_runs import CHAPTERS, SCHEDULES, Programs, check_all, options_of, said

SHAPES = [(128, 256, 192), (77, 139, 150)]  # one of whole tiles; one cut off everywhere
MORE = [(1, 8, 8), (300, 264, 328), (256, 512, 512)]


def main():
    programs = Programs(*sys.argv[1:5])
    shapes = SHAPES + (MORE if "--all" in sys.argv else [])
    runs = [(options_of(chapter, shape, schedule, "--json", "--sms", str(sms)),)
            for chapter in CHAPTERS for shape in shapes for schedule in SCHEDULES
            for sms in ([2] if shape in SHAPES else [2, 7])]
    if '"verified": true' not in said(programs.native + runs[0][0]):
        sys.exit(f"{runs[0][0]} does not verify")
    runs += [(options_of(chapter, SHAPES[0], "random", "--schedule-seed", str(seed)),)
             for chapter in CHAPTERS for seed in (2, 3)]
    return 1 if check_all(runs, programs.differing) else 0


sys.exit(main())
