"""Chapter 13: a part of a tile on its way from the sender's memory to the owner's, and the two
words that order it: credit before it, a flag behind it."""
import re

from data import DEVICE, between, c_table, function, source
from edit import Remove, Replace
from picture import Picture

KERNEL, PARTS = "beyond/13_two_gpus/kernel.cu", "beyond/13_two_gpus/parts.h"
EDITS = [(KERNEL, Replace(
             "fetch->flag = &args->flags[args->device][part_index(work, consumer)];",
             "fetch->flag = &args->flags[1 - args->device][part_index(work, consumer)];")),
         (KERNEL, Replace(
             "st_global_release(credit_word(args, 1 - args->device, lane), 1, SCOPE_SYS);",
             "st_global_release(credit_word(args, args->device, lane), 1, SCOPE_SYS);")),
         (PARTS, Replace("[flags + blockIdx.x * TILE_PARTS + consumer]",
                         "[blockIdx.x * TILE_PARTS + consumer]")),
         (KERNEL, Remove("if (set) st_global_relaxed(fetch->flag, 0, SCOPE_GPU);")),
         (PARTS, Replace("CHUNK_SUMS = 8, /*", "CHUNK_SUMS = 4, /*"))]
SETS, POLLS, GIVES, WAITS, STORES, LOADS, SIZES = range(7)
LEFT, RIGHT = (20, 226), (334, 540)


def words():
    """{what: {(device that does it, device in whose memory the word or part lies, its number)}} of
    all tiles of a small D, and (bytes of a part, pieces)."""
    code = source(KERNEL)

    def expression(pattern):
        found = re.findall(pattern, code)
        assert len(found) == 1, (pattern, found)
        return found[0]
    heads = ("DEVICE int tiles_of(", "DEVICE struct work work_at(", "DEVICE int part_index(",
             "DEVICE uint32_t *credit_word(")
    rows = c_table(DEVICE + f'''
#include "building_blocks/tile_order.h"
enum {{ SLICE_N = 256, CONSUMERS = 2 }};
{between(PARTS, "enum {" + chr(10) + "    DEVICES", "};")}}};
enum {{ {between(KERNEL, "PIECES = PART_CHUNKS", ",")} }};
struct b128 {{ uint32_t word[4]; }};
struct gemm_device_args {{
    struct {{ int tiles_n; }} gemm;
    int device, first_m_tile[3];
    uint32_t *flags[2];
    void *workspaces[2];
}};
static struct {{ int x; }} blockIdx;
{between(PARTS, "struct work {", "};")}}};
{"".join(function(PARTS, head) for head in heads)}
{function(KERNEL, "DEVICE struct b128 *part_at(")}
static uint32_t flags[2][1024];
static struct b128 parts[2][65536];
static void word(int what, int device, const uint32_t *at) {{
    const int i = (int)(at - flags[0]);
    printf("%d %d %d %d\\n", what, device, i / 1024, i % 1024);
}}
static void part(int what, int device, const struct b128 *at) {{
    const int i = (int)(at - parts[0]);
    printf("%d %d %d %d\\n", what, device, i / 65536, i % 65536);
}}
int main(void) {{
    for (int device = 0; device < DEVICES; ++device) {{
        const struct gemm_device_args own = {{
            {{2}}, device, {{0, 2, 4}}, {{flags[0], flags[1]}}, {{parts[0], parts[1]}}}};
        const struct gemm_device_args *const args = &own;
        const int peer = 1 - device;
        for (int number = 0; number < 8; ++number)
            for (int consumer = 0; consumer < CONSUMERS; ++consumer) {{
                const struct work work = work_at(args, number);
                const int lane = consumer;
                blockIdx.x = number;
                if (work.owner == peer) {{
                    word({SETS}, device, {expression(r"uint32_t .flag = (&args->flags.*?);")});
                    part({STORES}, device, {expression(r"send.to = (part_at.*?);")});
                    word({WAITS}, device, {expression(r"uint32_t .credit = (credit_word.*?);")});
                    word({GIVES}, device,
                         {expression(r"st_global_release.(credit_word[(].*?[)]), 1, SCOPE_SYS")});
                }} else {{
                    word({POLLS}, device, {expression(r"fetch->flag = (&args->flags.*?);")});
                    part({LOADS}, device, {expression(r"fetch->from = (part_at.*?);")});
                }}
            }}
    }}
    printf("{SIZES} %d %d 0\\n", PART_BYTES, PIECES);
}}''')
    return ({what: {row[1:] for row in rows if row[0] == what} for what in range(SIZES)},
            rows[-1][1:3])


def draw():
    said, (size, pieces) = words()

    def places(what):
        return {place[1:] for place in said[what]}
    # Who waits reads a word of its own memory, who writes it is the other device.
    for writes, reads in ((SETS, POLLS), (GIVES, WAITS), (STORES, LOADS)):
        assert len(said[writes]) == len(said[reads]) == 16, "two of them are one"
        assert places(writes) == places(reads)
        assert all(device != at for device, at, _ in said[writes])
        assert all(device == at for device, at, _ in said[reads])
    assert not places(SETS) & places(GIVES), "a word is a flag and credit"
    code = source(KERNEL)
    # Who waits for a word resets it, and all pieces are stored before the flag is set.
    assert code.count("st_global_relaxed(credit, 0, SCOPE_GPU);") == 1
    assert code.count("if (set) st_global_relaxed(fetch->flag, 0, SCOPE_GPU);") == 1
    flags = function(KERNEL, "DEVICE void signal_parts(")
    assert 0 < flags.find("named_barrier_sync(") < flags.find("st_global_release(flag, 1")
    piece = size // pieces
    p = Picture("No wait reads across the link",
                f"""For a part of a tile {pieces} pieces of {piece} bytes and 2 words cross the
                link, each stored into the other GPU's memory. The 2 waits read words of the GPU's
                own memory and reset them (counted from `kernel.cu` and `parts.h`).""",
                "Two GPUs and the link between them. 1: the owner begins the launch; the parts of "
                "the launch before are added, so it stores credit = 1 in the sender's memory. 2: "
                "the sender waits for credit and resets it. 3: it stores the part, "
                f"{size // 1024} KB, in the owner's memory, 4: and, when a barrier says that all "
                "of it is stored, sets the flag with a release. 5: the owner waits for the flag, "
                "resets it, 6: and adds the part to its accumulators.", 626)
    for (a, b), head in ((LEFT, "GPU 0: sender"), (RIGHT, "GPU 1: owner")):
        p.text(a, 62, head, "head")
        p.rect(a, 74, b - a, 474, "lane", rx=4)
    p.text((LEFT[1] + RIGHT[0]) / 2, 62, "link", "text soft", "middle")
    p.css.append(".pipe{fill:none;stroke:var(--load);stroke-width:18}")
    cell_l, cell_r = (LEFT[1] - 70, LEFT[1] - 6), (RIGHT[0] + 6, RIGHT[0] + 70)

    def word(cell, y, name, h=36):
        p.rect(cell[0], y, cell[1] - cell[0], h, "held")
        p.text((cell[0] + cell[1]) / 2, y + h / 2 + 5, name, "code", "middle")

    def actor(side, y, number, lines, cls):
        x = LEFT[0] + 6 if side == 0 else RIGHT[0] + 76
        p.rect(x, y, 124, 20 * len(lines) + 16, cls)
        ink = "onbright" if cls == "wait" else "ink"
        p.text(x + 6, y + 22, number, f"text b {ink}")
        for i, line in enumerate(lines):
            p.text(x + (25 if i == 0 else 6), y + 22 + 20 * i, line, f"text {ink}")

    actor(1, 86, 1, ("at launch:", "credit = 1"), "store")
    word(cell_l, 96, "credit")
    p.arrow(RIGHT[0] + 72, 114, cell_l[1] + 5, 114)
    p.text(280, 106, "credit = 1", "code", "middle")
    actor(0, 148, 2, ("waits:", "credit = 1?", "resets it"), "wait")
    p.path(f"M{cell_l[0] + 32} 136v40H{LEFT[0] + 136}m6 -4l-6 4l6 4", "rule")
    actor(0, 246, 3, ("stores", "the part"), "load")
    word(cell_r, 246, "part", 56)
    p.path(f"M{LEFT[0] + 130} 274H{cell_r[0] - 16}", "pipe")
    p.path(f"M{cell_r[0] - 18} 260v28l16 -14z", "load")
    p.text(280, 256, f"{size // 1024} KB", "text b", "middle")
    p.text(280, 304, f"{pieces} × {piece} B", "text", "middle")
    actor(0, 318, 4, ("all stored", "(bar.sync):", "flag = 1"), "store")
    word(cell_r, 336, "flag")
    p.arrow(LEFT[0] + 134, 354, cell_r[0] - 5, 354)
    p.text(280, 346, "flag = 1", "code", "middle")
    actor(1, 388, 5, ("waits:", "flag = 1?", "resets it"), "wait")
    p.path(f"M{cell_r[0] + 32} 376v40H{RIGHT[0] + 70}m-6 -4l6 4l-6 4", "rule")
    actor(1, 480, 6, ("adds", "the part"), "epilogue")
    p.legend(20, 576, (("store", "sets a word (release)", 240), ("wait", "waits (acquire)", 0)))
    p.legend(20, 604, (("held", "memory of this GPU", 240), ("load", "the part’s bytes", 0)))
    return p.svg()
