/* descriptor.c: decoding wgmma's matrix descriptors and walking the canonical layouts of 16-bit
 * tiles. */
#include "sim/models/descriptor.h"

enum {
    ADDRESS_MASK = 0x3ffff
}; /* descriptors hold 18 bits of an address, the low four implied zero */

/* Bits 62-63 count the modes the other way round than the tensor map does. */
static enum gemm_swizzle swizzle_of_field(unsigned field) {
    return (enum gemm_swizzle)((4 - field) & 3);
}

const char *descriptor_decode(uint64_t word, struct descriptor *out) {
    out->start = (uint32_t)(word & 0x3fff) << 4;
    out->lbo = (uint32_t)(word >> 16 & 0x3fff) << 4;
    out->sbo = (uint32_t)(word >> 32 & 0x3fff) << 4;
    out->base_offset = (uint32_t)(word >> 49 & 7);
    out->swizzle = swizzle_of_field((unsigned)(word >> 62));
    if (word >> 14 & 3) return "bits 14-15, behind the start address, must be zero";
    if (word >> 30 & 3) return "bits 30-31, behind the leading byte offset, must be zero";
    if (word >> 46 & 7) return "bits 46-48, behind the stride byte offset, must be zero";
    if (word >> 52 & 0x3ff) return "bits 52-61, between base offset and swizzle mode, must be zero";
    return NULL;
}

uint64_t descriptor_encode(const struct descriptor *fields) {
    return (uint64_t)((fields->start & ADDRESS_MASK) >> 4) |
           (uint64_t)((fields->lbo & ADDRESS_MASK) >> 4) << 16 |
           (uint64_t)((fields->sbo & ADDRESS_MASK) >> 4) << 32 |
           (uint64_t)(fields->base_offset & 7) << 49 | (uint64_t)((4 - fields->swizzle) & 3) << 62;
}

/*
 * A core matrix is 8 lines of 16 bytes. The canonical layouts, for 16-bit elements:
 *
 *   K-major, none        lines 16 B apart; next 8 lines: SBO; next 8 elements of k: LBO
 *   K-major, swizzled    lines a swizzle width apart; next 8 lines: SBO; next 8 of k: 16 B
 *   MN-major, none       lines 16 B apart; next 8 lines: LBO; next 8 elements of mn: SBO
 *   MN-major, swizzled   lines a swizzle width apart; next 8 lines: SBO; next 8 of mn: 16 B,
 *                        behind the width: LBO
 */
static uint32_t chunk_offset(const struct descriptor *d, bool mn_major, uint32_t line,
                             uint32_t chunk) {
    const uint32_t width = swizzle_width(d->swizzle);
    const uint32_t in_core = line % 8 * width, core = line / 8;
    if (d->swizzle == SWIZZLE_NONE)
        return mn_major ? in_core + core * d->lbo + chunk * d->sbo
                        : in_core + core * d->sbo + chunk * d->lbo;
    if (!mn_major) return in_core + core * d->sbo + chunk * 16;
    const uint32_t chunks = width / 16; /* that fit the width */
    return in_core + core * d->sbo + chunk % chunks * 16 + chunk / chunks * d->lbo;
}

uint32_t descriptor_chunk(const struct descriptor *d, bool mn_major, int line, int chunk) {
    const uint32_t linear =
        (d->start + chunk_offset(d, mn_major, (uint32_t)line, (uint32_t)chunk)) & ADDRESS_MASK;
    /* A pattern that starts `base_offset` rows of 128 bytes late is permuted as if it started at
     * row 0. */
    const uint32_t pattern = linear - (d->base_offset << 7);
    return linear ^ (pattern ^ swizzle_address(pattern, d->swizzle));
}
