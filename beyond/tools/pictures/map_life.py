"""Chapter 15: how a CTA changes a tensor map, and why it has two of A: one is changed while loads
still read the other."""
from data import constants, function, source, trace
from picture import Picture

PROGRAM, KERNEL = "15_grouped_gemm", "beyond/15_grouped_gemm/kernel.cu"
GROUPS, ROWS = 4, 128  # a tile for each group
SIZE = ("--m", str(GROUPS * ROWS), "--n", "192", "--k", "256", "--groups", str(GROUPS), "--router",
        "even", "--sms", "1")
FROM, TO, X, RIGHT, LANE = 1600, 14600, 66, 540, 28
EDITS = [(KERNEL, "            turn ^= 1;\n", ""),
         (KERNEL, "wait_for_loads(shared, last_before, issued)",
          "wait_for_loads(shared, last, issued)"),
         (KERNEL, "        tensor_map_replace_dim(edited, 1, rows);\n", ""),
         (KERNEL, "    fence_tensor_map_acquire(map, SCOPE_CTA);\n", "")]


def loads():
    """[(issued first, issued last, landed last)] of each group, in cycles."""
    k_tiles = int(SIZE[5]) // constants(KERNEL)["BK"]
    asked = sorted((begin, begin + cycles, args["k_tile"]) for track, name, begin, cycles, args in
                   trace(PROGRAM, *SIZE) if name == "load in flight")
    groups = [asked[i:i + k_tiles] for i in range(0, len(asked), k_tiles)]
    assert all([k for *_, k in group] == list(range(k_tiles)) for group in groups)
    assert len(groups) == GROUPS
    return [(group[0][0], group[-1][0], max(end for _, end, _ in group)) for group in groups]


def draw():
    c = constants(KERNEL)
    assert c["BM"] == ROWS
    change = function(KERNEL, "DEVICE void change_map(")
    steps = ("tensor_map_replace_address(edited, base);",
             "tensor_map_replace_dim(edited, 1, rows);", "__syncwarp();\n    /* The new map",
             "tensor_map_copy_release(map, edited, SCOPE_CTA);",
             "fence_tensor_map_acquire(map, SCOPE_CTA);")
    order = [change.find(step) for step in steps]
    assert -1 not in order and order == sorted(order), "the steps of a change"
    producer = function(KERNEL, "DEVICE void producer(")
    assert "tensor_map a[2]" in source(KERNEL) and producer.count("turn ^= 1;") == 1
    assert 0 <= producer.find("wait_for_loads(shared, last_before,") < producer.find("change_map(")
    life = loads()
    first = 1  # turn begins with 0 and changes before the first group
    lanes = {turn: [g for g in range(GROUPS) if (g + first) % 2 == turn] for turn in (1, 0)}
    followed = 2  # the change for this group: the map's old loads have landed, the other's have not
    begin, end = life[followed - 1][1], life[followed][0]
    assert life[followed - 2][2] < begin and end < life[followed - 1][2]
    more = life[followed - 1][2] - begin
    p = Picture("One map is changed, another is read",
                f"""Above, the change of a map; steps 2 to {len(steps)} are `change_map()`. Below,
                two maps in turn: when the producer changes `a[1]` for group {followed}, group
                {followed - 2}'s loads have landed, and group {followed - 1}'s still read `a[0]`.
                With a single map it would have to wait {more} cycles longer for them
                (simulated, one CTA, {GROUPS} groups of {ROWS} rows, k = {SIZE[5]}).""",
                "How a map is changed: one thread edits address and rows of a copy in shared "
                "memory, the warp's barrier orders the edits, the warp copies it to global memory "
                "and releases it, and acquires it for the TMA. Before that, all loads that use the "
                "old map must have landed. Below, the two maps over time: loads of groups 0 and 2 "
                "use the one, those of 1 and 3 the other, and a map is changed while the loads of "
                "the other are in flight.", 452)
    # the places
    p.rect(20, 52, 172, 132, "lane", rx=4)
    p.text(30, 74, "shared memory", "text b")
    for x, w, word in ((30, 84, "address"), (118, 62, "rows")):
        p.rect(x, 84, w, 28, "item1")
        p.text(x + w / 2, 103, word, "text ink b", "middle")
    p.rect(30, 114, 150, 26, "held")
    p.text(105, 132, "the rest", "text", "middle")
    p.text(30, 168, "2 edit, 3 sync")
    p.rect(266, 52, 140, 132, "lane", rx=4)
    p.text(336, 74, "global memory", "text b", "middle")
    p.rect(276, 84, 120, 40, "item1")
    p.text(336, 109, "a[1]", "code ink b", "middle")
    p.rect(276, 128, 120, 40, "held")
    p.text(336, 153, "a[0]", "code", "middle")
    p.arrow(184, 98, 272, 98)
    p.text(229, 88, "4 copy,", "text", "middle")
    p.text(229, 118, "release", "text", "middle")
    p.rect(496, 52, 44, 132, "load")
    p.text(518, 123, "TMA", "text ink b", "middle")
    p.arrow(400, 98, 492, 98)
    p.text(450, 88, "5", "text", "middle")
    p.text(450, 118, "acquire", "text", "middle")

    def px(t):
        return X + (RIGHT - X) * (t - FROM) / (TO - FROM)
    y = 262
    p.text(20, y - 20, "The two maps over time", "head")
    for row, turn in enumerate((1, 0)):
        top = y + 46 * row
        p.text(X - 10, top + 19, f"a[{turn}]", "code", "end")
        p.rect(X, top, RIGHT - X, LANE, "lane")
        for g in lanes[turn]:
            if g:
                p.rect(px(life[g - 1][1]), top, px(life[g][0]) - px(life[g - 1][1]), LANE, "item1")
            p.rect(px(life[g][0]), top, px(life[g][2]) - px(life[g][0]), LANE, "load")
            p.text(px(life[g][0]) + 8, top + 19, f"group {g}", "text ink b")
    for t in (begin, end):
        p.path(f"M{px(t):.1f} {y - 4}v{46 + LANE + 8}", "dash")
    yb = y + 46 + LANE + 34
    p.text(20, yb, f"1: group {followed - 2}’s loads have landed; 2 to 5: change of a[1]")
    p.legend(20, yb + 38, (("item1", "change of the map", 190), ("load", "loads in flight", 0)))
    k = px(FROM + 1000) - px(FROM)
    p.path(f"M{RIGHT - k:.1f} {yb + 33}h{k:.1f}m0 -4v8m{-k:.1f} 0v-8", "rule")
    p.text(RIGHT, yb + 62, "1000 cycles", "num", "end")
    return p.svg()
