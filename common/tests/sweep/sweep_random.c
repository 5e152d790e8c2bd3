#include <stdio.h>

#include "kind_options.h"
#include "harness/message.h"
#include "tests/sweep/sweep.h"

enum { KERNELS = 256 }; /* with all variants */

/* Most extents are from 1 to `largest`, the small ones as likely as in a geometric series; one
 * shape in sixteen has an extent up to five times as large. */
static int draw_extent(uint64_t random, int largest, bool may_be_large) {
    if (may_be_large && random % 16 == 0) return 1 + (int)(random / 16 % (uint64_t)(5 * largest));
    const int bound = random / 16 % 4 == 0 ? 1 + largest / 8 : largest;
    return 1 + (int)(random / 64 % (uint64_t)bound);
}

struct trial sweep_draw_trial(const struct sweep *sweep, const struct trial *common, int i) {
    static const enum input_kind inputs[] = {INPUT_INTEGER, INPUT_INTEGER, INPUT_INTEGER,
                                             INPUT_UNIFORM, INPUT_NORMAL,  INPUT_OUTLIERS};
    const uint64_t seed = input_hash(sweep->seed, (uint64_t)i);
    const int largest = sweep->largest ? sweep->largest : backend_can_time() ? 600 : 150;
    const int large = (int)(seed % 3); /* the extent that may be large */
    int extent[3];
    for (int e = 0; e < 3; ++e)
        extent[e] = draw_extent(input_hash(seed, (uint64_t)e), largest, e == large);
    struct trial trial = *common;
    trial.size = (struct problem_size){extent[0], extent[1], extent[2]};
    trial.input = inputs[seed / 3 % (sizeof inputs / sizeof *inputs)];
    trial.padding = seed / 64 % 2 ? PADDING_FINITE : PADDING_NAN;
    trial.seed = sweep->seed + (uint64_t)i;
    return trial;
}

/* The kernels selected, in one type, and SMs for the largest cluster at least. */
static int find_kernels(const struct sweep *sweep, enum gemm_type type,
                        const struct gemm_kernel **kernels, int *sms) {
    int count = 0;
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *kernel = sweep_kernel(sweep, &kernel_registry[i], type);
        if (!kernel || count == KERNELS) continue;
        if (kernel->cluster > *sms) *sms = kernel->cluster;
        kernels[count++] = kernel;
    }
    return count;
}

/* Those of the kernels that compute this shape: the chapters' own, and the variants whose turn it
 * is. */
static int take_turns(const struct sweep *sweep, const struct gemm_kernel *const *kernels,
                      int count, int shape, const struct gemm_kernel **found) {
    int taken = 0;
    for (int s = 0; s < count; ++s)
        if (!kernels[s]->variant || (s + shape) % sweep->rotate == 0) found[taken++] = kernels[s];
    return taken;
}

/* One shape through the kernels; on the GPU cuBLAS computes it, too. Every run counts the
 * schedule's seed up. */
static enum exit_code run_shape(const struct backend_info *device, struct trial *t,
                                const struct gemm_kernel *const *kernels, int count,
                                struct sweep_counts *counts) {
    const struct gemm_kernel *chosen[KERNELS];
    struct experiment e;
    for (int s = 0; s < count; ++s) {
        chosen[s] = kernel_for_size(kernels[s], t->size);
        if (!chosen[s]) return EXIT_WRONG;
    }
    sweep_launch_as(t);
    enum exit_code code =
        experiment_open(&e, device, t->size, t->type, t->input, t->seed, chosen, count, false);
    if (code == EXIT_VERIFIED && backend_can_time()) {
        code = experiment_add_baselines(&e, 0);
        /* Where cuBLAS is off it is no reference, and not our failure: the exact sums still are
         * one. */
        if (code == EXIT_WRONG) code = EXIT_VERIFIED;
    }
    for (int s = 0; s < count && code == EXIT_VERIFIED; ++s) {
        struct kernel_result result;
        experiment_verify(&e, chosen[s], &result);
        sweep_count(counts, kernels[s], t, result.code);
        ++t->schedule_seed; /* the backend counts the same */
    }
    experiment_close(&e);
    return code;
}

/* One shape through the kernels, those of one kind of problem after those of another: they have
 * matrices of their own. */
static enum exit_code run_kinds(const struct backend_info *device, struct trial *t,
                                const struct gemm_kernel **kernels, int count,
                                struct sweep_counts *counts) {
    const struct gemm_kernel *alike[KERNELS];
    enum exit_code code = EXIT_VERIFIED;
    while (count > 0 && code == EXIT_VERIFIED) {
        const struct problem_kind *const kind = kind_of(kernels[0]);
        int found = 0, left = 0;
        for (int s = 0; s < count; ++s)
            if (kind_of(kernels[s]) == kind)
                alike[found++] = kernels[s];
            else
                kernels[left++] = kernels[s];
        const int drawn = t->size.k;
        t->size.k = kind_drawn_k(alike[0], drawn, t->seed);
        code = run_shape(device, t, alike, found, counts);
        t->size.k = drawn;
        count = left;
    }
    return code;
}

enum exit_code sweep_random(const struct sweep *sweep, struct sweep_counts *counts) {
    const struct gemm_kernel *kernels[KERNELS], *turn[KERNELS];
    int shapes = 0;
    enum exit_code code = EXIT_VERIFIED;
    for (int type = GEMM_FP16; type < ELEMENT_TYPES && code == EXIT_VERIFIED; ++type) {
        if (sweep->type != SWEEP_ALL && sweep->type != type) continue;
        const int step = sweep->type == SWEEP_ALL ? 2 : 1;
        struct trial common = {.type = (enum gemm_type)type,
                               .launches = sweep->launches,
                               .sms = sweep->sms,
                               .schedule = sweep->schedule == SWEEP_ALL ? sweep_random_schedule()
                                                                        : sweep->schedule,
                               .schedule_seed = sweep->seed};
        const int count = find_kernels(sweep, common.type, kernels, &common.sms);
        struct backend_info device = {0};
        code = sweep_open(&common, &device);
        if (code != EXIT_VERIFIED) break;
        for (int i = step == 1 ? 0 : type % 2; i < sweep->random && code == EXIT_VERIFIED;
             i += step) {
            struct trial trial = sweep_draw_trial(sweep, &common, i);
            progress("%s: shape %d/%d", type_names[type], i + 1, sweep->random);
            const int taken = take_turns(sweep, kernels, count, i / step, turn);
            if (taken == 0) continue;
            code = run_kinds(&device, &trial, turn, taken, counts);
            common.schedule_seed = trial.schedule_seed;
            ++shapes;
        }
        progress_clear();
        backend_close();
    }
    if (shapes)
        printf("%d random shapes, %d runs, %d failures, %d hazards\n", shapes, counts->runs,
               counts->failures, counts->hazards);
    return code;
}
