#include "harness/statistics.h"

#include <stdlib.h>
#include <string.h>

#include "harness/allocate.h"

static int ascending(const void *left, const void *right) {
    const double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

double quantile(const double *samples, int count, double p) {
    double few[64];
    double *sorted = count <= 64 ? few : allocate((size_t)count, sizeof *sorted, "the samples");
    memcpy(sorted, samples, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    const double rank = p * (count - 1);
    const int below = (int)rank;
    const int above = below + 1 < count ? below + 1 : below;
    const double result = sorted[below] + (rank - below) * (sorted[above] - sorted[below]);
    if (sorted != few) free(sorted);
    return result;
}

double median(const double *samples, int count) { return quantile(samples, count, 0.5); }

double quartile_spread(const double *samples, int count) {
    const double middle = median(samples, count);
    if (middle == 0) return 0;
    return (quantile(samples, count, 0.75) - quantile(samples, count, 0.25)) / middle;
}
