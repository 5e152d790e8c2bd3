"""store.py: the store of breaks: kernels of the book with one thing wrong.

The folder breaks/ of each house has those that are written: authored.py those that have a name, which
pages, the live page and the practice show, and gallery_breaks.py those that the gallery
(tools/gallery) alone has. right.py has kernels that are unusual and right, harmless.py edits with
which nothing is wrong. The names of these files end with the house's. A break of a rule is computed
(rules.py; repairs.py names some of these), and one of the museum is a file (exhibits.py).
exercises.py has the chapters' exercises, whose answers are edits, too.
"""

import importlib
import os
import subprocess
import sys
from dataclasses import dataclass, field, replace

from rules import ORDER, VALUE

HERE = os.path.dirname(os.path.abspath(__file__))
HOUSES = ("", "beyond", "library")  # in order; "" is part one
BLOCKS = "building_blocks/"


@dataclass(frozen=True)
class Break:
    name: str     # in an address; "": the gallery's alone
    edit: object  # of edit.py
    run: str = ""  # options with which the kernel shows it
    file: str = "kernel.cu"  # the edited one, from the chapter, or from common/ or the house
    kernel: str = ""         # the compiled one, if that is another
    title: str = ""
    gallery: tuple = ()  # (what is wrong, category of rules.py), if the gallery has it
    reports: str = ""   # the kind of hazard; with `asks` the practice asks for it
    asks: dict = field(default_factory=dict)  # another answer that is offered: why it is not that
    because: str = ""   # why it is that
    chapter: str = ""   # 16_attention
    house: str = ""

    @property
    def id(self):
        return f"{self.chapter[:2]}.{self.name}"

    @property
    def source(self):
        """The edited file as the gallery calls it: a header as kernels include it."""
        return self.file if self.file.startswith(BLOCKS) else os.path.join(self.house, self.file)

    def path(self, root):
        """The edited file, from the root."""
        own = os.path.join(self.house, self.file)
        if self.file.startswith(BLOCKS) and not os.path.exists(os.path.join(root, own)):
            return os.path.join("common", self.file)
        return own


def order(edit, what):
    """A break of the gallery alone, whose order is wrong."""
    return Break("", edit, gallery=(what, ORDER))


def value(edit, what):
    """One with a wrong address, size or number."""
    return Break("", edit, gallery=(what, VALUE))


@dataclass(frozen=True)
class Right:
    """A kernel that is unusual and right, made of one of the book's."""
    name: str
    file: str    # the kernel, from the root
    why: str     # it is right
    edits: list = field(default_factory=list)
    macros: str = ""  # as in the top CMakeLists.txt
    elsewhere: dict = field(default_factory=dict)  # {header: edits}
    broken: Break = None  # of the kernel that the edits make


def completed(one, place, house):
    """place: the chapter, or a file, to which the break belongs."""
    chapter, file = place, one.file
    if place.endswith((".cu", ".h")):
        chapter, file = os.path.split(place)
    kernel = one.kernel or (file if file.endswith(".cu") else "kernel.cu")
    return replace(one, chapter=chapter, house=house, kernel=f"{chapter}/{kernel}",
                   file=file if "/" in file else f"{chapter}/{file}",
                   title=one.title or one.name.replace("-", " ").capitalize())


def module_of(root, house, name):
    """A file of a house's folder; None if there is none."""
    folder = os.path.join(root, house or "common", "breaks")
    name += f"_{house}" if house else ""
    if not os.path.exists(os.path.join(folder, f"{name}.py")):
        return None
    sys.path.insert(0, folder)
    return importlib.import_module(name)


def written(root, house):
    """The breaks of a house that are written."""
    for name in ("gallery_breaks", "authored"):
        module = module_of(root, house, name)
        for place, breaks in module.BREAKS.items() if module else ():
            yield from (completed(one, place, house) for one in breaks)


def named(root):
    """{id: break}: those of all houses that have a name."""
    found = {}
    for one in (one for house in HOUSES for one in written(root, house) if one.name):
        assert one.id not in found, one.id
        found[one.id] = one
    return found


def sample(items, every, root):
    """Every `every`-th item, beginning at one that the commit's seed draws."""
    if every <= 1:
        return items
    script = os.path.join(root, "common", "tests", "support", "seed.sh")
    seed = int(subprocess.run([script], stdout=subprocess.PIPE, text=True, check=True).stdout)
    print(f"one of {every}, seed {seed}; HOPPER_SEED={seed} repeats this", flush=True)
    every = min(every, len(items))
    return items[seed % every::every] if items else items
