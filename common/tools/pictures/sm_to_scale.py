"""machine.md: the way from memory to the Tensor Core, pipes as wide as their bytes per cycle."""
import re

from data import SHEET, sheet, sms_of_a_gpu, source
from edit import Replace
from picture import Picture

RECORD = "docs/results/probe.txt"
EDITS = [(SHEET, Replace("| L2, memory | 60 MB", "| L2, memory | 50 MB")),
         (RECORD, Replace("TMA, all SMs, from the L2                                       35.2",
                          "TMA, all SMs, from the L2                                       45.2")),
         (RECORD, Replace("TMA, all SMs, from DRAM                                         14.2",
                          "TMA, all SMs, from DRAM                                         54.2"))]
UNIT = 1.7  # units of width for a byte per cycle


def measured(name):
    """The number of a line of the record, and its unit."""
    found = re.search(rf"^{re.escape(name)}  +([\d.]+) (\S+)", source(RECORD), re.M)
    assert found, f"{RECORD} has no '{name}'"
    return float(found.group(1)), found.group(2)


def draw():
    sms, parts = sms_of_a_gpu(), int(sheet("SMs, sub-partitions each").split(", ")[1])
    cache, memory = sheet("L2, memory").split(", ")
    shared = sheet("shared memory").split(" per SM")[0]
    registers = int(sheet("registers per SM").split()[0]) // parts // 1024
    assert parts == 4
    dram, unit = measured("TMA, all SMs, from DRAM")
    l2, _ = measured("TMA, all SMs, from the L2")
    ldmatrix, _ = measured("ldmatrix.x4, eight warps, one SM")
    narrow, cycles = measured("wgmma m64n64k16, one SM")
    wide, _ = measured("wgmma m64n256k16, one SM")
    assert unit == "bytes/cycle/SM" and cycles == "cycles"
    operands = (64 * 16 + 64 * 16) * 2 / narrow
    flops = 2 * 64 * 256 * 16 / wide
    gpu = re.search(r'"gpu": "([^"]*)"', source(RECORD)).group(1)
    assert dram < l2 < ldmatrix < operands
    p = Picture("An SM’s pipes, to scale",
                f"""Bytes that reach one SM in a cycle when all {sms} SMs fetch different data:
                {dram:.0f} from DRAM, {l2:.0f} from the L2. Inside the SM `ldmatrix` gets
                {ldmatrix:.0f}, and `wgmma` {operands:.0f}, {operands / dram:.0f} times the first
                pipe (measured, {gpu.removeprefix("NVIDIA ")}, [record](results/probe.txt)).""",
                f"From top to bottom: DRAM, a pipe of {dram} bytes per cycle and SM, the L2, a "
                f"pipe "
                f"of {l2}, shared memory, and two pipes, of {ldmatrix} into registers for mma.sync "
                f"and of {operands:.0f} into the Tensor Cores for wgmma. Registers and Tensor "
                f"Cores are four each, one for each of the SM's sub-partitions; together the "
                f"Tensor Cores do {flops:.0f} FLOP per cycle.", 566)
    middle = 300
    p.text(20, 60, "bytes per cycle and SM, measured", "text soft")

    def level(y, h, name, note, cls="lane"):
        p.rect(60, y, 480, h, cls, rx=4)
        p.text(78, y + h / 2 + 5, name, "head")
        p.text(524, y + h / 2 + 5, note, "text", "end")

    def pipe(x, y, h, rate, cls, word):
        p.rect(x - rate * UNIT / 2, y, rate * UNIT, h, cls)
        if rate * UNIT > 100:
            p.text(x, y + h / 2 + 5, word, "text ink b", "middle")
        else:
            p.text(x + rate * UNIT / 2 + 10, y + h / 2 + 5, word, "text b")
    level(76, 44, memory.split()[0], f"{memory.split(maxsplit=1)[1]} by the sheet")
    pipe(middle, 122, 46, dram, "load", f"{dram:.0f}")
    level(170, 44, "L2, for all SMs", cache)
    pipe(middle, 216, 46, l2, "load", f"{l2:.0f}")
    p.path("M40 266H550V546H40z", "dash")
    p.text(48, 260, f"one SM of {sms}", "text soft")
    level(276, 44, "shared memory", shared, "held")
    left, right = 148, 428
    pipe(left, 322, 62, ldmatrix, "fragments", f"ldmatrix: {ldmatrix:.0f}")
    pipe(right, 322, 62, operands, "mma", f"wgmma: {operands:.0f}")
    for x, width, head, cls, word, note in (
            (60, 176, "registers", "held", f"{registers} K", "of 32 bits each"),
            (316, 224, "Tensor Cores", "mma", "", f"all: {flops:.0f} FLOP per cycle")):
        p.rect(x, 386, width, 112, "lane", rx=4)
        p.text(x + width / 2, 408, head, "head", "middle")
        cell = (width - 16) / parts
        for i in range(parts):
            p.rect(x + 10 + cell * i, 420, cell - 4, 40, cls, rx=3)
            if word:
                p.text(x + 8 + cell * (i + .5), 445, word, "num", "middle")
        p.text(x + width / 2, 484, note, "text", "middle")
    p.arrow(238, 440, 312, 440)
    p.text(275, 428, "mma.sync", "num", "middle")
    p.text(60, 528, f"{parts} sub-partitions, each with one of both", "text soft")
    return p.svg()
