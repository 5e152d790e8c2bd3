/*
 * every_direct.c: every number of warps that chapter 10's direct.cu can be launched with, in the
 * simulator.
 *
 * For each configuration, number of warps and orientation: problems for which direct.h picks them,
 * one with a step or two for each warp, others with more steps than are under way at once. The
 * schedules take turns. Tiles are cut off at both edges of D, and k is whole chunks or not. Inputs
 * are integers, so results are exact. Prints the problem of a run that fails, and fails if there is
 * no problem for a number of warps.
 */
#include <stdio.h>

#include "hopper_gemm/direct.h"
#include "harness/message.h"
#include "harness/options.h"
#include "tests/sweep/own_kernels.h"

#define CONFIGURATIONS(f) f(16x8) f(16x16) f(16x32)
#define DECLARE(name) extern const struct gemm_kernel kernel_hopper_gemm_direct_##name##_bf16;
CONFIGURATIONS(DECLARE)

enum { MOST_SMS = 8, DRAWS = 10000 };

/* A problem that the kernel computes with so many warps, each of which has at least `rounds` steps.
 * False if none is drawn. `sms`: of the device. */
static bool draw_problem(const struct gemm_kernel *kernel, int warps, bool transposed, int rounds,
                         uint64_t *random, struct gemm_problem *p, int *sms) {
    for (int i = 0; i < DRAWS; ++i) {
        const int side = 1 + draw(random, 4 * kernel->tile_m);
        const int fitted = 1 + draw(random, 4 * kernel->tile_n);
        p->m = transposed ? fitted : side;
        p->n = transposed ? side : fitted;
        p->k = (warps * rounds - draw(random, 2)) * DIRECT_STEP;
        p->k += draw(random, 2) ? draw(random, DIRECT_STEP) + 1 : DIRECT_STEP;
        *sms = 1 + draw(random, MOST_SMS);
        const struct direct_cut cut = direct_cut_of(p, kernel->tile_m, kernel->tile_n, *sms);
        if (cut.warps == warps && cut.transposed == transposed) return true;
    }
    return false;
}

int main(int argc, char **argv) {
#define ENTRY(name) &kernel_hopper_gemm_direct_##name##_bf16,
    static const struct gemm_kernel *const kernels[] = {CONFIGURATIONS(ENTRY)};
    static const int rounds[] = {1, 4, 9};
    uint64_t random = 1;
    int runs = 0, failures = 0;
    message_open(argv[0]);
    if (argc != 1) {
        complain("usage: %s", message_program());
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i)
        for (int warps = 1; warps <= DIRECT_MOST_WARPS; ++warps)
            for (int j = 0; j < 2 * 3; ++j) {
                struct gemm_problem p = {0};
                int sms = 0;
                const bool transposed = j % 2 != 0;
                /* Both orientations of a square tile read as many rows. */
                if (transposed && kernels[i]->tile_m == kernels[i]->tile_n) continue;
                /* One warp has one step: two steps are for two warps. */
                const bool drawn = draw_problem(kernels[i], warps, transposed,
                                                warps > 1 ? rounds[j / 2] : 1, &random, &p, &sms);
                if (drawn && run(kernels[i], (struct problem_size){p.m, p.n, p.k}, sms, runs++) ==
                                 EXIT_VERIFIED)
                    continue;
                ++failures;
                printf("%s, %d warps%s: ", kernels[i]->variant, warps,
                       transposed ? ", transposed" : "");
                if (drawn)
                    printf("%d x %d x %d, %d SMs, schedule %s\n", p.m, p.n, p.k, sms,
                           find_setting("--schedule")->names[find_setting("--schedule")->value]);
                else
                    printf("no problem has these\n");
            }
    printf("%d runs, %d failures\n", runs, failures);
    return failures ? EXIT_WRONG : EXIT_VERIFIED;
}
