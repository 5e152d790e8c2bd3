"""memory-order.md: two paths to one memory, and the two ways across."""
import re

from data import source
from picture import Picture

PAGE, WRAPPERS = "docs/memory-order.md", "common/hopper"
EDITS = [(PAGE, "| TMA load writes | `ldmatrix` reads | wait on the full barrier, nothing else |",
          "| TMA load writes | `ldmatrix` reads | `fence_proxy_async()` |"),
         (PAGE, "| `ldmatrix` reads | TMA load overwrites | each reader: `fence_proxy_async()`; "
          "barrier or arrive; refill | 05 |",
          "| `ldmatrix` reads | TMA load overwrites | barrier or arrive; refill | 05 |")]
GENERIC = ("st.shared", "stmatrix", "ldmatrix", "cp.async")  # begin a row of the page's table
ASYNC = ("TMA", "wgmma")


def kind(words):
    words = words.replace("`", "").strip()
    return ("generic" if words.startswith(GENERIC) else
            "async" if words.startswith(ASYNC) else None)


def crossings():
    """How many rows of the table cross from one proxy to the other, each way: (to async, back)."""
    table = source(PAGE).partition("## Which pairs need what")[2].partition("\n\n#")[0]
    there, back = [], []
    rows = re.findall(r"^\| (.*?) \| (.*?) \| (.*?) \| .*? \|$", table, re.M)
    for first, then, needed in rows:
        if (kind(first), kind(then)) == ("generic", "async"):
            there.append(needed)
        elif (kind(first), kind(then)) == ("async", "generic"):
            back.append(needed)
    assert there and all("fence_proxy_async" in needed for needed in there)
    assert back and all("wait" in needed and "fence" not in needed for needed in back)
    return len(there), len(back)


def draw():
    there, back = crossings()
    p = Picture("Two proxies, one memory, two crossings",
                f"""Threads and units reach shared memory by different paths. From the generic
                proxy to the async one, each thread needs a fence before the work is issued:
                {there} rows of the table below. In the other direction a wait for completion is
                enough: {back} rows (counted from the table). A barrier alone orders threads and
                crosses nowhere.""",
                "Threads reach shared memory through the generic proxy, the TMA and wgmma through "
                "the async proxy. An arrow from the generic to the async path is labelled fence, "
                "then barrier, then issue; an arrow back is labelled wait for completion. A "
                "barrier "
                "among threads stays on the generic side.", 452)
    lx, rx, w = 20, 310, 230
    p.rect(lx, 52, w, 84, "lane", rx=5)
    p.text(lx + w / 2, 76, "threads", "head", "middle")
    p.text(lx + w / 2, 100, "ld  st  ldmatrix", "code", "middle")
    p.text(lx + w / 2, 122, "stmatrix  cp.async", "code", "middle")
    p.rect(rx, 52, w, 84, "lane", rx=5)
    p.text(rx + w / 2, 76, "units", "head", "middle")
    p.text(rx + w / 2, 100, "TMA loads, stores", "code", "middle")
    p.text(rx + w / 2, 122, "wgmma operands", "code", "middle")
    gx, ax, pw = 60, 436, 66  # the two paths
    top, bottom = 138, 366
    for x, cls, word in ((gx, "item0", "generic"), (ax, "item1", "async")):
        p.rect(x, top, pw, bottom - top, cls)
        p.text(x + pw / 2, bottom - 30, word, "text ink", "middle")
        p.text(x + pw / 2, bottom - 12, "proxy", "text ink", "middle")
    p.rect(lx, bottom + 2, 520, 52, "held", rx=5)
    p.text(280, bottom + 33, "shared memory: one content at a time", "head", "middle")
    # across
    y = 186
    p.arrow(gx + pw, y, ax - 2, y, "arrow thick")
    p.text((gx + pw + ax) / 2, y - 14, "fence_proxy_async()", "code b", "middle")
    p.text((gx + pw + ax) / 2, y + 22, "in each thread, then barrier,", "text", "middle")
    p.text((gx + pw + ax) / 2, y + 42, "then issue", "text", "middle")
    y = 278
    p.arrow(ax, y, gx + pw + 2, y, "arrow thick")
    p.text((gx + pw + ax) / 2, y - 12, "wait for completion", "text b", "middle")
    p.text((gx + pw + ax) / 2, y + 22, "mbarrier, group: no fence", "text", "middle")
    p.css.append(".thick{stroke-width:2.5}")
    p.text(20, bottom + 76, "a barrier alone: threads meet, nothing crosses", "text soft")
    return p.svg()
