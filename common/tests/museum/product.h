/*
 * product.h: what exhibits that multiply share: 64x64 sums of one warpgroup, A and B in boxes with
 * the 128 B swizzle, both K-major.
 */
#ifndef TESTS_MUSEUM_PRODUCT_H
#define TESTS_MUSEUM_PRODUCT_H

#include "element_codec.h"
#include "hopper/wgmma.h"
#include "tests/museum/museum.h"

/* The first row, in the 64, of this thread's accumulators; the other is 8 rows below. */
DEVICE int product_row(void) { return threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4; }

/* Where accumulators i and i + 1 belong in D, i even. */
DEVICE int product_place(int i) {
    return (product_row() + i % 4 / 2 * 8) * MUSEUM_EXTENT + i / 4 * 8 + threadIdx.x % 4 * 2;
}

/* The descriptor of a box. */
DEVICE uint64_t box_descriptor(const element_t *box) {
    return wgmma_descriptor(shared_address(box), 0, 1024, SWIZZLE_128B);
}

/* Issues acc = a * b, or acc += a * b, and commits it. One warpgroup. A macro, so that a report
 * names the exhibit's line. */
#define issue_product(acc, a, b, accumulate)                                                       \
    do {                                                                                           \
        const uint64_t a_ = box_descriptor(a), b_ = box_descriptor(b);                             \
        wgmma_fence();                                                                             \
        UNROLL                                                                                     \
        for (int step_ = 0; step_ < BOX_ROWS / 16; ++step_)                                        \
            wgmma_m64nNk16(64, acc, a_ + step_ * 2, b_ + step_ * 2, (accumulate) || step_ > 0);    \
        wgmma_commit_group();                                                                      \
    } while (0)

/* Element (row, column) of A * B over the k-tiles first .. last - 1; on the host, exactly. */
static inline float product_of(const uint16_t *a, const uint16_t *b, int row, int column, int first,
                               int last) {
    float sum = 0;
    for (int k = first * BOX_ROWS; k < last * BOX_ROWS; ++k)
        sum += bf16_to_float(a[row * MUSEUM_EXTENT + k]) *
               bf16_to_float(b[column * MUSEUM_EXTENT + k]);
    return sum;
}

#endif
