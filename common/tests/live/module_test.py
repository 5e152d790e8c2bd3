"""module_test.py LIVE.JSON PROGRAM NODE RUN.JS MODULE.JS [--all | --sample N]: every kernel says the same as
WebAssembly, byte for byte: its JSON and its simulated cycles. Each chapter's own under every schedule,
and with every value of its kind's options; its other files once, or, with --all, as often. --sample
N: every N-th of these, beginning at one that the commit's seed draws."""

import sys

sys.dont_write_bytecode = True
from live_runs import SCHEDULES, Programs, check_all, kernels_of, options_of, read_live, said, seed

SHAPES = [(128, 256, 192), (77, 139, 150)]  # one of whole tiles; one cut off everywhere
MORE = [(1, 8, 8), (300, 264, 328), (256, 512, 512)]


def runs_of(live, chapter, kernel, shapes):
    """(options, off, kernel)"""
    def run(*words):
        return options_of(live, chapter, kernel, *words), (), kernel

    for shape in shapes:
        for schedule in SCHEDULES:
            for sms in [4 if kernel >= 0 else 2, *([] if shape in SHAPES else [7])]:
                yield run(shape, schedule, "--json", "--sms", str(sms))
    for number in (2, 3):
        yield run(SHAPES[0], "random", "--schedule-seed", str(number))
    for option in next(one["options"] for one in live["chapters"] if one["name"] == chapter):
        for value in option.get("values", (1, 3)):
            yield run(SHAPES[1], "random", "--json", f"--{option['name']}", str(value))


def main():
    live = read_live(sys.argv[1])
    programs = Programs(*sys.argv[2:6])
    everything = "--all" in sys.argv
    shapes = SHAPES + (MORE if everything else [])
    runs = []
    for chapter, kernel in kernels_of(live):
        own = list(runs_of(live, chapter, kernel, shapes))
        runs += own if everything or kernel < 0 else own[1:2]
    if '"verified": true' not in said(programs.native + runs[0][0]):
        sys.exit(f"{runs[0][0]} does not verify")
    every = int(sys.argv[-1]) if "--sample" in sys.argv else 1
    return 1 if check_all(runs[seed() % every::every], programs.differing) else 0


sys.exit(main())
