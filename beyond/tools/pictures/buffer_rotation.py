"""Chapter 14: three buffers through which a tile's pieces of C come and its pieces of D go."""
import re

from data import constants, source, told
from edit import Replace
from picture import Picture

PROGRAM, KERNEL = "14_fused_epilogue", "beyond/14_fused_epilogue/kernel.cu"
SIZE = ("--m", "128", "--n", "192", "--k", "512")
FROM, TO = 9300, 13300  # cycles of the timeline
X, RIGHT, LANE, STEP = 92, 540, 24, 32
EDITS = [(KERNEL, Replace("#define BUFFERS 3", "#define BUFFERS 2")),
         "14.c-requested-before-d-has-been-read"]


def lives(buffers):
    """{piece: [requested, landed, read, given up]} of consumer 0's first tile, in cycles, as far as
    the explanation goes; the last one is when the buffer is requested for another piece."""
    c = constants(KERNEL)
    first = 2 * c["STAGES"]  # its barriers come behind those of the ring
    assert re.search(r"pipeline_stage ring\[STAGES\];.*\n +mbarrier_t c_full", source(KERNEL))
    out = {}
    for b in range(buffers):
        piece = b - buffers
        for event in told(PROGRAM, *SIZE, barrier=first + b):
            if event.name == "expect_tx":
                if piece >= 0:
                    out[piece].append(event.cycle)
                piece += buffers
                out[piece] = []
            if event.name in ("expect_tx", "complete_tx") or event.words.startswith("pass"):
                out[piece].append(event.cycle)
    return out


def draw():
    buffers = constants(KERNEL)["BUFFERS"]
    assert buffers == 3  # the drawing's own number
    life = lives(buffers)
    complete = [piece for piece, times in life.items() if len(times) == 4]
    assert sorted(complete) == list(range(2 * buffers)), life
    for piece, times in life.items():
        assert times == sorted(times)
    pieces = 128 * 192 // (64 * 32)
    assert "PIECES = BM / EPILOGUE_M * BN / EPILOGUE_N," in source(KERNEL), "what a tile has"
    # A moment at which one buffer is loaded, one waits and one is worked on.
    now = (3 * life[1][2] + life[1][3]) // 4

    def state(times):
        return sum(t <= now for t in times)  # 1 in flight, 2 C waits, 3 worked on
    at = {b: max(p for p in life if p % buffers == b and life[p][0] <= now) for b in range(buffers)}
    doing = {state(life[at[b]]): b for b in range(buffers)}
    assert sorted(doing) == [1, 2, 3]
    p = Picture("C comes in where D goes out",
                f"""The moment of the line below: buffer {doing[1]} gets C {at[doing[1]]}, C
                {at[doing[2]]} waits in buffer {doing[2]}, and D {at[doing[3]]} is written over C
                {at[doing[3]]} in buffer {doing[3]}. The {pieces} pieces of a tile go through
                {buffers} buffers, so each passes the loop of 4 states {pieces // buffers} times
                (simulated, consumer 0 of one CTA of `kernel.cu`).""",
                f"The loop of a buffer's four states: the TMA loads a piece of C; when the barrier "
                "c_full says that it has landed it waits for its turn; the consumer reads it and "
                "writes the same piece of D over it; after a fence and a barrier the TMA reads D "
                "to store it; and when bulk_wait_group_read says that it has, the next piece of C "
                f"is requested. At one moment buffer {doing[1]} is in the first state, buffer "
                f"{doing[2]} in the second, buffer {doing[3]} in the third. Below, the three "
                "buffers over time.", 520)
    left, right, top, low, wide, high = 20, 330, 50, 186, 210, 82
    for x, y, cls, ink, title, who, number in (
            (left, top, "load", "ink", "C comes", "by the TMA", 1),
            (right, top, "held", "", "C waits", "", 2),
            (right, low, "epilogue", "ink", "D over C", "by the consumer", 3),
            (left, low, "store", "ink", "D goes", "by the TMA", 0)):
        p.rect(x, y, wide, high, cls)
        p.text(x + 10, y + 23, title, f"head {ink}".strip())
        p.text(x + 10, y + 46, who, f"text {ink}".strip())
        if number:
            b = doing[number]
            p.text(x + 10, y + 69, f"buffer {b}, piece {at[b]}", f"text b {ink}".strip())
    p.arrow(left + wide + 6, top + 41, right - 6, top + 41)
    p.text((left + wide + right) / 2, top + 30, "c_full", "code", "middle")
    p.arrow(right + wide - 24, top + high + 6, right + wide - 24, low - 6)
    p.text(right + wide - 38, (top + high + low) / 2 + 5, "the piece’s turn", "text", "end")
    p.arrow(right - 6, low + 41, left + wide + 6, low + 41)
    p.text((left + wide + right) / 2, low + 30, "fence,", "text", "middle")
    p.text((left + wide + right) / 2, low + 62, "barrier", "text", "middle")
    p.arrow(left + 24, low - 6, left + 24, top + high + 6)
    p.text(left + 38, (top + high + low) / 2 + 5, "bulk_wait_group_read", "code")

    def px(t):
        return round(X + (RIGHT - X) * (min(max(t, FROM), TO) - FROM) / (TO - FROM), 1)
    y = 334
    p.text(20, y - 18, "The buffers over time; number: piece; line: now", "head")
    for b in range(buffers):
        lane = y + STEP * b
        p.text(X - 12, lane + 17, f"buffer {b}", "text", "end")
        p.rect(X, lane, RIGHT - X, LANE, "lane")
        for k in (k for k in life if k % buffers == b):
            marks = life[k] + [TO] * (4 - len(life[k]))
            for cls, begin, end in zip(("load", "held", "epilogue"), marks, marks[1:]):
                if px(begin) < px(end):
                    p.rect(px(begin), lane, px(end) - px(begin), LANE, cls)
                if cls != "held" and px(end) - px(begin) > 20:
                    p.text((px(begin) + px(end)) / 2, lane + 17, k, "num ink b", "middle")
            if FROM < marks[3] < TO:
                p.rect(px(marks[3]) - 5, lane, 5, LANE, "store")
    p.path(f"M{px(now)} {y - 6}v{STEP * buffers + 4}", "now")
    p.css.append(".now{stroke:var(--fg);stroke-width:2}")
    y += STEP * buffers + 24
    p.legend(20, y, (("load", "C comes", 112), ("held", "C waits", 108),
                     ("epilogue", "D over C", 0)))
    p.legend(20, y + 28, (("store", "the TMA has read D", 0),))
    k = px(FROM + 1000) - X
    p.path(f"M{RIGHT - k:g} {y + 18}h{k:g}m0 -4v8m{-k:g} 0v-8", "rule")
    p.text(RIGHT, y + 42, "1000 cycles", "num", "end")
    return p.svg()
