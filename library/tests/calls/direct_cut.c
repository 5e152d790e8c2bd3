/*
 * direct_cut.c: how direct.h cuts problems. The warps of a CTA are as many as are on the device at
 * once, and no more than shorten the loop; the orientation is the one that reads fewer rows; and no
 * prediction promises more than the memory and the ports of the SMs deliver.
 */
#include <math.h>

#include "hopper_gemm/direct.h"
#include "splitmix64.h"
#include "tests/support/expect.h"

enum { SHAPES = 2000, SMS = 132 };
/* Of an H200, in bytes per cycle: 4.8 TB/s at 1.755 GHz, and the port of an SM. */
enum { PEAK_MEMORY = 2735, PEAK_PORT = 64 };

int gemm_sm_count(void) { return SMS; }

/* From 2^low to 2^high, log-uniform. */
static int draw(uint64_t *random, double low, double high) {
    const double share = (double)(splitmix64(random) >> 11) / (double)(1ull << 53);
    return (int)exp2(low + share * (high - low));
}

static void check_warps(const struct gemm_problem *p, const struct direct_cut *cut) {
    const int64_t tiles = (int64_t)cut->tiles_side * cut->tiles_fitted;
    const int steps = ceil_div(p->k, DIRECT_STEP), warps = cut->warps;
    const int rounds = ceil_div(steps, warps), room = DIRECT_MOST_WARPS * SMS;
    EXPECT(warps >= 1 && warps <= DIRECT_MOST_WARPS, "%d x %d x %d: %d warps", p->m, p->n, p->k,
           warps);
    EXPECT(warps == 1 || ceil_div(steps, warps - 1) > rounds, "%d x %d x %d: %d warps for %d steps",
           p->m, p->n, p->k, warps, steps);
    EXPECT(warps <= DIRECT_LEAST_WARPS || warps * tiles <= room,
           "%d x %d x %d: %d warps for each of %lld tiles", p->m, p->n, p->k, warps,
           (long long)tiles);
    for (int more = warps + 1; more <= DIRECT_MOST_WARPS && more * tiles <= room; ++more)
        EXPECT(ceil_div(steps, more) == rounds, "%d x %d x %d: %d warps, and there is room for %d",
               p->m, p->n, p->k, warps, more);
}

static void check_shape(const struct gemm_problem *p, int side_rows, int fitted_rows) {
    const struct direct_cut cut = direct_cut_of(p, side_rows, fitted_rows, SMS);
    const struct direct_cut other =
        direct_cut_along(p, side_rows, fitted_rows, !cut.transposed, SMS);
    check_warps(p, &cut);
    EXPECT(cut.rows <= other.rows, "%d x %d x %d: %.0f rows, and %.0f the other way", p->m, p->n,
           p->k, cut.rows, other.rows);
    const double cycles = cost_cycles(
        direct_cost(p, side_rows, fitted_rows, SMS, (struct gemm_rates){.memory = 1, .l2 = 1}));
    const double bytes = 2 * ((double)p->m * p->k + (double)p->n * p->k + (double)p->m * p->n);
    const double least = fmax(bytes / PEAK_MEMORY, 2 * cut.rows * p->k / SMS / PEAK_PORT);
    EXPECT(cycles > least, "%d x %d x %d: %.0f cycles, of which bytes alone need %.0f", p->m, p->n,
           p->k, cycles, least);
}

int main(void) {
    static const int tile[][2] = {{16, 8}, {16, 16}, {16, 32}, {32, 8}, {32, 16}};
    uint64_t random = 1;
    for (int i = 0; i < SHAPES; ++i) {
        const struct gemm_problem p = {
            .m = draw(&random, 0, 14), .n = draw(&random, 0, 14), .k = draw(&random, 0, 15)};
        check_shape(&p, tile[i % 5][0], tile[i % 5][1]);
    }
    return expect_result();
}
