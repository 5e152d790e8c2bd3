/*
 * sim_trials.h: runs small kernels in the simulator under every schedule and looks at what it
 * reports.
 *
 * A trial that expects a hazard must get it under each of its schedules; one that expects none must
 * have no report at all and pass its own check of the results.
 */
#ifndef TESTS_SIM_SIM_TRIALS_H
#define TESTS_SIM_SIM_TRIALS_H

#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "sim/core/simulation.h"
#include "tests/support/capture.h"
#include "tests/support/expect.h"

struct sim_trial {
    const char *name;
    void (*kernel)(const struct gemm_args);
    const char *hazard; /* the kind that must be reported, or "this|that"; NULL: none */
    const char *text;   /* that the report must contain; NULL: anything */
    int threads, cluster;
    size_t smem_bytes;
    int schedules; /* mask of 1 << enum sim_schedule; 0: all */
    int argument;  /* args.splits */
    bool fp32;     /* map_d describes the workspace, in boxes of TRIAL_BOX x 32 */
};

/* What every trial gets: A, B and D of TRIAL_EXTENT squared, boxes of TRIAL_BOX rows and 64 columns
 * with the 128 B swizzle; workspace: as many floats. A and B hold small whole numbers, D and the
 * workspace zeros. */
enum { TRIAL_EXTENT = 256, TRIAL_BOX = 64, TRIAL_SMS = 4 };
static uint16_t *trial_a, *trial_b, *trial_d;
static float *trial_workspace;

static const struct sim_trial *current_trial;

static enum gemm_status enqueue_trial(const struct contender *self,
                                      const struct gemm_problem *problem, void *stream) {
    (void)self;
    (void)problem;
    struct gemm_args args = {.a = (const element_t *)trial_a,
                             .b = (const element_t *)trial_b,
                             .d = (element_t *)trial_d,
                             .lda = TRIAL_EXTENT,
                             .ldb = TRIAL_EXTENT,
                             .ldd = TRIAL_EXTENT,
                             .m = TRIAL_EXTENT,
                             .n = TRIAL_EXTENT,
                             .k = TRIAL_EXTENT,
                             .splits = current_trial->argument,
                             .workspace = trial_workspace};
    const struct gemm_launch launch = {.kernel = (const void *)current_trial->kernel,
                                       .name = current_trial->name,
                                       .grid = current_trial->cluster,
                                       .cluster = current_trial->cluster,
                                       .threads = current_trial->threads,
                                       .smem_bytes = current_trial->smem_bytes,
                                       .stream = stream};
    if (gemm_tensor_map(&args.map_a, GEMM_FP16, trial_a, TRIAL_EXTENT, TRIAL_EXTENT, TRIAL_EXTENT,
                        TRIAL_BOX, 64, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, GEMM_FP16, trial_b, TRIAL_EXTENT, TRIAL_EXTENT, TRIAL_EXTENT,
                        TRIAL_BOX, 64, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_d, current_trial->fp32 ? GEMM_FP32 : GEMM_FP16,
                        current_trial->fp32 ? (void *)trial_workspace : trial_d, TRIAL_EXTENT,
                        TRIAL_EXTENT, TRIAL_EXTENT, TRIAL_BOX, current_trial->fp32 ? 32 : 64,
                        SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    return gemm_launch_kernel(&launch, &args);
}

static void prepare_memory(void) {
    srand(1);
    for (int i = 0; i < TRIAL_EXTENT * TRIAL_EXTENT; ++i) { /* fp16: -2 .. 2 */
        static const uint16_t numbers[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000};
        trial_a[i] = numbers[rand() % 5];
        trial_b[i] = numbers[rand() % 5];
        trial_d[i] = 0;
        trial_workspace[i] = 0;
    }
}

/* Opens the simulator and its memory, for backend_close(). */
static inline void open_trial(int sms, enum sim_schedule schedule, uint64_t seed) {
    const struct backend_options options = {.type = GEMM_FP16};
    const size_t elements = TRIAL_EXTENT * TRIAL_EXTENT;
    struct backend_info info;
    sim_configure(sms, schedule, seed);
    if (backend_open(&options, &info)) exit(1);
    trial_a = backend_alloc(elements * 2, "A", false);
    trial_b = backend_alloc(elements * 2, "B", false);
    trial_d = backend_alloc(elements * 2, "D", true);
    trial_workspace = backend_alloc(elements * sizeof(float), "workspace", true);
    prepare_memory();
}

static inline enum run_status run_once(const struct sim_trial *t, double *cycles) {
    const struct contender contender = {.name = t->name, .enqueue = enqueue_trial};
    const struct gemm_problem problem = {.m = TRIAL_EXTENT, .n = TRIAL_EXTENT, .k = TRIAL_EXTENT};
    current_trial = t;
    return backend_run(&contender, &problem, cycles);
}

/* The same; returns what was written to stderr meanwhile, to be freed. */
static inline char *run_captured(const struct sim_trial *t, enum run_status *status) {
    const struct capture capture = capture_begin();
    *status = run_once(t, NULL);
    return capture_end(capture);
}

/* Has `text` a report of one of these kinds? */
static bool reports(const char *text, const char *kinds) {
    while (*kinds) {
        const int length = (int)strcspn(kinds, "|");
        char line[96];
        snprintf(line, sizeof line, "hazard: %.*s: ", length, kinds);
        if (strstr(text, line)) return true;
        kinds += length + (kinds[length] == '|');
    }
    return false;
}

/* Runs a trial under its schedules, `seeds` times under the random one. `check` looks at D and the
 * workspace; NULL: not. */
static inline void run_trial(const struct sim_trial *t, int seeds,
                             void (*check)(const struct sim_trial *t)) {
    for (int schedule = SCHEDULE_TIME; schedule <= SCHEDULE_RANDOM; ++schedule) {
        if (t->schedules && !(t->schedules >> schedule & 1)) continue;
        for (int seed = 0; seed < (schedule == SCHEDULE_RANDOM ? seeds : 1); ++seed) {
            enum run_status status;
            open_trial(TRIAL_SMS, (enum sim_schedule)schedule, (uint64_t)seed);
            char *const text = run_captured(t, &status);
            if (!t->hazard) {
                EXPECT(status == RUN_OK, "%s (%d), %s %d: status %d\n%s", t->name, t->argument,
                       schedule_names[schedule], seed, status, text);
                if (status == RUN_OK && check) check(t);
            } else {
                EXPECT(status == RUN_HAZARD && reports(text, t->hazard),
                       "%s (%d), %s %d: status %d, expected %s\n%s", t->name, t->argument,
                       schedule_names[schedule], seed, status, t->hazard, text);
                EXPECT(!t->text || strstr(text, t->text),
                       "%s (%d), %s %d: the report lacks \"%s\"\n%s", t->name, t->argument,
                       schedule_names[schedule], seed, t->text, text);
                if (getenv("SHOW_REPORTS") && schedule == SCHEDULE_TIME)
                    printf("---- %s\n%s", t->name, text);
            }
            free(text);
            backend_close();
        }
    }
}

/* All trials, or those whose names are given. */
static inline void run_trials(const struct sim_trial *trials, int count,
                              void (*check)(const struct sim_trial *t), int argc, char **argv) {
    for (int i = 0; i < count; ++i) {
        bool wanted = argc < 2;
        for (int j = 1; j < argc; ++j)
            wanted |= !strcmp(argv[j], trials[i].name);
        if (wanted) run_trial(&trials[i], 6, check);
    }
}

#endif
