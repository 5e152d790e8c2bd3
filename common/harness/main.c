/*
 * main.c: the main of every program. Reads the command line, runs and verifies the kernels, times
 * them, reports.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/allocate.h"
#include "harness/baseline_list.h"
#include "harness/check.h"
#include "harness/experiment.h"
#include "harness/help.h"
#include "harness/message.h"
#include "harness/options.h"
#include "harness/output_file.h"
#include "harness/registry.h"
#include "harness/report.h"
#include "harness/hazard_reports.h"
#include "harness/lap.h"
#include "harness/stale.h"

/* The same under the chapter's name alone. */
static const struct gemm_kernel *as_own(const struct gemm_kernel *variant,
                                        struct gemm_kernel *copy) {
    if (!variant) return NULL;
    *copy = *variant;
    copy->variant = NULL;
    return copy;
}

/* Puts the variants that chapters pick for this problem in the chapters' places. The device is
 * open: it has a say. */
static void apply_choices(struct lap *s, const struct options *o) {
    for (int i = 0; i < s->count; ++i) {
        if (!s->kernels[i]->select) continue;
        const struct gemm_kernel *choice =
            kernel_for_size(s->kernels[i], (struct problem_size){.m = o->m, .n = o->n, .k = o->k});
        if (!choice) continue; /* its launch says why */
        s->selected[i] = choice->variant;
        for (int j = 0; j < kernel_registry_count; ++j)
            if (kernel_of_type(&kernel_registry[j], o->backend.type) == choice)
                s->traced[i] = as_own(kernel_of_type(&kernel_trace_registry[j], o->backend.type),
                                      &s->copies[2 * i]);
        s->kernels[i] = as_own(choice, &s->copies[2 * i + 1]);
    }
}

/* What is wrong with a kernel beats what went wrong around it; a hazard beats a wrong result. */
static enum exit_code worse(enum exit_code a, enum exit_code b) {
    static const enum exit_code order[] = {EXIT_HAZARD, EXIT_WRONG, EXIT_NO_DEVICE, EXIT_USAGE};
    for (int i = 0; i < 4; ++i)
        if (a == order[i] || b == order[i]) return order[i];
    return EXIT_VERIFIED;
}

/* In a tour, the index of the step that the lap's kernel `i` builds on; -1: not selected. */
static int step_before(const struct lap *s, int i) {
    const struct kernel_entry *wanted = NULL;
    char name[64];
    if (!program_is_tour || !s->entries[i]->step) return -1;
    for (const struct kernel_entry *entry = kernel_registry; entry < s->entries[i]; ++entry)
        if (entry->step && (!s->entries[i]->from ||
                            strcmp(kernel_label(kernel_of_any_type(entry), name, sizeof name),
                                   s->entries[i]->from) == 0))
            wanted = entry;
    for (int j = 0; j < s->count; ++j)
        if (wanted && s->entries[j] == wanted) return j;
    return -1;
}

/* In a simulated tour of the usual extents a kernel that loads single elements has this problem: it
 * calls the simulator for each of them, and would take longer than all others together. */
static const struct problem_size SINGLE_ELEMENTS = {256, 256, 512};

static bool has_smaller_problem(const struct gemm_kernel *kernel, const struct options *o) {
    return program_is_tour && !backend_can_time() && o->usual_extents && kernel->tile_k == 1;
}

/* Runs such a kernel; its technique, in the lap's copy of it, says the extents. */
static enum exit_code verify_smaller(const struct backend_info *device, struct lap *s, int i,
                                     const struct options *o, struct kernel_result *result) {
    static char technique[128];
    const struct problem_size size = SINGLE_ELEMENTS;
    struct experiment e;
    s->copies[2 * i + 1] = *s->kernels[i];
    s->kernels[i] = &s->copies[2 * i + 1];
    snprintf(technique, sizeof technique, "%d x %d x %d alone: %s", size.m, size.n, size.k,
             s->kernels[i]->technique);
    s->copies[2 * i + 1].technique = technique;
    *result = (struct kernel_result){
        .kernel = s->kernels[i], .size = size, .code = EXIT_NO_DEVICE, .cycles = -1};
    const enum exit_code code = experiment_open(&e, device, size, o->backend.type, o->input,
                                                o->seed, &s->kernels[i], 1, false);
    if (code == EXIT_VERIFIED) experiment_verify(&e, s->kernels[i], result);
    experiment_close(&e);
    return code;
}

/* One line, if the runs will take long. */
static void say_duration(const struct lap *s, const struct options *o) {
    enum { LONG_SECONDS = 10, UNITS = 5 };
    static const char *const names[UNITS] = {"seconds", "minutes", "hours", "days", "years"};
    static const double lengths[UNITS] = {1, 60, 3600, 86400, 365.25 * 86400};
    char name[64] = "these kernels";
    double seconds = 0;
    for (int i = 0; i < s->count; ++i)
        if (!has_smaller_problem(s->kernels[i], o))
            seconds += backend_expected_seconds(s->kernels[i], o->m, o->n, o->k);
    if (seconds < LONG_SECONDS) return;
    if (s->count == 1) kernel_label(s->kernels[0], name, sizeof name);
    int unit = 0;
    while (unit + 1 < UNITS && seconds >= 1.5 * lengths[unit + 1])
        ++unit;
    complain("%s: %d x %d x %d takes about %.0f %s in the simulator%s", name, o->m, o->n, o->k,
             seconds / lengths[unit], names[unit], unit ? "; --size 1024 takes seconds" : "");
}

static enum exit_code verify_all(struct experiment *e, struct lap *s, const struct options *options,
                                 struct kernel_result *results) {
    enum exit_code code = EXIT_VERIFIED;
    for (int i = 0; i < s->count; ++i) {
        char name[64];
        progress("[%d/%d] %s", i + 1, s->count, kernel_label(s->kernels[i], name, sizeof name));
        if (has_smaller_problem(s->kernels[i], options))
            code = worse(code, verify_smaller(e->device, s, i, options, &results[i]));
        else
            experiment_verify(e, s->kernels[i], &results[i]);
        results[i].selected = s->selected[i];
        results[i].before = step_before(s, i);
        code = worse(code, results[i].code);
    }
    return code;
}

/* On the GPU a timeline takes a run of its own; the simulator has recorded the verified one. */
static enum exit_code record_all(struct experiment *e, const struct lap *s,
                                 const struct kernel_result *results) {
    for (int i = 0; i < s->count; ++i) {
        if (results[i].code != EXIT_VERIFIED) continue;
        char name[64];
        kernel_label(s->kernels[i], name, sizeof name);
        progress("[%d/%d] recording %s", i + 1, s->count, name);
        if (!s->traced[i])
            complain("%s has no timeline: it was not compiled with the recorder", name);
        else if (!experiment_record(e, s->traced[i]))
            return EXIT_WRONG;
    }
    return EXIT_VERIFIED;
}

static enum exit_code time_all(struct experiment *e, const struct options *options,
                               struct kernel_result *results, int count) {
    const struct timing_options timing = {
        .modes = options->timing, .rounds = options->iterations, .seed = options->seed};
    struct text_file csv = {.file = NULL};
    if (options->csv && !output_open(&csv, "--csv", options->csv)) return EXIT_USAGE;
    if (!experiment_time(e, &timing, results, count, csv.file)) {
        text_file_abandon(&csv);
        complain("timing failed; no speeds are reported");
        return EXIT_WRONG;
    }
    if (csv.file && !output_commit(&csv, "--csv")) return EXIT_USAGE;
    enum exit_code code = EXIT_VERIFIED;
    for (int i = 0; i < count; ++i)
        code = worse(code, results[i].code);
    return code;
}

static char *command_line(int argc, char **argv) {
    size_t length = 1;
    for (int i = 0; i < argc; ++i)
        length += strlen(argv[i]) + 1;
    char *line = allocate(length, 1, "the command line");
    for (int i = 0; i < argc; ++i) {
        if (i) strcat(line, " ");
        strcat(line, i ? argv[i] : message_program());
    }
    return line;
}

/* What the report's page has of all laps. */
struct page {
    struct report_info info; /* of the first one's problem */
    struct report_row *rows; /* [most_rows()] */
    char (*problem)[256];    /* [count]: the row's, if a table begins with it */
    int count;
};

static size_t most_rows(void) { return (size_t)kernel_registry_count * (1 + MAX_BASELINES); }

static void add_rows(struct page *page, const struct report *report, bool with_problem) {
    const struct backend_info *device = report->device;
    struct report_row *const first = page->rows + page->count;
    if (!page->count)
        page->info = (struct report_info){.simulated = strcmp(device->backend, "sim") == 0,
                                          .device = device->name,
                                          .dtype = type_names[report->type],
                                          .input = input_names[report->input],
                                          .m = report->size.m,
                                          .n = report->size.n,
                                          .k = report->size.k,
                                          .sms = device->sm_count,
                                          .power_limit_w = device->power_limit_w,
                                          .driver = *device->driver ? device->driver : NULL,
                                          .toolkit = *device->toolkit ? device->toolkit : NULL};
    const int count = report_rows(report, first);
    if (count && with_problem) {
        first->problem = page->problem[page->count];
        report_problem(report, page->problem[page->count], sizeof *page->problem);
    }
    page->count += count;
}

static bool write_page(const struct options *options, struct page *page, char *command) {
    char docs[1024];
    page->info.command = command;
    page->info.docs = docs_from(options->report, docs, sizeof docs);
    const bool good = timeline_write_report(options->report, &page->info, page->rows, page->count);
    if (!good)
        complain("--report: cannot write into '%s': %s; the report is not complete",
                 options->report, strerror(errno));
    return good;
}

static bool explain(const struct options *options, const char *name) {
    const int barriers = timeline_explain_barrier(stdout, options->explain);
    if (options->explain < barriers) return true;
    if (barriers > 0)
        complain("--explain: a CTA of %s has %d mbarriers; choose mbarrier:0 to mbarrier:%d", name,
                 barriers, barriers - 1);
    else
        complain("--explain: %s has no mbarrier; 05_tma_mbarrier is the first that has", name);
    return false;
}

static enum exit_code write_files(const struct options *options, struct page *page, char *command) {
    enum exit_code code = EXIT_VERIFIED;
    if (options->trace && !timeline_write_trace(options->trace, options->trace_sms)) {
        complain("--trace: cannot write '%s': %s; nothing was left there", options->trace,
                 strerror(errno));
        code = EXIT_USAGE;
    } else if (options->trace && !options->json) {
        printf("\ntimelines for ui.perfetto.dev, in %s: %s\n", timeline_times(), options->trace);
    }
    if (options->report && !write_page(options, page, command))
        code = EXIT_USAGE;
    else if (options->report && !options->json)
        printf("\nresults and timelines: %s/index.html\n", options->report);
    return code;
}

static uint32_t usual_baselines(void) {
    uint32_t mask = 0;
    if (backend_baseline_name(0)) baselines_choose("baselines", USUAL_BASELINES, &mask);
    return mask;
}

/* The table of a lap. */
static void write_results(const struct options *options, const struct report *report,
                          struct page *page, bool one_of_several) {
    if (options->json) {
        report_json(report, stdout);
    } else {
        if (page->count) putchar('\n');
        report_table(report, stdout);
    }
    add_rows(page, report, one_of_several);
}

/* Everything between opening the device and closing it. */
static enum exit_code run(const struct options *options, const struct backend_info *device,
                          struct lap *s, struct kernel_result *results, struct page *page) {
    struct experiment e;
    const struct problem_size size = {options->m, options->n, options->k};
    say_duration(s, options);
    enum exit_code code =
        experiment_open(&e, device, size, options->backend.type, options->input, options->seed,
                        s->kernels, s->count, options->timing != 0);
    /* The libraries are asked for their speed, and cuBLAS also where the reference alone does not
     * cover every element. */
    if (code == EXIT_VERIFIED && backend_can_time() && (options->timing || !e.kind.d.complete))
        code = experiment_add_baselines(&e, options->timing ? usual_baselines() : 0);
    if (code == EXIT_VERIFIED) {
        code = verify_all(&e, s, options, results);
        if (options->backend.trace && backend_can_time())
            code = worse(code, record_all(&e, s, results));
        if (options->timing) code = worse(code, time_all(&e, options, results, s->count));
        code = worse(code, experiment_baselines_code(&e));
        progress_clear();
        const struct report report = {.device = device,
                                      .size = size,
                                      .type = options->backend.type,
                                      .scales = e.operands.format->scales,
                                      .input = options->input,
                                      .timing = options->timing,
                                      .results = results,
                                      .count = s->count,
                                      .baselines = e.baselines,
                                      .baseline_count = e.baseline_count};
        if (options->explain < 0 || explain(options, s->kernels[0]->name))
            write_results(options, &report, page, s->more);
        else
            code = worse(code, EXIT_USAGE);
    }
    progress_clear();
    experiment_close(&e);
    return code;
}

/* The kernels of a lap, with their own type and k in the options. *left_out: none can run. */
static enum exit_code run_lap(struct options *options, struct lap *s, char *program,
                              struct backend_info *device, struct page *page, bool *left_out) {
    *left_out = false;
    options->backend.oldest = oldest_of(s);
    options->backend.times = options->timing != 0;
    enum exit_code code = backend_open(&options->backend, device);
    if (code != EXIT_VERIFIED) return code;
    code = leave_out(s, device, options->backend.type, options->backend.gpus);
    *left_out = code == EXIT_NO_DEVICE;
    if (code == EXIT_VERIFIED) warn_if_stale(s->entries, s->count);
    if (code == EXIT_VERIFIED && options->check) {
        backend_close();
        return check_kernel(s->kernels[0], options, program);
    }
    if (code == EXIT_VERIFIED) {
        apply_choices(s, options);
        struct kernel_result *results =
            allocate((size_t)s->count + 1, sizeof *results, "the results");
        backend_hold_reports();
        code = run(options, device, s, results, page);
        say_reports();
        if (s->refused) code = worse(code, EXIT_USAGE);
        free(results);
    }
    backend_close();
    return code;
}

/* Where addresses are limited, a stack that cannot grow ends the program without a word: so it
 * grows now, and what lacks memory later says so. */
static __attribute__((noinline)) void grow_stack(void) {
#ifndef __EMSCRIPTEN__
    volatile char stack[512 << 10];
    for (size_t i = sizeof stack; i > 0; i -= 4096)
        stack[i - 1] = 0;
#endif
}

int main(int argc, char **argv) {
    grow_stack();
    message_open(argc > 0 ? argv[0] : NULL);
    if (!streams_begin()) return EXIT_USAGE;
    struct options options;
    switch (options_read(&options, argc, argv)) {
    case OPTIONS_HELP:
        print_help();
        return streams_end(EXIT_VERIFIED);
    case OPTIONS_BAD:
        return EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    experiment_early = options.early;
    operand_pitches = options.pitches;
    operand_padding = options.padding;
    struct page page = {.rows = allocate(most_rows(), sizeof *page.rows, "the rows of the page"),
                        .problem =
                            allocate(most_rows(), sizeof *page.problem, "the rows of the page")};
    struct backend_info device = {0};
    enum exit_code code = EXIT_VERIFIED;
    bool any = false;
    for (int next = 0; next < kernel_registry_count && code != EXIT_NO_DEVICE;) {
        struct options own = options;
        struct lap lap = select_kernels(&own, &next);
        bool left_out;
        const enum exit_code now = run_lap(&own, &lap, argv[0], &device, &page, &left_out);
        free_lap(&lap);
        /* A tour has laps for a machine that is not here, behind those for the one that is. */
        if (!left_out && !(any && now == EXIT_NO_DEVICE)) code = worse(code, now);
        any |= !left_out;
    }
    if (!any) code = EXIT_NO_DEVICE;
    if (page.count) {
        char *command = command_line(argc, argv);
        code = worse(code, write_files(&options, &page, command));
        free(command);
    }
    timeline_free_all();
    free(page.problem);
    free(page.rows);
    return streams_end(code);
}
