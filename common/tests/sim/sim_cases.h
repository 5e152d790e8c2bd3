/*
 * sim_cases.h: runs small kernels in the simulator under every schedule and looks at what it
 * reports.
 *
 * A case that expects a hazard must get it under each of its schedules; one that expects none must
 * have no report at all and pass its own check of the results.
 */
#ifndef TESTS_SIM_SIM_CASES_H
#define TESTS_SIM_SIM_CASES_H

#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "sim/core/simulation.h"
#include "tests/support/capture.h"
#include "tests/support/expect.h"

struct sim_case {
    const char *name;
    void (*kernel)(const struct gemm_args);
    const char *hazard; /* the kind that must be reported, or "this|that"; NULL: none */
    const char *text;   /* that the report must contain; NULL: anything */
    int threads, cluster;
    size_t smem_bytes;
    int schedules; /* mask of 1 << enum sim_schedule; 0: all */
    int argument;  /* args.splits */
    bool fp32;     /* map_d describes the workspace, in boxes of CASE_BOX x 32 */
};

/* What every case gets: A, B and D of CASE_EXTENT squared, boxes of CASE_BOX rows and 64 columns
 * with the 128 B swizzle; workspace: as many floats. A and B hold small whole numbers, D and the
 * workspace zeros. */
enum { CASE_EXTENT = 256, CASE_BOX = 64, CASE_SMS = 4 };
static uint16_t *case_a, *case_b, *case_d;
static float *case_workspace;

static const struct sim_case *current_case;

static enum gemm_status enqueue_case(const struct contender *self,
                                     const struct gemm_problem *problem, void *stream) {
    (void)self;
    (void)problem;
    struct gemm_args args = {.a = (const element_t *)case_a,
                             .b = (const element_t *)case_b,
                             .d = (element_t *)case_d,
                             .lda = CASE_EXTENT,
                             .ldb = CASE_EXTENT,
                             .ldd = CASE_EXTENT,
                             .m = CASE_EXTENT,
                             .n = CASE_EXTENT,
                             .k = CASE_EXTENT,
                             .splits = current_case->argument,
                             .workspace = case_workspace};
    const struct gemm_launch launch = {.kernel = (const void *)current_case->kernel,
                                       .name = current_case->name,
                                       .grid = current_case->cluster,
                                       .cluster = current_case->cluster,
                                       .threads = current_case->threads,
                                       .smem_bytes = current_case->smem_bytes,
                                       .stream = stream};
    if (gemm_tensor_map(&args.map_a, GEMM_FP16, case_a, CASE_EXTENT, CASE_EXTENT, CASE_EXTENT,
                        CASE_BOX, 64, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, GEMM_FP16, case_b, CASE_EXTENT, CASE_EXTENT, CASE_EXTENT,
                        CASE_BOX, 64, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_d, current_case->fp32 ? GEMM_FP32 : GEMM_FP16,
                        current_case->fp32 ? (void *)case_workspace : case_d, CASE_EXTENT,
                        CASE_EXTENT, CASE_EXTENT, CASE_BOX, current_case->fp32 ? 32 : 64,
                        SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    return gemm_launch_kernel(&launch, &args);
}

/* Runs once; returns what was written to stderr meanwhile, to be freed. */
static char *run_captured(const struct sim_case *c, enum run_status *status) {
    const struct contender contender = {.name = c->name, .enqueue = enqueue_case};
    const struct gemm_problem problem = {.m = CASE_EXTENT, .n = CASE_EXTENT, .k = CASE_EXTENT};
    current_case = c;
    const struct capture capture = capture_begin();
    *status = backend_run(&contender, &problem, NULL);
    return capture_end(capture);
}

static void prepare_memory(void) {
    srand(1);
    for (int i = 0; i < CASE_EXTENT * CASE_EXTENT; ++i) { /* fp16: -2 .. 2 */
        static const uint16_t numbers[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000};
        case_a[i] = numbers[rand() % 5];
        case_b[i] = numbers[rand() % 5];
        case_d[i] = 0;
        case_workspace[i] = 0;
    }
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

/* Runs a case under its schedules, `seeds` times under the random one. `check` looks at D and the
 * workspace; NULL: not. */
static inline void run_case(const struct sim_case *c, int seeds,
                            void (*check)(const struct sim_case *c)) {
    for (int schedule = SCHEDULE_TIME; schedule <= SCHEDULE_RANDOM; ++schedule) {
        if (c->schedules && !(c->schedules >> schedule & 1)) continue;
        for (int seed = 0; seed < (schedule == SCHEDULE_RANDOM ? seeds : 1); ++seed) {
            const struct backend_options options = {.type = GEMM_FP16};
            sim_configure(CASE_SMS, (enum sim_schedule)schedule, (uint64_t)seed);
            struct backend_info info;
            enum run_status status;
            const size_t elements = CASE_EXTENT * CASE_EXTENT;
            if (backend_open(&options, &info)) exit(1);
            case_a = backend_alloc(elements * 2, "A", false);
            case_b = backend_alloc(elements * 2, "B", false);
            case_d = backend_alloc(elements * 2, "D", true);
            case_workspace = backend_alloc(elements * sizeof(float), "workspace", true);
            prepare_memory();
            char *const text = run_captured(c, &status);
            if (!c->hazard) {
                EXPECT(status == RUN_OK, "%s (%d), %s %d: status %d\n%s", c->name, c->argument,
                       schedule_names[schedule], seed, status, text);
                if (status == RUN_OK && check) check(c);
            } else {
                EXPECT(status == RUN_HAZARD && reports(text, c->hazard),
                       "%s (%d), %s %d: status %d, expected %s\n%s", c->name, c->argument,
                       schedule_names[schedule], seed, status, c->hazard, text);
                EXPECT(!c->text || strstr(text, c->text),
                       "%s (%d), %s %d: the report lacks \"%s\"\n%s", c->name, c->argument,
                       schedule_names[schedule], seed, c->text, text);
                if (getenv("SHOW_REPORTS") && schedule == SCHEDULE_TIME)
                    printf("---- %s\n%s", c->name, text);
            }
            free(text);
            backend_close();
        }
    }
}

/* All cases, or those whose names are given. */
static inline void run_cases(const struct sim_case *cases, int count,
                             void (*check)(const struct sim_case *c), int argc, char **argv) {
    for (int i = 0; i < count; ++i) {
        bool wanted = argc < 2;
        for (int j = 1; j < argc; ++j)
            wanted |= !strcmp(argv[j], cases[i].name);
        if (wanted) run_case(&cases[i], 6, check);
    }
}

#endif
