"""The timelines of a chapter.

    <!-- figure: 06_wgmma -->
    ...
    <!-- end -->

What stands between is made from those of figures/06_wgmma-simulated.svg and -measured.svg that the
page's house has in its docs, or of the one that is asked for (<!-- figure: 06_wgmma measured -->);
without them it says how to draw one, or that the measured one is not recorded yet. The name "all"
is the picture of all chapters.

A caption is a paragraph that ends with a colon right above the marker, or the plain paragraph right
below the figure. What it says of the run is held to the figure: extents, CTAs, SMs, groups, heads
and GPUs, and whether it was simulated or measured. The figure has the extents and the number of
CTAs in its subtitle, and, if the tool that drew it has put it there, the command in <desc>.
"""
import re

KINDS = ("measured", "simulated")
NUMBERS = dict(zip("one two three four five six seven eight nine ten eleven twelve".split(),
                   range(1, 13)))
EXTENTS = re.compile(r"(\d+)³|(\d+) ?[×x] ?(\d+) ?[×x] ?(\d+)(?! ?[×x.]|\w)")
NAMED = re.compile(r"\b([mnk]) = ([\d,]+)")
COUNTED = re.compile(rf"\b({'|'.join(NUMBERS)}|\d+) (CTA|SM|group|head|GPU)s?\b", re.IGNORECASE)
PLAIN = re.compile(r"[A-Za-z*`\[](?!\*)")  # a paragraph: no list, table, quotation, heading, marker


def make(book, page, line):
    words = page.lines[line][len("<!-- figure:"):].split("-->")[0].split()
    name, only = (words + ["", ""])[:2]
    if only and only not in KINDS:
        book.complain(page, line, f"a figure is measured or simulated, not '{only}'")
        return None
    out = [""]
    for kind in KINDS if not only else (only,):
        path = book.path_for(page, f"figures/{name}-{kind}.svg")
        if book.exists(path):
            out += [f"![Timeline of {name}, {kind}]({page.link(path)})", ""]
    if len(out) > 1:
        return out
    if name == "all":
        return out + ["*To draw the timelines of all chapters:* `build/sim/tour --report report`*, "
                      "then open* `report/index.html`.", ""]
    if only == "measured":
        return out + ["*Not yet recorded.*", ""]
    return out + [f"*To draw the simulated timeline:* `build/sim/{name} --trace {name}.json`*, "
                  "then open the file in ui.perfetto.dev.*", ""]


# ---- captions ----

class Drawn:
    """What a figure says of the run that it shows."""

    def __init__(self, text):
        subtitle = re.search(r'class="note" text-anchor="start">([^<]*)', text)
        subtitle = subtitle.group(1) if subtitle else ""
        extents = EXTENTS.search(subtitle)
        self.extents = extents_of(extents) if extents else None
        command = re.search(r"<desc>([^<]*)</desc>", text)
        words = command.group(1).split() if command else []
        self.counts = {name: int(words[words.index(option) + 1])
                       for name, option in (("SM", "--sms"), ("group", "--groups"),
                                            ("head", "--heads")) if option in words}
        lanes = set(re.findall(r">SM (\d+)</text>", text))  # a lane for each, where waves are shown
        if lanes:
            self.counts["SM"] = len(lanes)
        places = set(re.findall(r">(GPU \d+, )?(CTA \d+), SM \d+</text>", text))
        if " over time" in subtitle or "one CTA of each step" in subtitle:
            self.counts["CTA"] = len({cta for _, cta in places}) or 1
            self.counts["GPU"] = len({gpu for gpu, _ in places}) or 1


def extents_of(found):
    """The extents that EXTENTS has found."""
    cube, *three = found.groups()
    return (int(cube),) * 3 if cube else tuple(map(int, three))


def captions(page, first, end):
    """The captions of the figure between these lines, with their own lines."""
    above = first - 1
    while above >= 0 and (not page.lines[above]
                          or page.lines[above].startswith("<!-- numbers: none")):
        above -= 1
    if above >= 0 and page.lines[above].endswith(":") and first - above <= 3:
        begin = above
        while begin > 0 and page.lines[begin - 1] and not page.lines[begin - 1].endswith("-->"):
            begin -= 1
        yield begin, " ".join(page.lines[begin:above + 1])
    below = end + 1
    while below < len(page.lines) and not page.lines[below]:
        below += 1
    last = below
    while last < len(page.lines) and page.lines[last]:
        last += 1
    if below < last and PLAIN.match(page.lines[below]) and not page.lines[last - 1].endswith(":"):
        yield below, " ".join(page.lines[below:last])


def check_caption(book, page, line, text, drawn, kinds):
    """`drawn`: the figures above or below which it stands."""
    for kind in KINDS:
        if f"({kind}" in text and kind not in kinds:
            book.complain(page, line, f"a caption says '{kind}', and the figure is not")
    extents = [figure.extents for figure in drawn if figure.extents]
    for found in EXTENTS.finditer(text):
        if extents_of(found) not in extents:
            shown = " and ".join("×".join(map(str, three)) for three in extents) or "no extents"
            book.complain(page, line,
                          f"a caption says '{found.group()}', and the figure shows {shown}")
    for name, number in NAMED.findall(text):
        value = int(number.replace(",", ""))
        if not any(three["mnk".index(name)] == value for three in extents):
            book.complain(page, line,
                          f"a caption says '{name} = {number}', and the figure does not")
    for number, what in COUNTED.findall(text):
        what = what if what.isupper() else what.lower()
        value = int(number) if number.isdigit() else NUMBERS[number.lower()]
        if not any(figure.counts.get(what) == value for figure in drawn):
            shown = " and ".join(str(figure.counts.get(what, "-")) for figure in drawn)
            book.complain(page, line,
                          f"a caption says '{number} {what}', and the figure does not: {shown}")


def check_captions(book, page):
    for line in page.all("<!-- figure:"):
        end = page.find(line, "<!-- end -->")
        words = page.lines[line][len("<!-- figure:"):].split("-->")[0].split()
        kinds = words[1:] or KINDS
        paths = [book.path_for(page, f"figures/{words[0]}-{kind}.svg") for kind in kinds]
        kinds = [kind for kind, path in zip(kinds, paths) if book.exists(path)]
        drawn = [Drawn(book.text(path)) for path in paths if book.exists(path)]
        if end < 0 or not drawn:
            continue
        for first, text in captions(page, line, end):
            check_caption(book, page, first, text, drawn, kinds)


def check(book, page):
    book.remake(page, "<!-- figure:", "figure", make)
    check_captions(book, page)
