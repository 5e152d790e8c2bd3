"""Chapter 16: when the exponentials run and when the Tensor Core does, in the chapter's three
kernels, from simulated traces."""
from data import source, trace
from picture import Picture

PROGRAM, KERNEL = "16_attention", "beyond/16_attention/kernel.cu"
SIZE = ("--m", "128", "--n", "1280", "--k", "128", "--heads", "1", "--sms", "1")
FROM, TO, X, RIGHT = 11000, 18000, 128, 544
THIN, CORE = 20, 28
EDITS = [(KERNEL, "wgmma_wait_group(1);", "wgmma_wait_group(0);")]
CONSUMERS = ("consumer 0", "consumer 1")


def merged(spans, gap=0):
    out = []
    for begin, end in sorted(spans):
        if out and begin <= out[-1][1] + gap:
            out[-1][1] = max(end, out[-1][1])
        else:
            out.append([begin, end])
    return out


def schedule(*variant):
    """Of each consumer: its exponentials (pauses within a block's are left out), its spans of the
    Tensor Core."""
    events = trace(PROGRAM, *variant, *SIZE)
    return ([merged([(b, b + c) for track, _, b, c, _ in events if track == f"{role} SFU"], 300)
             for role in CONSUMERS],
            [merged([(b, b + c) for track, name, b, c, args in events
                     if track == "Tensor Core" and name == "multiply" and args["role"] == role])
             for role in CONSUMERS])


def common(one, other):
    """The cycles that two lists of spans have in common, in what is drawn."""
    return sum(max(0, min(b, d, TO) - max(a, c, FROM)) for a, b in one for c, d in other)


def px(t):
    return round(X + (RIGHT - X) * (min(max(t, FROM), TO) - FROM) / (TO - FROM), 1)


def draw():
    assert source(KERNEL).count("wgmma_wait_group(1);") == 1
    panels = [(name, *schedule(*variant)) for name, variant in (
        ("serial", ("--variant", "serial")), ("pingpong", ("--variant", "pingpong")),
        ("kernel", ()))]
    window = [(FROM, TO)]
    said = []
    for name, soft, core in panels:
        busy = common(merged([s for spans in core for s in spans]), window)
        own = sum(common(soft[i], core[i]) for i in (0, 1))
        total = sum(common(soft[i], window) for i in (0, 1))
        said.append((100 * busy // (TO - FROM), 100 * own // total))
    serial, pingpong, kernel = said
    # What the three do, and what they do not.
    assert serial[0] < 95 and pingpong[0] == kernel[0] == 100, said
    assert kernel[1] > 25 and pingpong[1] == serial[1] == 0, said
    p = Picture("Where the exponentials hide",
                f"""Brown: a consumer's exponentials. The Tensor Core (green, light for consumer 1)
                is busy for {serial[0]}, {pingpong[0]} and {kernel[0]} % of the time. The orange
                part of the exponentials, {serial[1]}, {pingpong[1]} and {kernel[1]} %, runs under
                multiplications of their own consumer (simulated, one CTA, d = {SIZE[5]}, {SIZE[3]}
                keys).""",
                "Three schedules over the same time, each with the exponentials of two consumers "
                "and the Tensor Core between them. serial: the consumers compute exponentials at "
                "about the same time, and then nothing is left to multiply: the Tensor Core is "
                f"busy for {serial[0]} %. pingpong: while one computes exponentials, the "
                "Tensor Core multiplies for the other. "
                "kernel: the exponentials also run under the consumer's own product of P and V. "
                "The Tensor Core is never idle in the last two.", 544)
    step = 138
    heads = ("serial: close together, and nothing to multiply",
             "pingpong: under the other’s products", "kernel: under their own product, too")
    for i, ((name, soft, core), head) in enumerate(zip(panels, heads)):
        y = 60 + step * i
        p.text(20, y, head, "head")
        y += 12
        rows = (y, y + THIN + 3, y + THIN + CORE + 6)
        for c, top in ((0, rows[0]), (1, rows[2])):
            p.text(X - 10, top + 15, f"softmax {c}", "text", "end")
            p.rect(X, top, RIGHT - X, THIN, "lane")
            p.cells([(px(a), top, round(px(b) - px(a), 1), THIN) for a, b in soft[c]
                     if b > FROM and a < TO], "fma")
            own = [(max(a, e), min(b, f)) for a, b in soft[c] for e, f in core[c]
                   if max(a, e, FROM) < min(b, f, TO)]
            if own:
                p.cells([(px(a), top, round(px(b) - px(a), 1), THIN) for a, b in own], "item1")
        p.text(X - 10, rows[1] + 19, "Tensor Core", "text b", "end")
        p.rect(X, rows[1], RIGHT - X, CORE, "lane")
        spans = merged(s for of in core for s in of)
        idle = [(a, b) for (_, a), (b, _) in zip(spans, spans[1:]) if b > FROM and a < TO]
        if idle:
            p.cells([(px(a), rows[1], round(px(b) - px(a), 1), CORE) for a, b in idle], "hot")
        for c in (0, 1):
            p.cells([(px(a), rows[1], round(px(b) - px(a), 1), CORE) for a, b in core[c]
                     if b > FROM and a < TO], ("mma", "mma1")[c])
    y = 60 + step * 3 + 4
    p.legend(20, y, (("mma", "", 20), ("mma1", "multiplies for 0, 1", 190), ("hot", "idle", 80),
                     ("fma", "exponentials,", 0)))
    p.legend(20, y + 28, (("item1", "under their own consumer’s product", 0),))
    k = px(FROM + 1000) - px(FROM)
    p.path(f"M{RIGHT - k:g} {y + 50}h{k:g}m0 -4v8m{-k:g} 0v-8", "rule")
    p.text(RIGHT - k - 10, y + 55, "1000 cycles", "num", "end")
    return p.svg()
