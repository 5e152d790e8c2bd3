/*
 * w4_block.h: 4-bit weights in the order in which a Hopper GEMM reads them, on the host.
 *
 * The weights are n channels (rows of B) of k. A group is 128 of k in one channel. It has a scale,
 * a bf16, and its weights are whole numbers from -7 to 7: a sign and a magnitude. (Two's complement
 * would also have -8, which takes more instructions to convert.)
 *
 * 128 channels x 128 of k are a block. Its halves are 64 channels each: 4096 bytes of weights, then
 * 128 bytes of scales. Blocks lie one after the other, [ceil(n / 128)][ceil(k / 128)]; beyond n and
 * k they hold zeros.
 *
 * The Tensor Core takes 64 channels from 128 threads, and 32 of k at a time (PTX ISA: "Register
 * Fragments for wgmma.mma_async.m64nNk32"). A thread's registers for 64 of k are 32 weights, 16
 * bytes; so the weights of a half are [2: 64 of k][128 threads][4 words]. With lane =
 * 4 g + t, word 2 s + j has eight weights of step s, 32 of k: four of channel 16 warp + g and four
 * of the channel eight further, k = 32 s + 16 j + 4 t + 0, 1, 2, 3.
 *
 * In a word, bits 0-2, 8-10, 16-18, 24-26 are the magnitudes of the first four, and bits 7, 15, 23,
 * 31 their signs. So four bits of every byte are an e4m3 (below). The other bits are the second
 * four's, in the same places of the word rotated by 4 bits to the right.
 *
 *     e4m3 of a sign and a magnitude of 3 bits: subnormal, exponent field 0: magnitude * 2^-9
 *
 * The scales of a half: the word 8 warp + g has that of channel 16 warp + g in its lower 16 bits,
 * and that of the channel eight further in its upper ones.
 */
#ifndef W4_BLOCK_H
#define W4_BLOCK_H

#include <math.h>

#include "element_codec.h"
#include "scaled/scales.h"

enum {
    W4_BLOCK = SCALE_BLOCK,                   /* channels, and elements of k */
    W4_HALF = 64,                             /* channels */
    W4_WEIGHT_BYTES = W4_HALF * W4_BLOCK / 2, /* of a half */
    W4_HALF_BYTES = W4_WEIGHT_BYTES + W4_HALF * 2,
    W4_BLOCK_BYTES = 2 * W4_HALF_BYTES,
    W4_GREATEST = 7, /* magnitude of a weight */
};

/* Bytes of the blocks of n channels of k. */
static inline size_t w4_bytes(int n, int k) {
    return (size_t)ceil_div(n, W4_BLOCK) * (size_t)ceil_div(k, W4_BLOCK) * W4_BLOCK_BYTES;
}

/* The block that a group belongs to; `k_blocks` is ceil(k / 128). */
static inline uint8_t *w4_block_of(uint8_t *blocks, int k_blocks, int channel, int k_block) {
    return blocks +
           ((size_t)(channel / W4_BLOCK) * (size_t)k_blocks + (size_t)k_block) * W4_BLOCK_BYTES;
}

/* Where a weight lies in a block: the bytes of its magnitude and its sign, and the magnitude's
 * lowest bit. */
struct w4_bits {
    int magnitude, sign, shift;
};

static inline struct w4_bits w4_bits_of(int channel, int k) {
    const int row = channel % W4_HALF, half = channel % W4_BLOCK / W4_HALF;
    const int thread = row / 16 * 32 + row % 8 * 4 + k % 16 / 4;
    const int at = half * W4_HALF_BYTES + (k % W4_BLOCK / 64 * 128 + thread) * 16 +
                   (k % 64 / 32 * 2 + k % 32 / 16) * 4;
    if (row / 8 % 2 == 0) return (struct w4_bits){at + k % 4, at + k % 4, 0};
    return (struct w4_bits){at + k % 4, at + (k + 1) % 4, 4};
}

/* The bit of a weight's sign, in its byte. */
static inline int w4_sign(struct w4_bits bits) { return bits.shift ? 0x08 : 0x80; }

/* Puts a weight at its place, which held zero. */
static inline void w4_put(uint8_t *block, int channel, int k, int weight) {
    const struct w4_bits bits = w4_bits_of(channel, k);
    block[bits.magnitude] |= (uint8_t)((weight < 0 ? -weight : weight) << bits.shift);
    if (weight < 0) block[bits.sign] |= (uint8_t)w4_sign(bits);
}

/* A weight of a block. */
static inline int w4_get(const uint8_t *block, int channel, int k) {
    const struct w4_bits bits = w4_bits_of(channel, k);
    const int magnitude = block[bits.magnitude] >> bits.shift & 7;
    return block[bits.sign] & w4_sign(bits) ? -magnitude : magnitude;
}

/* Where a channel's scale lies in a block. */
static inline size_t w4_offset_of_scale(int channel) {
    const int c = channel % W4_BLOCK, word = c % W4_HALF / 16 * 8 + c % 8;
    return (size_t)(c / W4_HALF * W4_HALF_BYTES + W4_WEIGHT_BYTES + word * 4 + c / 8 % 2 * 2);
}

/* Puts a channel's scale, a bf16, at its bits. */
static inline void w4_put_scale(uint8_t *block, int channel, uint16_t scale) {
    memcpy(block + w4_offset_of_scale(channel), &scale, sizeof scale);
}

static inline uint16_t w4_get_scale(const uint8_t *block, int channel) {
    uint16_t scale;
    memcpy(&scale, block + w4_offset_of_scale(channel), sizeof scale);
    return scale;
}

/* The scale of a group: the greatest magnitude over 7, as a bf16; 1 if that is 0. A bf16 of so few
 * bits that the greatest weight would be more than 7.5 is rounded up. */
static inline uint16_t w4_scale(const float *values, int count) {
    float greatest = 0;
    for (int i = 0; i < count; ++i)
        greatest = fmaxf(greatest, fabsf(values[i]));
    const uint16_t scale = float_to_bf16(greatest / W4_GREATEST);
    if (bf16_to_float(scale) == 0) return float_to_bf16(1);
    return greatest > (W4_GREATEST + 0.5f) * bf16_to_float(scale) ? (uint16_t)(scale + 1) : scale;
}

/* The nearest weight, ties to even. */
static inline int w4_weight(float value, float scale) {
    const float quotient = rintf(value / scale);
    return (int)fmaxf(-W4_GREATEST, fminf(W4_GREATEST, quotient));
}

#endif
