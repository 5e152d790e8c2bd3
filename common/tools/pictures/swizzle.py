"""Eight rows of one column of chunks, without and with the 128-byte swizzle: layouts.md."""
from data import bank_table, c_table, wavefronts
from edit import Replace
from picture import Picture

CELL_W, CELL_H, TOP = 30, 26, 112
CHUNK = 0  # the column of 16-byte chunks that is followed
HEADER = "common/sim/models/descriptor.h"
EDITS = [(HEADER, Replace("address >> 3", "address >> 4"))]


def places():
    """{(row, chunk): (line of 128 bytes, place in it)} of the 128-byte swizzle, from the model's
    function."""
    return {(row, chunk): (address // 128, address % 128 // 16)
            for row, chunk, address in c_table(f'''#include "sim/models/descriptor.h"
int main(void) {{
    for (int row = 0; row < 8; ++row)
        for (int chunk = 0; chunk < 8; ++chunk)
            printf("%d %d %d\\n", row, chunk,
                   (int)swizzle_address((uint32_t)(row * 128 + chunk * 16), SWIZZLE_128B));
}}''')}


def grid(p, x, head, where, count):
    """where: {(line, place): 'row.chunk'}"""
    p.text(x, 62, head, "head")
    for place in range(8):
        p.text(x + CELL_W * place + CELL_W / 2, TOP - 8, f"{4 * place}", "num soft", "middle")

    def at(line, place):
        return x + CELL_W * place + 1, TOP + CELL_H * line + 1, CELL_W - 2, CELL_H - 2
    hit = {w for w, label in where.items() if int(label.split(".")[1]) == CHUNK}
    p.cells([at(*w) for w in where if w not in hit], "lane")
    p.cells([at(*w) for w in sorted(hit)], "load")
    for some, cls in (where.keys() - hit, "num soft m"), (hit, "num ink b m"):
        p.open(cls)
        for line, place in sorted(some):
            p.text(x + CELL_W * place + CELL_W // 2, TOP + CELL_H * line + 18, where[line, place],
                   "")
        p.close()
    # How often each group of banks is asked: a skyline below the columns.
    base = TOP + 8 * CELL_H + 14
    hits = [sum(1 for line, at in hit if at == place) for place in range(8)]
    assert max(hits) == count, "the model counts other wavefronts"
    for place, many in enumerate(hits):
        for i in range(many):
            p.rect(x + CELL_W * place + 4, base + i * 9, CELL_W - 8, 7,
                   "hot" if i else "load", rx=2)
    first = x + (CELL_W + 8 if count > 1 else 4)
    p.text(first, base + 30, f"{count} wavefront{'s' if count > 1 else ''}", "head")
    p.text(first, base + 52, "all eight rows in banks 0–3" if count > 1 else
           "each row in banks of its own")


def draw():
    swizzled = {place: f"{row}.{chunk}" for (row, chunk), place in places().items()}
    shown = bank_table("swizzle", "--swizzle", "128")
    assert all(shown[line][place] == label for (line, place), label in swizzled.items())
    plain = {(r, c): f"{r}.{c}" for r in range(8) for c in range(8)}  # rows of 128 bytes
    lanes = bank_table("tile", "--swizzle", "0", "--pitch", "128")
    assert all(lanes[r][0] == str(r) for r in range(8))  # that is where inspect has them, too
    before = wavefronts("--swizzle", "0", "--pitch", "128")[0]
    after = wavefronts()[0]
    p = Picture("The swizzle spreads a column over all banks",
                f"""The first chunks of eight rows are blue. Without the swizzle they form a
                column, and reading them costs {before} wavefronts; with it they form a diagonal,
                which costs {after}. Each bar below is one access to a group of four banks
                (simulated, by `build/sim/inspect`).""",
                "Two grids of eight rows by eight 16-byte chunks in shared memory. Without "
                "swizzle the first chunks of all eight rows lie in banks 0 to 3, and reading them "
                f"takes {before} wavefronts. With the 128-byte swizzle they lie on a diagonal, one "
                f"in each group of four banks, and reading them takes {after}.", 520)
    grid(p, 20, "Without swizzle", plain, before)
    grid(p, 300, "128-byte swizzle", swizzled, after)
    p.legend(20, 430, (("load", "chunk 0 of a row", 190), ("hot", "one wavefront more", 0)))
    p.text(20, 82, "row.chunk under its first bank", "text soft")
    p.text(300, 82, "place = chunk XOR row", "code b")
    # The XOR on the address: which bits take part is read off the places.
    moved = [places()[1 << bit, 0][1] for bit in range(3)]  # by one bit of the row each
    assert moved == [1, 2, 4]
    y = 496
    p.text(20, y, "address bits", "text soft")
    x = 150
    for bit in range(9, -1, -1):
        cls = "mmapale" if bit > 6 else "held" if bit > 3 else "lane"
        p.rect(x, y - 19, 25, 27, cls, rx=3)
        p.text(x + 12.5, y, bit, "num", "middle")
        x += 27 + (8 if bit in (7, 4) else 0)
    p.text(150 + 36, y - 26, "row", "text", "middle")
    p.text(150 + 36 + 96, y - 26, "chunk", "text", "middle")
    p.text(150 + 36 + 204, y - 26, "byte", "text", "middle")
    p.path(f"M{150 + 60} {y - 31}H{150 + 96}m-6 -4l6 4l-6 4", "rule")
    p.text(150 + 76, y - 37, "XOR", "num", "middle")
    return p.svg()
