"""Chapter 16: when the exponentials run and when the Tensor Core does, in the chapter's three
kernels, from simulated traces."""
import re

from data import source, trace
from edit import Replace
from picture import Picture

PROGRAM, KERNEL = "16_attention", "beyond/16_attention/kernel.cu"
HEAD, KEYS, BLOCK = 128, 1280, 3  # BLOCK: the first key block that is drawn
SIZE = ("--m", "128", "--n", str(KEYS), "--k", str(HEAD), "--heads", "1", "--sms", "1")
CYCLES, X, RIGHT = 5700, 128, 544
THIN, CORE, STEP = 20, 28, 152
EDITS = [(KERNEL, Replace("wgmma_wait_group(1);", "wgmma_wait_group(0);")),
         (KERNEL, Replace("#define BN 160 ", "#define BN 128 "))]
CONSUMERS = ("consumer 0", "consumer 1")


def merged(spans, gap=0):
    out = []
    for begin, end in sorted(spans):
        if out and begin <= out[-1][1] + gap:
            out[-1][1] = max(end, out[-1][1])
        else:
            out.append([begin, end])
    return out


class Schedule:
    """Of each consumer: its exponentials (pauses within a block's are left out), and its products,
    (begin, end, name); and what is drawn of them, from consumer 0's scores of a block on. `own` is
    the part of the exponentials under a product of the same consumer."""

    def __init__(self, in_turns, *variant):
        events = trace(PROGRAM, *variant, *SIZE)
        # The product of the keys takes HEAD / 16 instructions of BN / 2 cycles, that of the values
        # BN / 16 of HEAD / 2.
        product = HEAD * int(re.search(r"#define BN (\d+) +/. keys", source(KERNEL))[1]) // 32
        self.soft = [merged([(b, b + c) for track, _, b, c, _ in events if track == f"{role} SFU"],
                            300) for role in CONSUMERS]
        self.products = []
        for role in CONSUMERS:
            spans = sorted((b, b + c, args["k_tile"]) for track, name, b, c, args in events
                           if track == "Tensor Core" and args.get("role") == role)
            own = []
            if in_turns:  # both products in one, that of the keys first
                for begin, end in merged([span[:2] for span in spans]):
                    if end - begin > product:
                        own += [(begin, begin + product, "QKᵀ"), (begin + product, end, "PV")]
            else:  # the two products of a block have its number
                own = [(b, e, "PV" if i and spans[i - 1][2] == block else "QKᵀ")
                       for i, (b, e, block) in enumerate(spans)]
            self.products.append(own)
        starts = [b for b, _, name in self.products[0] if name == "QKᵀ"]
        self.begin = starts[BLOCK]
        self.period = starts[BLOCK + 1] - self.begin
        self.end = self.begin + CYCLES
        busy = merged([(b, e) for own in self.products for b, e, _ in own])
        self.idle = self.seen([(a, b) for (_, a), (b, _) in zip(busy, busy[1:])])
        self.own = [self.seen([(max(a, e), min(b, f)) for a, b in self.soft[c]
                               for e, f, _ in self.products[c]]) for c in (0, 1)]
        # How long before consumer 0's next product its first softmax that is drawn ends.
        last = next(e for b, e in self.soft[0] if b >= self.begin)
        self.slack = next(b for b, *_ in self.products[0] if b >= last) - last

    def seen(self, spans):
        """Those parts of spans that are drawn."""
        cut = [(max(a, self.begin), min(b, self.end)) for a, b in spans]
        return [(a, b) for a, b in cut if a < b]

    def px(self, t):
        return round(X + (RIGHT - X) * (t - self.begin) / CYCLES, 1)

    def boxes(self, spans, y, high):
        return [(self.px(a), y, round(self.px(b) - self.px(a) - .6, 1), high) for a, b in spans]


def draw():
    assert source(KERNEL).count("wgmma_wait_group(1);") == 1
    for path in (KERNEL, KERNEL.replace("kernel", "pingpong")):  # in a turn the keys come first
        text = source(path).partition("void next_block(")[2]
        assert 0 < text.find("multiply_keys(") < text.find("multiply_values("), path
    serial, pingpong, kernel = (
        Schedule(False, "--variant", "serial"), Schedule(True, "--variant", "pingpong"),
        Schedule(True))
    # What the three do, and what they do not.
    assert not pingpong.idle and not kernel.idle
    long = [(a, b) for a, b in serial.idle if b - a > 200]
    assert [sum(serial.begin + i * serial.period <= a < serial.begin + (i + 1) * serial.period
                for a, _ in long) for i in (0, 1)] == [1, 1], "not once a block"
    assert serial.period > pingpong.period == kernel.period
    assert not any(serial.own) and not any(pingpong.own) and all(kernel.own)
    assert kernel.slack > pingpong.slack > 0
    p = Picture("Counted by units, two of three never idle",
                f"""In `serial.cu` the Tensor Core idles once for each 4 products, and a key
                block takes {serial.period} cycles instead of {pingpong.period}. `kernel.cu` is no
                faster here than `pingpong.cu`, but its exponentials end {kernel.slack} cycles
                before the consumer's next products instead of {pingpong.slack} (simulated, one CTA, d =
                {HEAD}, {KEYS} keys).""",
                "Three schedules, each with the exponentials of two consumers and the Tensor Core "
                "between them. serial: the Tensor Core multiplies queries and keys for both "
                "consumers and then idles until the first consumer's exponentials are done; then "
                f"come both products of P and V. A block takes {serial.period} cycles. pingpong: a "
                "consumer takes both products in one turn, and its exponentials run under the "
                f"other's turn; a block takes {pingpong.period}. kernel: the exponentials begin "
                "under the consumer's own product of P and V. A block takes as long, but the "
                "exponentials are done earlier.", 590)
    panels = ((serial, "serial.cu: idle in each block"),
              (pingpong, "pingpong.cu: softmax under the other’s turn"),
              (kernel, "kernel.cu: under its own PV, too; no faster"))
    for i, (s, head) in enumerate(panels):
        y = 60 + STEP * i
        p.text(20, y, head, "head")
        y += 12
        rows = (y, y + THIN + 3, y + THIN + CORE + 6)
        p.text(X - 10, rows[1] + 19, "Tensor Core", "text b", "end")
        for c, top in ((0, rows[0]), (1, rows[2])):
            p.text(X - 10, top + 15, f"softmax {c}", "text", "end")
            p.rect(X, top, RIGHT - X, THIN, "lane")
            p.cells(s.boxes(s.seen(s.soft[c]), top, THIN), "fma")
            if s.own[c]:
                p.cells(s.boxes(s.own[c], top, THIN), "item0")
            p.cells(s.boxes(s.seen([of[:2] for of in s.products[c]]), rows[1], CORE),
                    ("mma", "mma1")[c])
            for b, e, name in s.products[c]:
                if s.begin <= b and e <= s.end:
                    p.text(s.px((b + e) / 2), rows[1] + 19, name,
                           ("text ink b", "text onbright")[c], "middle")
        if s.idle:
            p.cells(s.boxes(s.idle, rows[1], CORE), "hot")
        a, b, y = s.px(s.begin), s.px(s.begin + s.period), rows[2] + THIN + 6
        p.path(f"M{a + 1:g} {y}v6H{b - 1:g}v-6", "rule")
        p.text((a + b) / 2, y + 22, f"a key block: {s.period} cycles", "text", "middle")
    y = 60 + STEP * 3 + 2
    p.legend(20, y, (("mma", "", 20), ("mma1", "product for consumer 0, 1", 0)))
    p.legend(20, y + 27, (("hot", "Tensor Core idle", 200), ("fma", "exponentials", 0)))
    p.legend(20, y + 54, (("item0", "exponentials under the same consumer’s PV", 0),))
    return p.svg()
