/*
 * configurations.c compiles select.c once more, because its table and its formula are its own.
 */
#include "tools/cuts/configurations.h"

#include "fit.h" /* before select.c includes its own: fit_cuts has one with variables */

#include "../../../beyond/10_stream_k/select.c"

/* For programs without these kernels, such as fit_cuts. A kernel that is linked takes the place of
 * its empty record. */
#define EMPTY __attribute__((weak)) const struct gemm_kernel
#define EMPTY_RECORDS(name, ...)                                                                   \
    EMPTY kernel_10_stream_k_##name##_fp16 = {0};                                                  \
    EMPTY kernel_10_stream_k_##name##_bf16 = {0};
#define EMPTY_WHOLE(name)                                                                          \
    EMPTY kernel_10_stream_k_##name##_fp16_whole = {0};                                            \
    EMPTY kernel_10_stream_k_##name##_bf16_whole = {0};
CONFIGURATIONS(EMPTY_RECORDS)
FITTED(EMPTY_RECORDS)
FITTED(EMPTY_WHOLE)
#define EMPTY_FORMS(name, suffix)                                                                  \
    EMPTY kernel_10_stream_k_##name##_early_##suffix = {0};                                        \
    EMPTY kernel_10_stream_k_##name##_ahead_##suffix = {0};
EARLY_FORMS(EMPTY_FORMS)

#define NAME(name, ...) #name,
static const char *const names[] = {CONFIGURATIONS(NAME)};
static const int count = sizeof names / sizeof *names;
_Static_assert(sizeof names / sizeof *names <= SELECTION_MOST, "SELECTION_MOST is too small");

int selection_count(void) { return count; }

const char *selection_name(int configuration) { return names[configuration]; }

int selection_find(const char *name) {
    for (int i = 0; i < count; ++i)
        if (!strcmp(names[i], name)) return i;
    return -1;
}

const struct gemm_kernel *selection_kernel(int configuration) {
    return configurations[configuration].kernel[GEMM_BF16];
}

double selection_cycles(int configuration, const struct selection_tile *tile, int sms,
                        struct gemm_rates rates, const struct gemm_problem *p) {
    const struct gemm_kernel kernel = {
        .tile_m = tile->m, .tile_n = tile->n, .tile_k = tile->k, .cluster = tile->cluster};
    return configuration_cycles(&configurations[configuration], &kernel, p, tile->resident, sms,
                                rates);
}
