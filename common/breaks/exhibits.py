"""exhibits.py: the breaks that are files: bugs of other projects, common/tests/museum, broken and, where
FIXED is 1, right. The comment at the top of an exhibit has lines `word: text`, which museum.h explains;
read() gives them all, with `name` and, what the page about them tells, `story`."""

import glob
import os
import re

import hazards

PAGE, FOLDER = "docs/museum.md", "common/tests/museum"
FIELD = re.compile(r"^ \* (\w+): (.*(?:\n \*   .*)*)", re.M)
ACCUSED = re.compile(r"/\* accused[^:]*: (.*?) \*/")
RUN = "--schedule time"  # what shows the mistake, if there is no line `run`


def path_of(root, name):
    return os.path.join(root, FOLDER, f"{name}.cu")


def source_of(root, name):
    with open(path_of(root, name), encoding="utf-8") as file:
        return file.read()


def names(root):
    return sorted(os.path.basename(path)[:-3] for path in glob.glob(path_of(root, "[0-9]*")))


def read(root):
    """{name: fields}"""
    stories, found = told(root), {}
    for name in names(root):
        top = source_of(root, name).partition("*/")[0]
        fields = {word: re.sub(r"\n \* +", " ", text) for word, text in FIELD.findall(top)}
        found[name] = {"run": RUN, **fields, "name": name, "title": f"{name[:2]} {fields['title']}",
                       "project": fields["project"].partition(", http")[0], "story": stories.get(name, "")}
    return found


def kinds_of(root, one):
    """The kinds of hazard that are reported: that of its run, and what another schedule may lead to."""
    accused = ", ".join(ACCUSED.findall(source_of(root, one["name"])))
    return list(dict.fromkeys(filter(None, [one["reports"], *accused.split(", ")])))


def told(root):
    """{name: the first paragraph of its section of the page}, in its own words."""
    with open(os.path.join(root, PAGE), encoding="utf-8") as file:
        sections = re.split(r"^### .*\n+", file.read(), flags=re.M)[1:]
    return {found.group(1): hazards.plain(" ".join(section.split("\n\n")[0].split()))
            for section in sections
            for found in re.finditer(r"^<!-- museum: (\w+)", section, re.M)}


def read_lines(source):
    """(sign, text, number) of each line but the preprocessor's; the sign is of the fix: ' ', '-', '+'."""
    sign, lines = " ", []
    for number, text in enumerate(source.splitlines(), 1):
        word = text.split()
        if word[:1] == ["#if"] and word[-1] in ("FIXED", "!FIXED"):
            sign = "+" if word[-1] == "FIXED" else "-"
        elif word[:1] == ["#else"]:
            sign = "-" if sign == "+" else "+"
        elif word[:1] == ["#endif"]:
            sign = " "
        else:
            lines.append((sign, text, number))
    return lines


def diff_of(source):
    """The lines that the fix changes, one line around them, and those that are accused."""
    lines = read_lines(source)
    shown = set()
    for i, (sign, text, _) in enumerate(lines):
        if sign != " ":
            shown |= {i - 1, i, i + 1}
        if "/* accused" in text:
            # In a line of its own the comment is about the statement that follows.
            last = i
            while text.strip().startswith("/*") and last + 1 < len(lines):
                last += 1
                if lines[last][1].rstrip().endswith((";", "{")):
                    break
            shown |= set(range(i, last + 1))
    kept = [i for i in sorted(shown) if 0 <= i < len(lines) and lines[i][1].strip()]
    indent = min(len(lines[i][1]) - len(lines[i][1].lstrip()) for i in kept)
    out, added = [], []
    for before, i in zip([None, *kept], kept):
        if lines[i][0] == " ":
            out += added
            added = []
        if before is not None and i != before + 1:
            out.append("@@")
        # Of two forms the broken one comes first.
        (added if lines[i][0] == "+" else out).append(lines[i][0] + lines[i][1][indent:])
    return out + added
