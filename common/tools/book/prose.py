"""Numbers in prose, held to the records that they come from.

    <!-- numbers: results=h200-steps
         80 % = cublas(07, 8192x8192x512)
         14,600 = cycles(07, 8192x8192x512) / 16
         3 % >= 100 * (max(tflops(07, 8192), tflops(08, 8192)) / tflops(07, 8192) - 1)
         2.0 = cell(probe.txt, the difference, per line, 2) -->
    Chapter 07 reaches 80 % of cuBLAS there. A tile takes 14,600 cycles ...

The marker holds the paragraph or list that follows it, up to the next empty line, in which there is
no second marker; a table is a grid (grids.py). Each line of the marker is a claim: a text, a relation, and an expression
(expression.py). A line without a relation continues the claim above it. The text begins with a
number. It must occur in what follows the marker, as often as the marker has claims with that text.
`dtype=` in the marker's first line names another type than bf16.

With "=" the expression's value, rounded as the number is, must be the number. A number is rounded
to its decimals. A whole number of three digits or more that is no percentage is rounded to its
zeros at the end, but to two digits at least: 14,600 is 14,550 to 14,650. With ">=" or "<=" the
number is a bound. Prose is never rewritten: if a record changes a number, the sentence around it
has to be read again.

A page whose text has the line <!-- numbers: all --> must have a marker before every paragraph that
has a digit and the word "measured". <!-- numbers: none: REASON --> is a marker, too.
"""
import re

import pages
from expression import SAID_APART, Mistake, Source

QUOTE = " >"
RELATION = re.compile(r"([<>]?=) ")


def is_marker(line, rest=""):
    return re.match(r"<!-- numbers: *" + re.escape(rest), line.lstrip(QUOTE)) is not None


def paragraph(page, first):
    """The paragraph's lines in one, without the marks of a quotation, and the line behind it."""
    end = first
    while end < len(page.lines) and page.lines[end].lstrip(QUOTE):
        end += 1
    return " " + "".join(line.lstrip(QUOTE) + " " for line in page.lines[first:end]), end


def occurrences(text, claim):
    """How often the text has the claim's, where no digit continues it on either side."""
    return len(re.findall(rf"(?<![\d.,]){re.escape(claim)}(?!\d|[.,]\d)", text))


def number_of(text):
    """The number that the text begins with, and the unit to which it is rounded."""
    digits = re.match(r"[\d,.]*", text).group()
    plain = digits.replace(",", "")
    if "." in plain:
        return float(plain), 10.0 ** -len(plain.partition(".")[2])
    zeros = len(plain) - len(plain.rstrip("0"))
    whole = len(plain) >= 3 and not text[len(digits):].startswith(" %")
    return float(plain), 10.0 ** (min(zeros, len(plain) - 2) if whole else 0)


def check_claim(book, page, line, text, relation, expression, source):
    try:
        value = source.evaluate(expression)[0]
        number, unit = number_of(text)
    except Mistake as mistake:
        book.complain(page, line, f"the number '{text}': {mistake}")
        return
    except ValueError:
        book.complain(page, line, f"the number '{text}': it is no number")
        return
    holds = (abs(value - number) <= 0.5 * unit * (1 + 1e-6) if relation == "="
             else number >= value if relation == ">=" else number <= value)
    if not holds:
        book.complain(page, line, f"the text has '{text}', the record {value:.6g}")


def read_claims(page, first, last):
    """The claims of the marker in lines `first` to `last`, with the line that each begins in."""
    claims = []
    for i in range(first + 1, last + 1):
        text = page.lines[i].lstrip(QUOTE).split("-->")[0]
        if claims and not RELATION.search(text):
            claims[-1][1] += " " + text
        elif text.strip():
            claims.append([i, text])
    return claims


def check_marker(book, page, first, last):
    """The claims of the marker in lines `first` to `last`, about what follows it."""
    source = Source(book, page, pages.marker_value(page.lines[first], "results", ""),
                    pages.marker_value(page.lines[first], "dtype", "bf16"))
    about, _ = paragraph(page, last + 1)
    said = []
    for line, claim in read_claims(page, first, last):
        relation = RELATION.search(claim)
        if not relation:
            book.complain(page, line, "a claim is a number, a relation and an expression")
            continue
        text = claim[:relation.start()].rstrip(" ")
        said.append(text)
        check_claim(book, page, line, text, relation.group(1), claim[relation.end():], source)
        if occurrences(about, text) < said.count(text):
            often = " so often" if said.count(text) > 1 else ""
            book.complain(page, line, f"what follows the marker does not have '{text}'{often}")
    if not said:
        book.complain(page, first, "a marker without a claim")
    if source.apart and not SAID_APART.search(about):
        book.complain(page, first, "numbers of several runs, and the text does not say so")
    if about.startswith(" |"):
        book.complain(page, first, "numbers over a table are stated twice: make it a grid")
    return len(said)


def needs_marker(text):
    """Does this paragraph have measured numbers in it? A figure has not, and the line under a table
    is made with it."""
    if text.startswith((" Measured: ", " Simulated, not measured: ", " ![", " <!--")):
        return False
    plain = re.sub(r"\]\([^)]*\)?", "", text)  # not the address of a link
    return "measured" in plain and re.search(r"\d", plain) is not None


def check(book, page):
    """Complains about every claim of the page that does not hold. Returns the number of claims."""
    claims = i = 0
    everything = any(is_marker(line, "all -->") for line in page.lines)
    fenced = False
    while i < len(page.lines):
        line = page.lines[i]
        fenced ^= line.startswith(pages.FENCE)
        if (fenced or not line.lstrip(QUOTE) or line.startswith(("    ", "#", "`"))
                or is_marker(line, "all -->")):
            i += 1
            continue
        if line.lstrip(QUOTE).startswith("<!-- grid:"):  # what it makes is held by grids.py
            i = page.find(i, line[:line.index("<")] + "<!-- end -->") + 1 or len(page.lines)
            continue
        held = is_marker(line)
        last = page.marker_end(i) if held else i - 1
        if held and not is_marker(line, "none: "):
            claims += check_marker(book, page, i, last)
        text, end = paragraph(page, last + 1)
        for inside in range(last + 1, end):
            if is_marker(page.lines[inside]) and not is_marker(page.lines[inside], "all -->"):
                book.complain(page, inside, "a marker inside what it shall hold: put all claims "
                                            "into one, in front of the paragraph")
        if everything and not held and needs_marker(text):
            book.complain(page, i,
                          "numbers that nothing holds to a record; prose.py has the marker")
        i = max(end, i + 1)
    return claims
