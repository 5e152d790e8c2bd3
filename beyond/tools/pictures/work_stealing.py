"""Chapter 19: which SM computes which tile while another kernel holds one SM, with tiles given out
before the launch (17) and by the hardware."""
from data import constants, source, tiles
from edit import Replace
from picture import Picture

KERNEL = "beyond/19_work_stealing/kernel.cu"
BEFORE, PROGRAM = "17_tcgen05", "19_work_stealing"
M, N, SMS, HELD = 512, 1024, 4, 20000
SIZE = ("--m", str(M), "--n", str(N), "--k", "1024", "--sms", str(SMS), "--held", str(HELD))
X, RIGHT, LANE, STEP, PANEL = 64, 536, 26, 31, 196
EDITS = [(KERNEL, Replace("BM = 128, BN = 256, BK = 64, /* the CTA's tile */",
                          "BM = 128, BN = 128, BK = 64, /* the CTA's tile */")),
         "19.the-answer-is-ignored"]


def draw():
    c = constants(KERNEL)
    count = M // c["BM"] * (N // c["BN"])
    found = [sorted(tiles(name, *SIZE, sms=SMS), key=lambda one: one[2]) for name in (BEFORE, PROGRAM)]
    for one in found:
        assert sorted(tile for _, tile, *_ in one) == list(range(count)), "every tile, once"
        assert min(begin for sm, _, begin, _ in one if sm == 0) > HELD
    share = [[sum(sm == i for sm, *_ in one) for i in range(SMS)] for one in found]
    assert share[0] == [count // SMS] * SMS and sum(share[1]) == count
    ends = [max(end for *_, end in one) for one in found]
    idle = [max(end for *_, end in one) - min(max(end for sm, *_, end in one if sm == i)
                                              for i in range(SMS)) for one in found]
    tile = max(end - begin for one in found for *_, begin, end in one)
    assert idle[0] > tile > idle[1], "the SMs end within a tile of each other"
    first = min(found[1], key=lambda one: (one[0], one[2]))[1]
    assert "number = next_tile(shared, &answers)" in source(KERNEL)
    p = Picture("A late SM: tiles dealt out, or taken",
                f"""{count} tiles on {SMS} SMs; until cycle {HELD} another kernel holds SM 0, so the
                last CTA begins there. With tiles dealt out before the launch it computes its
                {share[0][0]} all the same, and the others wait for it. Taken from the hardware, SM 0
                computes {share[1][0]}, and the end is {ends[0] - ends[1]} cycles earlier. A CTA asks
                for two tiles ahead, so {first} is the lowest that is left when SM 0 is free
                (simulated, chapters 17 and 19).""",
                f"Two panels of {SMS} lanes, a bar for each tile. Above, chapter 17: " + "; ".join(
                    f"SM {i} computes " + ", ".join(str(t) for sm, t, *_ in found[0] if sm == i)
                    for i in range(SMS)) +
                ". SM 0 begins late and ends long after the others. Below, chapter 19: " + "; ".join(
                    f"SM {i} computes " + ", ".join(str(t) for sm, t, *_ in found[1] if sm == i)
                    for i in range(SMS)) + ". All end at nearly the same time.", 60 + 2 * PANEL)
    last = max(ends)

    def px(cycle):
        return round(X + (RIGHT - X) * cycle / last, 1)
    for i, (one, head) in enumerate(zip(found, ("17: a CTA has every fourth tile",
                                                "19: the next tile from the hardware"))):
        top = 62 + PANEL * i
        p.text(20, top, head, "head")
        for sm in range(SMS):
            y = top + 14 + STEP * sm
            p.text(X - 8, y + 18, f"SM {sm}", "text", "end")
            p.rect(X, y, RIGHT - X, LANE, "lane")
        p.rect(X, top + 14, px(HELD) - X, LANE, "idle")
        p.text((X + px(HELD)) / 2, top + 32, "another kernel", "text", "middle")
        free = [0] * SMS
        for sm, number, begin, end in one:
            y = top + 14 + STEP * sm
            begin, free[sm] = max(begin, free[sm]), end  # the loads run ahead
            p.rect(px(begin), y, round(px(end) - px(begin) - 1, 1), LANE, "mma")
            p.text((px(begin) + px(end)) / 2, y + 18, number, "num ink b", "middle")
        p.path(f"M{px(ends[i])} {top + 8}v{STEP * SMS + 8}", "end")
        p.text(px(ends[i]), top + 14 + STEP * SMS + 18, f"{ends[i]} cycles", "text soft", "end")
    p.css.append(".end{stroke:var(--fg);stroke-width:1.5}")
    return p.svg()
