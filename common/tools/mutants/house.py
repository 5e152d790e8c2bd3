"""house.py: which kernels a gallery is about: part one's, or those of beyond/ or library/, which have
their own lists, verdicts and pages. The rules of rules.py hold for all."""

import glob
import importlib
import os
import subprocess
import sys

import harmless
import listed
import right

BLOCKS = "building_blocks/"
COMMON_HEADERS = ("pipeline.h", "epilogue_store.h", "tile_order.h", "wide_store.h", "column_sum.h",
                  "column_store.h")
HOUSES = ("", "beyond", "library")  # in order
# Where a house's own code lies.
CODE = {"": ("0*/*.cu",), "beyond": ("beyond/[0-9]*/*.cu", "beyond/[0-9]*/*.h"),
        "library": ("library/*/*.cu", "library/*/*.h")}


class House:
    """root: the repository; name: of HOUSES, "" for part one."""

    def __init__(self, root, name):
        self.root, self.name = root, name
        self.headers = [("common", header) for header in COMMON_HEADERS]
        self.beside = ()  # headers in the directory of the kernels that include them
        self.earlier = []  # the houses before it, of those that are there
        self.compiled_with, self.excused, self.fewest_right = {}, harmless.RULES, 34
        self.blocks = ["common/" + BLOCKS]
        self.record = record_of(root, name)
        self.page = os.path.join(root, name, "docs", "mutants.md")
        self.listed = [*listed.EDITS, *listed.of_store(root, name)]
        if not name:
            return
        sys.path.append(os.path.join(root, name, "tools", "mutants"))
        of_house = importlib.import_module(f"listed_{name}")
        self.listed = [*of_house.EDITS, *listed.of_store(root, name)]
        self.headers += [(name, header) for header in of_house.HEADERS]
        self.earlier = [house for house in HOUSES[:HOUSES.index(name)] if list(code_of(root, house))]
        self.beside = of_house.BESIDE
        self.compiled_with = of_house.COMPILED_WITH
        if self.headers[-1][0] == name:
            self.blocks.append(f"{name}/{BLOCKS}")
        self.fewest_right = of_house.FEWEST_RIGHT
        right.RIGHT, right.BROKEN = importlib.import_module(f"right_{name}").RIGHT, []
        excuses = importlib.import_module(f"harmless_{name}")
        self.excused = excuses.RULES
        harmless.RULES = excuses.RULES + harmless.OF_BLOCKS + harmless.RULES
        harmless.NOT_NEEDED = excuses.NOT_NEEDED

    def path_of(self, name):
        """Of a kernel, or of a header as kernels include it."""
        if not name.startswith(BLOCKS):
            return name
        return next((blocks + name[len(BLOCKS):] for blocks in self.blocks
                     if os.path.exists(os.path.join(self.root, blocks, name[len(BLOCKS):]))), name)

    def directories(self, root):
        """Where a kernel of this house finds headers."""
        return [os.path.join(root, directory) for directory in filter(None, ("common", self.name))]


def record_of(root, house):
    return os.path.join(root, house or "common", "tests", "mutants", "verdicts.tsv")


def code_of(root, house):
    """The files of a house's kernels, and of what lies beside them."""
    return [path for pattern in CODE[house] for path in glob.glob(os.path.join(root, pattern))]


def sample(items, every, root):
    """Every `every`-th item, beginning at one that the commit's seed draws."""
    if every <= 1:
        return items
    script = os.path.join(root, "common", "tests", "support", "seed.sh")
    seed = int(subprocess.run([script], capture_output=True, text=True, check=True).stdout)
    print(f"one of {every}, seed {seed}; HOPPER_SEED={seed} repeats this", flush=True)
    every = min(every, len(items))
    return items[seed % every::every] if items else items
