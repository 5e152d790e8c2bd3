/*
 * promotion.h: what the timeline of a kernel that promotes its sums must show.
 */
#ifndef TESTS_TIMELINE_PROMOTION_H
#define TESTS_TIMELINE_PROMOTION_H

#include <stdbool.h>

#include "gemm.h"

/* What a kernel's timeline must show. */
struct story {
    const char *name, *variant;
    enum gemm_type type;
    int groups;     /* of multiplications for each k-tile */
    int promotions; /* of each group */
    bool tiles;     /* a CTA has several output tiles */
    bool hides;     /* most of the promotions' time is under multiplications */
};

/* Runs kernels, of those that the program is linked with, and checks their timelines. Returns the
 * program's exit code. */
int test_promotion(const struct story *stories, int count);

#endif
