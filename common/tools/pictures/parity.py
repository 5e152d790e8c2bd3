"""Chapter 07: the phases of one stage's two barriers, and which of them each side waits for."""
import re

from data import told
from edit import Replace
from picture import Picture

PROGRAM, KERNEL = "07_warp_specialized", "07_warp_specialized/kernel.cu"
SIZE = ("--m", "128", "--n", "256", "--k", "1024")
EDITS = ["07.a-run-that-shows-it",
         (KERNEL, Replace("struct pipeline_state state = {0, 0}, release",
                          "struct pipeline_state state = {0, 1}, release"))]
ROUNDS, X, STEP, W, H = 2, 92, 90, 78, 50  # --explain shows so many rounds
EMPTY, FULL = 92, 226


def waits(barrier):
    """The parities for which waits have passed, in order, and whether the first did at once."""
    words = [event.words for event in told(PROGRAM, *SIZE, barrier=barrier)
             if event.name == "try_wait"]
    passed = [re.match(r"pass(?:es)?, parity (\d)", one) for one in words]
    return [int(one.group(1)) for one in passed if one], bool(passed[0])


def draw():
    (empty, at_once), (full, full_at_once) = waits(1), waits(0)
    assert at_once and not full_at_once, "the producer's first wait alone passes at once"
    # In round r a consumer waits for phase r of full, the producer for phase r - 1 of empty.
    assert empty[:ROUNDS] == [(r - 1) % 2 for r in range(ROUNDS)], empty
    assert full[:ROUNDS] == [r % 2 for r in range(ROUNDS)], full
    p = Picture("Who waits for which phase of a stage",
                f"""One stage through {ROUNDS} rounds. In each, the producer waits for a phase of
                `empty` and the consumers for the next phase of `full`, so the two parities always
                differ: the producer begins with {empty[0]}, the consumers with {full[0]}. Phase −1
                of a fresh barrier counts as complete (simulated, stage 0 of chapter 07).""",
                "Two rows of phases, of a stage's empty and full barriers, joined by arrows in a "
                "zigzag. The producer waits for phase −1 of empty, which is complete from the "
                "start, and fills the stage; that completes phase 0 of full. The consumers wait "
                "for it, read, and release; that completes phase 0 of empty, for which the "
                "producer waits next; and so on.", 404)
    p.css.append(".fill{fill:none;stroke:var(--load);stroke-width:2.5}"
                 ".read{fill:none;stroke:var(--mma);stroke-width:2.5}"
                 ".before{fill:none;stroke:var(--item1);stroke-width:2.5;stroke-dasharray:4 3}")

    def cell(i, y, phase):
        x = X + STEP * i
        if phase < 0:
            p.rect(x, y, W, H, "before", rx=5)
        else:
            p.rect(x, y, W, H, f"item{phase % 2}", rx=5)
        p.text(x + W / 2, y + 22, f"−{-phase}" if phase < 0 else phase,
               "head" if phase < 0 else "head ink", "middle")
        p.text(x + W / 2, y + 42, f"parity {phase % 2}", "num" if phase < 0 else "num ink",
               "middle")

    def middle(i):
        return X + STEP * i + W / 2
    p.text(20, EMPTY + 30, "empty", "code b")
    p.text(20, FULL + 30, "full", "code b")
    for r in range(ROUNDS):
        cell(2 * r, EMPTY, r - 1)
        cell(2 * r + 1, FULL, r)
        p.arrow(middle(2 * r) + 10, EMPTY + H + 4, middle(2 * r + 1) - 10, FULL - 4, "fill")
        p.arrow(middle(2 * r + 1) + 10, FULL - 4, middle(2 * r + 2) - 10, EMPTY + H + 4, "read")
        left, right = X + STEP * 2 * r, X + STEP * (2 * r + 1) + W
        p.path(f"M{left} {FULL + H + 12}v6H{right}v-6", "rule")
        p.text((left + right) / 2, FULL + H + 38, f"round {r}", "text", "middle")
    cell(2 * ROUNDS, EMPTY, ROUNDS - 1)
    p.path(f"M{X + STEP * 2 * ROUNDS} {FULL + H + 12}v6H{X + STEP * 2 * ROUNDS + W}", "rule")
    p.text(middle(2 * ROUNDS), FULL + H + 38, f"round {ROUNDS} …", "text", "middle")
    p.text(X, EMPTY - 12, "complete from the start", "text soft")
    y = 358
    p.arrow(20, y - 12, 44, y + 2, "fill")
    p.text(54, y, "the producer waits, fills")
    p.arrow(288, y + 2, 312, y - 12, "read")
    p.text(322, y, "consumers wait, read")
    p.legend(20, y + 28, (("item0", "parity 0", 134), ("item1", "parity 1", 134)))
    return p.svg()
