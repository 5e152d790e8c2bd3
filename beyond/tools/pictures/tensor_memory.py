"""Chapter 17: who fills and who reads the two sets of sums in tensor memory."""
import re

from data import constants, source, told
from edit import Replace
from picture import Picture

PROGRAM, KERNEL = "17_tcgen05", "beyond/17_tcgen05/kernel.cu"
SIZE = ("--m", "512", "--n", "512", "--k", "512", "--sms", "2")
X, RIGHT, LANE, STEP = 70, 536, 24, 32
EDITS = [(KERNEL, Replace("#define SUMS 2", "#define SUMS 1")),
         (KERNEL, Replace("STORE_N = 64, ", "STORE_N = 32, ")),
         (KERNEL, Replace("mbarrier_arrive_relaxed(&shared->sums[sums.index].empty);",
                          "mbarrier_arrive(&shared->sums[sums.index].empty);"))]


def lives(sets, first):
    """(set, tile, from, full, empty) in cycles: the issuer has the set from the first to the second
    moment, the epilogue from the second to the third. CTA 0."""
    out = []
    for s in range(sets):
        def moments(barrier, what):
            return [event.cycle for event in told(PROGRAM, *SIZE, barrier=barrier)
                    if f"{event.name}: {event.words}".startswith(what)]
        given = moments(first + 2 * s + 1, "try_wait: pass")
        full = moments(first + 2 * s, "flip")
        empty = moments(first + 2 * s + 1, "flip")
        assert len(given) == len(full) == len(empty), (given, full, empty)
        out += [(s, sets * i + s, *times) for i, times in enumerate(zip(given, full, empty))]
    return sorted(out, key=lambda life: life[1])


def draw():
    c = constants(KERNEL)
    sets, columns, piece = c["SUMS"], c["BN"], c["STORE_N"]
    all_columns = constants("common/blackwell/tcgen05.h")["TENSOR_COLUMNS"]
    assert sets == 2 and sets * columns == all_columns, "the sets fill tensor memory"
    lanes, threads, stages = c["BM"], c["EPILOGUE"], c["STAGES"]
    assert lanes == threads == 128, "a thread has a row"
    text = source(KERNEL)
    assert "(uint32_t)warp_index() * 32 << 16; /* this warp's */" in text
    assert "pipeline_init(shared->sums, SUMS, EPILOGUE);" in text, "128 arrivals empty a set"
    assert "mbarrier_arrive_relaxed(&shared->sums[sums.index].empty);" in text
    assert re.search(r"ring\[STAGES\];.*\n.*sums\[SUMS\];", text), "their barriers follow the ring's"
    life = lives(sets, 2 * stages)
    tiles = len(life)
    assert [tile for _, tile, *_ in life] == list(range(4))
    # A moment at which the epilogue reads set 1 and the issuer has set 0.
    read, fill = life[1], life[2]
    assert read[0] == 1 and fill[0] == 0 and fill[2] < read[4]
    now = (max(read[3], fill[2]) + read[4]) // 2
    both = sum(max(0, min(a[4], b[3]) - max(a[3], b[2])) for a, b in zip(life, life[1:]))
    reading = sum(empty - full for *_, full, empty in life[:-1])
    assert both == reading
    p = Picture("One set is filled while the other is read",
                f"""The moment of the line below: the issuer multiplies tile {fill[1]} into set 0, and
                the epilogue reads tile {read[1]} from set 1. A thread has a lane of it, which is a
                row of the tile, and reads it in {columns // piece} loads of {piece} columns; 4 warps of 32
                lanes reach all {lanes}. The first {tiles - 1} tiles are read for {reading} cycles,
                and all that time the issuer has the other set. It goes on to that while its last
                multiplications into the first are under way (simulated, one CTA of `kernel.cu`).""",
                f"Above, the three roles: the producer fills the ring of {stages} stages, the issuer "
                "multiplies from the ring into tensor memory, the epilogue reads tensor memory and "
                "stores D. Between issuer and epilogue, a commit says that a set is full and "
                f"{threads} arrivals say that it is empty. In the middle, tensor memory: {lanes} "
                f"lanes of {all_columns} columns, in two sets of {columns} columns. The four warps "
                "of the epilogue each reach 32 lanes. Below, the two sets over time: each is filled, "
                "then read, and while one is read the other is filled.", 464)
    top, high = 50, 52
    for x, wide, cls, ink, title, who in ((20, 114, "load", " ink", "producer", "1 thread"),
                                          (214, 88, "mma", " ink", "issuer", "1 thread"),
                                          (416, 124, "epilogue", " ink", "epilogue",
                                           f"{threads} threads")):
        p.rect(x, top, wide, high, cls)
        p.text(x + 9, top + 22, title, f"head{ink}")
        p.text(x + 9, top + 43, who, f"text{ink}")
    p.cells([(151 + 12 * i, top + 8, 10, 36) for i in range(stages)], "held")
    p.text(174, top + 66, "the ring", "text", "middle")
    p.arrow(136, top + 26, 149, top + 26)
    p.arrow(199, top + 26, 212, top + 26)
    p.arrow(306, top + 14, 412, top + 14)
    p.text(359, top + 9, "full: commit", "text", "middle")
    p.arrow(412, top + 40, 306, top + 40)
    p.text(359, top + 58, f"empty: {threads}", "text", "middle")
    # tensor memory, a unit for a column
    left, y, band = 24, 158, 27
    p.arrow(264, top + high + 4, 264, y - 4)
    p.arrow(490, y - 4, 490, top + high + 4)
    p.text(20, y - 12, "Tensor memory", "head")
    for s, cls, title, who in ((0, "mma", f"tile {fill[1]}", "the issuer multiplies"),
                               (1, "epilogue", "", "")):
        x = left + s * columns
        p.rect(x, y, columns, 4 * band, cls)
        if title:
            p.text(x + 12, y + 2 * band - 6, title, "head ink")
            p.text(x + 12, y + 2 * band + 16, who, "text ink")
    x = left + columns
    for warp in range(4):
        p.text(x + 12, y + band * warp + 19,
               f"warp {warp}: lanes {32 * warp} to {32 * warp + 31}", "text ink")
        if warp:
            p.path(f"M{x} {y + band * warp}h{columns}", "thin")
    p.cells([(x, y + 4 * band - 4, columns, 3)], "item1")
    p.rect(left, y, all_columns, 4 * band, "box")
    p.path(f"M{x} {y}v{4 * band}", "box")
    foot = y + 4 * band
    for i in range(columns // piece + 1):
        p.path(f"M{x + i * piece} {foot}v7", "rule")
    p.text(left, foot + 22, f"set 0: columns 0 to {columns - 1}")
    p.text(x, foot + 22, f"set 1: {columns} to {all_columns - 1}, in {columns // piece} loads")
    p.rect(left, foot + 34, 18, 4, "item1")
    p.text(left + 25, foot + 41, f"a thread’s row: tile {read[1]}’s row {lanes - 1}")
    end = life[-1][4]

    def px(t):
        return round(X + (RIGHT - X) * t / end, 1)
    y = foot + 84
    p.text(20, y - 12, "The sets over time; number: tile; line: now", "head")
    for s in range(sets):
        lane = y + STEP * s
        p.text(X - 10, lane + 17, f"set {s}", "text", "end")
        p.rect(X, lane, RIGHT - X, LANE, "lane")
        for _, tile, begin, full, empty in (one for one in life if one[0] == s):
            p.rect(px(begin), lane, px(full) - px(begin), LANE, "mma")
            p.rect(px(full), lane, px(empty) - px(full), LANE, "epilogue")
            p.text((px(begin) + px(full)) / 2, lane + 17, tile, "num ink b", "middle")
    p.path(f"M{px(now)} {y - 6}v{STEP * sets + 4}", "now")
    p.css.append(".now{stroke:var(--fg);stroke-width:2}")
    y += STEP * sets + 20
    p.legend(20, y, (("mma", "the issuer has it", 168), ("epilogue", "it is read", 0)))
    k = px(2000) - X
    p.path(f"M{RIGHT - k:g} {y - 6}h{k:g}m0 -4v8m{-k:g} 0v-8", "rule")
    p.text(RIGHT, y + 18, "2000 cycles", "num", "end")
    return p.svg()
