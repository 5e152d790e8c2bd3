/*
 * chunk_store.h: fp32 sums that a thread converts and stores as 16 bytes of D.
 */
#ifndef BUILDING_BLOCKS_CHUNK_STORE_H
#define BUILDING_BLOCKS_CHUNK_STORE_H

#include "hopper/element.h"
#include "hopper/thread.h"

enum { CHUNK = 8 /* columns */ };

/* Converts eight sums and stores those that lie in D at (row, column) of D. Any thread. */
DEVICE void store_chunk(const struct gemm_args *args, int row, int column, const float sum[CHUNK]) {
    if (row >= args->m) return;
    element_t *d = &args->d[row * args->ldd + column];
    struct b128 chunk;
    UNROLL for (int i = 0; i < 4; ++i) chunk.word[i] = pack_elements(sum[2 * i], sum[2 * i + 1]);
    if (column + CHUNK <= args->n) st_global_b128(d, chunk);
    else UNROLL for (int i = 0; i < CHUNK; ++i)
        if (column + i < args->n) st_global_element(&d[i], float_to_element(sum[i]));
}

#endif
