/*
 * cutlass_codes.h: 4-bit weights and their scales as CUTLASS's mixed-input kernels take them, from
 * the blocks of w4_block.h; all on the host. The order of the weights in memory is cutlass_order.h.
 *
 * A weight's code has the sign in bit 3. The other three bits are the place of the magnitude in the
 * table of its group, which has -8, -7, ..., -1 times the scale, each rounded to e4m3: the kernel
 * looks weights up instead of multiplying them. A table's first entry stands for 0 if the sign is
 * not set; else for -8, which does not occur. (CUTLASS: unified_encode_int4b, pack_scale_fp8.)
 */
#ifndef GPU_RIVALS_CUTLASS_CODES_H
#define GPU_RIVALS_CUTLASS_CODES_H

#include <stdlib.h>

#include "scaled/w4_block.h"

enum { CUTLASS_MULTIPLES = 8 }; /* of each scale: a table */

static inline uint8_t cutlass_code(int weight) {
    const int magnitude = abs(weight);
    return (uint8_t)((magnitude ? CUTLASS_MULTIPLES - magnitude : 0) | (weight < 0 ? 8 : 0));
}

/* Writes the codes of n channels of k, [n][pitch / 2] bytes, the earlier weight in the lower half;
 * and the tables, [ceil(k / 128)][table_pitch][CUTLASS_MULTIPLES]. What a block has beyond k are
 * zeros, and codes of them are written, too. */
static inline void cutlass_convert(uint8_t *blocks, int n, int k, uint8_t *codes, int pitch,
                                   uint8_t *tables, int table_pitch) {
    const int k_blocks = ceil_div(k, W4_BLOCK);
    for (int channel = 0; channel < n; ++channel)
        for (int i = 0; i < k_blocks; ++i) {
            const uint8_t *const block = w4_block_of(blocks, k_blocks, channel, i);
            uint8_t *const code = codes + (size_t)channel * (size_t)(pitch / 2) + i * W4_BLOCK / 2;
            uint8_t *const table =
                tables + ((size_t)i * (size_t)table_pitch + (size_t)channel) * CUTLASS_MULTIPLES;
            const float scale = bf16_to_float(w4_get_scale(block, channel));
            for (int j = 0; j < W4_BLOCK; j += 2)
                code[j / 2] = (uint8_t)(cutlass_code(w4_get(block, channel, j)) |
                                        cutlass_code(w4_get(block, channel, j + 1)) << 4);
            for (int j = 0; j < CUTLASS_MULTIPLES; ++j)
                table[j] = float_to_e4m3((float)(j - CUTLASS_MULTIPLES) * scale);
        }
}

#endif
