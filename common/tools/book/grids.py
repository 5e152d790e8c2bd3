"""Tables whose cells are computed from the records.

    <!-- grid: results=h200-w4a8 dtype=w4a8
    | m | 10, bf16 | 12 | of its rate |
    |---:|---:|---:|---:|
    | {1} | {{1000*ms(10,{1x}x14336x4096,h200-w4a8:bf16) | 2}} | ... | {{100*a/b | 0}} % |
    - 1
    - 16; a label
    + | 2,048 | **{{1000*ms(12,2048x14336x4096) | 1}}** | ... | – |
    bold: min 2-3
    -->
    ... the table ...
    <!-- end -->

The first two lines are the table's heading, the third is what a row is made of: a line "- a; b"
makes one in which {1} is a, {2} is b, and so on; {1x} is a as records have it: 16x14336x4096 for
16 × 14336 × 4096, 4096 for 4096³, 2048 for 2,048, and no comma elsewhere. A later line of that form
makes the rows below it. A line "+ | ..." is a row of its own. A line that begins with blanks
continues the one above. With a line "columns: a; b; c", a cell that has {c} stands once for each of
these.

In braces twice stands an expression (expression.py) and how it is printed: with so many decimals,
+N with a sign, -N rounded to tens, hundreds, ..., a comma behind it for 1,000; behind that, >=75 or
<=75 for bold type if the value is, and ? if the cell is – where no run has its number.
{{selected(12, 16x14336x4096)}} is a name, and is printed as it is. All expressions of a cell are
answered as those of one claim are.

"bold: min 2-3" puts the smallest of columns 2 to 3 of every row in bold type, and those that look
the same; "bold: max 2-3" the greatest.
"""
import itertools
import math
import re

import pages
from expression import SAID_APART, Mistake, NotRecorded, Source, rounded

HOLE = re.compile(r"\{\{(.*?)\}\}")
HOW = re.compile(r"(\+?)(-?\d+)(,?)(?: *([<>]=)([\d.]+))? *(\??)")
BOLD = re.compile(r"bold: (min|max) (\d+)-(\d+)")


class Cell:
    """A cell's text, where its first number stands, and the value of its last expression."""

    def __init__(self):
        self.text, self.number, self.value, self.bold = "", 0, math.nan, False

    def shown(self):
        return self.text[self.number:]


def number_text(value, sign, decimals, comma):
    decimals = 0 if value == 0 else int(decimals)  # 0 is 0
    plain = f"{abs(rounded(value, decimals)):{comma}.{max(decimals, 0)}f}"
    return ("−" if value < 0 and plain.strip("0.,") else sign) + plain


def parse_hole(hole):
    """The expression, and the groups of HOW; None for a name."""
    expression, bar, how = hole.rpartition("|")
    if not bar:
        if re.match(r" *selected\(", hole):
            return hole, None
        raise Mistake(f"the cell '{hole}': | decimals")
    groups = HOW.fullmatch(how.strip())
    if not groups:
        raise Mistake(f"the cell '{hole}': | decimals, not '{how.strip()}'")
    return expression, groups.groups()


def make_cell(source, template):
    """What stands in a cell, with the values of its expressions."""
    cell = Cell()
    pieces = HOLE.split(template)
    holes = [parse_hole(hole) for hole in pieces[1::2]]
    try:
        values = source.evaluate(*(expression for expression, _ in holes))
    except NotRecorded:
        if any(how and how[5] for _, how in holes):
            cell.text = "–"
            return cell
        raise
    cell.text = pieces[0]
    for (_, how), value, behind in zip(holes, values, pieces[2::2]):
        if how:
            sign, decimals, comma, relation, bound, _ = how
            if math.isnan(cell.value):
                cell.number = len(cell.text)
            cell.value = value
            if relation:
                cell.bold |= value >= float(bound) if relation == ">=" else value <= float(bound)
            value = number_text(value, sign, decimals, comma)
        cell.text += value + behind
    return cell


def fill(template, fields):
    """The template with a row's fields."""
    for i, field in enumerate(fields, 1):
        template = template.replace(f"{{{i}}}", field)
        template = template.replace(f"{{{i}x}}", re.sub(" *× *", "x", re.sub("[,³]", "", field)))
    left = re.search(r"\{\dx?\}", template)
    if left:
        raise Mistake(f"a row has no {left.group()}: {'; '.join(fields)}")
    return template


def split_cells(row):
    """The cells of "| a | b |"; an expression may have a bar."""
    if row.count("{{") != len(HOLE.findall(row)):
        raise Mistake(f"a cell without }}}}: {row}")
    hidden = HOLE.sub(lambda hole: hole.group().replace("|", "\0"), row.strip())
    return [cell.strip().replace("\0", "|") for cell in hidden[1:].split("|")[:-1]]


def embolden(rules, cells):
    """Puts ** around the numbers that are meant, up to the end of their cells."""
    for rule, first, last in rules:
        some = [cell for cell in cells[int(first) - 1:int(last)] if not math.isnan(cell.value)]
        best = (min if rule == "min" else max)(some, key=lambda cell: cell.value, default=None)
        for cell in some:
            cell.bold |= cell.shown() == best.shown()
    for cell in cells:
        if cell.bold:
            cell.text = f"{cell.text[:cell.number]}**{cell.shown()}**"


def make_row(source, row, repeated, columns, rules):
    cells = []
    for cell in split_cells(row):
        words = repeated if "{c}" in cell else [""]
        cells += [cell.replace("{c}", word) for word in words]
    if len(cells) != columns:
        raise Mistake(f"{len(cells)} cells in a row, not {columns}: {row}")
    source.new_row()
    made = [make_cell(source, cell) for cell in cells]
    embolden(rules, made)
    return "|" + "".join(f" {cell.text} |" if cell.text else " |" for cell in made)


def marker_lines(page, line):
    """The marker's lines behind its first, without the mark of a quotation: each with those that
    continue it, up to the -->; and as they are typed."""
    last = page.marker_end(line)
    lines = []
    quote = "> " if page.lines[line].startswith(">") else ""
    typed = [text[len(quote):] for text in page.lines[line + 1:last + 1]]
    for text in typed[:-1]:
        if text.startswith(" ") and lines:
            lines[-1] += " " + text.strip()
        else:
            lines.append(text)
    return lines, typed


def around(page, line):
    """The paragraphs right above the marker in `line` and right below its table."""
    above = line
    while above > 0 and (page.lines[above].lstrip(" >") + "<!--").startswith("<!--"):
        above -= 1
    text = page.lines[above]
    while above > 0 and page.lines[above].strip(" >"):
        above -= 1
        text += " " + page.lines[above]
    yield text
    below = page.find(line, "<!-- end -->") + 1
    while below < len(page.lines) and not page.lines[below]:
        below += 1
    yield " ".join(itertools.takewhile(str.strip, page.lines[below:]))


def make(book, page, line):
    marker = page.lines[line]
    source = Source(book, page, pages.marker_value(marker, "results", ""),
                    pages.marker_value(marker, "dtype", "bf16"))
    lines, typed = marker_lines(page, line)
    repeated = [word.strip() for text in lines if text.startswith("columns:")
                for word in text[len("columns:"):].split(";")]
    lines = [text for text in lines if not text.startswith("columns:")]
    if len(lines) < 3 or not all(text.startswith("|") for text in lines[:2]):
        book.complain(page, line, "a grid has a heading, a line |---| and rows, a line each")
        return None
    rules = [rule.groups() for rule in map(BOLD.fullmatch, lines) if rule]
    columns, template, good = len(split_cells(lines[1])), None, True
    out = typed + ["", lines[0], lines[1]]
    for text in lines[2:]:
        try:
            if text.startswith("|"):
                template = text
            elif text.startswith("- ") and template:
                fields = [field.strip() for field in text[2:].split(";")]
                out.append(make_row(source, fill(template, fields), repeated, columns, rules))
            elif text.startswith("+ |"):
                out.append(make_row(source, text[2:], repeated, columns, rules))
            elif not BOLD.fullmatch(text):
                raise Mistake(f"no row of a grid: {text}")
        except Mistake as mistake:
            book.complain(page, line, str(mistake))
            good = False
    if source.apart and not any(map(SAID_APART.search, around(page, line))):
        book.complain(page, line, "numbers of several runs, and the text does not say so")
        good = False
    return out + [""] if good else None


def check(book, page):
    book.remake(page, "<!-- grid:", "table", make)
