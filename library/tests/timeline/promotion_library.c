/*
 * promotion_library.c: the timelines of the kernels of w4a8_gemm that promote sums.
 */
#include "tests/timeline/promotion.h"

int main(void) {
    static const struct story stories[] = {
        {"w4a8_gemm", "slabs64", GEMM_W4A8, 2, 1, false, false},
        {"w4a8_gemm", "three", GEMM_W4A8, 1, 1, true, false},
        /* Looks a tile up for each part that it stores. */
        {"w4a8_gemm", "wide", GEMM_W4A8, 2, 1, true, false},
    };
    return test_promotion(stories, sizeof stories / sizeof *stories);
}
