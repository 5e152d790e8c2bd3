"""Chapter 03: the ring of stages at one moment, and the queue of copies that fill it."""
import rings
from data import constants, trace
from edit import Replace
from picture import Picture

KERNEL, PROGRAM = "03_cp_async_multistage/kernel.cu", "03_cp_async_multistage"
SIZE = ("--m", "128", "--n", "128", "--k", "768")
FROM, TO = 1000, 12000
CX, CY, R0, R1 = 184, 184, 50, 108
EDITS = [(KERNEL, Replace("#define STAGES 3", "#define STAGES 4")),
         (KERNEL, Replace(
             "        load_stage(shared, args, tile, k_tile + STAGES - 1, inside);\n"
             "        UNROLL for (int step = 0; step < BK / 16; ++step) {",
             "        if (k_tile % 2) load_stage(shared, args, tile, k_tile + STAGES - 1, "
             "inside);\n"
             "        else cp_async_commit_group();\n"
             "        UNROLL for (int step = 0; step < BK / 16; ++step) {"))]


def draw():
    stages = constants(KERNEL)["STAGES"]
    asked, landed, done = {}, {}, {}
    for track, name, begin, cycles, args in trace(PROGRAM, *SIZE):
        k = args.get("k_tile")
        if name == "load in flight":
            asked[k], landed[k] = begin, begin + cycles
            assert track == f"stage {k % stages}"
        elif name == "data held":
            done[k] = begin + cycles
    tiles = sorted(k for k in done)
    assert stages == 3 and tiles == list(range(12)), tiles
    now = (landed[2] + done[2]) // 2  # the ring has gone round once
    current = [k for k in tiles if landed[k] <= now < done[k]]
    flying = sorted(k for k in asked if asked[k] <= now < landed[k])
    assert current == [2] and flying == [3, 4]  # one is multiplied while two are on their way
    p = Picture("One k-tile is multiplied, two are in flight",
                f"""K-tile {current[0]} is multiplied while the copies of {len(flying)} others are
                in flight, so all {stages} stages are in use. `cp_async_wait_group({stages - 2})`
                waits for the older copy, k-tile {flying[0]}. K-tile {flying[0] + stages - 1} goes
                into the stage of k-tile {current[0]} (simulated, one CTA of chapter 03).""",
                f"A ring of {stages} stages at one moment. K-tile {current[0]} is being "
                f"multiplied; "
                f"copies of k-tiles {flying[0]} and {flying[1]} fill the other stages. Beside it "
                f"the "
                "copies as a queue of groups, the oldest first. Below, the same over time.", 480)
    for s in range(stages):
        k = max(k for k in asked if k % stages == s and asked[k] <= now)
        p.path(rings.sector(CX, CY, s, stages, R0, R1), "load" if k in flying else "mma")
        rings.k_tile(p, CX, CY, s, stages, 85, k)
        x, y = rings.middle(CX, CY, s, stages, R1 + 12)
        p.text(x + (10 if s == 0 else -10 if s == 2 else 0), y + (22 if s == 1 else -2),
               f"stage {s}", "text", (None, "middle", "end")[s])
    p.text(CX, CY - 2, "cycle", "text soft", "middle")
    p.text(CX, CY + 18, now, "head", "middle")
    x, y = 374, 96
    p.text(x, y, "Queue of groups", "head")
    for i, (k, cls, words) in enumerate(((current[0], "mma", "multiplied now"),
                                         (flying[0], "load", "waited for next"),
                                         (flying[1], "load", "the youngest"))):
        p.rect(x, y + 14 + 40 * i, 34, 32, cls)
        p.text(x + 17, y + 36 + 40 * i, k, "text ink b", "middle")
        p.text(x + 46, y + 36 + 40 * i, words)
    p.rect(x, y + 14 + 120, 34, 32, "lane")
    p.text(x + 17, y + 36 + 120, flying[1] + 1, "text soft", "middle")
    p.text(x + 46, y + 36 + 120, f"next, in stage {current[0] % stages}", "text soft")
    rings.over_time(p, 366, 100, 544, FROM, TO, [
        [(k, asked[k], landed[k], done[k]) for k in tiles if k % stages == s]
        for s in range(stages)], now, "mma")
    p.legend(100, 466, (("load", "copy in flight", 150), ("mma", "multiplied", 0)))
    return p.svg()
