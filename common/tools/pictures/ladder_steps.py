"""The front page: what each step adds to the speed, from the run of the ladder's table."""
import os
import sys

import data
from edit import Replace
from picture import Picture

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "book"))
import pages
import records

# A word for each step's idea. The steps, the record and the shape are those of the table.
PAGE = "docs/ladder.md"
WORDS = {"01": "one thread each", "02": "tiles", "03": "a ring", "04": "register sets", "05": "TMA",
         "06": "wgmma", "06:two_warpgroups": "two warpgroups", "07": "roles",
         "08:persistent": "persistence", "08": "ping-pong", "09": "multicast"}
EDITS = [(PAGE, Replace("ladder: results=h100-tour shape=8192",
                        "ladder: results=h100-tour shape=4096"))]
TOP, STEP, X, SCALE = 84, 32, 214, 2.84


def draw():
    book = pages.Book(data.BOOK)
    page = next(page for page in book.pages if page.path == PAGE)
    line = page.find(0, "<!-- ladder:")
    marker = " ".join(page.lines[line:page.marker_end(line) + 1])
    steps = [word.partition("<")[0] for word in pages.marker_words(marker, "steps")]
    shape = records.shape_of(pages.marker_value(marker, "shape"))
    name = pages.marker_value(marker, "results")
    run = next(run for run in records.load_all(book, page, name)[::-1]
               if all(run.find(word, shape, "bf16") for word in steps))
    shares = []
    for word in steps:
        found = run.find(word, shape, "bf16")
        shares.append(100 * records.number(found.value, "burst", "tflops") /
                      records.number(found.cublas, "burst", "tflops"))
    assert list(WORDS) == steps, "a step has no word"
    gpu = records.text(run.header, "gpu").removeprefix("NVIDIA ")
    top = max(shares)
    p = Picture("Eleven steps to cuBLAS",
                f"""Each step's share of cuBLAS: dark green is what it adds to the best before it,
                red is how far it stays below. {shares[0]:.1f} % at first,
                {shares[steps.index("06")]:.0f} % with the first `wgmma`, {top:.0f} % at best
                (measured, {gpu}, {records.shape_text(shape)},
                bf16, [record](results/{name}.jsonl)).""",
                "Eleven bars, each with the step's idea and its share of cuBLAS: " + "; ".join(
                    f"{word.partition(':')[0]} {WORDS[word]}, {share:.1f} %"
                    for word, share in zip(steps, shares)) + ".", TOP + STEP * len(steps) + 46)
    assert len(steps) == 11
    hundred = X + 100 * SCALE
    p.text(20, 60, f"% of cuBLAS, {records.shape_text(shape)}, {gpu} (measured)", "text soft")
    best = 0
    for i, (word, share) in enumerate(zip(steps, shares)):
        y = TOP + STEP * i
        p.text(20, y + 18, word.partition(":")[0] if word.partition(":")[0] not in
               [w.partition(":")[0] for w in steps[:i]] else "", "code b")
        p.text(52, y + 18, WORDS[word])
        p.rect(X, y, max(min(best, share) * SCALE, 1), STEP - 6, "mmapale")
        if share > best:
            p.rect(X + best * SCALE, y, max((share - best) * SCALE, 1.5), STEP - 6, "mma")
        elif share < best:
            p.rect(X + share * SCALE, y, max((best - share) * SCALE, 1.5), STEP - 6, "hot")
        best = max(best, share)
        p.text(X + best * SCALE + 8, y + 18, f"{share:.1f}" if share < 1 else f"{share:.0f}",
               "num b")
    bottom = TOP + STEP * len(steps)
    p.path(f"M{hundred:g} {TOP - 8}V{bottom}", "dash")
    p.text(hundred + 4, bottom + 14, "cuBLAS", "text soft", "end")
    p.legend(20, bottom + 32, (("mmapale", "as the best before", 192), ("mma", "more", 90),
                               ("hot", "less", 0)))
    return p.svg()
