"""Chapter 09: two CTAs that need the same B, alone and in a cluster. Widths are bytes."""
from data import constants, loads, source
from edit import Replace
from picture import Picture

KERNEL, PROGRAM = "09_cluster_multicast/kernel.cu", "09_cluster_multicast"
BEFORE, BEFORE_PROGRAM = "08_persistent_pingpong/persistent.cu", "08_persistent_pingpong"
SIZE = ("--m", "256", "--n", "256", "--k", "128")
KB = .7  # units of a pipe's width for each KB
EDITS = [(KERNEL, Replace("#define MULTICAST 1", "#define MULTICAST 0")),
         (BEFORE, Replace("BN = 256, BK = 64, /* the CTA's tile */",
                          "BN = 128, BK = 64, /* the CTA's tile */"))]


def pipe(p, d, kb, cls):
    p.path(d, f"pipe {cls}", style=f"stroke-width:{kb * KB:g}")


def draw():
    c = constants(KERNEL)
    bm, bn, bk, cluster = c["BM"], c["BN"], c["BK"], c["CLUSTER"]
    a, b = bm * bk * 2 // 1024, bn * bk * 2 // 1024
    half = b // cluster
    before = constants(BEFORE)
    assert (before["BM"], before["BN"], before["BK"]) == (bm, bn, bk), "the tiles differ"
    assert cluster == 2 and c["MULTICAST"] == 1 and "(1 << CLUSTER) - 1" in source(KERNEL)
    # What a CTA's full barrier counts: A, and B in one load or in two halves.
    assert loads(BEFORE_PROGRAM, "--variant", "persistent", *SIZE) == [a, b]
    assert loads(PROGRAM, *SIZE) == [a, half, half]
    alone, shared = 2 * (a + b), 2 * (a + half)
    p = Picture("Multicast: each CTA fetches half of B",
                f"""A pipe is as wide as its bytes for one k-tile. Alone, two CTAs request {alone}
                KB from the L2, as a cluster {shared} KB: each half of B leaves the L2 once and
                reaches both CTAs. {a + b} KB arrive in each CTA either way (predicted, from the
                kernels' constants).""",
                f"Two CTAs with tiles one above the other need the same {bn} columns of B. Above, "
                f"each fetches its own {a} KB of A and all {b} KB of B from the L2: {alone} KB. "
                f"Below, CTA 0 fetches half 0 of B and CTA 1 half 1, {half} KB each, and the TMA "
                f"writes each half into both CTAs: {shared} KB.", 536)
    p.css.append(".pipe{fill:none;stroke-linejoin:round}" + "".join(
        f".pipe.{k}{{fill:none;stroke:var(--{k})}}" for k in ("held", "item0", "item1")))
    cell, gap, left = 76, 6, (20, 300)
    for top, head, together in ((52, f"Alone (persistent.cu): {alone} KB from the L2", False),
                                (300, f"Cluster of two: {shared} KB from the L2", True)):
        p.text(20, top + 8, head, "head")
        p.rect(20, top + 20, 520, 30, "lane")
        p.text(280, top + 41, "L2", "text b", "middle")
        source_y, stage_y = top + 50, top + 148
        # pipes first: cells stand on their ends

        def x_of(cta, i):
            return left[cta] + i * (cell + gap) + cell / 2
        for cta in (0, 1):
            pipe(p, f"M{x_of(cta, 0):g} {source_y}V{stage_y}", a, "held")
            p.text(x_of(cta, 0) + 14, source_y + 28, f"{a} KB")
        if not together:
            for cta in (0, 1):
                x = (x_of(cta, 1) + x_of(cta, 2)) / 2
                for i, cls in ((1, "item0"), (2, "item1")):
                    side = (i - 1.5) * half * KB
                    pipe(p, f"M{x + side:g} {source_y}V{stage_y - 34}L{x_of(cta, i):g} "
                         f"{stage_y - 16}V{stage_y}", half, cls)
                p.text(x + b * KB / 2 + 8, source_y + 28, f"{b} KB")
        else:
            # half 0 comes down at CTA 0 and forks to CTA 1, half 1 the other way round; what a fork
            # crosses is interrupted
            for i, cls, own, level, crossed in ((1, "item0", 0, 40, ((0, a),)),
                                                (2, "item1", 1, 70, ((0, a), (1, half)))):
                pipe(p, f"M{x_of(own, i):g} {source_y}V{stage_y}", half, cls)
                for what, kb in crossed:
                    p.rect(x_of(1, what) - kb * KB / 2 - 1, source_y + level - half * KB / 2 - 4,
                           kb * KB + 2, half * KB + 8, "bg")
                pipe(p, f"M{x_of(own, i):g} {source_y + level}H{x_of(1 - own, i):g}V{stage_y}",
                     half, cls)
                p.text(x_of(own, i) + (12 if own == 0 else -12), source_y + 26, f"{half} KB",
                       "text", None if own == 0 else "end")
        for cta in (0, 1):
            x = left[cta]
            p.rect(x - 6, stage_y - 6, 3 * cell + 2 * gap + 12, 76, "lane", rx=4)
            p.text(x + (3 * cell + 2 * gap) / 2, stage_y + 62,
                   f"stage in CTA {cta}: {a + b} KB", "text", "middle")
            for i, (cls, word) in enumerate((("held", f"A {cta}"), ("item0", "B half 0"),
                                             ("item1", "B half 1"))):
                p.rect(x + i * (cell + gap), stage_y, cell, 42, cls)
                p.text(x + i * (cell + gap) + cell / 2, stage_y + 26, word,
                       "text" if cls == "held" else "text ink", "middle")
    return p.svg()
