/*
 * layouts.c: what the page of layouts asks, answered by the simulator's models: where the parts of
 * a tile lie, what a descriptor finds of it, and which thread holds an element.
 *
 * The tile has 64 lines of 64 elements of 16 bits. A line is a row of m if the tile is K-major, and
 * a step of k if it is MN-major. Lines are `pitch` bytes apart; what is longer goes on in the next
 * panel, behind all lines. A chunk is 16 bytes of a line.
 */
#include "sim/models/banks.h"
#include "sim/models/descriptor.h"
#include "sim/models/fragments.h"

enum { LINES = 64, CORE_LINES = 8, STEP = 16, CHUNK = 16, THREADS = 128 };

static uint32_t wavefronts(const uint64_t address[32]) {
    unsigned passes;
    bank_passes(address, (1u << CORE_LINES) - 1, CHUNK, &passes);
    return passes;
}

/* ---- the tile ---- */

/* Before the XOR. */
uint32_t tile_linear(uint32_t base, uint32_t pitch, uint32_t line, uint32_t chunk) {
    const uint32_t chunks = pitch / CHUNK; /* of a panel */
    return base + (chunk / chunks * LINES + line) * pitch + chunk % chunks * CHUNK;
}

uint32_t tile_address(enum gemm_swizzle swizzle, uint32_t base, uint32_t pitch, uint32_t line,
                      uint32_t chunk) {
    return swizzle_address(tile_linear(base, pitch, line, chunk), swizzle);
}

/* Where the 16 lines of the panel begin in which this chunk lies. */
uint32_t tile_window(uint32_t base, uint32_t pitch, uint32_t line, uint32_t chunk) {
    return tile_linear(base, pitch, line / STEP * STEP, chunk / (pitch / CHUNK) * (pitch / CHUNK));
}

/* Of the core matrix in which this chunk lies. */
uint32_t tile_wavefronts(enum gemm_swizzle swizzle, uint32_t base, uint32_t pitch, uint32_t line,
                         uint32_t chunk) {
    uint64_t address[32] = {0};
    for (uint32_t i = 0; i < CORE_LINES; ++i)
        address[i] = tile_address(swizzle, base, pitch, line / CORE_LINES * CORE_LINES + i, chunk);
    return wavefronts(address);
}

uint32_t bank_of(uint32_t address) { return address / SHARED_BANK_BYTES % SHARED_BANKS; }

uint32_t pattern_bytes(enum gemm_swizzle swizzle) { return swizzle_period(swizzle); }

/* ---- a descriptor of it ---- */

/* The fields with which a descriptor finds the tile: its core matrices' distances. */
uint32_t fitting_start(uint32_t base, uint32_t pitch, bool mn_major, uint32_t step) {
    return mn_major ? tile_linear(base, pitch, step * STEP, 0)
                    : tile_linear(base, pitch, 0, step * STEP * 2 / CHUNK);
}

uint32_t fitting_lbo(enum gemm_swizzle swizzle, uint32_t pitch, bool mn_major) {
    if (swizzle == SWIZZLE_NONE)
        return mn_major ? tile_linear(0, pitch, CORE_LINES, 0) : tile_linear(0, pitch, 0, 1);
    return mn_major ? tile_linear(0, pitch, 0, swizzle_width(swizzle) / CHUNK) : 0; /* not used */
}

uint32_t fitting_sbo(enum gemm_swizzle swizzle, uint32_t pitch, bool mn_major) {
    return swizzle == SWIZZLE_NONE && mn_major ? tile_linear(0, pitch, 0, 1)
                                               : tile_linear(0, pitch, CORE_LINES, 0);
}

uint64_t word_of(uint32_t start, uint32_t lbo, uint32_t sbo, uint32_t base_offset,
                 enum gemm_swizzle swizzle) {
    return descriptor_encode(&(struct descriptor){start, lbo, sbo, base_offset, swizzle});
}

/* `line` and `chunk` count from the start address. */
uint32_t word_address(uint64_t word, bool mn_major, int line, int chunk) {
    struct descriptor d;
    descriptor_decode(word, &d);
    return descriptor_chunk(&d, mn_major, line, chunk);
}

uint32_t word_wavefronts(uint64_t word, bool mn_major, int line, int chunk) {
    uint64_t address[32] = {0};
    for (int i = 0; i < CORE_LINES; ++i)
        address[i] = word_address(word, mn_major, line / CORE_LINES * CORE_LINES + i, chunk);
    return wavefronts(address);
}

/* ---- who owns an element ---- */

struct owner {
    int thread, index, half;
};

/* Of the 64 x 16 tile A; index: of the register. */
const struct owner *owner_of_a(int row, int column) {
    static struct owner o;
    for (o.thread = 0; o.thread < THREADS; ++o.thread)
        for (o.index = 0; o.index < 4; ++o.index)
            for (o.half = 0; o.half < 2; ++o.half) {
                const struct fragment_position p = fragment_of_a(o.thread, o.index, o.half);
                if (p.row == row && p.column == column) return &o;
            }
    return NULL;
}

/* Of the first 64 columns of D; index: of the accumulator. */
const struct owner *owner_of_d(int row, int column) {
    static struct owner o;
    for (o.thread = 0; o.thread < THREADS; ++o.thread)
        for (o.index = 0; o.index < LINES / 2; ++o.index) {
            const struct fragment_position p = fragment_of_d(o.thread, o.index);
            if (p.row == row && p.column == column) return &o;
        }
    return NULL;
}
