"""house_kernels.py: which kernels a gallery is about: part one's, or those of beyond/ or library/,
which have breaks, verdicts and pages of their own. The rules hold for all."""

import glob
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "breaks"))
import harmless
import rules
import store
import wrappers
from source import Source
from store import BLOCKS, HOUSES

# Where a house's own code lies.
CODE = {"": ("0*/*.cu",), "beyond": ("beyond/[0-9]*/*.cu", "beyond/[0-9]*/*.h"),
        "library": ("library/*/*.cu", "library/*/*.h")}


class House:
    """root: the repository; name: of HOUSES; kernels: the path of kernels.json."""

    def __init__(self, root, name, kernels):
        self.root, self.name = root, name
        with open(kernels, encoding="utf-8") as file:
            self.kernels = [one for one in json.load(file) if one["house"] == name]
        self.earlier = []  # the houses before it, of those that are there
        self.excused = harmless.RULES
        self.blocks = [f"{folder}/{BLOCKS}" for folder in filter(None, ("common", name))
                       if os.path.exists(os.path.join(root, folder, BLOCKS))]
        # Headers: blocks, as kernels include them, and those in the directory of their kernels.
        common, *own = (self.broken(folder) for folder in self.blocks)
        self.common = [path.removeprefix("common/") for path in common]
        self.headers = self.common + [path.removeprefix(f"{name}/") for path in sum(own, [])]
        self.beside = [path for chapter in dict.fromkeys(one["chapter"] for one in self.kernels)
                       for path in self.broken(f"{chapter}/")]
        self.record = record_of(root, name)
        self.page = os.path.join(root, name, "docs", "mutants.md")
        self.written = [one for one in store.written(root, name) if one.gallery]
        self.right = store.module_of(root, name, "right").RIGHT
        # A kernel with a kind of problem of its own is compiled with that; the runner has the others.
        self.compiled_with = {
            one["file"]: ("-DKIND_ON_GPU=0", os.path.join(root, one["kind"]))
            for one in self.kernels if (one["kind"] or "").startswith(one["chapter"] + "/")}
        if not name:
            return
        lists = store.module_of(root, name, "gallery_breaks")
        self.earlier = [house for house in HOUSES[:HOUSES.index(name)] if list(code_of(root, house))]
        self.compiled_with |= getattr(lists, "COMPILED_WITH", {})
        excuses = store.module_of(root, name, "harmless")
        self.excused = excuses.RULES
        harmless.RULES = excuses.RULES + harmless.OF_BLOCKS + harmless.RULES
        harmless.NOT_NEEDED = excuses.NOT_NEEDED

    def broken(self, folder):
        """The headers in this folder that a break is about, of a rule or written."""
        written = {one.path(self.root) for house in HOUSES
                   for one in store.written(self.root, house) if one.gallery}
        found = []
        for path in sorted(glob.glob(f"{folder}*.h", root_dir=self.root)):
            with open(os.path.join(self.root, path), encoding="utf-8") as file:
                source = Source(path, file.read())
            if path in written or rules.generated(source) or wrappers.synchronizes(self.root, source):
                found.append(path)
        return found

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
    return os.path.join(root, house or "common", "tests", "gallery", "verdicts.tsv")


def code_of(root, house):
    """The files of a house's kernels, and of what lies beside them."""
    return [path for pattern in CODE[house] for path in glob.glob(os.path.join(root, pattern))]
