"""switches_test.py: a call that is switched off does what the kernel without that call does.

For every switch, and every kernel that has it, the edited kernel is compiled and linked as a program
of its own; what it says must be what build/sim/live says with that switch off, text for text: every
hazard (but see comparable()), every line that it names, every number. With --module the same is held
between build/sim/live and the module, for all kernels; that needs no compiler.

    --sample N   every N-th, beginning at one that the commit's seed draws
"""

import argparse
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "live"))
import simulate
import program
from live_runs import (Programs, check_all, comparable, files_of, kernels_of, options_of, read_live,
                       said, seed)

# Most broken kernels are caught by the first, most others by the second.
SETTINGS = [((128, 256, 256), "time"), ((256, 256, 256), "late", "--sms", "LEAST"),
            ((77, 139, 330), "random", "--schedule-seed", "2")]
LEAST = {"": "1", "beyond": "4"}  # SMs: part two's clusters have up to four CTAs


def pairs(live, sample, first):
    """(chapter, kernel, switch): each switch in each kernel that has it."""
    found = [(chapter, kernel, switch["number"]) for chapter, kernel in kernels_of(live)
             for switch in live["switches"] if switch["file"] in files_of(live, chapter, kernel)]
    return found[first % sample::sample]


def link(options, chapter, kernel, number, directory):
    """Makes the program of this kernel without that call."""
    live = options.live
    source = os.path.join(directory, files_of(live, chapter, kernel)[0])
    subprocess.run([sys.executable, options.generator, options.root, directory, *live["arguments"],
                    "--remove", str(number)], check=True)
    kind = simulate.kernel_of(live, chapter, kernel)["needs"].get("dtype", "bf16")
    path = os.path.join(directory, "live")
    subprocess.run(options.linker.command(os.path.join(live["house"], chapter), source, path,
                                          before=[directory], kind=kind, tour=True), check=True)
    return path


def settings_of(live, chapter, kernel):
    for shape, schedule, *more in SETTINGS:
        more = [LEAST[live["house"]] if word == "LEAST" else word for word in more]
        yield options_of(live, chapter, kernel, shape, schedule, "--step-limit", "3000000", *more)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--live", required=True, help="live.json")
    parser.add_argument("--program", required=True)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--libraries", default="")
    parser.add_argument("--module", nargs=3)
    parser.add_argument("--sample", type=int, default=1)
    options = parser.parse_args()
    options.live = read_live(options.live)
    options.generator = os.path.join(options.root, "common", "live", "switches.py")
    options.linker = program.quick_linker(options.root, options.compiler, options.libraries)
    live = options.live
    found = pairs(live, options.sample, seed())
    programs = Programs(options.program, *(options.module or ()))

    def as_edited(chapter, kernel, number):
        with tempfile.TemporaryDirectory() as directory:
            own = link(options, chapter, kernel, number, directory)
            for setting in settings_of(live, chapter, kernel):
                edited, switched = (said([own, *setting]),
                                    said([options.program, *setting], [number], kernel))
                if comparable(edited) != comparable(switched):
                    return (f"{chapter}, kernel {kernel}, switch {number}, {' '.join(setting)}:\n"
                            f"{edited}\n---- switched:\n{switched}")
        return None

    if options.module:
        runs = [(setting, [number], kernel) for chapter, kernel, number in found
                for setting in settings_of(live, chapter, kernel)]
        runs += [(setting, [], kernel["number"])
                 for kernel in live["kernels"][seed() % options.sample::options.sample]
                 for setting in settings_of(live, kernel["chapter"], kernel["number"])]
        return 1 if check_all(runs, programs.differing) else 0
    return 1 if check_all(found, as_edited) else 0


sys.exit(main())
