/*
 * two_routes.c: runs a kernel of the book twice, compiled as C and as the PTX that nvcc made of the
 * same file, and compares what becomes of both.
 *
 *     two_routes CHAPTER[:VARIANT] KERNEL.ptx RUN...
 *     two_routes KERNEL.so KERNEL.ptx RUN...
 *
 * A run is a number of the list of --check. The input is whole numbers, so that the result has only
 * one right value. The linker's --wrap brings every launch of a chapter here, where the kernel that
 * it names is exchanged for the program. Prints a line for each run:
 *
 *     run NUMBER c CODE KIND ptx CODE KIND same|DIFFERENT
 *
 * CODE is the exit code that a program would have, KIND the first hazard or -. The results are
 * compared byte for byte, the verdicts by their kinds. Ends with 1 if something differs, with 2 if
 * nothing could be run, and says how many runs and instructions there were.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "harness/check.h"
#include "harness/registry.h"
#include "machine/launch.h"
#include "program/sites.h"
#include "sim/core/grid.h"
#include "sim/core/hazards.h"

/* The PTX that takes the kernel's place; NULL: nothing does. */
static struct launch *replacement;
static uint64_t executed;

/* Of D as the latest launch has left it. */
static uint64_t checksum;

/* Row by row: they may lie far apart. */
static void note_result(const struct gemm_args *a) {
    checksum = 0;
    for (int row = 0; a->d && row < a->m; ++row) {
        uint64_t sum;
        backend_checksum(a->d + row * a->ldd, (size_t)a->n, &sum);
        checksum = checksum * 0x100000001b3u ^ sum;
    }
}

enum gemm_status __real_gemm_launch_kernel(const struct gemm_launch *launch, const void *args,
                                           size_t args_bytes);
enum gemm_status __wrap_gemm_launch_kernel(const struct gemm_launch *launch, const void *args,
                                           size_t args_bytes);

enum gemm_status __wrap_gemm_launch_kernel(const struct gemm_launch *launch, const void *args,
                                           size_t args_bytes) {
    const struct gemm_args *const a = args;
    if (launch->kernel == thread_kernel())
        return __real_gemm_launch_kernel(launch, args, args_bytes);
    enum gemm_status status;
    if (replacement) {
        struct launch l = *replacement;
        l.grid = (struct three){launch->grid, 1, 1};
        l.block = (struct three){launch->threads, 1, 1};
        l.cluster = (struct three){launch->cluster, 1, 1};
        l.dynamic_shared_bytes = (int)launch->smem_bytes;
        status = launch_run(&l, args, args_bytes);
        executed += l.executed;
    } else {
        status = __real_gemm_launch_kernel(launch, args, args_bytes);
    }
    note_result(a);
    return status;
}

struct outcome {
    enum exit_code code;
    char kind[48];
    uint64_t checksum;
};

/* Of the kernel's elements: bf16, or those that it is made for. */
static enum gemm_type type = GEMM_BF16;

static struct outcome run(const struct gemm_kernel *kernel, const struct check_run *r) {
    const struct backend_options options = {.type = type};
    struct outcome outcome = {.kind = "-"};
    const char *kind, *file;
    int line;
    checksum = 0;
    outcome.code = check_run_once(kernel, &options, r);
    if (outcome.code == EXIT_HAZARD && hazards_get(0, &kind, &file, &line))
        snprintf(outcome.kind, sizeof outcome.kind, "%s", kind);
    outcome.checksum = checksum;
    return outcome;
}

static const struct gemm_kernel *find_kernel(const char *name) {
    for (int i = 0; i < kernel_registry_count; ++i) {
        char full[96];
        const struct gemm_kernel *const k = kernel_of_any_type(&kernel_registry[i]);
        type = GEMM_BF16;
        for (int t = 0; kernel_of_type(&kernel_registry[i], type) != k; ++t)
            type = (enum gemm_type)t;
        snprintf(full, sizeof full, "%s%s%s", k->name, k->variant ? ":" : "",
                 k->variant ? k->variant : "");
        if (!strcmp(full, name)) return k;
    }
    fprintf(stderr, "two_routes: there is no kernel %s\n", name);
    return NULL;
}

static const struct gemm_kernel *load_kernel(const char *path) {
    void *const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct gemm_kernel *const kernel = object ? dlsym(object, "kernel_mutant") : NULL;
    if (!kernel) {
        fprintf(stderr, "two_routes: %s\n", dlerror());
        return NULL;
    }
    *(void **)&grid_loaded_bounds = dlsym(object, "mutant_launch_bounds");
    return kernel;
}

static char *read_text(const char *path) {
    FILE *const file = fopen(path, "rb");
    long size;
    char *text = NULL;
    if (file && !fseek(file, 0, SEEK_END) && (size = ftell(file)) >= 0 &&
        (text = calloc(1, (size_t)size + 1))) {
        rewind(file);
        if (fread(text, 1, (size_t)size, file) != (size_t)size) {
            free(text);
            text = NULL;
        }
    }
    if (file) fclose(file);
    if (!text) fprintf(stderr, "two_routes: cannot read %s\n", path);
    return text;
}

static struct program *load_program(const char *path) {
    char error[512] = "", *const text = read_text(path);
    struct ptx_module *const module = text ? ptx_parse(path, text, error, sizeof error) : NULL;
    struct ptx_function *const f = module ? ptx_entry(module, NULL, error, sizeof error) : NULL;
    free(text);
    if (!f) {
        fprintf(stderr, "two_routes: %s\n", error);
        return NULL;
    }
    struct program *const program = program_of(module, f);
    for (int i = 0; i < program->refusals; ++i)
        fprintf(stderr, "two_routes: %s:%d: %s: %s\n", path, program->refusal[i].first->line,
                program->refusal[i].first->opcode, program->refusal[i].why);
    return program->refusals ? NULL : program;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: two_routes CHAPTER[:VARIANT]|KERNEL.so KERNEL.ptx RUN...\n");
        return EXIT_USAGE;
    }
    const size_t length = strlen(argv[1]);
    const bool shared = length > 3 && !strcmp(argv[1] + length - 3, ".so");
    const struct gemm_kernel *const kernel = shared ? load_kernel(argv[1]) : find_kernel(argv[1]);
    struct program *const program = load_program(argv[2]);
    if (!kernel || !program) return EXIT_USAGE;
    struct launch launch = {.program = program, .elect_any = true, .branch_limit = BRANCH_LIMIT};
    struct check_run runs[MOST_CHECK_RUNS];
    const int count = backend_check_runs(kernel, runs);
    int different = 0, made = 0;
    for (int i = 3; i < argc; ++i) {
        const int number = atoi(argv[i]);
        if (number < 1 || number > count) {
            fprintf(stderr, "two_routes: run %s: the list has runs 1 to %d\n", argv[i], count);
            return EXIT_USAGE;
        }
        replacement = NULL;
        const struct outcome c = run(kernel, &runs[number - 1]);
        replacement = &launch;
        const struct outcome ptx = run(kernel, &runs[number - 1]);
        const bool same = c.code == ptx.code && !strcmp(c.kind, ptx.kind) &&
                          (c.code != EXIT_VERIFIED || c.checksum == ptx.checksum);
        printf("run %d c %d %s ptx %d %s %s\n", number, c.code, c.kind, ptx.code, ptx.kind,
               same ? "same" : "DIFFERENT");
        fflush(stdout);
        different += !same;
        ++made;
    }
    printf("%d runs, %d different, %llu instructions\n", made, different,
           (unsigned long long)executed);
    return different ? EXIT_WRONG : executed ? EXIT_VERIFIED : EXIT_USAGE;
}
