/*
 * two_routes.c: runs a kernel of the book twice, compiled as C and as the PTX that nvcc made of the
 * same file, and compares what becomes of both.
 *
 *     two_routes CHAPTER[:VARIANT] KERNEL.ptx RUN...
 *     two_routes KERNEL.so KERNEL.ptx RUN...
 *
 * A run is a number of the list of --check. The input is whole numbers, so that the result has only
 * one right value. The linker's --wrap brings every launch of a chapter here, on one device or on
 * several, where the kernel that it names is exchanged for its program. Prints a line for each run:
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
#include "services/devices.h"
#include "sim/core/grid.h"
#include "sim/core/hazards.h"

/* The PTX that takes the kernels' place: that of the kernel whose record is run, and of another one
 * that its launch function launches, too. */
enum { MAIN, OTHER, PROGRAMS };
static struct program *program[PROGRAMS];
static const void *main_function;
static bool replacing;
static uint64_t executed;

static struct launch replacement_of(const struct gemm_launch *launch) {
    return (struct launch){.program = program[launch->kernel == main_function ? MAIN : OTHER],
                           .grid = {launch->grid, 1, 1},
                           .block = {launch->threads, 1, 1},
                           .cluster = {launch->cluster, 1, 1},
                           .dynamic_shared_bytes = (int)launch->smem_bytes,
                           .elect_any = true,
                           .branch_limit = BRANCH_LIMIT};
}

/* Of D as the latest launch has left it. */
static uint64_t checksum;

/* What D's columns are: of attention, whose loop goes along n, the elements of a head. */
static enum gemm_loop main_loop;

/* Row by row: they may lie far apart. */
static void add_result(const struct gemm_args *a) {
    const int columns = main_loop == GEMM_ALONG_N ? a->k : a->n;
    for (int row = 0; a->d && row < a->m; ++row) {
        uint64_t sum;
        backend_checksum(a->d + row * a->ldd, (size_t)columns, &sum);
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
    struct launch l = replacement_of(launch);
    if (replacing && l.program) {
        status = launch_run(&l, args, args_bytes);
        executed += l.executed;
    } else {
        status = __real_gemm_launch_kernel(launch, args, args_bytes);
    }
    checksum = 0;
    add_result(a);
    return status;
}

/* ---- on several devices: launches may be kept until gemm_devices_end() ---- */

static struct launch on_devices;
static struct gemm_device_args latest[GEMM_DEVICES];
static int latest_devices;
static bool kept;

static void note_devices(void) {
    checksum = 0;
    for (int i = 0; i < latest_devices; ++i)
        add_result(&latest[i].gemm);
}

enum gemm_status __real_gemm_launch_devices(const struct gemm_launch *launch,
                                            const struct gemm_device_args *args, int devices);
enum gemm_status __wrap_gemm_launch_devices(const struct gemm_launch *launch,
                                            const struct gemm_device_args *args, int devices);
enum gemm_status __real_gemm_devices_begin(void *stream);
enum gemm_status __wrap_gemm_devices_begin(void *stream);
enum gemm_status __real_gemm_devices_end(void *stream);
enum gemm_status __wrap_gemm_devices_end(void *stream);

static void end_on_devices(void) {
    executed += on_devices.executed;
    on_devices = (struct launch){0};
    launch_running = NULL;
}

enum gemm_status __wrap_gemm_launch_devices(const struct gemm_launch *launch,
                                            const struct gemm_device_args *args, int devices) {
    const struct launch l = replacement_of(launch);
    struct gemm_launch exchanged = *launch;
    enum gemm_status status;
    if (!replacing || !l.program) {
        status = __real_gemm_launch_devices(launch, args, devices);
    } else {
        if (!launch_acceptable(&l) || (on_devices.program && on_devices.program != l.program))
            return GEMM_LAUNCH_FAILED;
        if (!on_devices.program) on_devices = l;
        launch_running = &on_devices;
        exchanged.kernel = thread_kernel();
        exchanged.smem_bytes = launch_shared_bytes(&l);
        status = __real_gemm_launch_devices(&exchanged, args, devices);
        if (!kept) end_on_devices();
    }
    memcpy(latest, args, (size_t)devices * sizeof *args);
    latest_devices = devices;
    if (!kept) note_devices();
    return status;
}

enum gemm_status __wrap_gemm_devices_begin(void *stream) {
    kept = true;
    return __real_gemm_devices_begin(stream);
}

enum gemm_status __wrap_gemm_devices_end(void *stream) {
    const enum gemm_status status = __real_gemm_devices_end(stream);
    kept = false;
    note_devices();
    if (on_devices.program) end_on_devices();
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
    const struct gemm_kernel *const kernel = object ? dlsym(object, "kernel_broken") : NULL;
    if (!kernel) {
        fprintf(stderr, "two_routes: %s\n", dlerror());
        return NULL;
    }
    *(void **)&grid_loaded_bounds = dlsym(object, "broken_launch_bounds");
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

static bool load_program(struct ptx_module *module, struct ptx_function *f, int which) {
    struct program *const p = program_of(module, f);
    for (int i = 0; i < p->refusals; ++i)
        fprintf(stderr, "two_routes: %s:%d: %s: %s\n", module->file, p->refusal[i].first->line,
                p->refusal[i].first->opcode, p->refusal[i].why);
    program[which] = p;
    return !p->refusals;
}

/* Where there are two, the one of the record is called kernel. */
static bool load_programs(const char *path) {
    char error[512] = "", *const text = read_text(path);
    struct ptx_module *const module = text ? ptx_parse(path, text, error, sizeof error) : NULL;
    struct ptx_function *f = module ? ptx_entry(module, NULL, error, sizeof error) : NULL;
    if (module && !f) f = ptx_entry(module, "kernel", error, sizeof error);
    free(text);
    if (!f) {
        fprintf(stderr, "two_routes: %s\n", error);
        return false;
    }
    bool good = load_program(module, f, MAIN);
    for (int i = 0; i < module->functions; ++i) {
        struct ptx_function *const other = &module->function[i];
        if (!other->entry || !other->defined || other == f) continue;
        good = good && !program[OTHER] && load_program(module, other, OTHER);
    }
    return good;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: two_routes CHAPTER[:VARIANT]|KERNEL.so KERNEL.ptx RUN...\n");
        return EXIT_USAGE;
    }
    const size_t length = strlen(argv[1]);
    const bool shared = length > 3 && !strcmp(argv[1] + length - 3, ".so");
    const struct gemm_kernel *const kernel = shared ? load_kernel(argv[1]) : find_kernel(argv[1]);
    if (!kernel || !load_programs(argv[2])) return EXIT_USAGE;
    main_function = kernel->function;
    main_loop = kernel->loop;
    struct check_run runs[MOST_CHECK_RUNS];
    const int count = backend_check_runs(kernel, runs);
    int different = 0, made = 0;
    for (int i = 3; i < argc; ++i) {
        const int number = atoi(argv[i]);
        if (number < 1 || number > count) {
            fprintf(stderr, "two_routes: run %s: the list has runs 1 to %d\n", argv[i], count);
            return EXIT_USAGE;
        }
        replacing = false;
        const struct outcome c = run(kernel, &runs[number - 1]);
        replacing = true;
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
