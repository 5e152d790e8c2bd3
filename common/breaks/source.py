"""source.py: enough of C to find calls and statements in a kernel, and to edit them.

Positions are offsets into the text.
"""

import re
from bisect import bisect_right

BLANKED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:\\\n|[^\n])*',
                     re.S | re.M)
LOOP_PRAGMAS = ("UNROLL", "NO_UNROLL")


def spaces(text):
    """The same extent and the same line breaks, but nothing in it."""
    return re.sub(r"[^\n]", " ", text)


class Source:
    def __init__(self, name, text):
        self.name = name  # as reports show it: 06_wgmma/kernel.cu
        self.text = text
        # Comments, strings and preprocessor lines are blank here.
        self.code = BLANKED.sub(lambda match: spaces(match.group()), text)
        self.line_starts = [0] + [m.end() for m in re.finditer("\n", text)]

    def line_of(self, at):
        return bisect_right(self.line_starts, at)

    def line_text(self, line):
        """A line of code without the white space and comments around it."""
        lines = self.code.split("\n")
        return " ".join(lines[line - 1].split()) if 0 < line <= len(lines) else ""

    def closing(self, at):
        """The position behind the bracket that closes the one at `at`."""
        pairs = {"(": ")", "[": "]", "{": "}"}
        stack = []
        for i in range(at, len(self.code)):
            c = self.code[i]
            if c in pairs:
                stack.append(pairs[c])
            elif stack and c == stack[-1]:
                stack.pop()
                if not stack:
                    return i + 1
        raise ValueError(f"{self.name}:{self.line_of(at)}: unbalanced bracket")

    def skip_space(self, at):
        while at < len(self.code) and self.code[at].isspace():
            at += 1
        return at

    def word(self, at):
        return re.match(r"\w*", self.code[at:at + 64]).group()

    def statement_end(self, at):
        """The position behind the statement that begins at `at`."""
        at = self.skip_space(at)
        word = self.word(at)
        if word in LOOP_PRAGMAS or word == "else":
            return self.statement_end(at + len(word))
        if word in ("for", "while", "if"):
            end = self.statement_end(self.closing(self.code.index("(", at)))
            following = self.skip_space(end)
            if word == "if" and self.word(following) == "else":
                end = self.statement_end(following)
            return end
        if self.code[at] == "{":
            return self.closing(at)
        while self.code[at] != ";":
            at = self.closing(at) if self.code[at] in "([{" else at + 1
        return at + 1

    def outermost(self, at):
        """Where the outermost of the brackets ( begins that `at` lies in; `at` if in none."""
        depth, found = 0, at
        for i in range(at - 1, -1, -1):
            c = self.code[i]
            if c == ")":
                depth += 1
            elif c == "(" and depth > 0:
                depth -= 1
            elif c == "(":
                found = i
            elif c in "{}":
                break
        return found

    def statement_start(self, at):
        """Where the statement begins that holds the expression at `at`."""
        depth = 0
        while at > 0:
            c = self.code[at - 1]
            if c == ")":
                depth += 1
            elif c == "(":
                depth -= 1
            elif c in "{};" and depth == 0:
                break
            at -= 1
        return self.skip_space(at)

    def innermost(self, start, at):
        """Where the statement that `at` lies in begins, of those inside the statement at `start`
        that begin a line."""
        found = start
        while True:
            word = self.word(start)
            if word in LOOP_PRAGMAS or word == "else":
                inner = self.skip_space(start + len(word))
            elif word in ("for", "while", "if"):
                inner = self.skip_space(self.closing(self.code.index("(", start)))
                following = self.skip_space(self.statement_end(inner))
                if word == "if" and at >= following and self.word(following) == "else":
                    inner = following
            else:
                return found
            if inner > at:
                return found
            if self.line_of(inner) != self.line_of(start):
                found = inner
            start = inner

    def first_line(self, line):
        """Of the innermost statement on this line: compilers number a call of several lines
        differently."""
        at = self.skip_space(self.line_starts[line - 1])
        return self.line_of(self.innermost(self.statement_start(self.outermost(at)), at))

    def siblings(self, at):
        """The statements of the block around `at`, as (start, end); [] outside of a function."""
        depth = 0
        while at > 0:
            at -= 1
            if self.code[at] == "}":
                depth += 1
            elif self.code[at] == "{":
                if depth == 0:
                    break
                depth -= 1
        else:
            return []
        found, end = [], self.closing(at) - 1
        at = self.skip_space(at + 1)
        while at < end:
            stop = self.statement_end(at)
            found.append((at, stop))
            at = self.skip_space(stop)
        return found

    def arguments(self, opening):
        """The argument texts of the call whose bracket opens at `opening`."""
        end = self.closing(opening) - 1
        found, start, i = [], opening + 1, opening + 1
        while i <= end:
            if i == end or self.code[i] == ",":
                found.append(" ".join(self.code[start:i].split()))
                start = i = i + 1
            else:
                i = self.closing(i) if self.code[i] in "([{" else i + 1
        return [argument for argument in found if argument]

    def functions(self):
        """Function definitions: (name, opening brace, end)."""
        found = []
        for match in re.finditer(r"^(?:DEVICE(?:_ONCE)?|KERNEL|static)\b", self.code, re.M):
            brace = self.code.find("{", match.start())
            semicolon = self.code.find(";", match.start())
            if brace < 0 or 0 <= semicolon < brace or "=" in self.code[match.start():brace]:
                continue
            names = re.findall(r"(\w+)\s*\(", self.code[match.start():brace])
            name = names[1] if names[0] == "KERNEL" else names[0]
            found.append((name, brace, self.closing(brace)))
        return found

    def replaced(self, replacements):
        """The text with (start, end, new text) applied."""
        text = self.text
        for start, end, new in sorted(replacements, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def edited(self, replacements):
        """The same, but no line moves, so that a report names the lines of the original."""
        def lost(start, end, new):
            lines = self.text.count("\n", start, end) - new.count("\n")
            assert lines >= 0, "an edit must not add lines"
            return "\n" * lines
        return self.replaced([(start, end, new + lost(start, end, new))
                              for start, end, new in replacements])
