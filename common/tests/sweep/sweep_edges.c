#include <stdio.h>

#include "kind_options.h"
#include "harness/message.h"
#include "tests/sweep/sweep.h"

/* `types`: those of the kernel that the sweep may use, one or two. */
static struct trial draw_trial(const struct sweep *sweep, const struct gemm_kernel *kernel,
                               const enum gemm_type *types, int type_count, int i) {
    static const int edges[] = {1,  2,  7,  8,   15,  16,  17,  31, 33,
                                63, 64, 65, 127, 128, 129, 255, 257};
    static const int several[] = {1, 17, 65, 129, 257, 385, 520};
    static const enum input_kind inputs[] = {INPUT_INTEGER, INPUT_INTEGER, INPUT_INTEGER,
                                             INPUT_UNIFORM, INPUT_NORMAL,  INPUT_ZEROS,
                                             INPUT_OUTLIERS};
    enum { EDGES = sizeof edges / sizeof *edges, SEVERAL = sizeof several / sizeof *several };
    uint64_t random = input_hash(sweep->seed, (uint64_t)i);
    struct trial trial = {.seed = sweep->seed + (uint64_t)i,
                          .type = types[i % type_count],
                          .sms = sweep->sms > kernel->cluster ? sweep->sms : kernel->cluster,
                          .schedule = sweep->schedule == SWEEP_ALL ? i / 2 % sweep_schedules()
                                                                   : sweep->schedule,
                          .schedule_seed = sweep->seed + (uint64_t)i};
    if (kernel->several_devices) trial.launches = sweep->launches ? sweep->launches : 1 + i / 3 % 3;
    trial.input = inputs[sweep_draw(&random, sizeof inputs / sizeof *inputs)];
    trial.padding = sweep_draw(&random, 2) ? PADDING_FINITE : PADDING_NAN;
    if (!sweep->long_k) {
        trial.size.m = edges[sweep_draw(&random, EDGES)];
        trial.size.n = edges[sweep_draw(&random, EDGES)];
        trial.size.k = edges[sweep_draw(&random, EDGES)];
        return trial;
    }
    const int ring = kernel->tile_k * (kernel->stages > 1 ? kernel->stages : 2);
    trial.size.m = several[sweep_draw(&random, SEVERAL)];
    trial.size.n = several[sweep_draw(&random, SEVERAL)];
    trial.size.k = 2 * ring + 1 + sweep_draw(&random, 2 * ring);
    if (kernel->loop == GEMM_ALONG_N) trial.size.n = trial.size.k;
    return trial;
}

/* The backend is opened anew, as by the command that repeats the trial. */
static enum exit_code run_trial(const struct kernel_entry *entry, const struct trial *t) {
    const struct gemm_kernel *kernel;
    struct backend_info device = {0};
    struct experiment experiment;
    enum exit_code code = sweep_open(t, &device);
    if (code != EXIT_VERIFIED) return code;
    kernel = kernel_for_size(kernel_of_type(entry, t->type), t->size);
    if (!kernel) return EXIT_WRONG;
    sweep_launch_as(t);
    code = experiment_open(&experiment, &device, t->size, t->type, t->input, t->seed, &kernel, 1,
                           false);
    if (code == EXIT_VERIFIED) {
        struct kernel_result result;
        experiment_verify(&experiment, kernel, &result);
        code = result.code;
    }
    experiment_close(&experiment);
    backend_close();
    return code;
}

enum exit_code sweep_edges(const struct sweep *sweep, struct sweep_counts *counts) {
    for (int s = 0; s < kernel_registry_count; ++s) {
        const struct kernel_entry *entry = &kernel_registry[s];
        struct sweep_counts own = {0};
        enum gemm_type types[ELEMENT_TYPES];
        int type_count = 0;
        char label[96];
        for (int type = 0; type < ELEMENT_TYPES; ++type)
            if ((sweep->type == SWEEP_ALL || sweep->type == type) &&
                sweep_kernel(sweep, entry, (enum gemm_type)type))
                types[type_count++] = (enum gemm_type)type;
        if (type_count == 0) continue;
        kernel_label(kernel_of_any_type(entry), label, sizeof label);
        for (int i = 0; i < sweep->triples; ++i) {
            struct trial trial = draw_trial(sweep, kernel_of_any_type(entry), types, type_count, i);
            trial.size.k = kind_drawn_k(kernel_of_any_type(entry), trial.size.k, trial.seed);
            progress("%s: %d/%d", label, i + 1, sweep->triples);
            const enum exit_code code = run_trial(entry, &trial);
            if (code == EXIT_NO_DEVICE) return code;
            sweep_count(&own, kernel_of_any_type(entry), &trial, code);
        }
        progress_clear();
        printf("%s: %d triples, %d failures, %d hazards\n", label, sweep->triples, own.failures,
               own.hazards);
        fflush(stdout);
        counts->runs += own.runs;
        counts->failures += own.failures;
        counts->hazards += own.hazards;
    }
    return EXIT_VERIFIED;
}
