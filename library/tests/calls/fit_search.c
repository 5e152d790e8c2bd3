/*
 * fit_search.c: the few cuts that fit.h tries are as good as all of them, the answers that it keeps
 * are those of the question, and no answer promises more than the Tensor Core can do.
 */
#include <stdlib.h>

#include "hopper_gemm/fit.h"
#include "splitmix64.h"
#include "tests/support/expect.h"

enum { SHAPES = 400, SMS = 132, TOLERATED = 6 /* percent */ };

/* The device of the questions. */
static int resident_of[FIT_CLUSTERS] = {SMS, SMS / 2, SMS / 3 - 1, SMS / 4 - 1};
static struct gemm_rates rates = {1, 1};
static int per_sm = 1; /* CTAs of the kernel */
int gemm_sm_count(void) { return SMS; }
struct gemm_rates gemm_device_rates(void) {
    return rates;
}
int gemm_resident_clusters(const struct gemm_launch *launch) {
    return resident_of[launch->cluster - 1] * per_sm;
}

/* From 2^low to 2^high, log-uniform; one of two is a multiple of 8. */
static int draw(uint64_t *random, double low, double high) {
    const double share = (double)(splitmix64(random) >> 11) / (double)(1ull << 53);
    const int extent = (int)exp2(low + share * (high - low));
    return splitmix64(random) % 2 ? (extent + 7) / 8 * 8 : extent;
}

static struct gemm_problem draw_problem(uint64_t *random) {
    struct gemm_problem p = {
        .m = draw(random, 0, 14), .n = draw(random, 0, 14), .k = draw(random, 0, 15)};
    p.lda = p.ldb = (p.k + 7) / 8 * 8;
    p.ldd = (p.n + 7) / 8 * 8;
    return p;
}

/* The least cycles of any cut. */
static double exhaustive(const struct gemm_problem *p, int slabs) {
    struct fit_search search = fit_search_of(p, slabs, SMS, gemm_device_rates());
    struct fit fit = {0};
    static const int forms[][2] = {{1, 1}, {2, 1}, {1, 2}, {4, 1}, {2, 2}};
    for (int i = 0; i < 20; ++i) {
        const int *form = forms[i / 2 % 5], size = form[0] * form[1];
        fit.transposed = i % 2;
        fit.sharing_side = form[0];
        fit.sharing_fitted = form[1];
        search.resident = resident_of[size - 1] * per_sm;
        for (fit.width = 8; fit.width <= FIT_WIDEST(slabs); fit.width += 8) {
            const int side = fit.transposed ? p->n : p->m, fitted = fit.transposed ? p->m : p->n;
            if (ceil_div(fitted, fit.width) < form[0] || ceil_div(side, 64 * slabs) < form[1])
                continue;
            const int64_t tiles = fit_tiles(p, slabs, &fit);
            const bool whole = i < 10;
            const int most = whole ? 1 : search.k_tiles / FIT_LEAST_K_TILES;
            for (fit.splits = whole ? 1 : 2; fit.splits <= most; ++fit.splits) {
                if (fit.splits > 1 && tiles / size * fit.splits > search.resident) break;
                if (fit.splits > 1 && fit.splits * FIT_LEAST_K_TILES > search.k_tiles + 1) break;
                fit_try(&search, fit, (int)(tiles / size));
            }
        }
    }
    return search.best[1].cycles;
}

/* The answers for the three kernels: legal, possible, and the best of them as good as any cut. */
static void expect_answers(const struct gemm_problem *p, double *worst) {
    double best = INFINITY, least = INFINITY;
    for (int slabs = 1; slabs <= 3; ++slabs) {
        const struct gemm_kernel kernel = {.tile_m = 64 * slabs};
        per_sm = slabs == 1 ? 2 : 1;
        const struct fit fit = fit_of(p, &kernel, true);
        const int64_t tiles = fit_tiles(p, slabs, &fit);
        EXPECT(fit.width % 8 == 0 && fit.width >= 8 && fit.width <= FIT_WIDEST(slabs),
               "%d x %d x %d: width %d", p->m, p->n, p->k, fit.width);
        EXPECT(fit.splits >= 1 && fit.splits <= ceil_div(p->k, BK) &&
                   fit.sharing_side * fit.sharing_fitted <= FIT_CLUSTERS &&
                   (fit.splits == 1 || tiles <= GEMM_COUNTERS),
               "%d x %d x %d: %d parts of %lld tiles", p->m, p->n, p->k, fit.splits,
               (long long)tiles);
        /* Tiles of so many side rows cover the operand, in whole swizzle patterns of 8 rows; tiles
         * of 8 rows less would not. */
        const int side = fit.transposed ? p->n : p->m, rows = fit_rows(p, slabs, &fit);
        const int64_t across = ceil_div(side, 64 * slabs * fit.sharing_fitted) * fit.sharing_fitted;
        EXPECT(rows % 8 == 0 && rows >= 8 && rows <= 64 * slabs && across * rows >= side &&
                   across * (rows - 8) < side,
               "%d x %d x %d: %lld tiles of %d rows for %d", p->m, p->n, p->k, (long long)across,
               rows, side);
        const struct fit whole = fit_of(p, &kernel, false);
        EXPECT(whole.splits == 1, "%d x %d x %d: %d parts without a workspace", p->m, p->n, p->k,
               whole.splits);
        EXPECT(fit.splits > 1 || memcmp(&fit, &whole, sizeof fit) == 0,
               "%d x %d x %d: needs no workspace, and is another one without", p->m, p->n, p->k);
        EXPECT(fit.cycles >= 2.0 * p->m * p->n * p->k / COST_TENSOR_CORE / SMS,
               "%d x %d x %d: %.0f cycles", p->m, p->n, p->k, fit.cycles);
        best = fmin(best, fit.cycles);
        least = fmin(least, exhaustive(p, slabs));
    }
    EXPECT(best <= least * (1 + TOLERATED / 100.0),
           "%d x %d x %d: %.0f cycles; another cut has %.0f", p->m, p->n, p->k, best, least);
    *worst = fmax(*worst, best / least);
}

/* The answer to a question does not depend on the question before. */
static void expect_kept(struct gemm_problem p, int change) {
    const struct gemm_kernel kernel = {.tile_m = 128};
    const struct gemm_problem first = p;
    const int resident = resident_of[0];
    fit_of(&p, &kernel, true);
    if (change == 0) p.m += 1000;
    if (change == 1) p.n += 1000;
    if (change == 2) p.k += 10000;
    if (change == 3) p.lda += 8;
    if (change == 4) p.ldb += 8;
    if (change == 5) resident_of[0] = 7;
    if (change == 6) rates = (struct gemm_rates){0.5, 0.8};
    const struct fit again = fit_of(&p, &kernel, true);
    fit_of(&(struct gemm_problem){.m = 1, .n = 1, .k = 1}, &kernel, true);
    const struct fit afresh = fit_of(&p, &kernel, true);
    EXPECT(memcmp(&again, &afresh, sizeof again) == 0, "%d x %d x %d, change %d: a stale answer",
           first.m, first.n, first.k, change);
    resident_of[0] = resident;
    rates = (struct gemm_rates){1, 1};
}

int main(void) {
    uint64_t random = 1;
    double worst = 1;
    for (int i = 0; i < SHAPES; ++i) {
        const struct gemm_problem p = draw_problem(&random);
        expect_answers(&p, &worst);
    }
    printf("the worst answer has %.3f of the cycles of the best\n", worst);
    for (int change = 0; change < 7; ++change)
        expect_kept((struct gemm_problem){.m = 200, .n = 300, .k = 6400, .lda = 6400, .ldb = 6400},
                    change);
    return expect_result();
}
