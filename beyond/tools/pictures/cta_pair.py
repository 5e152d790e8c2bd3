"""Chapter 18: what two CTAs of chapter 17 fetch for a k-tile, and what a pair does. Widths of pipes
are bytes."""
from data import constants, loads, source
from edit import Replace
from picture import Picture

KERNEL, PROGRAM = "beyond/18_cta_pair/kernel.cu", "18_cta_pair"
BEFORE, BEFORE_PROGRAM = "beyond/17_tcgen05/kernel.cu", "17_tcgen05"
SIZE = ("--m", "256", "--n", "256", "--k", "64", "--sms", "2")
KB = .7  # units of a pipe's width for each KB
EDITS = [(KERNEL, Replace("BM = 128, BN = 256, BK = 64, /* the CTA's rows",
                          "BM = 128, BN = 128, BK = 64, /* the CTA's rows")),
         (KERNEL, Replace("(int)cluster_rank() * (BN / 2)", "(int)cluster_rank() * 0")),
         (KERNEL, Replace("#define STAGES 6", "#define STAGES 5"))]


def draw():
    c, before = constants(KERNEL), constants(BEFORE)
    bm, bn, bk = c["BM"], c["BN"], c["BK"]
    assert (before["BM"], before["BN"], before["BK"]) == (bm, bn, bk) and c["CLUSTER"] == 2
    a, b = bm * bk * 2 // 1024, bn * bk * 2 // 1024
    half = b // 2
    # What a full barrier counts: a CTA's A and B, and in a pair the A and the half of both.
    assert loads(BEFORE_PROGRAM, *SIZE) == [a, b]
    assert loads(PROGRAM, *SIZE) == sorted(2 * [a, half])
    assert "if (cluster_rank() == 0 && elect_one()) issuer(" in source(KERNEL), "one thread multiplies"
    alone, pair = 2 * (a + b), 2 * (a + half)
    p = Picture("A pair: half of B in each, used by both",
                f"""A pipe is as wide as its bytes for one k-tile. Two CTAs of chapter 17 request
                {alone} KB from the L2 for it, a pair {pair} KB. A stage takes {a + half} KB in each
                CTA instead of {a + b}, so there is room for {c["STAGES"]} of them instead of
                {before["STAGES"]} (counted, in the kernels' constants and the bytes that a full
                barrier gets).""",
                f"Above, two CTAs of chapter 17 with tiles one above the other: each fetches its own "
                f"{a} KB of A and all {b} KB of B, {alone} KB together. Below, a pair: CTA 0 fetches "
                f"its rows of A and half 0 of B, CTA 1 its rows and half 1, {pair} KB together. One "
                "instruction, from a thread of CTA 0, uses the Tensor Cores of both SMs, and each "
                "multiplies its A by both halves of B.", 590)
    p.css.append(".pipe{fill:none;stroke-linejoin:round}" + "".join(
        f".pipe.{k}{{fill:none;stroke:var(--{k})}}" for k in ("held", "item0", "item1")))
    cell, gap, left = 76, 6, (20, 300)
    words = (("item0", "B half 0"), ("item1", "B half 1"))

    def pipe(x, begin, end, kb, cls):
        p.path(f"M{x:g} {begin}V{end}", f"pipe {cls}", style=f"stroke-width:{kb * KB:g}")
    for top, head, together in ((52, f"Two CTAs of chapter 17: {alone} KB from the L2", False),
                                (266, f"A pair: {pair} KB from the L2", True)):
        p.text(20, top + 8, head, "head")
        p.rect(20, top + 20, 520, 30, "lane")
        p.text(280, top + 41, "L2", "text b", "middle")
        begin, stage = top + 50, top + 104
        for cta in (0, 1):
            x = left[cta]
            held = [("held", f"A {cta}", a)] + [
                (*words[i], half) for i in (0, 1) if not together or i == cta]
            p.rect(x - 6, stage - 6, 3 * cell + 2 * gap + 12, 76, "lane", rx=4)
            for i, (cls, word, kb) in enumerate(held):
                at = x + i * (cell + gap)
                if together or not i:
                    pipe(at + cell / 2, begin, stage, kb, cls)
                    p.text(at + cell / 2 + kb * KB / 2 + 6, begin + 28, f"{kb} KB")
                else:
                    # all of B in one pipe, which forks to the halves' places
                    middle = x + 2 * cell + 1.5 * gap + (i - 1.5) * half * KB
                    p.path(f"M{middle:g} {begin}v20L{at + cell / 2:g} {begin + 38}V{stage}",
                           f"pipe {cls}", style=f"stroke-width:{kb * KB:g}")
                p.rect(at, stage, cell, 42, cls)
                p.text(at + cell / 2, stage + 26, word,
                       "text" if cls == "held" else "text ink", "middle")
            if not together:
                p.text(x + 2 * cell + 1.5 * gap + b * KB / 2 + 8, begin + 18, f"{b} KB")
            p.text(x + (3 * cell + 2 * gap) / 2, stage + 62,
                   f"stage in CTA {cta}: {a + half * (len(held) - 1)} KB", "text", "middle")
    # the pair's multiplication: B's halves go to both Tensor Cores
    core = stage + 126
    p.rect(14, core - 12, 532, 90, "box", rx=4)
    for cta in (0, 1):
        x = left[cta]
        p.rect(x, core, 3 * cell + 2 * gap, 42, "mma")
        p.text(x + 10, core + 18, f"Tensor Core of CTA {cta}", "text b ink")
        p.text(x + 10, core + 36, f"rows {bm * cta} to {bm * cta + bm - 1}", "text ink")
    p.text(280, core + 66, "one instruction, from a thread of CTA 0", "text", "middle")
    bottom = stage + 74
    for cta in (0, 1):
        x = left[cta]
        p.arrow(x + cell / 2, bottom, x + cell / 2, core - 4)
        own = x + cell + gap + cell / 2
        other = left[1 - cta] + (2.5 * cell + 2 * gap if cta else 2 * cell)
        p.css.append(f".half{cta}{{fill:none;stroke:var(--item{cta});stroke-width:2.5}}")
        p.arrow(own, bottom, own, core - 4, f"half{cta}")
        p.arrow(own, bottom, other, core - 4, f"half{cta}")
    return p.svg()
