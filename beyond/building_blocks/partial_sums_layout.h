/*
 * partial_sums_layout.h: the size of the workspace of partial_sums.h, also for code that launches
 * nothing.
 */
#ifndef BUILDING_BLOCKS_PARTIAL_SUMS_LAYOUT_H
#define BUILDING_BLOCKS_PARTIAL_SUMS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

enum { CHUNK = 8 /* columns */ };

/* Columns of a row of the workspace, in chunks. */
#define CHUNKS(n) (((int64_t)(n) + CHUNK - 1) / CHUNK)

/* Bytes of a workspace. Host thread. */
static inline size_t partial_sums_bytes(int m, int n, int layers) {
    return (size_t)layers * (size_t)m * CHUNKS(n) * CHUNK * sizeof(float);
}

#endif
