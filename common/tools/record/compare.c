/*
 * compare.c: some kernels at some shapes, each shape in one rotation, in one process.
 *
 *     build/gpu/compare --kernels 6:all,8:persistent,8 --shapes 8192x8192x256,8192
 *
 * The programs of the chapters run one kernel, the tour all; variants are compared with this one. A
 * kernel is a chapter's number, number:variant, number:all (the chapter's own and all variants), or
 * all (every chapter's own). With +trace behind it, it is the same kernel with the recorder in it,
 * recording. number:tuned, of a chapter that selects a variant for each shape, is the fastest of
 * all variants that may run the shape; one chapter may have it. With --operands warm every launch
 * gets the same matrices, so that those that fit it are in the L2. --baselines takes names and
 * groups of baselines: "libraries,deepgemm". --drawn SEED adds the shapes that drawn_shapes.h
 * draws. Kernels of another kind of problem have its options, too. Prints one JSON line for each
 * kernel and shape, as --json does; there "+trace" ends the variant's name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/baselines.h"
#include "harness/baseline_list.h"
#include "harness/experiment.h"
#include "harness/message.h"
#include "harness/options.h"
#include "harness/output_file.h"
#include "harness/registry.h"
#include "harness/report.h"
#include "timeline/timeline.h"
#include "tools/record/drawn_shapes.h"

enum {
    KERNELS = 64,
    SHAPES = 256,
    TUNED = 16 /* variants that :tuned times */
};

struct rotation {
    int entry[KERNELS];   /* in the registry */
    bool traced[KERNELS]; /* with the recorder in it */
    struct problem_size shape[SHAPES];
    int kernels, shapes;
    int tuned;          /* which of the kernels is the fastest of several; -1: none */
    bool warm;          /* one set of operands for all launches */
    uint32_t baselines; /* a mask */
    enum input_kind input;
    enum gemm_type type;
    struct timing_options timing;
    int gpus; /* as many as the kernels need */
    FILE *csv;
};

/* ---- one shape ---- */

/* Kernels for this size, under the names they were asked for by; behind them, under their own,
 * those of which :tuned is the fastest. */
struct line_up {
    struct gemm_kernel copy[KERNELS];
    const struct gemm_kernel *kernel[KERNELS + TUNED];
    int all; /* of both */
    const char *selected[KERNELS];
    char name[KERNELS][64]; /* of variants with the recorder */
};

/* The same kernel with the recorder in it. NULL after a message. */
static const struct gemm_kernel *traced_kernel(const struct gemm_kernel *kernel,
                                               enum gemm_type type) {
    char label[96];
    for (int i = 0; i < kernel_registry_count; ++i)
        if (kernel_of_type(&kernel_registry[i], type) == kernel &&
            kernel_of_type(&kernel_trace_registry[i], type))
            return kernel_of_type(&kernel_trace_registry[i], type);
    complain("%s was not compiled with the recorder", kernel_label(kernel, label, sizeof label));
    return NULL;
}

/* Adds a kernel under the name that it was asked for by. */
static void enter(struct line_up *out, int i, const struct gemm_kernel *kernel,
                  const char *variant) {
    out->copy[i] = *kernel;
    out->copy[i].variant = variant;
    out->kernel[i] = &out->copy[i];
}

static bool line_up(const struct rotation *c, struct problem_size size, struct line_up *out) {
    out->all = c->kernels;
    for (int i = 0; i < c->kernels; ++i) {
        const bool tuned = i == c->tuned;
        const struct gemm_kernel *asked = kernel_of_type(&kernel_registry[c->entry[i]], c->type);
        const struct gemm_kernel *kernel = kernel_for_size(asked, size);
        if (!kernel) return false;
        out->selected[i] = asked->select ? kernel->variant : NULL;
        if (c->traced[i] && !(kernel = traced_kernel(kernel, c->type))) return false;
        snprintf(out->name[i], sizeof out->name[i], "%s+trace",
                 asked->variant ? asked->variant : "");
        enter(out, i, kernel, c->traced[i] ? out->name[i] : tuned ? "tuned" : asked->variant);
        if (tuned) {
            const struct gemm_problem problem = problem_of_size(size);
            out->all = c->kernels + asked->ranked(&problem, out->kernel + c->kernels, TUNED);
        }
    }
    return true;
}

/* Lets :tuned run the fastest of its variants on the first set of operands. */
static void tune(const struct rotation *c, const struct experiment *e, struct line_up *kernels) {
    struct contender candidates[TUNED];
    const int count = kernels->all - c->kernels;
    if (c->tuned < 0) return;
    for (int i = 0; i < count; ++i)
        candidates[i] = contender_of_kernel(kernels->kernel[c->kernels + i]);
    const struct gemm_problem problem = experiment_problem(e, kernels->kernel[c->tuned], 0, 0);
    const int winner = fastest_candidate(candidates, count, &problem);
    if (winner < 0) return; /* none of them runs, as the verification will tell */
    enter(kernels, c->tuned, candidates[winner].kernel, "tuned");
    kernels->selected[c->tuned] = candidates[winner].kernel->variant;
}

/* Gives every problem the recorder's buffer, if any kernel records; the others ignore it. Each
 * launch writes over the records of the one before. False after a message. */
static bool add_recorder(const struct rotation *c, struct experiment *e, void **memory) {
    bool wanted = false;
    for (int i = 0; i < c->kernels; ++i)
        wanted |= c->traced[i];
    if (!wanted) return true;
    struct trace_record *buffer = experiment_trace_buffer(memory);
    if (!buffer) return false;
    for (int set = 0; set < e->buffers.sets; ++set)
        e->buffers.problems[set].trace = buffer;
    return true;
}

static enum exit_code run_shape(const struct rotation *c, const struct backend_info *device,
                                struct problem_size size) {
    struct line_up kernels;
    struct kernel_result results[KERNELS];
    struct experiment e;
    void *recorder = NULL;
    if (!line_up(c, size, &kernels)) return EXIT_WRONG;
    enum exit_code code = experiment_open_sets(&e, device, size, c->type, c->input, c->timing.seed,
                                               kernels.kernel, kernels.all, c->warm ? 1 : 0);
    if (code == EXIT_VERIFIED) code = experiment_add_baselines(&e, c->baselines);
    if (code == EXIT_VERIFIED && !add_recorder(c, &e, &recorder)) code = EXIT_NO_DEVICE;
    if (code == EXIT_VERIFIED) tune(c, &e, &kernels);
    if (code == EXIT_VERIFIED) {
        for (int i = 0; i < c->kernels; ++i) {
            experiment_verify(&e, kernels.kernel[i], &results[i]);
            results[i].selected = kernels.selected[i];
        }
        if (c->timing.modes && !experiment_time(&e, &c->timing, results, c->kernels, c->csv))
            code = EXIT_WRONG;
        for (int i = 0; i < c->kernels; ++i)
            if (results[i].code != EXIT_VERIFIED) code = EXIT_WRONG;
        if (experiment_baselines_code(&e) != EXIT_VERIFIED) code = EXIT_WRONG;
        report_json(&(struct report){.device = device,
                                     .size = size,
                                     .type = c->type,
                                     .scales = e.operands.format->scales,
                                     .input = c->input,
                                     .timing = c->timing.modes,
                                     .results = results,
                                     .count = c->kernels,
                                     .baselines = e.baselines,
                                     .baseline_count = e.baseline_count},
                    stdout);
        fflush(stdout);
    }
    if (recorder) backend_free(recorder);
    experiment_close(&e);
    return code;
}

/* ---- the command line ---- */

/* One item of --kernels. */
static bool add_kernels(struct rotation *c, const char *item) {
    static const char trace[] = "+trace";
    char plain[96], number[32];
    const size_t length = strlen(item), end = length > strlen(trace) ? length - strlen(trace) : 0;
    const bool traced = end && !strcmp(item + end, trace);
    if (length >= sizeof plain) return false;
    snprintf(plain, sizeof plain, "%.*s", (int)(traced ? end : length), item);
    item = plain;
    const char *variant = strchr(item, ':');
    const bool every = !strcmp(item, "all"), named = *item >= 'a' && *item <= 'z' && !every;
    uint64_t chapter = 0;
    snprintf(number, sizeof number, "%.*s", variant ? (int)(variant - item) : 31, item);
    if (!every && !named && !parse_whole(number, 1, 31, &chapter)) return false;
    const int before = c->kernels;
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *kernel = kernel_of_any_type(&kernel_registry[i]);
        if (named ? strcmp(kernel->name, number) != 0
                  : !every && chapter_of_kernel(kernel) != (int)chapter)
            continue;
        const bool tuned = variant && !strcmp(variant + 1, "tuned");
        const bool wanted = tuned ? kernel->ranked && !traced && c->tuned < 0
                            : !variant
                                ? !kernel->variant
                                : !strcmp(variant + 1, "all") ||
                                      (kernel->variant && !strcmp(variant + 1, kernel->variant));
        if (!wanted) continue;
        if (c->kernels == KERNELS) return false;
        c->traced[c->kernels] = traced;
        if (tuned) c->tuned = c->kernels;
        c->entry[c->kernels++] = i;
    }
    return c->kernels > before;
}

/* "8192" or "8192x8192x512" */
static bool add_shape(struct rotation *c, const char *item) {
    struct problem_size size;
    if (c->shapes == SHAPES) return false;
    if (!parse_extents(item, &size.m, &size.n, &size.k)) {
        uint64_t extent;
        if (!parse_whole(item, 1, 1 << 20, &extent)) return false;
        size.m = size.n = size.k = (int)extent;
    }
    c->shape[c->shapes++] = size;
    return true;
}

/* The shapes of a seed. */
static bool add_drawn(struct rotation *c, const char *seed) {
    uint64_t whole;
    if (!parse_whole(seed, 0, UINT64_MAX, &whole) || c->shapes + DRAWN_SHAPES > SHAPES)
        return false;
    for (int i = 0; i < DRAWN_SHAPES; ++i)
        c->shape[c->shapes++] = drawn_shape(whole, i);
    return true;
}

static bool each_item(struct rotation *c, const char *list,
                      bool (*add)(struct rotation *, const char *)) {
    char *items = strdup(list), *rest = items;
    if (!items) abort();
    bool good = true;
    for (char *item; good && (item = strsep(&rest, ","));)
        good = add(c, item);
    free(items);
    return good;
}

/* An option of some kernel's kind of problem; NULL: there is none of this name. */
static struct backend_setting *kind_option(const char *name) {
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct problem_kind *kind = kind_of(kernel_of_any_type(&kernel_registry[i]));
        for (int j = 0; j < kind->option_count; ++j)
            if (!strcmp(kind->options[j].option, name)) return &kind->options[j];
    }
    return NULL;
}

static bool read_option(struct rotation *c, const char *name, const char *value, const char **csv,
                        const char **baselines) {
    static const char *const modes[] = {"none", "burst", "sustained", "both"};
    static const char *const orders[] = {"random", "listed"}, *const operands[] = {"cold", "warm"};
    uint64_t whole;
    int index = 0;
    struct backend_setting *const setting = kind_option(name);
    if (setting) return read_setting(setting, value);
    if (!strcmp(name, "--kernels")) return each_item(c, value, add_kernels);
    if (!strcmp(name, "--shapes")) return each_item(c, value, add_shape);
    if (!strcmp(name, "--drawn")) return add_drawn(c, value);
    if (!strcmp(name, "--csv")) return *csv = value, true;
    if (!strcmp(name, "--baselines")) return *baselines = value, true;
    if (!strcmp(name, "--seed")) return parse_whole(value, 0, UINT64_MAX, &c->timing.seed);
    if (!strcmp(name, "--iters")) {
        if (!parse_whole(value, 1, 1000, &whole)) return false;
        c->timing.rounds = (int)whole;
    } else if (!strcmp(name, "--timing")) {
        index = c->timing.modes = find_name(value, modes, 4);
        return index >= 0;
    } else if (!strcmp(name, "--order")) {
        index = find_name(value, orders, 2);
        c->timing.fixed_order = index == 1;
    } else if (!strcmp(name, "--operands"))
        c->warm = (index = find_name(value, operands, 2)) == 1;
    else if (!strcmp(name, "--launch"))
        experiment_early = (enum gemm_early)(index = find_name(value, early_names, 3));
    else if (!strcmp(name, "--dtype"))
        c->type = (enum gemm_type)(index = find_name(value, type_names, ELEMENT_TYPES));
    else if (!strcmp(name, "--input"))
        c->input = (enum input_kind)(index = find_name(value, input_names, INPUT_KINDS));
    else
        return false;
    return index >= 0;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static enum exit_code run_all(const struct rotation *c, const struct backend_info *device) {
    enum exit_code worst = EXIT_VERIFIED;
    for (int i = 0; i < c->shapes; ++i) {
        const double start = seconds_now();
        const enum exit_code code = run_shape(c, device, c->shape[i]);
        progress_clear();
        fprintf(stderr, "%s: %d x %d x %d %s: %.1f s%s\n", message_program(), c->shape[i].m,
                c->shape[i].n, c->shape[i].k, type_names[c->type], seconds_now() - start,
                code == EXIT_VERIFIED ? "" : ", FAILED");
        if (worst == EXIT_VERIFIED) worst = code;
    }
    return worst;
}

/* Of the kernel that needs the most. */
static int gpus_needed(const struct rotation *c) {
    int most = 1;
    for (int i = 0; i < c->kernels; ++i) {
        const int needed = gpus_of_entry(&kernel_registry[c->entry[i]]);
        if (most < needed) most = needed;
    }
    return most;
}

int main(int argc, char **argv) {
    struct rotation c = {.tuned = -1,
                         .input = INPUT_NORMAL,
                         .type = GEMM_BF16,
                         .timing = {.modes = TIMING_BURST, .seed = 1}};
    const char *csv_path = NULL, *baselines = "libraries";
    message_open(argv[0]);
    if (!streams_begin()) return EXIT_USAGE;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && read_option(&c, argv[i], argv[i + 1], &csv_path, &baselines)) continue;
        complain("%s: not an option, or not with this value\nusage: %s --kernels 8:all,hopper_gemm "
                 "--shapes 8192x8192x512,4096 [--drawn SEED] [--timing none|burst|sustained|both] "
                 "[--iters N]\n"
                 "  [--baselines none|all|GROUP or NAME,...] [--order random|listed] [--dtype "
                 "fp16|bf16|e4m3|w4a8] "
                 "[--input KIND] [--operands cold|warm] [--launch order|early|early-b] [--seed S]\n"
                 "  [--csv FILE]",
                 argv[i], message_program());
        return EXIT_USAGE;
    }
    if (c.kernels == 0 || c.shapes == 0) {
        complain("--kernels and --shapes, or --drawn, have to be given");
        return EXIT_USAGE;
    }
    if (!kind_accepts(kind_of(kernel_of_any_type(&kernel_registry[c.entry[0]])))) return EXIT_USAGE;
    if (csv_path && c.timing.modes == 0) {
        complain("--csv: with --timing none there are no samples to write; choose a timing");
        return EXIT_USAGE;
    }
    if (!baselines_choose("--baselines", baselines, &c.baselines)) return EXIT_USAGE;
    struct text_file csv = {.file = NULL};
    if (csv_path && !output_open(&csv, "--csv", csv_path)) return EXIT_USAGE;
    c.csv = csv.file;
    c.gpus = gpus_needed(&c);
    const struct backend_options options = {.type = c.type, .gpus = c.gpus, .times = true};
    struct backend_info device = {0};
    enum exit_code code = backend_open(&options, &device);
    if (code == EXIT_VERIFIED && device.gpus < c.gpus) {
        complain("%d GPUs are needed that reach each other's memory, and there are %d", c.gpus,
                 device.gpus);
        backend_close();
        code = EXIT_NO_DEVICE;
    } else if (code == EXIT_VERIFIED) {
        code = run_all(&c, &device);
        backend_close();
    }
    if (code != EXIT_VERIFIED && code != EXIT_WRONG) text_file_abandon(&csv);
    if (csv.file && !output_commit(&csv, "--csv") && code == EXIT_VERIFIED) code = EXIT_USAGE;
    return streams_end(code);
}
