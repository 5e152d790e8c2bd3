/*
 * gallery_run.c: runs one changed kernel until the simulator or the verification catches it.
 *
 *     gallery_run KERNEL.so order|value|few|spread|all [NUMBER [TYPE]]
 *
 * The shared object defines the kernel `kernel_broken` and takes the simulator from this program.
 * The runs are those of --check, backend_check_runs(). "order" ends with the first run that reports
 * a hazard; a wrong result is enough to end "value". The others are for kernels that should pass:
 * "few" makes four runs; "spread" makes runs of every shape and schedule, and "all" makes all runs,
 * up to the first that fails. With a number other than 0 only that run of the list. TYPE is as in
 * --dtype, bf16 if it is not given. Prints one line per run,
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

#include "harness/check.h"
#include "harness/experiment.h"
#include "harness/message.h"
#include "harness/options.h"
#include "harness/registry.h"
#include "sim/core/grid.h"

/* Kernels come from shared objects only. */
const struct kernel_entry kernel_registry[] = {{{NULL}, 0, false, NULL, 0}};
const struct kernel_entry kernel_trace_registry[] = {{{NULL}, 0, false, NULL, 0}};
const int kernel_registry_count = 0;
const bool program_is_tour = false;

enum { NEVER = EXIT_HAZARD + 1 }; /* no run ends the search */

/* Of harmless breaks: these runs of the list, by number. */
static const int few[] = {1, 8, 3, 10};
/* Of right kernels. Runs 6 i + 1 to 6 i + 6 are the first shapes under late, early, three times
 * random, and time; 31 to 34 have outliers; 72 to 113 are the last seven shapes. A kind's options
 * have runs in between. */
static const int spread[] = {1,  2,  3,  6,  7,  8,  9,  12, 16, 20, 26,
                             30, 32, 44, 75, 79, 83, 87, 91, 96, 103};

/* The kernel may spin for ever. In time of the processor, however busy the machine is. */
static void limit_run(void) {
    enum { RUN_SECONDS = 60 }; /* one takes a second; with many reports ten */
    struct rusage used;
    struct rlimit limit;
    if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &limit)) abort();
    limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + RUN_SECONDS);
    if (setrlimit(RLIMIT_CPU, &limit)) abort();
}

static struct backend_options options = {.type = GEMM_BF16};

static enum exit_code run(const struct gemm_kernel *kernel, const struct check_run *r, int number) {
    limit_run();
    const enum exit_code code = check_run_once(kernel, &options, r);
    printf("run %d %s %llu %d %d %d %d %d\n", number,
           find_setting("--schedule")->names[find_setting("--schedule")->value],
           (unsigned long long)r->seed, r->m, r->n, r->k, (int)find_setting("--sms")->value, code);
    fflush(stdout);
    return code;
}

/* Runs the list up to a run with `enough` to tell. */
static void search(const struct gemm_kernel *kernel, const struct check_run *runs, int count,
                   enum exit_code enough) {
    for (int i = 0; i < count && run(kernel, &runs[i], i + 1) < enough; ++i) {
    }
}

/* Makes those runs, in order, of a list that has so many; `enough` as above. */
static void choose(const struct gemm_kernel *kernel, const struct check_run *runs, int list,
                   const int *numbers, size_t count, int enough) {
    for (size_t i = 0; i < count && numbers[i] <= list &&
                       (int)run(kernel, &runs[numbers[i] - 1], numbers[i]) < enough;
         ++i) {
    }
}

static int usage(void) {
    complain("usage: %s KERNEL.so order|value|few|spread|all [NUMBER [TYPE]]", message_program());
    return EXIT_USAGE;
}

int main(int argc, char **argv) {
    message_open(argv[0]);
    if (argc < 3 || argc > 5) return usage();
    const int type = argc == 5 ? find_name(argv[4], type_names, ELEMENT_TYPES) : GEMM_BF16;
    if (type < 0) return usage();
    options.type = (enum gemm_type)type;
    static const char *const words[] = {"order", "value", "few", "spread", "all"};
    enum { ORDER, VALUE, FEW, SPREAD, ALL, WORDS } word = ORDER;
    while (word < WORDS && strcmp(argv[2], words[word]) != 0)
        ++word;
    if (word == WORDS) return usage();
    void *const object = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    const struct gemm_kernel *const kernel = object ? dlsym(object, "kernel_broken") : NULL;
    if (!kernel) {
        complain("%s", dlerror());
        return EXIT_USAGE;
    }
    *(void **)&grid_loaded_bounds = dlsym(object, "broken_launch_bounds");
    struct check_run runs[MOST_CHECK_RUNS];
    const int count = backend_check_runs(kernel, runs), number = argc > 3 ? atoi(argv[3]) : 0;
    for (int i = 0; i < count; ++i) /* as in --check: every way to launch takes its turn */
        runs[i].early = (enum gemm_early)(i % (1 + kernel->earliest));
    if (number < 0 || number > count) {
        complain("run %d: the list has runs 1 to %d", number, count);
        return EXIT_USAGE;
    }
    if (number)
        run(kernel, &runs[number - 1], number);
    else if (word == FEW)
        choose(kernel, runs, count, few, sizeof few / sizeof *few, NEVER);
    else if (word == SPREAD)
        choose(kernel, runs, count, spread, sizeof spread / sizeof *spread, EXIT_WRONG);
    else
        search(kernel, runs, count, word == ORDER ? EXIT_HAZARD : EXIT_WRONG);
    return 0;
}
