"""Chapter 14: three buffers through which a tile's pieces of C come and its pieces of D go."""
import re

import rings
from data import constants, run, source
from picture import Picture

PROGRAM, KERNEL = "14_fused_epilogue", "beyond/14_fused_epilogue/kernel.cu"
SIZE = ("--m", "128", "--n", "192", "--k", "512")
FROM, TO = 9300, 13300  # cycles of the timeline
CX, CY, R0, R1 = 280, 184, 58, 118
EDITS = [(KERNEL, "#define BUFFERS 3", "#define BUFFERS 2"),
         (KERNEL, "        bulk_wait_group_read(0);\n        request_c(", "        request_c(")]


def lives(buffers):
    """{piece: [requested, landed, read, given up]} of consumer 0's first tile, in cycles, as far as
    the explanation goes; the last one is when the buffer is requested for another piece."""
    c = constants(KERNEL)
    first = 2 * c["STAGES"]  # its barriers come behind those of the ring
    assert re.search(r"pipeline_stage ring\[STAGES\];.*\n +mbarrier_t c_full", source(KERNEL))
    out = {}
    for b in range(buffers):
        told = run(PROGRAM, *SIZE, "--explain", f"mbarrier:{first + b}")
        piece = b - buffers
        for at, what in re.findall(r"^ *(\d+)(?: +\d+){4} +(expect_tx|complete_tx|try_wait: pass)",
                                   told, re.M):
            if what == "expect_tx":
                if piece >= 0:
                    out[piece].append(int(at))
                piece += buffers
                out[piece] = []
            out[piece].append(int(at))
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
    now = (life[1][2] + life[1][3]) // 2

    def state(times):
        return sum(t <= now for t in times)  # 1 in flight, 2 C waits, 3 worked on
    at = {b: max(p for p in life if p % buffers == b and life[p][0] <= now) for b in range(buffers)}
    doing = {state(life[at[b]]): b for b in range(buffers)}
    assert sorted(doing) == [1, 2, 3]
    p = Picture("Each buffer: C in, D over it, D out",
                f"""One moment of a tile's epilogue, marked by the line below: C {at[doing[1]]} is
                on its way, C {at[doing[2]]} waits, and C {at[doing[3]]} is replaced by D
                {at[doing[3]]}. The {pieces} pieces of a tile take turns in {buffers} buffers, so
                each buffer has {pieces // buffers} of them (simulated, consumer 0 of one CTA of
                `kernel.cu`).""",
                f"A ring of {buffers} buffers at one moment. In buffer {doing[1]} the TMA loads "
                f"piece {at[doing[1]]} of C; in buffer {doing[2]} piece {at[doing[2]]} of C waits; "
                f"in buffer {doing[3]} the consumer reads piece {at[doing[3]]} of C and writes the "
                "same piece of D in its place, which the TMA then stores. Only when it has read D "
                "is the next piece of C requested for this buffer. Below, the same over time.", 532)
    words = {1: ("load", ("C {} in flight",)), 2: ("held", ("C {} waits",)),
             3: ("epilogue", ("C {} read,", "D {} written"))}
    for b in range(buffers):
        cls, lines = words[state(life[at[b]])]
        p.path(rings.sector(CX, CY, b, buffers, R0, R1), cls)
        rings.k_tile(p, CX, CY, b, buffers, (R0 + R1) // 2, at[b])
        x, y = ((418, 92), (418, 264), (24, 92))[b]
        p.text(x, y, f"buffer {b}", "head")
        for i, line in enumerate(lines):
            p.text(x, y + 22 + 20 * i, line.format(at[b]))
    rings.hand(p, CX, CY, doing[1], buffers, R1, "load", True)
    rings.hand(p, CX, CY, doing[3], buffers, R0, "epilogue", False)
    p.legend(20, 348, (("load", "C in flight", 130), ("held", "C waits", 110),
                       ("epilogue", "D written, stored", 0)))
    for x, cls, word in ((20, "load", "TMA"), (150, "epilogue", "consumer")):
        p.path(f"M{x} 375l9 -16l9 16z", cls)
        p.text(x + 25, 374, word)
    y = 424
    lanes = [[(k, *life[k][:2], life[k][3] if len(life[k]) > 3 else TO)
              for k in sorted(life) if k % buffers == b] for b in range(buffers)]
    rings.over_time(p, y, 92, 540, FROM, TO, lanes, now, names=("buffer", "piece"), readers=(
        ("epilogue", [[(life[k][2], life[k][3] if len(life[k]) > 3 else TO)
                       for k in sorted(life) if k % buffers == b and len(life[k]) > 2]
                      for b in range(buffers)]),))
    return p.svg()
