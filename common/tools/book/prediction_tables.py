"""A prediction stands beside its measurement, or says that there is none.

In a table with a column "predicted" a later column is "measured", and a row that has a prediction
has a measurement, too, or the words "not measured". A row "x, predicted" has a row "x" beside it. A
table whose heading has the word in parentheses, of the counts that a prediction is made of, needs
nothing.

A kernel of the chapter that a table of the section "Prediction" names, in its heading or its first
column, is in the heading or a cell of a table of the rest of the page, one made from records or one
with a column "measured"; or its row has the words "not measured".
"""
import re

import pages

NONE = ("", "–")
MISSING = "not measured"
PREDICTED = re.compile(r"(^|, )predicted(,|$)")
NAME = re.compile(r"`(\w+)(?:\.cu)?`")


class Table:
    def __init__(self, line, section, is_made):
        self.line, self.section, self.is_made = line, section, is_made
        self.rows = []  # lists of cells; the first is the heading

    def heading(self):
        return self.rows[0]

    def names(self):
        """The words in `code` of the heading and the first column, and those that are a whole
        cell, with their rows."""
        for cell in self.heading():
            yield from ((name, self.heading()) for name in NAME.findall(cell))
        for row in self.rows[1:]:
            whole = [cell for cell in row[1:] if NAME.fullmatch(cell)]
            yield from ((name, row) for cell in [row[0], *whole] for name in NAME.findall(cell))

    def has(self, word):
        return any(word in cell for cell in self.heading())

    def is_of_results(self):
        return self.is_made or self.has("measured") or \
            any(row[0].endswith(", predicted") for row in self.rows[1:])


def cells_of(text):
    return [cell.strip(" *") for cell in text.strip().strip("|").split("|")]


def tables_of(page):
    section, is_made, table, fenced, comment = "", False, None, False, False
    for line, text in enumerate(page.lines + [""]):
        text = text.lstrip("> ")
        fenced ^= text.startswith(pages.FENCE)
        is_row = text.startswith("|") and not fenced and not comment
        if comment or text.startswith("<!--"):
            comment = "-->" not in text
        if table and not is_row:
            yield table
            table = None
        if fenced:
            continue
        if text.startswith("## "):
            section = text[3:]
        elif re.match(r"<!-- (grid|table|suite|drawn):", text):
            is_made = True
        elif text.startswith("<!-- end"):
            is_made = False
        if is_row and not table:
            table = Table(line, section, is_made)
        if is_row and not re.fullmatch(r"[:| ]*-[-:| ]*", text):
            table.rows.append(cells_of(text))


def check_columns(book, page, table):
    """A column "predicted" beside its column "measured"."""
    heading = table.heading()
    for i, cell in enumerate(heading):
        if i == 0 or not PREDICTED.search(cell):
            continue
        measured = next((j for j in range(i + 1, len(heading)) if "measured" in heading[j]), None)
        if measured is None:
            book.complain(page, table.line, "a column 'predicted' without one that is 'measured'")
            continue
        for n, row in enumerate(table.rows[1:]):
            if row[i] not in NONE and row[measured] in NONE:
                book.complain(page, table.line + 2 + n, f"'{row[0]}' is predicted: what was "
                              f"measured, or '{MISSING}'?")


def check_rows(book, page, table):
    """A row "x, predicted" beside its row "x"."""
    labels = [row[0] for row in table.rows[1:]]
    for n, label in enumerate(labels):
        of = label[:-len(", predicted")]
        if label.endswith(", predicted") and of not in labels and \
                not any(MISSING in cell for cell in table.rows[1 + n]):
            book.complain(page, table.line + 2 + n, f"'{label}' has no row '{of}' beside it")


def check_kernels(book, page, tables):
    """The chapter's kernels that tables of predictions name are in tables of results."""
    folder = page.path[:-len("/README.md")]
    kernels = {name[:-len(".cu")] for name in book.list(folder) if name.endswith(".cu")}
    shown = {name for table in tables if table.section != "Prediction" and table.is_of_results()
             for name, _ in table.names()}
    for table in tables:
        if table.section != "Prediction":
            continue
        missing = {name for name, row in table.names()
                   if not any(MISSING in cell for cell in row)} & kernels - shown
        for name in sorted(missing):
            book.complain(page, table.line, f"a table of predictions names `{name}`, and no table "
                          f"of results does: add it, or '{MISSING}'")


def check(book, page):
    tables = list(tables_of(page))
    for table in tables:
        check_columns(book, page, table)
        check_rows(book, page, table)
    if pages.is_chapter(page.path):
        check_kernels(book, page, tables)
