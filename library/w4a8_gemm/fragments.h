/*
 * fragments.h: a k-tile's weights on their way from shared memory to wgmma's first operand, and the
 * multiplication.
 *
 * They lie in the order of the registers (w4_block.h), so a thread loads 16 bytes for every 64 of
 * k, a warp 512 bytes in a row, and no thread needs another one's.
 */
#ifndef W4A8_GEMM_FRAGMENTS_H
#define W4A8_GEMM_FRAGMENTS_H

#include "hopper/w4.h"
#include "hopper/wgmma.h"
#include "configuration.h"
#include "scaled/w4_block.h"

/* A thread's part of a k-tile of 64 channels, as it lies in memory: 32 weights for every 64 of k,
 * and the scales of its two channels. */
struct weights {
    struct b128 words[W4_BLOCK / 64];
    uint32_t scales;
};

/* The same converted: four registers for each step along k. */
struct fragments {
    uint32_t a[W4_BLOCK / 32][4];
    float scale[2];
};

/* Loads 64 channels of a k-tile, those from 64 * slab on. One warpgroup. */
DEVICE void load_weights_of_slab(struct weights *w, const uint8_t *blocks, int slab) {
    const int thread = threadIdx.x % 128;
    const uint8_t *half = blocks + slab * W4_HALF_BYTES;
    UNROLL for (int i = 0; i < W4_BLOCK / 64; ++i)
        w->words[i] = ld_shared_b128(half + (i * 128 + thread) * 16);
    w->scales = ld_shared_b32(half + W4_WEIGHT_BYTES + (thread / 32 * 8 + thread % 32 / 4) * 4);
}

/* Converts a slab's weights to e4m3, and its scales to fp32. Whole warps. */
DEVICE void convert_weights(struct fragments *f, const struct weights *w) {
    /* A bf16 is the upper half of a float. */
    const uint32_t scale[2] = {w->scales << 16, w->scales & 0xffff0000u};
    memcpy(f->scale, scale, sizeof scale);
    UNROLL for (int i = 0; i < W4_BLOCK / 64; ++i) {
        w4_to_e4m3(f->a[2 * i], w->words[i].word, 4);
    }
}

/* Until here the compiler leaves the registers as they are: after the wait for a wgmma, because it
 * has read them; before the next one, so that all conversions come first. */
DEVICE void keep(struct fragments *f) {
    UNROLL for (int i = 0; i < W4_BLOCK / 32; ++i) wgmma_use_fragments(f->a[i], 4);
}

/* The descriptor of a k-tile's rows of A, as the TMA writes them: a row is 128 bytes; eight of them
 * make the swizzle's 1024-byte pattern, hence the stride. Any thread. */
DEVICE uint64_t descriptor_of_a(const e4m3_t *a) {
    return wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
}

/* Issues acc = weights * rows of A: 64 x BM x 32 at a time, four steps along k. One warpgroup. */
DEVICE void multiply(float acc[BM / 2], const struct fragments *f, uint64_t a) {
    UNROLL for (int step = 0; step < BK / 32; ++step) {
        const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
        wgmma_m64nNk32_e4m3_rs(BM, acc, f->a[step], a + along_k, step > 0);
    }
}

#define load_weights(weights, blocks, slab) VERB(load_weights_of_slab(weights, blocks, slab))
#define convert(fragments, weights) VERB(convert_weights(fragments, weights))

#endif
