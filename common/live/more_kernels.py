"""more_kernels.py: the kernels that the live book has besides the chapters' own. Each is one of
these:

    variant  a right one: what the chapter leaves to its reader (VARIANTS of part_one.py, or of
             part_two.py), or what an exercise should come to (breaks/answers/CHAPTER-NUMBER.diff)
    break    a break of the store (breaks/store.py), or a wrong repair that the practice offers
             (breaks/repairs.py)

A break whose edit is the removal of one call is not here: that call has a switch.
"""

import os
import re
import sys
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", name) for name in ("breaks", "tools/book")]
import pages
import repairs
import report
import shown_breaks
import store
from edit import Diff, DoesNotFit
from source import Source

ANSWERS = os.path.join(HERE, "..", "breaks", "answers")
FRONT = "README.md"  # has no room for links, and what it shows is in a chapter

BY_ONE = re.compile(r"\((\(threadIdx\.x % 128 == 0\)) \? (.*) : \(void\)0\)")  # so the gallery


@dataclass
class Kernel:
    chapter: str
    name: str   # in an address, behind its kind
    title: str
    kind: str   # variant or break
    file: str   # the file that is compiled
    texts: dict = field(default_factory=dict)  # of the files that differ from the book's
    run: dict = field(default_factory=dict)    # with which the book shows it
    of_case: bool = False  # a repair or an answer: in no list of the page

    def same_as(self, other):
        return (self.chapter, self.file, self.texts) == (other.chapter, other.file, other.texts)


def code_of(text):
    """Without comments and white space."""
    return "".join(Source("", text).code.split()) + "".join(re.findall(r"^#.*", text, re.M))


def constant_set(texts, name, value):
    """Of the files in which the constant has its value: {file: new text}"""
    changed = {file: re.sub(rf"(#define {name}) \S+", rf"\1 {value}", text)
               for file, text in texts.items() if f"#define {name} " in text}
    if len(changed) != 1:
        raise DoesNotFit(f"{len(changed)} files define {name}")
    return changed


class MoreKernels:
    """book: a live_book.LiveBook."""

    def __init__(self, book, switches):
        self.book, self.sources, self.switches = book, book.sources, switches
        self.found = []
        self.left_out = []  # what does not fit a kernel, because the kernel is another one
        for chapter in book.chapters:
            for variant in book.variants_of(chapter):
                self.if_it_fits(f"{chapter.name}, {variant[0]}", self.add_variant, chapter, *variant)
        self.states = {}  # of each break: the kernel that it is, or the switch
        for name, broken in store.named(book.root).items():
            if broken.chapter in book.names and broken.file in self.sources:
                self.if_it_fits(name, self.add_break, broken)
        self.shown = list(self.read_pages())
        self.repairs = []
        for chapter, call in repairs.of_chapters(book.names):
            self.if_it_fits(f"{chapter}, a wrong {call[0].code}", self.add_repairs, chapter, call)
        for file in sorted(os.listdir(ANSWERS)):
            self.if_it_fits(f"the answer {file}", self.add_answer, file)
        self.found.sort(key=lambda kernel: kernel.chapter)

    def if_it_fits(self, what, add, *arguments):
        try:
            add(*arguments)
        except DoesNotFit as why:
            self.left_out.append(f"{what}: {why}")

    def add_repairs(self, chapter, call):
        source = self.sources[f"{chapter}/kernel.cu"]
        self.repairs.append((chapter, call[0].found(source),
                             [self.mend(chapter, source, edit) for edit in call]))

    def mend(self, chapter, source, edit):
        found, text = edit.found(source), BY_ONE.sub(r"if \1 \2", edit.in_place(source))
        return self.add(Kernel(chapter, repairs.name_of(found), f"{found.code}: {found.what}",
                               "break", source.name, {source.name: text}, of_case=True))

    def add_answer(self, file):
        chapter, number = os.path.splitext(file)[0].split("-")
        chapter = next((one for one in self.book.names if one.startswith(chapter)), None)
        if not chapter:
            return
        with open(os.path.join(ANSWERS, file), encoding="ascii") as diff:
            edit = Diff(diff.read())
        fitting = []
        for name, source in self.sources.items():
            if name.startswith(chapter):
                try:
                    fitting.append((name, edit.applied(source)))
                except DoesNotFit:
                    continue
        if len(fitting) != 1:
            raise DoesNotFit(f"it fits {len(fitting)} files")
        name, text = fitting[0]
        self.add(Kernel(chapter, f"exercise-{number}", f"exercise {number}", "variant", name,
                        {name: text}, of_case=True))

    def add(self, kernel):
        """The kernel, or the one there is already that is the same."""
        for other in self.found:
            if kernel.same_as(other):
                return other
        taken = {other.name for other in self.found if other.chapter == kernel.chapter}
        name, count = kernel.name, 1
        while kernel.name in taken:
            count += 1
            kernel.name = f"{name}-{count}"
        self.found.append(kernel)
        return kernel

    def add_variant(self, chapter, name, title, file, constants):
        path = f"{chapter.name}/{file}"
        texts = {}
        for constant, value in constants.items():
            both = {**{one: self.sources[one].text for one in self.book.files_of(path)}, **texts}
            texts |= constant_set(both, constant, value)
        self.add(Kernel(chapter.name, name, title, "variant", path, texts))

    # ---- the breaks of the store ----

    def add_break(self, broken):
        text = broken.edit.applied(self.sources[broken.file])
        off = self.switch_of(broken.file, text)
        if off is not None:
            kernel = next((one for one in self.found if one.kind == "variant" and not one.texts
                           and one.file == broken.kernel), None)
        else:
            kernel = self.add(Kernel(broken.chapter, broken.name, broken.title, "break",
                                     broken.kernel, {broken.file: text},
                                     run_of(broken.run.split())))
        self.states[broken.id] = {"kernel": kernel, "off": off}

    def read_pages(self):
        """Each break that a page shows and the live page can: the page, the line behind it (from 0),
        what the page quotes, and the state that shows it."""
        for shown in shown_breaks.collect(pages.Book(self.book.root, False)):
            broken, page = shown.broken, shown.page
            if page.house().rstrip("/") == self.book.house.name and page.path != FRONT and \
                    broken.id in self.states:
                yield {"page": page.path, "line": shown.end, "says": report.kind_shown(shown.said),
                       "chapter": broken.chapter, "run": run_of(shown.options),
                       **self.states[broken.id]}

    def switch_of(self, subject, text):
        """The number of the switch that does the same as the edit."""
        wanted = code_of(text)
        for number, (edit, start, end) in enumerate(self.switches):
            if edit.file == subject:
                old = self.sources[subject].text
                if wanted == code_of(f"{old[:start]}{old[end:].removeprefix(';')}"):
                    return number
        return None


def run_of(words):
    """The run that options ask for: what differs from the program's defaults."""
    run = {}
    for name, value in zip(words[::2], words[1::2]):
        name, value = name[2:], int(value) if value.isdecimal() else value
        if name == "size":
            run |= {"m": value, "n": value, "k": value}
        elif name != "dtype":  # the kernel has only one
            run["seed" if name == "schedule-seed" else name] = value
    return run
