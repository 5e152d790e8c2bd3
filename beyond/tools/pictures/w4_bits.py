"""Chapter 12: a word of eight 4-bit weights becomes two registers of four e4m3."""
import re

from data import c_table, source
from edit import Replace
from picture import Picture

BLOCK, CONVERT = "common/scaled/w4_block.h", "common/hopper/w4.h"
X, CELL_W, CELL_H = 20, 16.25, 30
CHANNEL, K = 8, 0  # the second four's channel, relative to the first, and the weight followed of it
EDITS = [(BLOCK, Replace("(struct w4_bits){at + k % 4, at + (k + 1) % 4, 4}",
                         "(struct w4_bits){at + k % 4, at + k % 4, 4}")),
         (CONVERT, Replace("W4_MASK 0x87878787u", "W4_MASK 0x78787878u")),
         (CONVERT, Replace("__funnelshift_r(words[i], words[i], 4)",
                           "__funnelshift_r(words[i], words[i], 8)"))]


def places():
    """{bit of the word: (channel, k, bit of the magnitude or 3 for the sign)}."""
    rows = c_table(f'''
#include <stddef.h>
#include <string.h>
#include "gemm_types.h"
#include "scaled/w4_block.h"
int main(void) {{
    for (int channel = 0; channel <= {CHANNEL}; channel += {CHANNEL})
        for (int k = 0; k < 4; ++k) {{
            const struct w4_bits p = w4_bits_of(channel, k);
            for (int bit = 0; bit < 3; ++bit)
                printf("%d %d %d %d\\n", 8 * p.magnitude + p.shift + bit, channel, k, bit);
            int sign = 0;
            while (w4_sign(p) >> sign != 1) ++sign;
            printf("%d %d %d 3\\n", 8 * p.sign + sign, channel, k);
        }}
}}''')
    return {bit: (channel, k, which) for bit, channel, k, which in rows}


def draw():
    at = places()
    assert sorted(at) == list(range(32)), "a bit of the word has no weight, or two"
    code = source(CONVERT)
    mask = int(re.search(r"W4_MASK (0x\w+)u", code).group(1), 16)
    rotate = int(re.search(r"__funnelshift_r\(words\[i\], words\[i\], (\d+)\) & W4_MASK",
                           code).group(1))
    first = {b: at[b] for b in range(32) if mask >> b & 1}
    turned = {b: at[(b + rotate) % 32] for b in range(32)}
    second = {b: turned[b] for b in range(32) if mask >> b & 1}
    for channel, half in ((0, first), (CHANNEL, second)):
        for k in range(4):  # a byte: sign at bit 7, magnitude at bits 2, 1, 0, of one weight
            got = {b % 8: of for b, of in half.items() if b // 8 == k}
            assert got == {7: (channel, k, 3), 2: (channel, k, 2), 1: (channel, k, 1),
                           0: (channel, k, 0)}, f"byte {k} of channel {channel}"
    followed = [b for b, of in at.items() if of[:2] == (CHANNEL, K)]
    assert len({b // 8 for b in followed}) == 2  # its sign is in another byte
    assert sorted((b - rotate) % 32 // 8 for b in followed) == [K] * 4
    p = Picture("Three instructions make eight e4m3",
                f"""`lop3` leaves {len(first)} of a word's 32 bits, the signs and mantissas of four
                e4m3 of channel g; `shf` and `lop3` leave the other {len(second)}. The sign of the
                orange weight lies in the next byte: after the rotation by {rotate} bits it is bit 7
                of its own (counted from `w4_block.h` and `w4.h`).""",
                "A 32-bit word holds eight weights, each a sign and three bits of magnitude. Under "
                f"the mask {mask:#x} four of them are the signs and mantissas of four e4m3 numbers "
                f"of channel g. The word rotated right by {rotate} bits, under the same mask, "
                "gives the four of channel g + 8, whose signs lie one byte on.", 506)

    def look(channel, k, _):
        return "item0" if channel != CHANNEL else "item1" if k == K else "fma"

    def word(y, head, note, bits):
        p.text(X, y, head, "head")
        p.text(540, y, note, "code", "end")
        looks = {"lane": [], "item0": [], "fma": [], "item1": []}
        for b in range(32):
            x = X + (31 - b) * CELL_W
            cls = look(*bits[b]) if b in bits else "lane"
            looks[cls].append((x + .5, y + 10, CELL_W - 1 - (2 if b % 8 == 0 else 0), CELL_H))
        for cls, boxes in looks.items():
            if boxes:
                p.cells(boxes, cls)
        for cls, these in (("num soft m", [b for b in range(32) if b not in bits]),
                           ("num ink b m", bits)):
            p.open(cls)
            for b in these:
                p.text(X + (31 - b) * CELL_W + CELL_W / 2 - (1 if b % 8 == 0 else 0), y + 30,
                       "0" if b not in bits else "s" if bits[b][2] == 3 else bits[b][2], "")
            p.close()

    word(66, "The word in memory", "", at)
    for byte in range(4):
        x = X + (3 - byte) * 8 * CELL_W
        p.path(f"M{x + 1:g} 112v5h{8 * CELL_W - 4:g}v-5", "rule")
        p.text(x + 4 * CELL_W, 134, f"byte {byte}: k = {byte}", "text soft", "middle")
    word(178, "Channel g: four e4m3", f"lop3: word & 0x{mask:x}", first)
    word(258, "The word, rotated right", f"shf: by {rotate} bits", turned)
    word(338, "Channel g + 8: four e4m3", f"lop3: … & 0x{mask:x}", second)
    for byte in range(4):
        assert first[8 * byte][1] == second[8 * byte][1] == byte
        p.text(X + (3 - byte) * 8 * CELL_W + 4 * CELL_W, 396, f"k = {byte}", "text soft", "middle")
    p.legend(20, 432, (("item0", "channel g", 130), ("fma", "channel g + 8", 160),
                       ("item1", f"g + 8, k = {K}", 0)))
    p.text(20, 460, "s: sign, that of g + 8 one byte on; 2 1 0: magnitude")
    p.text(20, 486, "exponent bits 0: a subnormal, ± magnitude / 512", "text b")
    return p.svg()
