/*
 * gpu_main.c: the program around one broken kernel on the GPU; mutants/gpu_sample.py compiles the
 * kernel, and runs this program by itself and under compute-sanitizer.
 *
 *     mutant all REPETITIONS | mutant small REPETITIONS
 *
 * Three small shapes are computed REPETITIONS times, and with `all` two that fill the GPU, a
 * quarter as often; from integers, whose result is exact, and verified each time. After each shape
 * comes a line
 *
 *     shape M N K: RUNS runs, WRONG wrong
 *
 * so that a kernel that never ends has told what came before. `small` is for tools that slow a
 * kernel down a hundred times. Exit code: 0 all results were right, 1 some were wrong or a launch
 * failed, 2 usage, 3 no device.
 */
#include <stdio.h>
#include <string.h>

#include "harness/experiment.h"
#include "harness/message.h"
#include "harness/options.h"
#include "harness/registry.h"

extern const struct gemm_kernel kernel_mutant;
const struct kernel_entry kernel_registry[] = {
    {{&kernel_mutant, &kernel_mutant}, 1, true, NULL, 0}};
const struct kernel_entry kernel_trace_registry[] = {{{NULL}, 0, false, NULL, 0}};
const int kernel_registry_count = 1;
const bool program_is_tour = false;

enum { SMALL = 3, ALL = 5 };

/* The small ones go around the ring more than once, and have tiles cut off at every edge. The last
 * two have more tiles than the GPU has SMs, so that a persistent CTA comes to its second and third
 * tile, and yet a complete reference. */
static struct problem_size shape_of(const struct gemm_kernel *kernel, int i) {
    const int tile_m = kernel->tile_m, tile_n = kernel->tile_n, tile_k = kernel->tile_k;
    const int ring = tile_k * (kernel->stages > 1 ? kernel->stages : 2);
    const struct problem_size shapes[ALL] = {{2 * tile_m + 8, 2 * tile_n + 8, 3 * tile_k + 8},
                                             {tile_m + 8, tile_n + 8, 2 * ring + tile_k + 24},
                                             {tile_m + 33, tile_n + 3, tile_k + 1},
                                             {1544, 1544, 96},
                                             {2312, 2312, 16}};
    return shapes[i];
}

/* All runs of one shape. EXIT_NO_DEVICE: there is nothing more to be had from the GPU. */
static enum exit_code run_shape(const struct backend_info *device, struct problem_size size,
                                int repetitions) {
    const struct gemm_kernel *const kernel = &kernel_mutant;
    struct experiment e;
    int runs = 0, wrong = 0;
    bool failed = false;
    enum exit_code code =
        experiment_open(&e, device, size, GEMM_BF16, INPUT_INTEGER, 1, &kernel, 1, false);
    while (code == EXIT_VERIFIED && runs < repetitions && !failed) {
        struct kernel_result result;
        experiment_verify(&e, kernel, &result);
        wrong += result.code != EXIT_VERIFIED;
        failed = !result.compared;
        ++runs;
    }
    experiment_close(&e);
    printf("shape %d %d %d: %d runs, %d wrong\n", size.m, size.n, size.k, runs, wrong);
    fflush(stdout);
    if (code != EXIT_VERIFIED) return code;
    return failed ? EXIT_NO_DEVICE : wrong ? EXIT_WRONG : EXIT_VERIFIED;
}

int main(int argc, char **argv) {
    const struct backend_options options = {.type = GEMM_BF16};
    struct backend_info device = {0};
    uint64_t repetitions = 0;
    message_open(argv[0]);
    const bool all = argc == 3 && !strcmp(argv[1], "all");
    if (argc != 3 || (!all && strcmp(argv[1], "small") != 0) ||
        !parse_whole(argv[2], 1, 1000000, &repetitions)) {
        complain("usage: %s all|small REPETITIONS", message_program());
        return EXIT_USAGE;
    }
    enum exit_code worst = backend_open(&options, &device);
    if (worst != EXIT_VERIFIED) return worst;
    for (int i = 0; i < (all ? ALL : SMALL); ++i) {
        const enum exit_code code =
            run_shape(&device, shape_of(&kernel_mutant, i),
                      i < SMALL ? (int)repetitions : (int)(repetitions + 3) / 4);
        if (code == EXIT_VERIFIED) continue;
        worst = EXIT_WRONG;
        if (code != EXIT_WRONG) break;
    }
    backend_close();
    return worst;
}
