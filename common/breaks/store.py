"""store.py: the store of breaks: kernels of the book with one thing wrong.

Those that are written are in authored.py, and in the folders breaks/ of the other houses. A break of a
rule of the gallery is computed (tools/mutants/rules.py), and one of the museum is a file
(exhibits.py).
"""

import importlib
import os
import sys
from dataclasses import dataclass, field, replace

HERE = os.path.dirname(os.path.abspath(__file__))
HOUSES = {"": "authored", "beyond": "authored_beyond"}


@dataclass(frozen=True)
class Break:
    name: str     # in an address
    edit: object  # of edit.py
    run: str = ""  # options with which the kernel shows it
    file: str = "kernel.cu"  # the edited one, from the chapter, or from common/ or the house
    kernel: str = ""         # the compiled one, if that is another
    title: str = ""
    mutant: tuple = ()  # (what is wrong, category) in the gallery, whose edits are all Replace
    reports: str = ""   # the kind of hazard; with `asks` the practice asks for it
    asks: dict = field(default_factory=dict)  # another answer that is offered: why it is not that
    because: str = ""   # why it is that
    chapter: str = ""   # 16_attention
    house: str = ""

    @property
    def id(self):
        return f"{self.chapter[:2]}.{self.name}"

    def path(self, root):
        """The edited file, from the root."""
        if not self.file.startswith("building_blocks/"):
            return os.path.join(self.house, self.file)
        own = os.path.join(self.house, self.file)
        return own if os.path.exists(os.path.join(root, own)) else os.path.join("common", self.file)


def completed(one, chapter, house):
    kernel = one.kernel or (one.file if one.file.endswith(".cu") else "kernel.cu")
    return replace(one, chapter=chapter, house=house, kernel=f"{chapter}/{kernel}",
                   file=one.file if "/" in one.file else f"{chapter}/{one.file}",
                   title=one.title or one.name.replace("-", " ").capitalize())


def written(root):
    """{id: break}: those of all houses that are there."""
    found = {}
    for house, module in HOUSES.items():
        folder = os.path.join(root, house or "common", "breaks")
        if not os.path.exists(folder):
            continue
        sys.path.insert(0, folder)
        for chapter, breaks in importlib.import_module(module).BREAKS.items():
            for one in breaks:
                one = completed(one, chapter, house)
                assert one.id not in found, one.id
                found[one.id] = one
    return found
