"""edit.py: how a break is written, and what becomes of a text.

    Remove(code)          the nth statement that begins with this code is gone, and its lines
    Replace(old, new)     a text that occurs once, or so many `times`, becomes another
    Diff(lines)           lines of a diff -u; "@@" separates edits
    Rule(code, what)      what a rule of the gallery (rules.py) does at the nth line of this code

Each has changes(source), what goes and comes in a Source (source.py) as (start, end, new text); it
raises DoesNotFit where the source has no place for it. With these, applied() makes the text that a
reader's edit makes, and in_place() one in which no line moves.
"""

import re
from dataclasses import dataclass
from itertools import takewhile

import rules


class DoesNotFit(Exception):
    """A kernel lacks what an edit is about."""


class Edit:
    def applied(self, source):
        return source.replaced(self.changes(source))

    def in_place(self, source):
        return source.edited(self.changes(source))


@dataclass(frozen=True)
class Remove(Edit):
    code: str
    nth: int = 0

    def changes(self, source):
        starts = [match.end(1) for match in re.finditer(
            rf"^([ \t]*){re.escape(self.code)}", source.text, re.M)]
        if self.nth >= len(starts):
            raise DoesNotFit(f"{source.name} has {len(starts)} times {self.code}")
        start = starts[self.nth]
        last = source.line_of(source.statement_end(start) - 1)
        return [(source.line_starts[source.line_of(start) - 1], source.line_starts[last], "")]


@dataclass(frozen=True)
class Replace(Edit):
    old: str
    new: str
    times: int = 1

    def changes(self, source):
        found = [match.start() for match in re.finditer(re.escape(self.old), source.text)]
        if len(found) != self.times:
            raise DoesNotFit(f"{source.name} has {len(found)} times '{self.old}', not {self.times}")
        return [(at, at + len(self.old), self.new) for at in found]


@dataclass(frozen=True)
class Diff(Edit):
    lines: str

    def changes(self, source):
        return [self.change(edit.split("\n"), source)
                for edit in self.lines.strip("\n").split("\n@")]

    @staticmethod
    def change(lines, source):
        def text(kept, signs):
            return "".join(line[1:] + "\n" for line in kept if line[:1] in signs)

        def is_kept(line):
            return line[:1] not in ("+", "-")

        lines = lines[1:] if lines[0].startswith("@") else lines
        old = text(lines, " -")
        if not old or ("\n" + source.text).count("\n" + old) != 1:
            raise DoesNotFit(f"the edit does not fit exactly one place of {source.name}")
        at = ("\n" + source.text).index("\n" + old)
        before = list(takewhile(is_kept, lines))
        after = list(takewhile(is_kept, lines[::-1]))
        return (at + len(text(before, " ")), at + len(old) - len(text(after, " ")),
                text(lines[len(before):len(lines) - len(after)], " +"))


@dataclass(frozen=True)
class Rule(Edit):
    code: str
    what: str
    nth: int = 0

    def found(self, source):
        """The rule's own break (rules.Found)."""
        made = [edit for edit in rules.generated(source) if edit.code.startswith(self.code)]
        lines = list(dict.fromkeys(edit.line for edit in made))
        for edit in made:
            if lines.index(edit.line) == self.nth and edit.what == self.what:
                return edit
        raise DoesNotFit(f"{source.name} has no place for it ({self.what})")

    def changes(self, source):
        return self.found(source).replacements


def shown(edit, source):
    """The edit as the lines of a diff: as it is written, or the lines that go and come, with as many
    before them as make the place the only one, however far it is indented."""
    if isinstance(edit, Diff):
        return edit.lines.strip("\n").split("\n")
    old, new = source.text.split("\n"), edit.applied(source).split("\n")
    first = next(i for i, (one, other) in enumerate(zip(old, new)) if one != other)
    tail = next(i for i, (one, other) in enumerate(zip(old[::-1], new[::-1])) if one != other)
    tail = min(tail, len(old) - first, len(new) - first)
    gone, come = old[first:len(old) - tail], new[first:len(new) - tail]
    bare, before = [line.strip() for line in old], first
    while sum(bare[i:i + len(old) - tail - before] == bare[before:len(old) - tail]
              for i in range(len(old))) > 1:
        before -= 1
    return [" " + line for line in old[before:first]] + ["-" + line for line in gone] + [
        "+" + line for line in come]
