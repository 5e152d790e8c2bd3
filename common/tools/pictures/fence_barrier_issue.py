"""memory-order.md: fence, barrier, issue; and what is left of it without one of them."""
import re

from data import between, source
from edit import Replace
from picture import Picture

STORE, PAGE = "common/building_blocks/epilogue_store.h", "docs/breaks.md"
EDITS = ["08.the-proxy-fence",
         (PAGE, Replace("**The barrier between fence and store.** The elected thread stores",
                        "**Another mistake.** The elected thread stores"))]
THREADS, W, H = 4, 252, 236


def verdict(heading):
    """What the simulator says of an edit in breaks.md: the hazard, and whether it names the elected
    thread's own bytes."""
    text = source(PAGE).partition(f"**{heading}**")[2].partition("[Run it]")[0]
    assert text, f"{PAGE} has no '{heading}'"
    said = " ".join(text.partition("hazard: ")[2].split())
    reader, writer = (int(thread) for thread in re.findall(r"(?::|by) thread (\d+) ", said)[:2])
    return said.partition(":")[0], reader == writer


def panel(p, x, y, head, fenced, barrier, verdict_text):
    """One panel: `fenced`, the threads whose fence comes before the barrier."""
    step = 50
    p.text(x, y, head, "head")
    top = y + 16
    ordered = [i in fenced and (barrier or i == 0) for i in range(THREADS)]
    rows = (top + 6, top + 50, top + 88, top + 160)  # write, fence, barrier, read
    for i in range(THREADS):
        cx = x + 42 + step * i
        stop = rows[3] if ordered[i] else rows[1] - 12 if i not in fenced else rows[2]
        p.path(f"M{cx} {rows[0] + 18}V{stop}", "arrow path" if ordered[i] else "arrow cut")
        p.rect(cx - 17, rows[0], 34, 20, "item0", rx=3)
        p.text(cx, rows[0] + 15, "st", "num ink b", "middle")
        if i in fenced:
            p.rect(cx - 17, rows[1] - 8, 34, 20, "load", rx=3)
            p.text(cx, rows[1] + 7, "f", "num ink b", "middle")
        if not ordered[i]:
            p.path(f"M{cx - 6} {stop - 6}l12 12m0 -12l-12 12", "cross")
    if barrier:
        p.rect(x + 20, rows[2] - 6, THREADS * step - 6, 14, "edge")
    # thread 0 issues the store
    p.rect(x + 14, rows[2] + 22, 56, 24, "bg")
    p.path(f"M{x + 14} {rows[2] + 22}h56v24h-56zM{x + 42} {rows[2] + 46}V{rows[3]}", "box")
    p.text(x + 42, rows[2] + 39, "issue", "num b", "middle")
    p.rect(x + 20, rows[3], THREADS * step - 6, 24, "item1", rx=3)
    p.text(x + 20 + (THREADS * step - 6) / 2, rows[3] + 17, "TMA reads", "num ink b", "middle")
    p.text(x + 20, rows[3] + 46, verdict_text, "code b" if verdict_text[0] != "a" else "text b")
    return sum(ordered)


def draw():
    body = between(STORE, "epilogue_stage_elements(staging, acc);\n", "tma_store(")
    order = re.findall(r"^ +(fence_proxy_async|named_barrier_sync|if \(elected\))", body, re.M)
    assert order == ["fence_proxy_async", "named_barrier_sync", "if (elected)"], order
    none, own = verdict("The proxy fence.")
    assert own  # not even the elected thread's bytes are ordered
    late, own = verdict("The fence in the elected thread alone.")
    assert not own  # its own bytes are
    apart, own = verdict("The barrier between fence and store.")
    assert not own
    p = Picture("Fence, barrier, issue: all three",
                "", "", 608)
    p.css.append(".path{stroke-width:2}.cut{stroke:var(--hot);stroke-width:2}"
                 ".cross{fill:none;stroke:var(--hot);stroke-width:2.5}")
    everyone = set(range(THREADS))
    reach = [panel(p, 20, 62, "chapter 08’s store", everyone, True, "all in order"),
             panel(p, 292, 62, "no fence", set(), True, none),
             panel(p, 20, 316, "one thread’s fence", {0}, True, late),
             panel(p, 292, 316, "no barrier", everyone, False, apart)]
    assert reach == [4, 0, 1, 1]
    y = 570
    p.rect(20, y - 15, 30, 20, "item0", rx=3)
    p.text(35, y, "st", "num ink b", "middle")
    p.text(58, y, "write")
    p.rect(120, y - 15, 30, 20, "load", rx=3)
    p.text(135, y, "f", "num ink b", "middle")
    p.text(158, y, "fence")
    p.rect(226, y - 11, 40, 14, "edge")
    p.text(274, y, "barrier")
    p.path(f"M352 {y - 11}l12 12m0 -12l-12 12", "cross")
    p.text(374, y, "not ordered")
    p.text(20, y + 24, "a column: one thread; the first one issues", "text soft")
    p.caption = " ".join(f"""Four threads write, and one of them issues the store. With all
        three steps {reach[0]} of {THREADS} writes come before the TMA's read. Without the fence
        {reach[1]} do; with a fence in one thread, or without the barrier, {reach[2]} does, the
        issuing thread's own. Below each panel is the verdict (simulated,
        [breaks.md](breaks.md#08_persistent_pingpong)).""".split())
    p.desc = ("Four panels with four threads each. Each thread writes, executes a fence, meets the "
              "others at a barrier, and one thread issues a TMA store that reads all bytes. "
              f"Without the fence no write is ordered: {none}. With a fence in the issuing thread "
              f"alone, only its own write is: {late}. Without the barrier, too: {apart}.")
    return p.svg()
