"""Chapter 08: how setmaxnreg moves registers from the producer to the consumers."""
import re

from data import constants, sheet, source
from edit import Replace
from picture import Picture

KERNEL = "08_persistent_pingpong/kernel.cu"
EDITS = [(KERNEL, Replace("#define PRODUCER_REGISTERS 40", "#define PRODUCER_REGISTERS 24")),
         "08.too-many-registers"]
SCALE, X, LANE, STEP, TOP = 1.5, 130, 34, 42, 82


def draw():
    c = constants(KERNEL)
    consumers, least, most = c["CONSUMERS"], c["PRODUCER_REGISTERS"], c["CONSUMER_REGISTERS"]
    threads = 128 * (1 + consumers)
    launch = int(sheet("registers per SM").split()[0]) // threads // 8 * 8
    acc = c["BM"] * c["BN"] // 128
    text = source(KERNEL)
    assert re.search(r"\(PRODUCER_REGISTERS\)", text) and re.search(r"\(CONSUMER_REGISTERS\)", text)
    given, taken = launch - least, most - launch
    assert given >= consumers * taken, "the last inc would wait forever"
    assert launch < acc < most
    p = Picture("setmaxnreg: registers change hands",
                f"""Registers of a thread in each warpgroup: at launch {launch} everywhere. The
                producer's warpgroup gives {given} back, and each of the {consumers} consumers
                takes {taken}, so that its {acc} accumulators fit (predicted, from
                `08_persistent_pingpong/kernel.cu`).""",
                f"Three bars of {launch} registers for each thread, one a warpgroup. After "
                f"setmaxnreg the producer has {least} and each consumer {most}. The accumulators "
                f"of a consumer, {acc}, are more than {launch} and fit into {most}.", 418)
    names = ["producer"] + [f"consumer {i}" for i in range(consumers)]
    for top, head, sizes in ((TOP, f"At launch: {1 + consumers} × {launch} = "
                              f"{(1 + consumers) * launch}", [launch] * (1 + consumers)),
                             (TOP + 170, f"After setmaxnreg: {least} + " + " + ".join(
                                 [str(most)] * consumers) + f" = {least + consumers * most}",
                              [least] + [most] * consumers)):
        p.text(20, top - 14, head, "head")
        for i, (name, size) in enumerate(zip(names, sizes)):
            y = top + STEP * i
            cls = ("load", "mma", "mma1")[i]
            p.text(X - 10, y + 22, name, "text", "end")
            p.rect(X, y, min(size, launch) * SCALE, LANE, cls)
            if size > launch:
                p.rect(X + launch * SCALE, y, (size - launch) * SCALE, LANE, "item1")
                p.text(X + size * SCALE - 8, y + 22, f"+ {size - launch}", "text ink b", "end")
            if size < launch:
                p.path(f"M{X + size * SCALE} {y + 1}H{X + launch * SCALE}V{y + LANE - 1}H"
                       f"{X + size * SCALE}", "dash")
                p.text(X + (size + launch) / 2 * SCALE, y + 22, f"− {launch - size}", "text b",
                       "middle")
            p.text(X + 10, y + 22, size, "text ink b" if i < 2 else "text onbright b")
            if i:  # what a consumer must hold
                p.path(f"M{X + acc * SCALE:g} {y - 3}v{LANE + 6}", "need")
    p.css.append(".need{stroke:var(--fg);stroke-width:2.5;stroke-dasharray:4 2}")
    p.path(f"M24 {TOP + 308}v16", "need")
    p.text(36, TOP + 320, f"a consumer’s {acc} accumulators")
    return p.svg()
