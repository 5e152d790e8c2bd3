#include <stdio.h>
#include <string.h>

#include "kind_options.h"
#include "harness/message.h"
#include "tests/sweep/sweep.h"

/* All runs of one kernel. The first is verified, the others have to have the same bits. */
static enum exit_code repeat_kernel(const struct sweep *sweep, const struct gemm_kernel *kernel,
                                    const struct backend_info *device, const struct trial *t,
                                    struct sweep_counts *counts) {
    struct experiment e;
    struct kernel_result result;
    char label[96];
    kernel_label(kernel, label, sizeof label);
    kernel = kernel_for_size(kernel, t->size);
    if (!kernel) return EXIT_WRONG;
    sweep_launch_as(t);
    const enum exit_code code =
        experiment_open(&e, device, t->size, t->type, t->input, t->seed, &kernel, 1, false);
    if (code != EXIT_VERIFIED) {
        experiment_close(&e);
        return code;
    }
    experiment_verify(&e, kernel, &result);
    sweep_count(counts, kernel, t, result.code);
    uint64_t first = 0, sum = 0;
    int runs = 0, differing = 0;
    enum run_status status = result.code == EXIT_VERIFIED ? RUN_OK : RUN_FAILED;
    for (; runs < sweep->repeat && status == RUN_OK; ++runs) {
        progress("%s: run %d/%d", label, runs + 1, sweep->repeat);
        status = experiment_run_again(&e, kernel, &sum);
        if (runs == 0) first = sum;
        differing += sum != first;
    }
    experiment_close(&e);
    progress_clear();
    counts->runs += runs;
    const bool allowed = sweep->may_differ && !strcmp(sweep->may_differ, label);
    if (result.code == EXIT_VERIFIED && status != RUN_OK)
        ++*(status == RUN_HAZARD ? &counts->hazards : &counts->failures);
    if (differing && !allowed) ++counts->failures;
    printf("%s %s: %d runs, ", label, type_names[t->type], runs);
    if (differing)
        printf("%d differ from the first%s\n", differing, allowed ? ", as they may" : "");
    else
        printf("%s\n", status == RUN_OK ? "all bitwise identical" : "and then it failed");
    fflush(stdout);
    return EXIT_VERIFIED;
}

enum exit_code sweep_repeat(const struct sweep *sweep, struct sweep_counts *counts) {
    const struct problem_size small = {130, 140, 150}, moderate = {1024, 1152, 640};
    const struct problem_size usual = backend_can_time() ? moderate : small;
    struct trial trial = {.size = sweep->size.m ? sweep->size : usual,
                          .input = INPUT_NORMAL,
                          .seed = sweep->seed,
                          .launches = sweep->launches,
                          .sms = sweep->sms,
                          .schedule = sweep_random_schedule(),
                          .schedule_seed = sweep->seed};
    enum exit_code code = EXIT_VERIFIED;
    for (int type = GEMM_FP16; type < ELEMENT_TYPES && code == EXIT_VERIFIED; ++type) {
        struct backend_info device = {0};
        const struct gemm_kernel *kernel;
        if (sweep->type != SWEEP_ALL && sweep->type != type) continue;
        trial.type = (enum gemm_type)type;
        for (int i = 0; i < kernel_registry_count; ++i) {
            kernel = sweep_kernel(sweep, &kernel_registry[i], trial.type);
            if (kernel && kernel->cluster > trial.sms) trial.sms = kernel->cluster;
        }
        code = sweep_open(&trial, &device);
        if (code != EXIT_VERIFIED) break;
        for (int i = 0; i < kernel_registry_count && code == EXIT_VERIFIED; ++i) {
            kernel = sweep_kernel(sweep, &kernel_registry[i], trial.type);
            if (!kernel) continue;
            struct trial own = trial;
            own.size.k = kind_drawn_k(kernel, trial.size.k, trial.seed);
            code = repeat_kernel(sweep, kernel, &device, &own, counts);
        }
        backend_close();
    }
    if (counts->runs)
        printf("%d x %d x %d: %d runs, %d failures, %d hazards\n", trial.size.m, trial.size.n,
               trial.size.k, counts->runs, counts->failures, counts->hazards);
    return code;
}
