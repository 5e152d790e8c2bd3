"""Chapter 09: one phase of an empty barrier, with the arrivals of both CTAs' consumer warps."""
from data import constants, source, told
from edit import Replace
from picture import Picture

PROGRAM, KERNEL = "09_cluster_multicast", "09_cluster_multicast/kernel.cu"
SIZE = ("--m", "256", "--n", "256", "--k", "512")
STEP, TOP, DOTS = 46, 126, 236
EDITS = [(KERNEL, Replace("if (lane < CLUSTER) mbarrier_arrive_remote",
                          "if (lane < 1) mbarrier_arrive_remote"))]


def draw():
    c = constants(KERNEL)
    own = c["CONSUMERS"] * 4
    rows = told(PROGRAM, *SIZE, barrier=1)
    end = next(i for i, row in enumerate(rows) if row.name == "flip")
    expected = rows[0].pending
    arrivals = [(row.cycle, row.pending, row.who) for row in rows[:end] if row.name == "arrive"]
    peers = sum("of CTA 1" in who for *_, who in arrivals)
    assert rows[0].name == "init" and expected == len(arrivals) == c["CLUSTER"] * own
    assert peers == own and "MULTICAST" in source(KERNEL)
    waits = [i for i, row in enumerate(rows[:end]) if row.name == "try_wait"]
    assert len(waits) == 2  # the first passes at once, the second until the flip
    groups = []  # (cycle, pending behind, of the peer?)
    for cycle, pending, who in arrivals:
        peer = "of CTA 1" in who
        if groups and groups[-1][0] == cycle and groups[-1][2] == peer:
            groups[-1][1] = pending
            groups[-1][3] += 1
        else:
            groups.append([cycle, pending, peer, 1])
    assert groups[-1][1] == 0
    together, = {count for *_, count in groups}  # the warps of one consumer
    assert together == 4
    p = Picture("A stage is free when both CTAs have read it",
                f"""The empty barrier of a stage expects {expected} arrivals: {own} from warps of
                its own CTA, and {peers} from those of the other, into whose stage this producer's
                TMA writes too. The {together} warps of a consumer arrive together. With the last
                of them the phase flips, and the producer refills the stage (simulated,
                `ring[0].empty` of chapter 09).""",
                f"An mbarrier that expects {expected} arrivals, as rows of dots from top to "
                "bottom. " + " ".join(
                    f"At cycle {cycle} {count} warps of {'the other' if peer else 'the own'} CTA "
                    f"arrive; {pending} arrivals are left."
                    for cycle, pending, peer, count in groups)
                + " Then the phase flips, and the producer passes.",
                TOP + STEP * (len(groups) + 2) + 16)
    p.text(20, 66, "event", "text soft")
    p.text(DOTS - 6, 66, "arrivals that are missing", "text soft")
    for peer in (0, 1):
        p.text(DOTS - 6 + 124 * peer, 88, f"of CTA {peer}: {(own, peers)[peer]}", "text b")
    p.text(504, 66, "phase", "text soft", "middle")
    bottom = TOP + STEP * (len(groups) + 1)
    p.rect(478, TOP - 22, 52, bottom - TOP - 2, "lane")
    p.text(504, (TOP + bottom) / 2 - 16, 0, "title", "middle")
    p.rect(478, bottom - 22, 52, STEP - 4, "held")
    p.text(504, bottom + 6, 1, "title", "middle")
    p.rect(534, TOP + STEP * .5 - 22, 14, bottom - TOP - STEP * .5 - 2, "wait")

    def dots(y, missing):
        for peer in (0, 1):
            for i in range(missing[peer]):
                p.add(f'<circle cx="{DOTS + 124 * peer + 14 * i}" cy="{y}" r="6" '
                      f'class="{"item1" if peer else "load"}"/>')
            if not missing[peer]:
                p.text(DOTS - 4 + 124 * peer, y + 5, 0)
    shown, missing = [("init", f"{expected} expected", (own, peers))], [own, peers]
    for cycle, pending, peer, count in groups:
        missing[peer] -= count
        assert sum(missing) == pending
        shown.append((f"{count} warps arrive", f"of CTA {int(peer)}, cycle {cycle}",
                      tuple(missing)))
    for i, (name, word, left) in enumerate(shown):
        y = TOP + STEP * i
        p.text(20, y - 6, name, "code b")
        p.text(20, y + 12, word, "text soft")
        dots(y - 2, left)
        p.path(f"M20 {y + 22}H470", "thin")
    p.text(20, bottom - 6, "flip", "code b")
    p.text(20, bottom + 12, "begins anew", "text soft")
    dots(bottom - 2, (own, peers))
    y = bottom + 50
    p.legend(20, y, (("load", "CTA 0’s warps", 160), ("item1", "CTA 1’s", 100),
                     ("wait", "the producer waits", 0)))
    return p.svg()
