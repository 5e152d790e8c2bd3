"""edit.py: how a break is written, and what becomes of a text.

    Remove(code)          the nth statement that begins with this code is gone, and its lines
    Replace(old, new)     a text that occurs once, or so many `times`, becomes another
    Diff(lines)           lines of a diff -u; "@@" separates edits
    Rule(code, what)      what a rule of the gallery (rules.py) does at the nth line of this code

Each has applied(source), the new text of a Source (source.py), and raises DoesNotFit where the source
has no place for it.
"""

import os
import re
import sys
from dataclasses import dataclass

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "mutants"))
import rules


class DoesNotFit(Exception):
    """A kernel lacks what an edit is about."""


@dataclass(frozen=True)
class Remove:
    code: str
    nth: int = 0

    def applied(self, source):
        starts = [match.start() + len(match.group(1)) for match in re.finditer(
            rf"^([ \t]*){re.escape(self.code)}", source.text, re.M)]
        if self.nth >= len(starts):
            raise DoesNotFit(f"{source.name} has {len(starts)} times {self.code}")
        start = starts[self.nth]
        lines = source.text.split("\n")
        first, last = source.line_of(start), source.line_of(source.statement_end(start) - 1)
        return "\n".join(lines[:first - 1] + lines[last:])


@dataclass(frozen=True)
class Replace:
    old: str
    new: str
    times: int = 1

    def applied(self, source):
        if source.text.count(self.old) != self.times:
            raise DoesNotFit(f"{source.name} has {source.text.count(self.old)} times "
                             f"'{self.old}', not {self.times}")
        return source.text.replace(self.old, self.new)


@dataclass(frozen=True)
class Diff:
    lines: str

    def applied(self, source):
        text = source.text
        for edit in self.lines.strip("\n").split("\n@"):
            lines = edit.split("\n")
            lines = lines[1:] if lines[0].startswith("@") else lines
            old = "\n" + "".join(line[1:] + "\n" for line in lines if line[:1] != "+")
            new = "\n" + "".join(line[1:] + "\n" for line in lines if line[:1] != "-")
            if old == "\n" or text.count(old) != 1:
                raise DoesNotFit(f"the edit does not fit exactly one place of {source.name}")
            text = text.replace(old, new)
        return text


@dataclass(frozen=True)
class Rule:
    code: str
    what: str
    nth: int = 0

    def found(self, source):
        """The rule's own edit (rules.Edit)."""
        made = [edit for edit in rules.generated(source) if edit.code.startswith(self.code)]
        lines = list(dict.fromkeys(edit.line for edit in made))
        for edit in made:
            if lines.index(edit.line) == self.nth and edit.what == self.what:
                return edit
        raise DoesNotFit(f"{source.name} has no place for it ({self.what})")

    def applied(self, source):
        return self.found(source).applied(source)


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
