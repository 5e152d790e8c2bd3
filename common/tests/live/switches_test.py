"""switches_test.py: a call that is switched off does what the kernel without that call does.

For every switch, and every chapter that has it, the edited kernel is compiled and linked as a program
of its own; what it says must be what build/sim/live says with that switch off, text for text: every
hazard, every line that it names, every number. With --module the same is held between build/sim/live
and the module, for the versions of the kernels, too; that needs no compiler.

    --sample N   every N-th, beginning at one that the commit's seed draws
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "live"))
from linked import Linker
from live_runs import Programs, check_all, options_of, said

# Most broken kernels are caught by the first, most others by the second.
SETTINGS = [((128, 256, 256), "time"), ((256, 256, 256), "late", "--sms", "1"),
            ((77, 139, 330), "random", "--schedule-seed", "2")]


def pairs(live, sample, seed):
    """(chapter, switch): each switch in each chapter whose kernel has it."""
    found = [(chapter["name"], switch["number"]) for chapter in live["chapters"]
             for switch in live["switches"] if switch["file"] in chapter["files"]]
    return found[seed % sample::sample]


def link(options, chapter, number, directory):
    """Makes the program of this chapter's kernel without that call."""
    kernel = os.path.join(directory, chapter, "kernel.cu")
    names = [chapter["name"] for chapter in options.live["chapters"]]
    subprocess.run([sys.executable, options.generator, options.root, directory, *names,
                    "--remove", str(number)], check=True)
    return options.linker.link(chapter, kernel, directory, True)


def settings_of(chapter):
    for shape, schedule, *more in SETTINGS:
        yield options_of(int(chapter[:2]), shape, schedule, "--step-limit", "3000000", *more)


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
    with open(options.live, encoding="ascii") as file:
        options.live = json.load(file)
    options.generator = os.path.join(options.root, "common", "live", "switches.py")
    options.linker = Linker(options.root, options.compiler, options.libraries)
    seed = subprocess.run([f"{options.root}/common/tests/support/seed.sh"], capture_output=True,
                          text=True, check=True).stdout
    found = pairs(options.live, options.sample, int(seed))
    programs = Programs(options.program, *(options.module or ()))

    def as_edited(chapter, number):
        with tempfile.TemporaryDirectory() as directory:
            program = link(options, chapter, number, directory)
            for setting in settings_of(chapter):
                edited, switched = (said([program, *setting]),
                                    said([options.program, *setting], [number]))
                if edited != switched:
                    return (f"{chapter}, switch {number}, {' '.join(setting)}:\n{edited}\n"
                            f"---- switched:\n{switched}")
        return None

    if options.module:
        runs = [(setting, [number]) for chapter, number in found
                for setting in settings_of(chapter)]
        runs += [(setting, [], version["number"])
                 for version in options.live["versions"][int(seed) % options.sample::options.sample]
                 for setting in settings_of(version["chapter"])]
        return 1 if check_all(runs, programs.differing) else 0
    return 1 if check_all(found, as_edited) else 0


sys.exit(main())
