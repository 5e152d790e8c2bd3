/*
 * descriptor.h: the 64-bit matrix descriptor of wgmma, decoded bit for bit, and the addresses it
 * makes.
 *
 * PTX ISA: "Asynchronous Warpgroup Level Matrix Instructions": "Matrix Descriptor Format",
 * "Strides", "Canonical layouts".
 */
#ifndef SIM_MODELS_DESCRIPTOR_H
#define SIM_MODELS_DESCRIPTOR_H

#include "gemm.h"

/* A shared-memory address permuted by a swizzle: bits 4.. are XORed with bits 7.., as many as the
 * mode has (128 B: 3, 64 B: 2, 32 B: 1, none: 0). Acts on the absolute address, so rows that repeat
 * every 128 bytes get another permutation of their 16-byte chunks each. It is its own inverse. */
static inline uint32_t swizzle_address(uint32_t address, enum gemm_swizzle swizzle) {
    return address ^ ((address >> 3) & (((1u << swizzle) - 1) << 4));
}

/* Bytes of a row under the swizzle: 16 (none), 32, 64 or 128. */
static inline uint32_t swizzle_width(enum gemm_swizzle swizzle) { return 16u << swizzle; }

/* After this many bytes the permutation repeats: 16 (none), 256, 512 or 1024. */
static inline uint32_t swizzle_period(enum gemm_swizzle swizzle) {
    return swizzle == SWIZZLE_NONE ? 16 : 128u << swizzle;
}

struct descriptor {
    uint32_t start;       /* byte address, 18 bits, a multiple of 16 */
    uint32_t lbo, sbo;    /* leading and stride dimension byte offsets */
    uint32_t base_offset; /* 0..7: row of 128 bytes in which the swizzle's pattern starts */
    enum gemm_swizzle swizzle;
};

/* Decodes `word`. Returns NULL, or a sentence that says which reserved field is not zero. */
const char *descriptor_decode(uint64_t word, struct descriptor *out);

/* The inverse; fields are cut to their width. */
uint64_t descriptor_encode(const struct descriptor *fields);

/* The address of 16 bytes of an operand tile, before bounds are checked.
 * K-major: row `mn` (of 64, or of N), elements k = 8 * chunk .. + 7, chunk 0 or 1 (of 8-bit ones,
 * k = 16 * chunk .. + 15).
 * MN-major: row `k` = `line` (0..15), elements mn = 8 * chunk .. + 7.
 * So `line` counts what is strided and `chunk` what is contiguous in memory. */
uint32_t descriptor_chunk(const struct descriptor *d, bool mn_major, int line, int chunk);

#endif
