/*
 * mutant_run.c: runs one broken kernel until the simulator or the verification catches it.
 *
 *     mutant_run KERNEL.so order|value|few [NUMBER]
 *
 * The shared object defines the kernel `kernel_mutant` and takes the simulator from this program. A
 * few small problems run under several schedules, in a fixed order, up to the first that reports a
 * hazard. A wrong result alone ends the search for "value"; "few" is for mutants that should pass.
 * With a number only that run of the search. Prints one line per run,
 *
 *     run NUMBER SCHEDULE SEED M N K SMS CODE
 *
 * on stdout, with the exit code that a program would have had; the reports go to stderr. Ends with
 * 0 whatever became of the kernel, with 2 if there was nothing to run, and by SIGXCPU if a run
 * takes longer than any run of a kernel that ends.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "harness/experiment.h"
#include "harness/message.h"
#include "harness/options.h"
#include "harness/registry.h"
#include "sim/core/simulation.h"

/* Kernels come from shared objects only. */
const struct kernel_entry kernel_registry[] = {{{NULL}, 0, false, NULL}};
const struct kernel_entry kernel_trace_registry[] = {{{NULL}, 0, false, NULL}};
const int kernel_registry_count = 0;
const bool program_is_tour = false;

struct shape {
    int m, n, k;
    int clusters; /* resident at once */
};

/* One run of a search. */
struct trial {
    int shape; /* index into the shapes */
    enum sim_schedule schedule;
    uint64_t seed;
};

enum { SHAPES = 5, SEEDS = 3, MORE_SEEDS = 40, MOST_TRIALS = SHAPES * (SEEDS + 3) + MORE_SEEDS };

/* Every kernel of the ring is used several times; a persistent kernel's CTA computes several tiles;
 * tiles are cut off at both edges, with n a multiple of 8 and not; k is cut off; the least; and
 * enough SMs for a split of k. */
static struct shape make_shape(const struct gemm_kernel *kernel, int index) {
    const int tile_m = kernel->tile_m, tile_n = kernel->tile_n, tile_k = kernel->tile_k;
    const int ring = tile_k * (kernel->stages > 1 ? kernel->stages : 2);
    const struct shape shapes[SHAPES] = {
        {2 * tile_m + 8, 2 * tile_n + 8, 3 * tile_k + 8, 1},
        {tile_m + 8, tile_n + 8, 2 * ring + tile_k + 24, 1},
        {tile_m + 33, tile_n + 3, tile_k + 1, 1},
        {1, 1, 2, 1},
        {tile_m, 2 * tile_n, 4 * ring, 8},
    };
    return shapes[index];
}

/* Every shape under every schedule, *first trials; then many more random schedules. Returns the
 * number of all. */
static int list_everything(struct trial *trials, int *first) {
    int count = 0;
    for (int shape = 0; shape < SHAPES; ++shape) {
        trials[count++] = (struct trial){shape, SCHEDULE_LATE, 1};
        trials[count++] = (struct trial){shape, SCHEDULE_EARLY, 1};
        for (uint64_t seed = 1; seed <= SEEDS; ++seed)
            trials[count++] = (struct trial){shape, SCHEDULE_RANDOM, seed};
        trials[count++] = (struct trial){shape, SCHEDULE_TIME, 1};
    }
    *first = count;
    for (uint64_t seed = SEEDS + 1; seed <= MORE_SEEDS; ++seed)
        trials[count++] = (struct trial){(int)(seed % 2), SCHEDULE_RANDOM, seed};
    return count;
}

static int list_few(struct trial *trials, int *first) {
    const struct trial few[] = {{0, SCHEDULE_LATE, 1},
                                {1, SCHEDULE_EARLY, 1},
                                {0, SCHEDULE_RANDOM, 1},
                                {1, SCHEDULE_RANDOM, 2}};
    memcpy(trials, few, sizeof few);
    return *first = sizeof few / sizeof few[0];
}

/* The kernel may spin for ever. In time of the processor, however busy the machine is. */
static void limit_run(void) {
    enum { RUN_SECONDS = 30 }; /* one takes less than a second; ten under the sanitizers */
    struct rusage used;
    struct rlimit limit;
    if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &limit)) abort();
    limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + RUN_SECONDS);
    if (setrlimit(RLIMIT_CPU, &limit)) abort();
}

static enum exit_code run(const struct gemm_kernel *kernel, const struct trial *trial, int number) {
    const struct shape shape = make_shape(kernel, trial->shape);
    const struct backend_options options = {.type = GEMM_BF16};
    const int sms = kernel->cluster * shape.clusters;
    const struct problem_size size = {shape.m, shape.n, shape.k};
    struct backend_info device = {0};
    struct experiment experiment;
    limit_run();
    sim_configure(sms, trial->schedule, trial->seed);
    enum exit_code code = backend_open(&options, &device);
    if (code != EXIT_VERIFIED) return code;
    code = experiment_open(&experiment, &device, size, options.type, INPUT_INTEGER, trial->seed,
                           &kernel, 1, false);
    if (code == EXIT_VERIFIED) {
        struct kernel_result result;
        experiment_verify(&experiment, kernel, &result);
        code = result.code;
    }
    experiment_close(&experiment);
    backend_close();
    printf("run %d %s %llu %d %d %d %d %d\n", number, schedule_names[trial->schedule],
           (unsigned long long)trial->seed, shape.m, shape.n, shape.k, sms, code);
    fflush(stdout);
    return code;
}

/* Runs the trials up to one with `enough` to tell; beyond the first only if those were right. */
static void search(const struct gemm_kernel *kernel, const struct trial *trials, int first,
                   int count, enum exit_code enough) {
    enum exit_code worst = EXIT_VERIFIED;
    for (int i = 0; i < count && worst < enough; ++i) {
        if (i == first && worst != EXIT_VERIFIED) return;
        const enum exit_code code = run(kernel, &trials[i], i + 1);
        if (worst < code) worst = code;
    }
}

static int usage(void) {
    complain("usage: %s KERNEL.so order|value|few [NUMBER]", message_program());
    return EXIT_USAGE;
}

int main(int argc, char **argv) {
    message_open(argv[0]);
    if (argc != 3 && argc != 4) return usage();
    const bool value = !strcmp(argv[2], "value"), few = !strcmp(argv[2], "few");
    if (!value && !few && strcmp(argv[2], "order") != 0) return usage();
    struct trial trials[MOST_TRIALS];
    int first;
    const int count = few ? list_few(trials, &first) : list_everything(trials, &first);
    const int number = argc == 4 ? atoi(argv[3]) : 0;
    if (argc == 4 && (number < 1 || number > count)) {
        complain("run %s: the search has runs 1 to %d", argv[3], count);
        return EXIT_USAGE;
    }
    void *const object = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    const struct gemm_kernel *const kernel = object ? dlsym(object, "kernel_mutant") : NULL;
    if (!kernel) {
        complain("%s", dlerror());
        return EXIT_USAGE;
    }
    if (number)
        run(kernel, &trials[number - 1], number);
    else
        search(kernel, trials, first, count, value ? EXIT_WRONG : EXIT_HAZARD);
    return 0;
}
