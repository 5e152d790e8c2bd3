"""Chapter 08's two files as schedules, from simulated traces."""
from data import constants, trace
from edit import Replace
from picture import Picture

PROGRAM, KERNEL = "08_persistent_pingpong", "08_persistent_pingpong/kernel.cu"
PERSISTENT = "08_persistent_pingpong/persistent.cu"
SIZE = ("--m", "768", "--n", "1536", "--k", "512")
FROM, TO, X, RIGHT = 2700, 29200, 128, 544
LANE, STEP = 30, 36
EDITS = [(KERNEL, Replace("#define STAGES 5", "#define STAGES 2"))]


def merged(spans):
    out = []
    for begin, end in sorted(spans):
        if out and begin <= out[-1][1]:
            out[-1][1] = max(end, out[-1][1])
        else:
            out.append([begin, end])
    return out


def schedule(events):
    """For each consumer [(tile, multiplications' begin, end, epilogue's begin, end)]; spans of the
    Tensor Core."""
    tiles = {}
    for track, name, begin, cycles, args in events:
        if name == "multiply" and track == "Tensor Core" and "role" in args:
            key = args["role"], args["output_tile"]
            old = tiles.setdefault(key, [begin, begin + cycles, 0, 0])
            old[1] = begin + cycles
    for track, name, begin, cycles, args in events:
        if name == "epilogue":
            tiles[args["role"], args["output_tile"]][2:] = begin, begin + cycles
    busy = {role: merged((b, b + c) for t, name, b, c, a in events
                         if t == "Tensor Core" and name == "multiply" and a.get("role") == role)
            for role in ("consumer 0", "consumer 1")}
    numbers = sorted({tile for _, tile in tiles})  # this CTA's tiles, counted from 0
    return ([[(numbers.index(tile), *tiles[role, tile]) for role, tile in sorted(tiles)
              if role == f"consumer {i}"] for i in (0, 1)], busy)


def share(busy, begin, end):
    spans = merged(s for role in busy.values() for s in role)
    return sum(min(e, end) - max(b, begin) for b, e in spans if e > begin and b < end) / (
        end - begin)


def gaps(busy):
    """Where the Tensor Core is idle for long, in what is drawn."""
    spans = merged(s for role in busy.values() for s in role)
    return [(a, b) for (_, a), (b, _) in zip(spans, spans[1:]) if b - a > 300 and b < TO]


def px(t):
    return round(X + (RIGHT - X) * (min(max(t, FROM), TO) - FROM) / (TO - FROM), 1)


def panel(p, y, consumers, busy, head, note):
    p.text(20, y, head, "head")
    p.text(20, y + 20, note, "text soft")
    y += 32
    for i, role in enumerate(consumers):
        p.text(X - 10, y + STEP * i + 20, f"consumer {i}", "text", "end")
        p.rect(X, y + STEP * i, RIGHT - X, LANE, "lane")
        for tile, b, e, eb, ee in role:
            if b >= TO:
                continue
            p.rect(px(b), y + STEP * i, px(e) - px(b), LANE, "mma" if i == 0 else "mma1")
            if px(e) - px(b) > 60:
                p.text((px(b) + px(e)) / 2, y + STEP * i + 20, f"tile {tile}",
                       "text ink b" if i == 0 else "text onbright b", "middle")
            if eb < TO:
                p.rect(px(eb), y + STEP * i, px(ee) - px(eb), LANE, "epilogue")
    core = y + STEP * 2 + 6
    p.text(X - 10, core + 20, "Tensor Core", "text b", "end")
    p.rect(X, core, RIGHT - X, LANE, "lane")
    for i, role in enumerate(("consumer 0", "consumer 1")):
        p.cells([(px(b), core, px(e) - px(b), LANE) for b, e in busy[role] if b < TO],
                "mma" if i == 0 else "mma1")
    return y, core


def draw():
    together, busy_t = schedule(trace(PROGRAM, "--variant", "persistent", *SIZE))
    turns, busy_p = schedule(trace(PROGRAM, *SIZE))
    steady_t = together[0][0][1], together[0][3][1]
    steady_p = turns[0][0][1], turns[0][3][1]
    idle = gaps(busy_t)
    assert idle and not gaps(busy_p), "ping-pong leaves gaps, or the other schedule does not"
    shares = [f"{100 * share(b, *s):.0f} %" for b, s in ((busy_t, steady_t), (busy_p, steady_p))]
    wide, own = constants(PERSISTENT), constants(KERNEL)
    p = Picture("Ping-pong hides the epilogue",
                f"""Above, both consumers store at about the same time, and the Tensor Core is idle
                between tiles: {len(idle)} gaps. Below, each consumer stores while the other
                multiplies, and no gap is left. The tile changes too: {wide['BM']} × {wide['BN']}
                for both, then {own['BM']} × {own['BN']} for each. Utilization:
                {shares[0]} and {shares[1]} (simulated, {SIZE[1]}×{SIZE[3]}×{SIZE[5]}).""",
                "Two schedules over simulated cycles. When both consumers share a tile, both store "
                "at about the same time, and the Tensor Core has gaps between tiles. In ping-pong "
                "each consumer has a tile of its own: one multiplies while the other stores, and "
                f"the Tensor Core never waits. It is busy for {shares[0]} and {shares[1]}.", 470)
    y, core = panel(p, 62, together, busy_t, f"persistent.cu: both on one tile of {wide['BM']} × "
                    f"{wide['BN']}", f"Tensor Core busy {shares[0]} (simulated)")
    for a, b in idle:
        middle = px(a) + (px(b) - px(a)) / 2
        p.rect(px(a), core, px(b) - px(a), LANE, "hot")
        p.path(f"M{middle:g} {core + LANE + 12}v-9m-4 5l4 -5l4 5", "rule")
        p.text(middle, core + LANE + 26, "idle", "text", "middle")
    y, core = panel(p, 256, turns, busy_p, f"kernel.cu: in turns, a tile of {own['BM']} × "
                    f"{own['BN']} each", f"Tensor Core busy {shares[1]} (simulated)")
    # Where its multiplications begin. Its turn to issue them came a little earlier: order[].
    order = sorted((b, e, i) for i in (0, 1) for _, b, e, _, _ in turns[i] if b < TO)
    for _, (b, _, i) in zip(order, order[1:]):
        if i:
            p.arrow(px(b), y + LANE - 4, px(b), y + STEP + 7)
        else:
            p.arrow(px(b), y + STEP + 4, px(b), y + LANE - 7)
    p.text(px(order[1][0]), core + LANE + 20, "the Tensor Core changes hands", "text soft",
           "middle")
    p.path(f"M{px(order[1][0])} {core + LANE + 6}V{y + STEP + 10}", "dash")
    yl = core + LANE + 46
    p.legend(20, yl, (("mma", "", 20), ("mma1", "multiplies", 134),
                      ("epilogue", "epilogue: convert, store", 0)))
    k = px(FROM + 5000) - px(FROM)
    p.path(f"M{RIGHT - k:g} {yl - 5}h{k:g}m0 -4v8m{-k:g} 0v-8", "rule")
    p.text(RIGHT, yl - 12, "5000 cycles", "num", "end")
    return p.svg()
