"""hazards.py: what the simulator's reports mean: hazards.tsv. A row has kinds, perhaps with where that
holds; what they mean, and the usual cure, as docs/debugging.md has them; and what a GPU may show of it
by the rules of the PTX ISA, which is inferred, not measured. The table of that page is made here, of
the kinds that have no other place on it."""

import csv
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE, MARKER = "docs/debugging.md", "<!-- hazards -->"
HEADING = ["| verdict | means | usual cure |", "|---|---|---|"]
RACE = "D may be right in a hundred runs and wrong in the next, in another tile each time."


def rows():
    with open(os.path.join(HERE, "hazards.tsv"), encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def plain(text):
    """Markdown without its marks."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return text.replace("`", "").replace("*", "").strip()


def verdicts():
    """{kind: {means, cure}}"""
    return {kind: {"means": plain(row["means"]), "cure": plain(row["cure"])}
            for row in rows() if row["means"] for kind in row["kinds"].split(", ") if " " not in kind}


def shows(kind):
    """What a GPU may show of it."""
    return next((row["shows"] for row in rows()
                 if kind in row["kinds"].split(", ") and row["shows"]), RACE)


def check(book, page):
    def table(_, page, line):
        elsewhere = "\n".join(page.lines[:line] + page.lines[page.find(line, "<!-- end -->"):])
        made = list(HEADING)
        for row in rows():
            kinds = [kind for kind in row["kinds"].split(", ") if f'<a id="{kind}">' not in elsewhere]
            if kinds and row["means"]:
                made.append(f"| {', '.join(map(cell, kinds))} | {row['means']} | {row['cure']} |")
        return made

    if page.path == PAGE:
        book.remake(page, MARKER, "table of hazards", table)


def cell(kind):
    name, _, where = kind.partition(" ")
    return f"`{name}` {where}" if where else f'<a id="{name}"></a>`{name}`'
