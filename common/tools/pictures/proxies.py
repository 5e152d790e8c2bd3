"""memory-order.md: two paths to one memory, and the steps of the two ways across."""
import re

from data import source
from edit import Replace
from picture import Picture

PAGE, WRAPPERS = "docs/memory-order.md", "common/hopper"
EDITS = [(PAGE, Replace(
             "| TMA load writes | `ldmatrix` reads | wait on the full barrier, nothing else |",
             "| TMA load writes | `ldmatrix` reads | `fence_proxy_async()` |")),
         (PAGE, Replace(
             "| `ldmatrix` reads | TMA load overwrites | each reader: `fence_proxy_async()`; "
             "barrier or arrive; refill | 05 |",
             "| `ldmatrix` reads | TMA load overwrites | barrier or arrive; refill | 05 |")),
         (PAGE, Replace("| each writer: `fence_proxy_async()`; barrier; issue |",
                        "| each writer: `fence_proxy_async()`; issue |"))]
GENERIC = ("st.shared", "stmatrix", "ldmatrix", "cp.async")  # begin a row of the page's table
ASYNC = ("TMA", "wgmma")


def kind(words):
    words = words.replace("`", "").strip()
    return ("generic" if words.startswith(GENERIC) else
            "async" if words.startswith(ASYNC) else None)


def crossings():
    """The steps from the generic proxy to the async one, in every row of the table that crosses so;
    the rows that cross back need no fence."""
    table = source(PAGE).partition("## Which pairs need what")[2].partition("\n\n#")[0]
    there, back = [], []
    rows = re.findall(r"^\| (.*?) \| (.*?) \| (.*?) \| .*? \|$", table, re.M)
    for first, then, needed in rows:
        if (kind(first), kind(then)) == ("generic", "async"):
            there.append(needed)
        elif (kind(first), kind(then)) == ("async", "generic"):
            back.append(needed)
    steps = [needed.split(";") for needed in there]
    assert steps and all(len(row) == 3 and "fence_proxy_async" in row[0] and "barrier" in row[1] and
                         re.search("issue|refill", row[2]) for row in steps)
    assert back and all("wait" in needed and "fence" not in needed for needed in back)
    return len(steps[0])


def draw():
    steps = crossings()
    assert steps == 3  # the drawing's own number
    p = Picture("Two proxies, one memory, two crossings",
                f"""Threads and units reach shared memory by different paths. From the generic
                proxy to the async one lead {steps} steps, in this order; back leads one wait, and
                no fence (counted in each row of the table below). A barrier alone orders threads
                and does not cross.""",
                "Threads reach shared memory through the generic proxy, the TMA and wgmma through "
                "the async proxy. An arrow from the generic to the async path has three steps: a "
                "fence in each thread, a barrier, the issue. An arrow back is labelled wait for "
                "completion. A third arrow, a barrier alone, does not reach the other path.", 512)
    lx, rx, w = 20, 310, 230
    p.rect(lx, 52, w, 84, "lane", rx=5)
    p.text(lx + w / 2, 76, "threads", "head", "middle")
    p.text(lx + w / 2, 100, "ld  st  ldmatrix", "code", "middle")
    p.text(lx + w / 2, 122, "stmatrix  cp.async", "code", "middle")
    p.rect(rx, 52, w, 84, "lane", rx=5)
    p.text(rx + w / 2, 76, "units", "head", "middle")
    p.text(rx + w / 2, 100, "TMA loads, stores", "code", "middle")
    p.text(rx + w / 2, 122, "wgmma operands", "code", "middle")
    gx, ax, pw = 40, 454, 66  # the two paths
    top, bottom = 138, 440
    for x, cls, word in ((gx, "item0", "generic"), (ax, "item1", "async")):
        p.rect(x, top, pw, bottom - top, cls)
        p.text(x + pw / 2, bottom - 30, word, "text ink", "middle")
        p.text(x + pw / 2, bottom - 12, "proxy", "text ink", "middle")
    p.rect(lx, bottom + 2, 520, 52, "held", rx=5)
    p.text(280, bottom + 33, "shared memory", "head", "middle")
    # across: the steps stand on the arrow
    y, middle = 188, (gx + pw + ax) / 2
    p.arrow(gx + pw, y, ax - 2, y, "arrow thick")
    for x, width, name in ((112, 168, "fence_proxy_async"), (287, 80, "barrier"),
                           (374, 62, "issue")):
        p.rect(x, y - 17, width, 34, "lane", rx=4)
        p.path(f"M{x} {y - 17}h{width}v34h{-width}z", "box")
        p.text(x + width / 2, y + 5, name, "num", "middle")
    for x, step, word in ((196, 1, "each thread"), (327, 2, "all meet"), (405, 3, "one")):
        p.text(x, y - 26, step, "head", "middle")
        p.text(x, y + 38, word, "text soft", "middle")
    y = 290
    p.arrow(ax, y, gx + pw + 2, y, "arrow thick")
    p.rect(middle - 100, y - 17, 200, 34, "lane", rx=4)
    p.path(f"M{middle - 100:g} {y - 17}h200v34h-200z", "box")
    p.text(middle, y + 5, "wait for completion", "text b", "middle")
    p.text(middle, y - 26, 1, "head", "middle")
    p.text(middle, y + 38, "mbarrier or group; no fence", "text soft", "middle")
    y = 376
    p.path(f"M{gx + pw} {y}H{ax - 70}", "arrow cut")
    p.rect(middle - 68, y - 17, 136, 34, "lane", rx=4)
    p.path(f"M{middle - 68:g} {y - 17}h136v34h-136z", "box")
    p.text(middle, y + 5, "barrier alone", "text b", "middle")
    p.path(f"M{ax - 77} {y - 7}l14 14m0 -14l-14 14", "cut")
    p.text(middle, y + 38, "orders threads, does not cross", "text soft", "middle")
    p.css.append(".thick{stroke-width:2.5}.cut{fill:none;stroke:var(--hot);stroke-width:2.5}")
    return p.svg()
