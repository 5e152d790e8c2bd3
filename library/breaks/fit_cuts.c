/*
 * fit_cuts.c: part of the breaks of the library's fitted.cu: how the launch cuts a problem. What
 * fit.h would choose changes with its constants, and a line can break only where a cut needs it. So
 * here each run of --check (sim/check_runs.c) gets a cut by its number of SMs, and every line is
 * part of some run, in every configuration.
 */
#include "fit.h"

struct fit cut_of_run(const struct gemm_problem *p, const struct gemm_kernel *kernel, bool splits);

struct fit cut_of_run(const struct gemm_problem *p, const struct gemm_kernel *kernel, bool splits) {
    const int slabs = kernel->tile_m / 64, k_tiles = ceil_div(p->k, BK), sms = gemm_sm_count();
    const int parts = slabs > 1 ? 3 : 5; /* of some tiles a second kernel adds up as many */
    struct fit fit = {.sharing_side = 1,
                      .sharing_fitted = 1,
                      .splits = splits && k_tiles > parts && sms != 4 ? parts : 1,
                      .transposed = p->m % 2 != 0};
    if (sms == 4)
        fit.sharing_side = fit.sharing_fitted = 2; /* rows of both operands */
    else if (sms > 1)
        fit.sharing_side = 2; /* rows of one, also in parts */
    const int fitted = fit.transposed ? p->m : p->n, tiles = ceil_div(fitted, FIT_WIDEST(slabs));
    fit.width = fit_width(fitted, tiles < fit.sharing_side ? fit.sharing_side : tiles);
    return fit;
}
