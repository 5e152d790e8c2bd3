/*
 * fit_forms.c: part of the mutants of the library's fitted.cu: how the launch cuts a problem. What
 * fit.h would choose changes with its constants, and a line can break only where a cut needs it. So
 * here each run of --check (sim/check_runs.c) gets a cut by its number of SMs, and every line is
 * part of some run, in every configuration.
 */
#include "fit.h"

struct fit form_of_run(const struct gemm_problem *p, const struct gemm_kernel *kernel, bool splits);

struct fit form_of_run(const struct gemm_problem *p, const struct gemm_kernel *kernel,
                       bool splits) {
    const int slabs = kernel->tile_m / 64, k_tiles = ceil_div(p->k, BK);
    const int layers = slabs > 1 ? 3 : 5; /* of some tiles a second kernel adds up as many */
    struct fit fit = {.sharing_side = 1,
                      .sharing_fitted = 1,
                      .splits = 1,
                      .splits_in_cluster = 1,
                      .transposed = p->m % 2 != 0};
    switch (gemm_sm_count()) {
    case 1: /* one tile after the other, whole or in parts */
        fit.splits = splits && k_tiles > layers ? layers : 1;
        break;
    case 3: /* a cluster adds up the parts, of which some have no share of the tile */
        fit.splits = fit.splits_in_cluster = 3;
        fit.transposed = true;
        break;
    case 4: /* clusters that share rows of both operands */
        fit.sharing_side = fit.sharing_fitted = 2;
        break;
    default: /* clusters add up two parts, and their sums in two layers */
        fit.splits_in_cluster = 2;
        fit.splits = splits ? 4 : 2;
    }
    const int fitted = fit.transposed ? p->m : p->n, tiles = ceil_div(fitted, FIT_WIDEST(slabs));
    fit.width = fit_width(fitted, tiles < fit.sharing_side ? fit.sharing_side : tiles);
    return fit;
}
