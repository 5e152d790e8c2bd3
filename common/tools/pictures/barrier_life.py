"""Chapter 05: one round of a full barrier, and the begin of the next, as --explain tells it."""
from data import constants, told
from edit import Replace
from picture import Picture

KERNEL, PROGRAM = "05_tma_mbarrier/kernel.cu", "05_tma_mbarrier"
SIZE = ("--m", "128", "--n", "128", "--k", "256")
EDITS = [(KERNEL, Replace("mbarrier_init(&shared->full[stage], 1);",
                          "mbarrier_init(&shared->full[stage], 2);")),
         (KERNEL, Replace("BM = 128, BN = 128,", "BM = 128, BN = 256,"))]
STEP, TOP, BAR_X, BAR_W = 44, 100, 268, 176


def draw():
    c = constants(KERNEL)
    stage = (c["BM"] + c["BN"]) * c["BK"] * 2
    rows = told(PROGRAM, *SIZE)
    first = next(i for i, row in enumerate(rows) if row.name == "flip")
    waits = next(i for i, row in enumerate(rows) if row.name == "try_wait")
    shown = [row for row in rows[:first + 1] if row.name != "try_wait"]
    shown += [row for row in rows[first + 1:] if row.name != "try_wait"][:2]
    names = [row.name for row in shown]
    assert names == ["init", "expect_tx", "arrive", "complete_tx", "complete_tx", "flip",
                     "expect_tx", "arrive"], names
    assert shown[1].bytes == stage and waits < first
    landed = [before.bytes - row.bytes for before, row in zip(shown, shown[1:])
              if row.name == "complete_tx"]
    assert sum(landed) == stage
    words = [("init", f"{shown[0].pending} arrival expected"),
             ("expect_tx", f"{stage} bytes more"), ("arrive", "by the same thread"),
             ("complete_tx", f"A’s {landed[0]} bytes"), ("complete_tx", f"B’s {landed[1]} bytes"),
             ("flip", "both are zero"), ("expect_tx", "the next k-tile"), ("arrive", "")]
    p = Picture("A barrier flips when both counts are zero",
                f"""The pending arrivals run down from {shown[0].pending} and the missing bytes from
                {stage}; {names.count("complete_tx")} loads bring the bytes. When both counts are
                zero the phase flips, and a thread that waits for parity 0 passes (simulated,
                `full[0]` of chapter 05).""",
                "The steps of one mbarrier, from top to bottom. " + " ".join(
                    f"{name}: phase {row.phase}, {row.pending} arrivals pending, {row.bytes} bytes "
                    "missing." for name, row in zip(names, shown)), TOP + STEP * len(shown) + 34)
    p.text(20, TOP - 36, "event", "text soft")
    p.text(BAR_X - 42, TOP - 36, "arrivals", "text soft", "middle")
    p.text(BAR_X + 4, TOP - 36, "bytes missing", "text soft")
    p.text(BAR_X + BAR_W + 36, TOP - 36, "phase", "text soft", "middle")
    flip = names.index("flip")
    end = TOP + STEP * flip
    # the phases, and who waits
    px = BAR_X + BAR_W + 10
    p.rect(px, TOP - 16, 52, end - TOP - 2, "lane")
    p.text(px + 26, (TOP + end) / 2 - 6, shown[0].phase, "title", "middle")
    p.rect(px, end - 16, 52, STEP * (len(shown) - flip) - 4, "held")
    p.text(px + 26, end + STEP * (len(shown) - flip) / 2 - 10, shown[flip][1], "title", "middle")
    begin = TOP + STEP * 2.5
    p.rect(px + 56, begin - 16, 14, end - begin - 2, "wait")
    for i, (row, (name, word)) in enumerate(zip(shown, words)):
        y = TOP + STEP * i
        p.path(f"M20 {y + 26}H{BAR_X + BAR_W}", "thin")
        p.text(20, y, name, "code b")
        p.text(20, y + 19, word, "text soft")
        for j in range(row.pending):
            p.add(f'<circle cx="{BAR_X - 42 + 18 * j}" cy="{y + 2}" r="7" class="load"/>')
        if not row.pending:
            p.text(BAR_X - 42, y + 7, 0, "text", "middle")
        p.rect(BAR_X, y - 10, BAR_W, 24, "lane")
        if row.bytes:
            p.rect(BAR_X, y - 10, BAR_W * row.bytes / stage, 24, "load")
            p.text(BAR_X + 6, y + 7, row.bytes, "num ink b")
        else:
            p.text(BAR_X + 6, y + 7, 0, "num")
    y = TOP + STEP * len(shown) + 14
    p.rect(20, y - 13, 18, 16, "wait")
    p.text(46, y, "a thread waits for parity 0, and passes at the flip")
    return p.svg()
