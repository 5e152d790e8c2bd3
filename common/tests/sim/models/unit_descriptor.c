/*
 * unit_descriptor.c: swizzles and wgmma descriptors against formulas of another form: the swizzle
 * as a permutation of chunks within a row, the canonical layouts as they are drawn (which core
 * matrix, which row of it), descriptors as literal bits.
 */
#include "hopper/thread.h"
#include "hopper/wgmma.h"
#include "sim/models/descriptor.h"
#include "tests/support/expect.h"

/* Row r of a pattern moves chunk c to c xor (r mod chunks of a row), where a 128-byte line holds
 * several short rows. */
static uint32_t swizzled_by_rows(uint32_t address, int bytes) {
    const uint32_t chunks = (uint32_t)bytes / 16, line = address / 128;
    const uint32_t chunk = address % (uint32_t)bytes / 16;
    return address - chunk * 16 + ((chunk ^ (line % chunks)) * 16);
}

static void test_swizzle(void) {
    for (uint32_t address = 0; address < 8192; address += 2) {
        EXPECT(swizzle_address(address, SWIZZLE_NONE) == address, "0x%x", address);
        EXPECT(swizzle_address(address, SWIZZLE_32B) == swizzled_by_rows(address, 32), "0x%x",
               address);
        EXPECT(swizzle_address(address, SWIZZLE_64B) == swizzled_by_rows(address, 64), "0x%x",
               address);
        EXPECT(swizzle_address(address, SWIZZLE_128B) == swizzled_by_rows(address, 128), "0x%x",
               address);
    }
}

/* Words written out from the bit positions in the PTX ISA. */
static void test_fields(void) {
    struct descriptor d;
    EXPECT(!descriptor_decode(UINT64_C(0x4000004000010040), &d), "valid");
    EXPECT(d.start == 0x400 && d.lbo == 16 && d.sbo == 1024, "0x%x %u %u", d.start, d.lbo, d.sbo);
    EXPECT(d.swizzle == SWIZZLE_128B && d.base_offset == 0, "%d %u", d.swizzle, d.base_offset);
    EXPECT(!descriptor_decode(UINT64_C(0x800e3fff3fff3fff), &d), "valid");
    EXPECT(d.start == 0x3fff0 && d.lbo == 0x3fff0 && d.sbo == 0x3fff0, "0x%x 0x%x 0x%x", d.start,
           d.lbo, d.sbo);
    EXPECT(d.swizzle == SWIZZLE_64B && d.base_offset == 7, "%d %u", d.swizzle, d.base_offset);
    EXPECT(!descriptor_decode(UINT64_C(3) << 62, &d) && d.swizzle == SWIZZLE_32B, "%d", d.swizzle);
    EXPECT(!descriptor_decode(0, &d) && d.swizzle == SWIZZLE_NONE, "%d", d.swizzle);
    const int reserved[] = {14, 15, 30, 31, 46, 47, 48, 52, 55, 61};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; ++i)
        EXPECT(descriptor_decode(UINT64_C(1) << reserved[i], &d), "bit %d", reserved[i]);
    /* What kernels make is what the simulator decodes, and encoding is the inverse. */
    for (int swizzle = SWIZZLE_NONE; swizzle <= SWIZZLE_128B; ++swizzle) {
        const uint64_t word = wgmma_descriptor(0x5002c400, 272, 4096, (enum gemm_swizzle)swizzle);
        EXPECT(!descriptor_decode(word, &d), "0x%llx", (unsigned long long)word);
        EXPECT(d.start == 0x2c400 && d.lbo == 272 && d.sbo == 4096, "0x%x %u %u", d.start, d.lbo,
               d.sbo);
        EXPECT((int)d.swizzle == swizzle, "%d", d.swizzle);
        EXPECT(descriptor_encode(&d) == word, "0x%llx", (unsigned long long)word);
    }
}

/* Byte offset of element (mn, k) in a K-major tile of `width` bytes per row, eight-row groups `sbo`
 * apart. */
static uint32_t k_major(int mn, int k, int width, uint32_t sbo) {
    return (uint32_t)(mn / 8) * sbo + (uint32_t)(mn % 8 * width + k * 2);
}

/* The same of an MN-major tile: `width` bytes along mn, then the next such block; eight k make a
 * group. */
static uint32_t mn_major(int mn, int k, int width, uint32_t lbo, uint32_t sbo) {
    const int per_row = width / 2;
    return (uint32_t)(k / 8) * sbo + (uint32_t)(k % 8 * width) + (uint32_t)(mn / per_row) * lbo +
           (uint32_t)(mn % per_row * 2);
}

static void test_layouts(void) {
    const uint32_t start = 0x1400 * 2;
    for (int mode = SWIZZLE_32B; mode <= SWIZZLE_128B; ++mode) {
        const enum gemm_swizzle swizzle = (enum gemm_swizzle)mode;
        const int width = 16 << mode;
        struct descriptor d = {.start = start, .lbo = 4096, .sbo = 2048, .swizzle = swizzle};
        for (int step = 0; step < width / 32; ++step) { /* along k within the swizzle's width */
            d.start = start + (uint32_t)step * 32;
            for (int mn = 0; mn < 256; ++mn)
                for (int k = 0; k < 16; k += 8) {
                    const uint32_t expected =
                        swizzled_by_rows(start + k_major(mn, 16 * step + k, width, 2048), width);
                    const uint32_t got = descriptor_chunk(&d, false, mn, k / 8);
                    EXPECT(got == expected, "K-major mode %d, (%d, %d): 0x%x, expected 0x%x", mode,
                           mn, k, got, expected);
                }
        }
        d.start = start;
        for (int k = 0; k < 16; ++k)
            for (int mn = 0; mn < 256; mn += 8) {
                const uint32_t expected =
                    swizzled_by_rows(start + mn_major(mn, k, width, 4096, 2048), width);
                const uint32_t got = descriptor_chunk(&d, true, k, mn / 8);
                EXPECT(got == expected, "MN-major mode %d, (%d, %d): 0x%x, expected 0x%x", mode, mn,
                       k, got, expected);
            }
    }
    /* Without a swizzle, core matrices of 8 x 16 bytes stand alone; LBO and SBO say where. */
    const struct descriptor none = {.start = 0x800, .lbo = 128, .sbo = 256};
    EXPECT(descriptor_chunk(&none, false, 0, 1) == 0x800 + 128, "next 8 of k: LBO");
    EXPECT(descriptor_chunk(&none, false, 8, 0) == 0x800 + 256, "next 8 rows: SBO");
    EXPECT(descriptor_chunk(&none, false, 13, 1) == 0x800 + 256 + 128 + 5 * 16,
           "inside a core matrix");
    EXPECT(descriptor_chunk(&none, true, 8, 0) == 0x800 + 128, "next 8 of k: LBO");
    EXPECT(descriptor_chunk(&none, true, 0, 1) == 0x800 + 256, "next 8 of mn: SBO");
    EXPECT(descriptor_chunk(&none, true, 15, 3) == 0x800 + 128 + 3 * 256 + 7 * 16, "inside");
    /* Addresses have 18 bits. */
    const struct descriptor top = {.start = 0x3fff0, .sbo = 1024, .swizzle = SWIZZLE_NONE};
    EXPECT(descriptor_chunk(&top, false, 1, 0) == 0, "0x%x", descriptor_chunk(&top, false, 1, 0));
    /* A pattern that starts at row 3 of 128 bytes: with base offset 3 its rows are permuted as if
     * it started at row 0. */
    const struct descriptor late = {
        .start = 0x180, .sbo = 1024, .base_offset = 3, .swizzle = SWIZZLE_128B};
    for (int row = 0; row < 8; ++row)
        EXPECT(descriptor_chunk(&late, false, row, 0) == 0x180 + (uint32_t)(row * 128 + row * 16),
               "row %d: 0x%x", row, descriptor_chunk(&late, false, row, 0));
}

int main(void) {
    test_swizzle();
    test_fields();
    test_layouts();
    return expect_result();
}
