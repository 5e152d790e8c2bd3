/*
 * fastest_configuration.h: which of a library's configurations computes a problem: the one for
 * which a formula predicts the fewest cycles.
 */
#ifndef W4A8_FASTEST_CONFIGURATION_H
#define W4A8_FASTEST_CONFIGURATION_H

#include <math.h>
#include <stdio.h>

#include "services/selection.h"

/* A configuration, and what the library's formula has to know of it. */
struct configuration {
    const struct gemm_kernel *kernel;
    int ctas;                /* of an SM at once; 0: it is persistent */
    double k_tile, overhead; /* cycles, of a k-tile and besides, as the library's formula counts */
};

/* The predicted cycles; infinite if the configuration does not fit the device or the problem. */
typedef double predict_cycles(const struct configuration *configuration,
                              const struct gemm_problem *problem);

/* NULL after a message if none fits, or if there is no device. Host thread. */
static inline const struct gemm_kernel *
fastest_configuration(const char *library, const struct configuration *configurations, size_t count,
                      predict_cycles *predict, const struct gemm_problem *problem) {
    const struct gemm_kernel *best = NULL;
    double best_cycles = INFINITY;
    if (gemm_sm_count() < 1) return NULL; /* already reported */
    (void)gemm_questions_failed();        /* from here on */
    for (size_t i = 0; i < count; ++i) {
        const struct gemm_kernel *kernel = configurations[i].kernel;
        /* A cluster's tiles lie side by side, and the last one may be empty. */
        const int clusters_n = ceil_div(ceil_div(problem->n, kernel->tile_n), kernel->cluster);
        const int64_t clusters = (int64_t)ceil_div(problem->m, kernel->tile_m) * clusters_n;
        if (clusters > GEMM_MOST_TILES / kernel->cluster) continue;
        const double cycles = predict(&configurations[i], problem);
        if (cycles >= best_cycles) continue;
        best_cycles = cycles;
        best = kernel;
    }
    if (gemm_questions_failed()) return NULL; /* already reported */
    if (!best)
        fprintf(stderr, "%s: no configuration fits %d x %d x %d on this device\n", library,
                problem->m, problem->n, problem->k);
    return best;
}

#endif
