/*
 * wide_store.h: stores accumulators from registers to D, 16 bytes per thread at a time.
 *
 * After mma.sync and wgmma a thread holds pairs of neighbouring columns, 4 bytes of D. A warp that
 * stores the pairs as they are writes half of each 32-byte sector, and needs a second instruction
 * to fill the sector. The four lanes of a quad together hold 32 neighbouring columns of a row.
 * After an exchange each lane holds eight of them, 16 bytes, and two lanes fill a sector.
 */
#ifndef BUILDING_BLOCKS_WIDE_STORE_H
#define BUILDING_BLOCKS_WIDE_STORE_H

#include "hopper/element.h"
#include "hopper/thread.h"

#ifndef WIDE_STORES
#define WIDE_STORES 1 /* 0: each thread stores the pairs that it holds */
#endif

/* Transposes 4 x 4 words between the four lanes of a quad: word j of lane i becomes word i of
 * lane j. A whole warp. */
DEVICE void transpose_quad(uint32_t word[4]) {
    const int lane = threadIdx.x % 32;
    UNROLL for (int bit = 2; bit > 0; bit /= 2)
        UNROLL for (int i = 0; i < 4; ++i) {
            if (i & bit) continue;
            const bool upper = lane & bit;
            const uint32_t mine = upper ? word[i] : word[i | bit];
            const uint32_t other = __shfl_sync(0xffffffffu, mine, lane ^ bit);
            if (upper) word[i] = other;
            else word[i | bit] = other;
        }
}

/* Writes 16 rows x `columns` of accumulators (a constant, a multiple of 32; columns / 2 in each
 * thread) to D, from (first_row, first_column) on, and leaves out what lies beyond m and n. A whole
 * warp. */
DEVICE void store_16_rows(const struct gemm_args *args, int first_row, int first_column,
                          int columns, const float *acc) {
    const int lane = threadIdx.x % 32;
    UNROLL for (int j = 0; j < columns / 8; j += 4)
        UNROLL for (int half = 0; half < 2; ++half) {
            const int row = first_row + half * 8 + lane / 4;
            struct b128 chunk;
            UNROLL for (int i = 0; i < 4; ++i)
                chunk.word[i] = pack_elements(acc[4 * (j + i) + 2 * half],
                                              acc[4 * (j + i) + 2 * half + 1]);
            if (WIDE_STORES) transpose_quad(chunk.word);
            UNROLL for (int i = 0; i < 4; ++i) {
                const int eight = WIDE_STORES ? j + lane % 4 : j + i; /* which eight columns */
                const int column = first_column + eight * 8 + (WIDE_STORES ? i : lane % 4) * 2;
                element_t *d = &args->d[row * args->ldd + column];
                if (WIDE_STORES && i == 0 && row < args->m && column + 8 <= args->n) {
                    st_global_b128(d, chunk);
                    break;
                }
                if (row < args->m && column + 1 < args->n) st_global_b32(d, chunk.word[i]);
                else if (row < args->m && column < args->n)
                    st_global_element(d, first_of_pair(chunk.word[i]));
            }
        }
}

/* The same for 64 rows, 16 per warp, in wgmma's layout. One warpgroup. */
DEVICE void store_64_rows(const struct gemm_args *args, int first_row, int first_column,
                          int columns, const float *acc) {
    store_16_rows(args, first_row + threadIdx.x % 128 / 32 * 16, first_column, columns, acc);
}

#endif
