/*
 * sim_kernels.h: runs tiny kernels on the simulator and looks at what it reports.
 */
#ifndef TESTS_SIM_SIM_KERNELS_H
#define TESTS_SIM_SIM_KERNELS_H

#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/simulation.h"
#include "tests/support/expect.h"

/* The line whose hazard is expected: MARK stands on it, in front of the statement. */
static int marked_line;
#define MARK marked_line = __LINE__;

enum { TEST_BYTES = 1 << 16 };

/* Global memory of the kernels: an input and an output of TEST_BYTES bytes each. */
static element_t *test_in, *test_out;
static uint32_t *test_counter;

struct test_launch {
    void (*kernel)(const struct gemm_args);
    int grid, cluster, threads;
    size_t smem_bytes;
};
static const struct test_launch *current_launch;
static struct gemm_args test_args; /* may hold tensor maps; made once */
static enum gemm_machine test_machine;

static enum gemm_status test_enqueue(const struct contender *self,
                                     const struct gemm_problem *problem, void *stream) {
    (void)self, (void)problem;
    const struct gemm_launch launch = {.kernel = (const void *)(uintptr_t)current_launch->kernel,
                                       .name = "test",
                                       .grid = current_launch->grid,
                                       .cluster = current_launch->cluster,
                                       .threads = current_launch->threads,
                                       .smem_bytes = current_launch->smem_bytes,
                                       .stream = stream};
    struct gemm_args args = test_args;
    args.a = test_in;
    args.d = test_out;
    args.tile_counter = test_counter;
    return gemm_launch_kernel(&launch, &args);
}

static void test_open(enum sim_schedule schedule, uint64_t seed, int sms) {
    struct backend_info info;
    const struct backend_options options = {.type = GEMM_FP16, .machine = test_machine};
    sim_configure(sms, schedule, seed);
    if (backend_open(&options, &info) != EXIT_VERIFIED) exit(1);
    if (test_in) return;
    test_in = backend_alloc(TEST_BYTES, "A", false);
    test_out = backend_alloc(TEST_BYTES, "D", true);
    test_counter = backend_alloc(256, "tile counter", true);
    for (int i = 0; i < TEST_BYTES / 2; ++i)
        test_in[i].bits = (uint16_t)i;
}

static enum run_status test_run(const struct test_launch *launch, double *cycles) {
    static const struct contender contender = {.name = "test", .enqueue = test_enqueue};
    static const struct gemm_problem problem;
    current_launch = launch;
    marked_line = 0;
    memset(test_counter, 0, 256);
    return backend_run(&contender, &problem, cycles);
}

/* Runs under every schedule, `random` with several seeds. `kind` NULL: nothing may be reported;
 * else the first hazard is of that kind, in the marked line. */
static inline void expect_run_(const char *name, const struct test_launch *launch,
                               const char *kind) {
    for (int i = 0; i < 3 + 6; ++i) {
        const enum sim_schedule schedule = i < 3 ? (enum sim_schedule)i : SCHEDULE_RANDOM;
        test_open(schedule, (uint64_t)i, 4);
        const enum run_status status = test_run(launch, NULL);
        const char *got = "nothing", *file;
        int line = 0;
        hazards_get(0, &got, &file, &line);
        if (!kind) {
            EXPECT(status == RUN_OK, "%s, %s: got %s at line %d", name, schedule_names[schedule],
                   got, line);
            continue;
        }
        EXPECT(status == RUN_HAZARD && !strcmp(got, kind), "%s, %s: expected %s, got %s at line %d",
               name, schedule_names[schedule], kind, got, line);
        EXPECT(line == marked_line, "%s, %s: expected line %d, got %d", name,
               schedule_names[schedule], marked_line, line);
    }
}

/* One CTA of `threads` threads and 4 KiB of shared memory. */
#define EXPECT_CLEAN(kernel, threads)                                                              \
    expect_run_(#kernel, &(struct test_launch){kernel, 1, 1, threads, 4096}, NULL)
#define EXPECT_HAZARD(kernel, threads, kind)                                                       \
    expect_run_(#kernel, &(struct test_launch){kernel, 1, 1, threads, 4096}, kind)

/* The same kind under every schedule, at whichever of two lines comes second. */
static inline void expect_kind_(const char *name, const struct test_launch *launch,
                                const char *kind) {
    for (int i = 0; i < 3 + 6; ++i) {
        const enum sim_schedule schedule = i < 3 ? (enum sim_schedule)i : SCHEDULE_RANDOM;
        test_open(schedule, (uint64_t)i, 4);
        const enum run_status status = test_run(launch, NULL);
        const char *got = "nothing", *file;
        int line = 0;
        hazards_get(0, &got, &file, &line);
        EXPECT(status == RUN_HAZARD && !strcmp(got, kind), "%s, %s: expected %s, got %s at line %d",
               name, schedule_names[schedule], kind, got, line);
    }
}
#define EXPECT_KIND(kernel, threads, kind)                                                         \
    expect_kind_(#kernel, &(struct test_launch){kernel, 1, 1, threads, 4096}, kind)

/* A race in which either access may come first: found under every schedule, though the kind and the
 * line may differ. */
static inline void expect_race_(const char *name, const struct test_launch *launch) {
    for (int i = 0; i < 3 + 6; ++i) {
        const enum sim_schedule schedule = i < 3 ? (enum sim_schedule)i : SCHEDULE_RANDOM;
        test_open(schedule, (uint64_t)i, 4);
        const enum run_status status = test_run(launch, NULL);
        EXPECT(status == RUN_HAZARD, "%s, %s: the race was not found", name,
               schedule_names[schedule]);
    }
}
#define EXPECT_RACE(kernel, threads)                                                               \
    expect_race_(#kernel, &(struct test_launch){kernel, 1, 1, threads, 4096})

#endif
