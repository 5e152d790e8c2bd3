/*
 * fragments.h: a k-tile's weights on their way from shared memory to wgmma's first operand.
 *
 * They lie in the order of the registers (w4_block.h), so a thread loads 16 bytes for every 64 of
 * k, a warp 512 bytes in a row, and no thread needs another one's.
 */
#ifndef W4A8_FRAGMENTS_H
#define W4A8_FRAGMENTS_H

#include "hopper/w4.h"
#include "hopper/wgmma.h"
#include "scaled/w4_block.h"

/* A thread's part of the 64 channels of a consumer, as it lies in memory: 32 weights for every 64
 * of k, and the scales of its two channels. */
struct weights {
    struct b128 words[W4_BLOCK / 64];
    uint32_t scales;
};

/* The same converted: four registers for each step along k. */
struct fragments {
    uint32_t a[W4_BLOCK / 32][4];
    float scale[2];
};

/* Loads half a block, 64 channels: the first or the second half. One warpgroup. */
DEVICE void load_half_block(struct weights *w, const uint8_t *block, int half) {
    const int thread = threadIdx.x % 128;
    const uint8_t *from = block + half * W4_HALF_BYTES;
    UNROLL
    for (int i = 0; i < W4_BLOCK / 64; ++i)
        w->words[i] = ld_shared_b128(from + (i * 128 + thread) * 16);
    w->scales = ld_shared_b32(from + W4_WEIGHT_BYTES + (thread / 32 * 8 + thread % 32 / 4) * 4);
}

/* Converts weights to e4m3, and their scales to fp32. Whole warps. */
DEVICE void convert_weights(struct fragments *f, const struct weights *w) {
    /* A bf16 is the upper half of a float. */
    const uint32_t scale[2] = {w->scales << 16, w->scales & 0xffff0000u};
    memcpy(f->scale, scale, sizeof scale);
    UNROLL
    for (int i = 0; i < W4_BLOCK / 64; ++i)
        w4_to_e4m3(f->a[2 * i], w->words[i].word, 4);
}

/* Until here the compiler leaves the registers as they are: after the wait for a wgmma, because it
 * has read them; before the next one, so that all conversions come first. */
DEVICE void keep(struct fragments *f) {
    UNROLL
    for (int i = 0; i < W4_BLOCK / 32; ++i)
        wgmma_use_fragments(f->a[i], 4);
}

#define load_weights(weights, block, half) VERB(load_half_block(weights, block, half))
#define convert(fragments, weights) VERB(convert_weights(fragments, weights))

#endif
