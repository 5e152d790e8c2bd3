#!/usr/bin/env python3
"""The Tensor Cores of several kernels on one time axis, to see the last wave.

    build/sim/09_cluster_multicast --m 256 --n 768 --k 4096 --trace whole.json
    build/sim/10_stream_k --m 256 --n 768 --k 4096 --trace stream_k.json
    beyond/tools/book/waves.py waves.svg whole.json stream_k.json

Reads traces that --trace has written, of the simulator or of a GPU. Draws a lane for each SM in
them, and prints how much of the lanes is idle: after an SM's last multiplication, and in all. (A
trace has the first four SMs, or as many as --trace-sms says.) A kernel's time is that of its run;
on a GPU it begins with the first CTA and ends with the last. Where a trace does not contain it, the
time ends with the last span.

    waves.py --page PAGE PROGRAMS FIGURE [--rewrite]

A block of the page whose commands have --trace is a recording of waves: its commands, run in order
with the programs of the folder PROGRAMS, and what the last of them, "$ beyond/tools/book/waves.py",
prints. FIGURE is what that command draws. --rewrite brings the page
and the figure up to date; without it, a difference is an error.
"""
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # what follows lies in the source tree
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "..", "..", "..", "common", "tools", "book"))
import svg
from wave_files import FEW_SMS, Mistake, read

KERNELS = 8
TOP, HEADING, GAP, AXIS = 50, 17, 9, 16
# Of one SM: where there are few, with its number; where there are many, as a line.
LANE, LANE_GAP, LINE = 13, 1, 2


def has_few(wave):
    return len(wave.lanes) <= FEW_SMS


def height_of(wave):
    return HEADING + len(wave.lanes) * (LANE + LANE_GAP if has_few(wave) else LINE) + GAP


def draw_lanes(wave, panel, y):
    """The lanes of a kernel, from y down."""
    lanes = wave.lanes
    if not has_few(wave):
        lanes = sorted(lanes, key=lambda lane: (-lane.last(), lane.sm))
        for below, text in ((10, f"{len(lanes)} SMs"), (24, "by their end")):
            yield svg.text(svg.LABELS - 8, y + below, "tick", "end", text)
    for lane in lanes:
        if has_few(wave):
            yield svg.text(svg.LABELS - 8, y + 10, "tick", "end", f"SM {lane.sm}")
        height = LANE if has_few(wave) else LINE
        yield from svg.lane(lane.spans, lane.inferred, panel, y, height)
        y += LANE + LANE_GAP if has_few(wave) else LINE


def draw(waves):
    first = waves[0]
    inferred = {has_few(wave) for wave in waves if wave.lanes[0].inferred}
    panel = svg.Panel(max(wave.end for wave in waves), svg.RIGHT)
    bottom = TOP + sum(map(height_of, waves))
    legend, legend_height = svg.legend(bottom + AXIS, True in inferred)
    title = f"The waves on one time axis, {first.source()}"
    unit = "SM clock cycles" if first.measured else "simulated cycles"
    size = " x ".join(map(str, first.shape))
    subtitle = f"{size}, the Tensor Core of each SM over time in {unit}"
    if False in inferred:  # too low for hatching
        subtitle += "; multiplications are inferred"
    out = [svg.begin(bottom + AXIS + legend_height + 4, title, subtitle),
           *svg.axis(panel, TOP, bottom)]
    y = TOP
    for wave in waves:
        out.append(svg.text(10, y + 12, "name", "start", wave.name))
        note = (f"{wave.end} cycles; idle after an SM's last multiplication: "
                f"{wave.idle_at_end():.1f} %")
        out.append(svg.text(svg.RIGHT, y + 12, "note", "end", note))
        own = svg.Panel(wave.end, panel.x(wave.end))  # the lane ends with the kernel
        out += draw_lanes(wave, own, y + HEADING)
        y += height_of(wave)
    return "".join(out + legend + [svg.END])


def read_all(paths):
    """All files, which have to be of one problem and of one machine."""
    waves = []
    for path in paths:
        try:
            if len(waves) == KERNELS:
                raise Mistake("is one too many")
            waves.append(read(path))
            if any((w.shape, w.measured) != (waves[0].shape, waves[0].measured) for w in waves):
                raise Mistake("is of another problem, or from another machine, than the first")
        except Mistake as mistake:
            print(f"waves: {path} {mistake}", file=sys.stderr)
            sys.exit(2)
    return waves


def make(figure, paths):
    """Draws the figure and prints the shares."""
    waves = read_all(paths)
    with open(figure, "w", encoding="utf-8") as file:
        file.write(draw(waves))
    print(f"{'':28} {'cycles':>9}  idle after the last multiplication  idle in all")
    for wave in waves:
        print(f"{wave.name:28} {wave.end:9} {wave.idle_at_end():33.1f} % "
              f"{wave.idle_in_all():10.1f} %")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def drawing(path):
    """A figure without its colours, which all figures share."""
    return re.sub(r"^<style>.*^</style>\n", "", text_of(path), flags=re.MULTILINE | re.DOTALL)


def run_block(lines, programs, folder):
    """The page's lines with what the commands of the block print now, and the figure."""
    figure = None
    skipping = False
    for line in lines:
        words = line.split()
        if line.startswith("$ build/sim/") and "--trace" in words:
            program = os.path.join(programs, os.path.basename(words[1]))
            subprocess.run([program, *words[2:]], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        skipping = skipping and line != "```"
        if not skipping:
            yield line
        if line.startswith("$ beyond/tools/book/waves.py "):
            figure, *traces = (os.path.join(folder, word) for word in words[2:])
            with contextlib.redirect_stdout(io.StringIO()) as said:
                make(figure, traces)
            yield from said.getvalue().rstrip("\n").split("\n")
            skipping = True


def page(path, programs, figure, rewrite):
    """What is wrong with the page's block or its figure; None if nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        made = "".join(line + "\n" for line in run_block(
            text_of(path).rstrip("\n").split("\n"), os.path.abspath(programs), folder))
        drawn = os.path.join(folder, "waves.svg")
        if not os.path.exists(drawn):
            return f"{path}: no command draws waves.svg"
        if rewrite:
            for name, text in ((path, made), (figure, text_of(drawn))):
                with open(name, "w", encoding="utf-8") as file:
                    file.write(text)
        same = text_of(path) == made and drawing(figure) == drawing(drawn)
    return None if same else f"{path}, or {figure}, is not what {programs} print and draw"


def main(arguments):
    rewrite = arguments[-1:] == ["--rewrite"]
    words = arguments[:-1] if rewrite else arguments
    if len(words) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    if words[0] != "--page":
        make(words[0], words[1:])
        return 0
    wrong = page(*words[1:], rewrite)
    if wrong:
        print(f"{wrong}; the target figures_beyond mends it")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
