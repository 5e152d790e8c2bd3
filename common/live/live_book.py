"""live_book.py: what a live book is made of: part one's kernels, or those of part two, which beyond/
has with lists of its own.

Files have the names by which reports show them: 16_attention/kernel.cu, building_blocks/pipeline.h.
Their texts are the book's (tools/book/book_text.sh), whatever a reader has made of a kernel.
"""

import importlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools", "gallery"))
from house_kernels import House

import rules
from source import Source
from store import BLOCKS

BOOK_TEXT = os.path.join(HERE, "..", "tools", "book", "book_text.sh")
LISTS = {"": "part_one", "beyond": "part_two"}  # of each house
USUAL_TYPE = "bf16"


@dataclass
class Chapter:
    name: str    # 16_attention
    type: str    # of the elements that its kernels are compiled for here
    types: dict  # of variants with another one: {name: type}


def chapter_of(name, kernels):
    """kernels: those of kernels.json."""
    types = {kernel["variant"]: next(one for one in kernel["types"] if one != "fp16")
             for kernel in kernels if os.path.basename(kernel["chapter"]) == name}
    own = types.pop(None)
    return Chapter(name, own, {variant: one for variant, one in types.items() if one != own})


def book_text(root, path):
    text = subprocess.run([BOOK_TEXT, root, path], capture_output=True, check=True).stdout
    return "".join(c if c.isascii() else "?" for c in text.decode("utf-8", "replace"))


def edited_files(root):
    """Kernels, and headers beside them, that are not as the book has them."""
    return subprocess.run([BOOK_TEXT, "--edited", root], capture_output=True, text=True,
                          check=False).stdout.split()


class LiveBook:
    """kernels: the path of kernels.json; names: the chapters'."""

    def __init__(self, root, kernels, names):
        self.root, self.names = root, names
        with open(kernels, encoding="utf-8") as file:
            known = json.load(file)
        self.house = House(root, next(kernel["house"] for kernel in known
                                      if os.path.basename(kernel["chapter"]) == names[0]), kernels)
        if self.house.name:
            sys.path.append(os.path.join(root, self.house.name, "live"))
        self.lists = importlib.import_module(LISTS[self.house.name])
        self.chapters = [chapter_of(name, known) for name in names]
        self.read = {}
        names = [name for chapter in self.chapters for kernel in self.kernels_of(chapter)
                 for name in self.files_of(kernel)]
        self.sources = {name: self.source(name) for name in names}

    # ---- files ----

    def path_of(self, name):
        """From the root."""
        return self.house.path_of(name) if name.startswith(BLOCKS) else os.path.join(
            self.house.name, name)

    def name_of(self, path):
        """Of what lies at this path."""
        return re.sub(r"^(beyond|common)/", "", path)

    def exists(self, name):
        return os.path.exists(os.path.join(self.root, self.path_of(name)))

    def source(self, name):
        if name not in self.read:
            self.read[name] = Source(name, book_text(self.root, self.path_of(name)))
        return self.read[name]

    def included(self, name):
        """The headers of the chapter, and of building_blocks/, that a file includes."""
        folder = os.path.dirname(name)
        for header in re.findall(r'^#include "([\w/]+\.h)"', self.source(name).text, re.M):
            beside = f"{folder}/{header}"
            if header.startswith(BLOCKS):
                yield header
            elif "/" not in header and self.exists(beside):
                yield beside

    def headers_of(self, kernel):
        """Those that it includes, and of those that these include the chapter's own, and those with a
        call that synchronizes."""
        found = list(dict.fromkeys(self.included(kernel)))
        for header in found:  # more come
            found += [name for name in self.included(header) if name not in found and
                      (not name.startswith(BLOCKS) or self.has_call(name))]
        return found

    def has_call(self, name):
        return any(edit.what == "removed" for edit in rules.generated(self.source(name)))

    def files_of(self, kernel):
        return [kernel, *self.headers_of(kernel)]

    def kind_of(self, chapter):
        """From the root, what the chapter's kernels are linked with; "" if they compute A * B."""
        path = self.path_of(f"{chapter.name}/kind.c")
        return path if os.path.exists(os.path.join(self.root, path)) else ""

    # ---- the lists ----

    def variants_of(self, chapter):
        return self.lists.VARIANTS.get(chapter.name[:2], [])

    def kernels_of(self, chapter):
        """Its kernel, and its other files that are a variant."""
        return dict.fromkeys(f"{chapter.name}/{file}" for file in
                             ["kernel.cu", *(variant[2] for variant in self.variants_of(chapter))])

    def type_of(self, kernel):
        """Of the kernel in this file."""
        chapter = next(one for one in self.chapters if one.name == os.path.dirname(kernel))
        return next((chapter.types[name] for name, _, file, _ in self.variants_of(chapter)
                     if name in chapter.types and f"{chapter.name}/{file}" == kernel), chapter.type)

    def needs_of(self, kernel, variant=""):
        """Options without which it cannot run: its type, and what the lists say."""
        number, kind = os.path.basename(os.path.dirname(kernel))[:2], self.type_of(kernel)
        return {**({} if kind == USUAL_TYPE else {"dtype": kind}),
                **self.lists.NEEDS.get((number, variant), self.lists.NEEDS.get((number, ""), {}))}
