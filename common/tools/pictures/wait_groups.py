"""Chapter 06: the groups in front of the Tensor Core, with no group and with one left in flight
when the warps wait."""
from data import constants, trace
from edit import Replace
from picture import Picture

PROGRAM, KERNEL = "06_wgmma", "06_wgmma/kernel.cu"
SIZE = ("--m", "128", "--n", "128", "--k", "1024")
FROM, TO, X, RIGHT, LANE, STEP = 2300, 6500, 128, 544, 28, 34
EDITS = [(KERNEL, Replace("#define WAIT 1", "#define WAIT 0"))]


def groups(*variant):
    """{k-tile: (issued, multiplied from, to)} of the Tensor Core's first groups."""
    issued, out = {}, {}
    for track, name, begin, cycles, args in trace(PROGRAM, *variant, *SIZE):
        k = args.get("k_tile")
        if name == "issue wgmma":
            issued[k] = begin + cycles
        elif name == "multiply" and track == "Tensor Core":
            out[k] = issued[k], begin, begin + cycles
    return out


def px(t):
    return round(X + (RIGHT - X) * (min(max(t, FROM), TO) - FROM) / (TO - FROM), 1)


def panel(p, y, of, head):
    """Returns the idle spans that are drawn."""
    p.text(20, y, head, "head")
    y += 14
    for lane, word in enumerate(("queued", "Tensor Core")):
        p.text(X - 10, y + STEP * lane + 19, word, "text b" if lane else "text", "end")
        p.rect(X, y + STEP * lane, RIGHT - X, LANE, "lane")
    idle, last = [], None
    for k, (at, begin, end) in sorted(of.items()):
        if begin >= TO:
            continue
        if begin > at:
            p.rect(px(at), y, px(begin) - px(at), LANE, "mmapale")
        p.rect(px(begin) + .5, y + STEP, px(end) - px(begin) - 1, LANE, "mma")
        if end < TO:
            p.text((px(begin) + px(end)) / 2, y + STEP + 19, k, "num ink b", "middle")
        if last and begin > last:
            idle.append((last, begin))
            p.rect(px(last), y + STEP, px(begin) - px(last), LANE, "hot")
        last = end
    for a, b in idle[:1]:
        p.path(f"M{(px(a) + px(b)) / 2:g} {y + STEP + LANE + 12}v-9m-4 5l4 -5l4 5", "rule")
    return idle


def draw():
    assert constants(KERNEL)["WAIT"] == 1
    none, one = groups("--variant", "wait0"), groups()
    pace = [(of[9][1] - of[1][1]) // 8 for of in (none, one)]  # from k-tile to k-tile
    done = [sum(end < TO for _, _, end in of.values()) for of in (none, one)]
    alone, = {end - begin for _, begin, end in none.values()}
    p = Picture("A queued group leaves no gap", "", "", 344)
    gaps = panel(p, 62, none, "WAIT = 0: the warps wait for all groups")
    rest = panel(p, 196, one, "WAIT = 1: the next group is queued first")
    assert gaps and not rest, "WAIT = 1 leaves gaps, or WAIT = 0 none"
    assert all(begin - at <= 0 for at, begin, _ in none.values())  # nothing is ever queued
    idle = gaps[0][1] - gaps[0][0]
    assert alone + idle == pace[0] and pace[1] > alone  # it does not multiply faster
    p.text(X, 166, f"multiplies for {alone} cycles, idle for {idle}")
    p.text(X, 298, f"one every {pace[1]} cycles: {alone}, and {pace[1] - alone} for loads")
    k = px(FROM + 1000) - px(FROM)
    p.path(f"M{RIGHT - k:g} 322h{k:g}m0 -4v8m{-k:g} 0v-8", "rule")
    p.text(RIGHT - k - 10, 327, "1000 cycles; number: k-tile", "text soft", "end")
    p.caption = " ".join(f"""In the same time the Tensor Core multiplies {done[0]} k-tiles with
        `WAIT` = 0 and {done[1]} with `WAIT` = 1. With 0 a k-tile takes {alone} cycles, and {idle}
        idle ones follow. With 1 the next k-tile follows at once, after {pace[1]} cycles: the loads
        that fill shared memory meanwhile slow the multiplication by {pace[1] - alone} (simulated,
        one CTA of chapter 06).""".split())
    p.desc = (f"Two schedules of the Tensor Core. With WAIT 0 the queue in front of it is always "
              f"empty, and it is idle for {idle} cycles after each k-tile. With WAIT 1 the next "
              f"k-tile's group waits in the queue, and there is no gap: {done[1]} k-tiles instead "
              f"of {done[0]} in the same time.")
    return p.svg()
