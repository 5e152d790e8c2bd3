"""The timelines of a chapter.

    <!-- figure: 06_wgmma -->
    ...
    <!-- end -->

What stands between is made from those of figures/06_wgmma-simulated.svg and -measured.svg that the
page's house has in its docs, or of the one that is asked for (<!-- figure: 06_wgmma measured -->);
without them it says how to draw one, or that the measured one is not recorded yet. The name "all"
is the picture of all chapters.
"""
KINDS = ("measured", "simulated")


def make(book, page, line):
    words = page.lines[line][len("<!-- figure:"):].split("-->")[0].split()
    name, only = (words + ["", ""])[:2]
    if only and only not in KINDS:
        book.complain(page, line, f"a figure is measured or simulated, not '{only}'")
        return None
    out = [""]
    for kind in KINDS if not only else (only,):
        place = book.place(page, f"figures/{name}-{kind}.svg")
        if book.exists(place):
            out += [f"![Timeline of {name}, {kind}]({page.link(place)})", ""]
    if len(out) > 1:
        return out
    if name == "all":
        return out + ["*To draw the timelines of all chapters:* `build/sim/tour --report report`*, "
                      "then open* `report/index.html`.", ""]
    if only == "measured":
        return out + ["*Not yet recorded.*", ""]
    return out + [f"*To draw the simulated timeline:* `build/sim/{name} --trace {name}.json`*, "
                  "then open the file in ui.perfetto.dev.*", ""]


def check(book, page):
    book.remake(page, "<!-- figure:", "figure", make)
