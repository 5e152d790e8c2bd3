/*
 * sim_parameter.c: a kernel's parameter, which may be a struct of the kernel's own type: every CTA
 * gets all of its bytes, and the TMA may read tensor maps from it, but not from a copy. One that is
 * too long is refused, by a launch and by a plan.
 */
#include "tests/sim/sim_kernels.h"

#include "services/plan.h"
#include "hopper/mbarrier.h"
#include "hopper/tma.h"
#include "sim/core/grid.h"
#include "tests/support/capture.h"

enum { ROWS = 8, COLUMNS = 64, WORDS = 300 };

struct smem {
    element_t box[ROWS * COLUMNS] __attribute__((aligned(1024)));
    mbarrier_t full;
};

struct own_args {
    struct gemm_args gemm;
    uint32_t word[WORDS];
    struct tensor_map map_last;
};
_Static_assert(sizeof(struct own_args) > GEMM_PLAN_ARGS_BYTES &&
                   sizeof(struct own_args) <= SIM_MOST_ARGS_BYTES,
               "too long for a plan alone");

static int wrong; /* words of all CTAs, or of a box, that are not what they should be */

static void load(struct smem *shared, const struct tensor_map *map) {
    mbarrier_init(&shared->full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&shared->full, sizeof shared->box);
    tma_load(shared->box, map, 0, 0, &shared->full);
    mbarrier_wait(&shared->full, 0);
    wrong += ld_shared_b32(&shared->box[2]) != 0x00030002u;
}

KERNEL(1, 1) reads_all(KERNEL_ARGS_OF(struct own_args) args) {
    SHARED_MEMORY(struct smem);
    for (uint32_t i = 0; i < WORDS; ++i)
        wrong += args.word[i] != 7 * i;
    load(shared, &args.map_last);
}

KERNEL(1, 1) copies_the_map(KERNEL_ARGS_OF(struct own_args) args) {
    SHARED_MEMORY(struct smem);
    const struct tensor_map copy = args.map_last;
    load(shared, &copy);
}

struct long_args {
    struct gemm_args gemm;
    char more[SIM_MOST_ARGS_BYTES];
};

KERNEL(1, 1) never_runs(KERNEL_ARGS_OF(struct long_args) args) {
    (void)args;
    ++wrong;
}

static const void *kernel; /* the one to be launched */

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                void *stream) {
    (void)self, (void)problem;
    static struct own_args own;
    static struct long_args too_long;
    const struct gemm_launch launch = {.kernel = kernel,
                                       .name = "test",
                                       .grid = 5,
                                       .cluster = 1,
                                       .threads = 1,
                                       .smem_bytes = 4096,
                                       .stream = stream};
    if (kernel == (const void *)never_runs) return gemm_launch_kernel(&launch, &too_long);
    for (uint32_t i = 0; i < WORDS; ++i)
        own.word[i] = 7 * i;
    EXPECT(gemm_tensor_map(&own.map_last, GEMM_FP16, test_in, ROWS, COLUMNS, COLUMNS, ROWS, COLUMNS,
                           SWIZZLE_NONE) == GEMM_OK,
           "%s", "a map");
    return gemm_launch_kernel(&launch, &own);
}

static enum run_status run(const void *of) {
    static const struct contender contender = {.name = "test", .enqueue = enqueue};
    static const struct gemm_problem problem;
    test_open(SCHEDULE_EARLY, 0, 2);
    kernel = of;
    wrong = 0;
    return backend_run(&contender, &problem, NULL);
}

int main(void) {
    const char *kind = "nothing", *file;
    int line;
    EXPECT(run((const void *)reads_all) == RUN_OK && wrong == 0, "%d words are wrong", wrong);
    EXPECT(run((const void *)copies_the_map) == RUN_HAZARD && hazards_get(0, &kind, &file, &line) &&
               !strcmp(kind, "tensor-map-copy"),
           "a copied map: %s", kind);
    const struct capture capture = capture_begin();
    const enum run_status status = run((const void *)never_runs);
    char *const said = capture_end(capture);
    EXPECT(status == RUN_FAILED && wrong == 0 && strstr(said, "a parameter of "), "too long: %s",
           said);
    free(said);
    static struct gemm_plan plan;
    gemm_plan_begin(&plan);
    kernel = (const void *)reads_all;
    EXPECT(enqueue(NULL, NULL, NULL) == GEMM_UNSUPPORTED && plan.count == 0,
           "%zu bytes, and a plan has room for %d", sizeof(struct own_args), GEMM_PLAN_ARGS_BYTES);
    gemm_plan_end();
    backend_close();
    return expect_result();
}
