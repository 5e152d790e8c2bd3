/*
 * every_fit.c: every tile that the library's fitted.cu can be launched with, in the simulator.
 *
 *     every_fit SLABS
 *
 * For the kernel with that many consumers: each width, in both orientations, with clusters that
 * share rows; with 1, 2 and 5 parts of k. Clusters and parts take turns from width to width. The
 * launch takes the cut from here instead of from its formula. Each cut has one run, and the
 * schedules take turns: tiles are cut off at both edges of D, a CTA of the last cluster may lie
 * beyond D, a part may have no k-tile, the ring goes around or is never full. Inputs are integers,
 * so results are exact. Prints the cut of a run that fails.
 */
#include <stdio.h>
#include <string.h>

#include "hopper_gemm/fit.h"
#include "harness/message.h"
#include "harness/options.h"
#include "tests/sweep/own_kernels.h"

extern const struct gemm_kernel forced_fit_1, forced_fit_2, forced_fit_3;
struct fit forced_fit(const struct gemm_problem *p, const struct gemm_kernel *kernel, bool splits);

enum { CLUSTER_SMS = 8 }; /* the largest cluster's */

static struct fit forced;

struct fit forced_fit(const struct gemm_problem *p, const struct gemm_kernel *kernel, bool splits) {
    (void)p, (void)kernel, (void)splits;
    return forced;
}

/* A problem that such a cut fits: of two tiles or less on each side, with an edge. */
static struct problem_size draw_size(const struct gemm_kernel *kernel, uint64_t *random) {
    const int rows = kernel->tile_m * forced.sharing_fitted;
    const int width = forced.width * forced.sharing_side;
    const int sides[] = {1, rows - 7, rows, rows + 9}, fits[] = {width - 3, width, width + 5, 3};
    const int side = sides[draw(random, 4)], fitted = fits[draw(random, 4)];
    const int around = fit_stages(kernel->tile_m / 64, forced.width) + 2;
    const int each = draw(random, 3) ? 1 + draw(random, 3) : around;
    /* Of few k-tiles some parts have none. */
    const int k_tiles = draw(random, 4) ? forced.splits * each : 1 + draw(random, forced.splits);
    struct problem_size size = {side, fitted, k_tiles * BK - draw(random, BK)};
    if (forced.transposed) size = (struct problem_size){fitted, side, size.k};
    return size;
}

int main(int argc, char **argv) {
    static const struct gemm_kernel *const kernels[] = {&forced_fit_1, &forced_fit_2,
                                                        &forced_fit_3};
    static const int parts[] = {1, 2, 5};
    static const int forms[][2] = {{1, 1}, {2, 1}, {4, 1}, {1, 2}, {1, 4}, {2, 2}, {4, 2}, {2, 4}};
    uint64_t slabs = 0, random = 1;
    int runs = 0, failures = 0;
    message_open(argv[0]);
    if (argc != 2 || !parse_whole(argv[1], 1, 3, &slabs)) {
        complain("usage: %s SLABS, from 1 to 3", message_program());
        return EXIT_USAGE;
    }
    const struct gemm_kernel *const kernel = kernels[slabs - 1];
    for (int width = 8; width <= FIT_WIDEST((int)slabs); width += 8)
        for (int i = 0; i < 2 * (int)(sizeof forms / sizeof *forms); ++i) {
            forced = (struct fit){.width = width,
                                  .sharing_side = forms[i / 2][0],
                                  .sharing_fitted = forms[i / 2][1],
                                  .splits = parts[(i / 2 + width / 8) % 3],
                                  .transposed = i % 2};
            /* Each width in every fourth form of cluster, and the next widths in the others. */
            if ((i / 2 + width / 16) % 4) continue;
            const struct problem_size size = draw_size(kernel, &random);
            const enum exit_code code = run(kernel, size, CLUSTER_SMS, runs++);
            if (code == EXIT_VERIFIED) continue;
            ++failures;
            printf("%s%d rows, width %d, clusters of %d x %d, %d parts: %d x %d x %d, ",
                   forced.transposed ? "transposed, " : "", kernel->tile_m, width,
                   forced.sharing_side, forced.sharing_fitted, forced.splits, size.m, size.n,
                   size.k);
            printf("schedule %s\n",
                   find_setting("--schedule")->names[find_setting("--schedule")->value]);
        }
    printf("%d runs, %d failures\n", runs, failures);
    return failures ? EXIT_WRONG : EXIT_VERIFIED;
}
