/*
 * promotion_chapters.c: the timelines of the chapters that promote sums.
 */
#include "tests/timeline/promotion.h"

int main(void) {
    static const struct story stories[] = {
        {"11_fp8_scaling", "promoted", GEMM_E4M3, 2, 1, true, false},
        {"11_fp8_scaling", "", GEMM_E4M3, 2, 1, true, true}, /* looks a tile up when it stores it */
        {"11_fp8_scaling", "rows16", GEMM_E4M3, 1, 1, false, false},
        {"12_w4a8", "", GEMM_W4A8, 1, 1, false, false},
        {"12_w4a8", "pairs", GEMM_W4A8, 1, 1, false, false},
    };
    return test_promotion(stories, sizeof stories / sizeof *stories);
}
