"""Chapter 15: how a CTA changes a tensor map, and why it has two of A: one is changed while loads
still read the other."""
from data import constants, function, source, trace
from edit import Remove, Replace
from picture import Picture

PROGRAM, KERNEL = "15_grouped_gemm", "beyond/15_grouped_gemm/kernel.cu"
GROUPS, ROWS = 4, 128  # a tile for each group
SIZE = ("--m", str(GROUPS * ROWS), "--n", "192", "--k", "256", "--groups", str(GROUPS), "--router",
        "even", "--sms", "1")
FROM, TO, X, RIGHT, LANE, STEP = 1600, 14600, 92, 540, 26, 36
EDITS = ["15.one-map-of-a-without-a-wait",
         (KERNEL, Replace("wait_for_loads(shared, last_before, issued)",
                          "wait_for_loads(shared, last, issued)")),
         (KERNEL, Remove("tensor_map_replace_dim(edited, 1, rows);")),
         "15.no-acquire"]


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
                f"""The orange change, in 5 steps: when the producer changes `a[1]` for group
                {followed}, group {followed - 2}'s loads have landed, and group {followed - 1}'s
                still read `a[0]`. With a single map it would have to wait {more} cycles longer for
                them (simulated, one CTA, {GROUPS} groups of {ROWS} rows, k = {SIZE[5]}).""",
                "How a map is changed. Step 1: all loads that use the old map have landed. Step 2: "
                "one thread edits address and rows of a copy in shared memory. Step 3: the warp's "
                "barrier orders the edits. Step 4: the warp copies it to global memory and "
                "releases it. Step 5: it acquires it for the TMA. Below, the two maps over time: "
                "loads of groups 0 and 2 use the one, those of 1 and 3 the other, and a map is "
                "changed while the loads of the other are in flight. The producer changes a map "
                "when it has issued all loads of the group before.", 480)
    p.text(20, 60, "1", "text b")
    p.text(39, 60, f"the loads of group {followed - 2}, by the old a[1], have landed")
    # the places
    p.rect(20, 74, 176, 142, "lane", rx=4)
    p.text(30, 96, "shared memory", "text b")
    for x, w, word in ((30, 84, "address"), (118, 62, "rows")):
        p.rect(x, 106, w, 28, "item1")
        p.text(x + w / 2, 125, word, "text ink b", "middle")
    p.rect(30, 136, 150, 26, "held")
    p.text(105, 154, "the rest", "text", "middle")
    for y, number, word in ((182, 2, "edit"), (204, 3, "sync of the warp")):
        p.text(30, y, number, "text b")
        p.text(49, y, word)
    p.rect(260, 74, 152, 142, "lane", rx=4)
    p.text(336, 96, "global memory", "text b", "middle")
    p.rect(276, 106, 120, 40, "held")
    p.text(336, 131, "a[0]", "code", "middle")
    p.rect(276, 150, 120, 40, "item1")
    p.text(336, 175, "a[1]", "code ink b", "middle")
    p.path("M184 120h45V170h33", "rule")
    p.arrow(262, 170, 272, 170)
    p.text(229, 110, "4", "text b", "middle")
    p.text(229, 190, "copy,", "text", "middle")
    p.text(229, 210, "release", "text", "middle")
    p.rect(484, 74, 56, 142, "load")
    p.text(512, 150, "TMA", "text ink b", "middle")
    p.arrow(400, 170, 480, 170)
    p.text(447, 160, "5", "text b", "middle")
    p.text(447, 190, "acquire", "text", "middle")

    def px(t):
        return round(X + (RIGHT - X) * (t - FROM) / (TO - FROM), 1)
    y = 282
    p.text(20, y - 18, "The two maps over time", "head")

    def lane(row, name, cls):
        p.text(X - 10, y + STEP * row + 18, name, cls, "end")
        p.rect(X, y + STEP * row, RIGHT - X, LANE, "lane")

    def span(row, a, b, cls):
        p.rect(px(a), y + STEP * row, round(px(b) - px(a), 1), LANE, cls)
    for turn in (0, 1):
        lane(turn, f"a[{turn}]", "code")
        for g in lanes[turn]:
            span(turn, life[g][0], life[g][2], "load")
            p.text(px(life[g][0]) + 8, y + STEP * turn + 18, f"group {g}", "text ink b")
    lane(2, "producer", "text")
    for g in range(GROUPS):
        span(2, life[g][0], life[g][1], "acquire")
        if g:
            cls = "item1" if g == followed else "store"
            for row in (lanes[0].count(g) ^ 1, 2):
                span(row, life[g - 1][1], life[g][0], cls)
    middle = (px(begin) + px(end)) / 2
    p.text(px(life[followed - 2][2]) + 4, y + STEP + 18, "1", "text b")
    p.text(middle, y + STEP + 18, f"2–{len(steps)}", "num ink b", "middle")
    for t in (begin, end):
        p.path(f"M{px(t):.1f} {y - 6}v{2 * STEP + LANE + 12}", "dash")
    y += 2 * STEP + LANE + 32
    p.legend(20, y, (("item1", f"change for group {followed}", 196),
                     ("store", "another change", 0)))
    p.legend(20, y + 27, (("load", "loads in flight", 196), ("acquire", "issues loads", 0)))
    k = px(FROM + 1000) - px(FROM)
    p.path(f"M{RIGHT - k:.1f} {y + 50}h{k:.1f}m0 -4v8m{-k:.1f} 0v-8", "rule")
    p.text(RIGHT - k - 8, y + 55, "1000 cycles", "num", "end")
    return p.svg()
