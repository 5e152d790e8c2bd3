/*
 * two_routes.c: runs a kernel of the book twice, compiled as C and as the PTX that nvcc made of the
 * same file, and compares what becomes of both.
 *
 *     two_routes CHAPTER[:VARIANT] KERNEL.ptx RUN...
 *     two_routes KERNEL.so KERNEL.ptx TYPE RUN...
 *
 * A run is a number of the list of --check, or options: "--size 256 --schedule late". Instead of
 * runs, `search` makes those of the list as PTX alone, up to the first that is noticed, and ends
 * with 1 if there is one. The input is whole numbers, so that the result has only one right value.
 * The linker's --wrap brings every launch of a chapter here, on one device or on several, where the
 * kernel that it names is exchanged for its program. Prints lines for each run:
 *
 *     run RUN c CODE KIND ptx CODE KIND same|DIFFERENT
 *     c PLACES
 *     ptx PLACES
 *
 * CODE is the exit code that a program would have, KIND the first hazard or -. PLACES are of each
 * hazard, with a tab between two, its kind and its lines: that of the kernel, and of headers those
 * on the way. The results are compared byte for byte, the
 * verdicts by their kinds. Ends with 1 if something differs, with 2 if nothing could be run, and
 * says how many runs and instructions there were.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "function_name.h"
#include "harness/check.h"
#include "harness/options.h"
#include "harness/problem_kind.h"
#include "harness/registry.h"
#include "machine/launch.h"
#include "program/sites.h"
#include "services/devices.h"
#include "sim/core/grid.h"
#include "sim/core/hazards.h"

/* The PTX that takes the kernels' place, and what it has for each kernel that was launched: the
 * entry of the kernel's name, which a launch function may have chosen among several. */
static struct ptx_module *module;
enum { MOST_KERNELS = 64 };
static struct {
    const void *kernel;
    struct program *program; /* NULL: it is none of the file's */
} instance[MOST_KERNELS];
static int instances;
static bool replacing;
static uint64_t executed;

/* Ends the program if it cannot be executed. */
static struct program *load_program(const void *kernel) {
    char name[128], why[512];
    struct ptx_function *const f =
        function_name(kernel, name, sizeof name) ? ptx_entry(module, name, why, sizeof why) : NULL;
    struct program *const p = f ? program_of(module, f) : NULL;
    for (int i = 0; p && i < p->refusals; ++i)
        fprintf(stderr, "two_routes: %s:%d: %s: %s\n", module->file, p->refusal[i].first->line,
                p->refusal[i].first->opcode, p->refusal[i].why);
    if (p && p->refusals) exit(EXIT_USAGE);
    return p;
}

static struct program *program_for(const void *kernel) {
    for (int i = 0; i < instances; ++i)
        if (instance[i].kernel == kernel) return instance[i].program;
    if (instances == MOST_KERNELS) exit(EXIT_USAGE);
    instance[instances].kernel = kernel;
    return instance[instances++].program = load_program(kernel);
}

static struct launch replacement_of(const struct gemm_launch *launch) {
    return (struct launch){.program = program_for(launch->kernel),
                           .grid = {launch->grid, 1, 1},
                           .block = {launch->threads, 1, 1},
                           .cluster = {launch->cluster, 1, 1},
                           .early = launch->early != GEMM_IN_ORDER,
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
    char places[1 << 14];
    uint64_t checksum;
};

/* Of the kernel's elements: bf16, or those that it is made for. */
static enum gemm_type type = GEMM_BF16;

static void say_places(char *text, size_t size) {
    const char *kind, *file;
    int line;
    size_t used = 0;
    for (int i = 0; used < size && hazards_get(i, &kind, &file, &line); ++i) {
        const char *const chain = site_chain(file);
        used += (size_t)snprintf(text + used, size - used, "%s%s %s:%d %s", i ? "\t" : "", kind,
                                 source_name(file), line, chain ? chain : "");
    }
}

static struct outcome run(const struct gemm_kernel *kernel, const struct check_run *r) {
    const struct backend_options options = {.type = type};
    struct outcome outcome = {.kind = "-"};
    const char *kind, *file;
    int line;
    checksum = 0;
    outcome.code = check_run_once(kernel, &options, r);
    if (outcome.code == EXIT_HAZARD && hazards_get(0, &kind, &file, &line)) {
        snprintf(outcome.kind, sizeof outcome.kind, "%s", kind);
        say_places(outcome.places, sizeof outcome.places);
    }
    outcome.checksum = checksum;
    return outcome;
}

static const struct gemm_kernel *registered_kernel(const char *name) {
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

/* `kernel` has to be one of the file's. */
static bool load_module(const char *path, const void *kernel) {
    char error[512] = "", *const text = read_text(path);
    module = text ? ptx_parse(path, text, error, sizeof error) : NULL;
    free(text);
    if (module && program_for(kernel)) return true;
    fprintf(stderr, "two_routes: %s\n", module ? "the kernel is not in the PTX" : error);
    return false;
}

/* The index of the setting that has this option, or -1. */
static int index_of(const struct backend_setting *settings, int count, const char *option) {
    for (int i = 0; i < count; ++i)
        if (!strcmp(settings[i].option, option)) return i;
    return -1;
}

/* Makes `run`, one of the kernel's list, that of these options. */
static bool read_option(const struct gemm_kernel *kernel, const char *option, const char *value,
                        struct check_run *run) {
    static const char *const extents[] = {"--m", "--n", "--k", "--size"};
    const struct problem_kind *const kind = kind_of(kernel);
    int i = find_name(option, extents, 4);
    if (i >= 0) {
        const int extent = atoi(value);
        if (i == 0 || i == 3) run->m = extent;
        if (i == 1 || i == 3) run->n = extent;
        if (i == 2 || i == 3) run->k = extent;
        return extent > 0;
    }
    if (!strcmp(option, "--dtype")) return find_name(value, type_names, ELEMENT_TYPES) == (int)type;
    if (!strcmp(option, "--input")) {
        run->input = (enum input_kind)find_name(value, input_names, INPUT_KINDS);
        return (int)run->input >= 0;
    }
    if ((i = index_of(backend_settings, backend_setting_count, option)) >= 0) {
        if (!read_setting(&backend_settings[i], value)) return false;
        run->setting[i] = backend_settings[i].value;
        return true;
    }
    if ((i = index_of(kind->options, kind->option_count, option)) < 0) return false;
    if (!read_setting(&kind->options[i], value)) return false;
    run->option[i] = kind->options[i].value;
    return true;
}

static bool read_run(const struct gemm_kernel *kernel, const struct check_run *runs, int count,
                     const char *text, struct check_run *run) {
    const int number = atoi(text);
    if (number >= 1 && number <= count) {
        *run = runs[number - 1];
        return true;
    }
    char words[256], *rest = NULL;
    snprintf(words, sizeof words, "%s", text);
    *run = runs[0];
    for (int i = 0; i < backend_setting_count; ++i)
        run->setting[i] = backend_settings[i].value;
    bool good = *text == '-';
    for (char *option = strtok_r(words, " ", &rest); good && option;
         option = strtok_r(NULL, " ", &rest)) {
        char *const value = strtok_r(NULL, " ", &rest);
        good = value && read_option(kernel, option, value, run);
    }
    if (!good)
        fprintf(stderr, "two_routes: run %s: the list has runs 1 to %d; or options of the kernel\n",
                text, count);
    return good;
}

static int search(const struct gemm_kernel *kernel, const struct check_run *runs, int count) {
    replacing = true;
    for (int i = 0; i < count; ++i) {
        const struct outcome ptx = run(kernel, &runs[i]);
        if (ptx.code == EXIT_VERIFIED) continue;
        printf("run %d ptx %d %s\n", i + 1, ptx.code, ptx.kind);
        return EXIT_WRONG;
    }
    return EXIT_VERIFIED;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: two_routes CHAPTER[:VARIANT] KERNEL.ptx RUN...\n"
                        "       two_routes KERNEL.so KERNEL.ptx TYPE RUN...\n");
        return EXIT_USAGE;
    }
    const size_t length = strlen(argv[1]);
    const bool shared = length > 3 && !strcmp(argv[1] + length - 3, ".so");
    const struct gemm_kernel *const kernel =
        shared ? load_kernel(argv[1]) : registered_kernel(argv[1]);
    if (!kernel || !load_module(argv[2], kernel->function)) return EXIT_USAGE;
    int first = 3;
    if (shared) type = (enum gemm_type)find_name(argv[first++], type_names, ELEMENT_TYPES);
    if ((int)type < 0) {
        fprintf(stderr, "two_routes: there is no type %s\n", argv[3]);
        return EXIT_USAGE;
    }
    main_loop = kernel->loop;
    struct check_run runs[MOST_CHECK_RUNS];
    const int count = backend_check_runs(kernel, runs);
    if (!strcmp(argv[first], "search")) return search(kernel, runs, count);
    struct check_run chosen[MOST_CHECK_RUNS];
    for (int i = first; i < argc; ++i)
        if (i - first >= MOST_CHECK_RUNS ||
            !read_run(kernel, runs, count, argv[i], &chosen[i - first]))
            return EXIT_USAGE;
    int different = 0, made = 0;
    for (int i = first; i < argc; ++i) {
        replacing = false;
        const struct outcome c = run(kernel, &chosen[i - first]);
        replacing = true;
        const struct outcome ptx = run(kernel, &chosen[i - first]);
        const bool same = c.code == ptx.code && !strcmp(c.kind, ptx.kind) &&
                          (c.code != EXIT_VERIFIED || c.checksum == ptx.checksum);
        printf("run %s c %d %s ptx %d %s %s\nc %s\nptx %s\n", argv[i], c.code, c.kind, ptx.code,
               ptx.kind, same ? "same" : "DIFFERENT", c.places, ptx.places);
        fflush(stdout);
        different += !same;
        ++made;
    }
    printf("%d runs, %d different, %llu instructions\n", made, different,
           (unsigned long long)executed);
    return different ? EXIT_WRONG : executed ? EXIT_VERIFIED : EXIT_USAGE;
}
