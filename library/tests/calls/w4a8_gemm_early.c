/*
 * w4a8_gemm_early.c: w4a8_gemm's plans whose runs begin early, in chains in one stream: every run
 * reads the bytes of D that the run before it has written as its A. The last D is right under every
 * schedule, and nothing is reported. Weights that a run before has written are reported.
 *
 * library.c is compiled here once more with a selection of the test's, of the kernels that have an
 * early form.
 */
#include "w4a8_select.h"

#define w4a8_selected_kernel chosen_kernel
static const struct gemm_kernel *chosen_kernel(const struct gemm_problem *problem);
#include "w4a8_gemm/library.c"
#undef w4a8_selected_kernel

#include "backend.h"
#include "sim/core/hazards.h"
#include "sim/core/simulation.h"
#include "tests/calls/w4a8_chain.h"
#include "tests/support/capture.h"
#include "tests/support/expect.h"

#define KERNELS(f)                                                                                 \
    f(teams16) f(teams32) f(quads16) f(quads32) f(pairs48) f(pairs64) f(halves48) f(halves64)      \
        f(slabs64)
#define DECLARE(name) extern const struct gemm_kernel kernel_w4a8_gemm_##name##_w4a8;
#define ENTRY(name) &kernel_w4a8_gemm_##name##_w4a8,
KERNELS(DECLARE)
static const struct gemm_kernel *const kernels[] = {KERNELS(ENTRY)};
static const struct gemm_kernel *chosen;

static const struct gemm_kernel *chosen_kernel(const struct gemm_problem *problem) {
    (void)problem;
    return chosen;
}

/* One k-tile; two; three, in several tiles of rows and channels. On SMS SMs. */
static const struct shape { int m, n; } shapes[] = {{3, 64}, {1, 72}, {70, 136}};
/* Eight k-tiles, shared by a cluster of two CTAs. On MANY_SMS SMs. */
static const struct shape in_clusters = {2, 512};
enum { LINKS = 4, SMS = 4, MANY_SMS = 16, SEEDS = 2 };

struct chain {
    struct w4a8_gemm_plan *plan;
    bool written; /* the blocks are what the run before has written, whatever that is */
    uint16_t *matrix[LINKS + 1];
    uint8_t *blocks;
    float *scale_a;
};

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                void *stream) {
    const struct chain *c = self->state;
    (void)problem;
    for (int i = 0; i < LINKS; ++i) {
        const void *const before = c->matrix[i];
        if (w4a8_gemm_plan_run(c->plan, stream, before, c->scale_a, c->written ? before : c->blocks,
                               c->matrix[i + 1]) != W4A8_GEMM_OK)
            return GEMM_LAUNCH_FAILED;
    }
    return GEMM_OK;
}

static struct w4a8_gemm_plan *new_plan(const struct shape *shape, int early) {
    struct w4a8_gemm_plan *plan;
    if (w4a8_gemm_plan_create(&plan, shape->m, shape->n, 2 * shape->n, 2 * shape->n, shape->n) ||
        w4a8_gemm_plan_set_early(plan, early))
        exit(3);
    EXPECT((plan->plan.launches[0].launch.early != GEMM_IN_ORDER) == early,
           "%s, early %d: is launched otherwise", chosen->variant, early);
    return plan;
}

static void open_simulator(int sms, enum sim_schedule schedule, int seed) {
    const struct backend_options options = {.type = GEMM_W4A8};
    struct backend_info info;
    sim_configure(sms, schedule, (uint64_t)seed);
    if (backend_open(&options, &info)) exit(3);
}

static void make_matrices(struct chain *c, const struct shape *shape) {
    const size_t weights = w4a8_gemm_weight_bytes(shape->n, 2 * shape->n);
    const size_t d = (size_t)(shape->m * shape->n) * 2, bytes = d > weights ? d : weights;
    for (int i = 0; i <= LINKS; ++i) {
        c->matrix[i] = backend_alloc(bytes, i ? "D" : "A", i > 0);
        backend_fill(c->matrix[i], 0, bytes / 2);
    }
    c->blocks = backend_alloc(weights, "weights", false);
    c->scale_a = backend_alloc((size_t)shape->m * sizeof(float), "scales of A", false);
    chain_fill((uint8_t *)c->matrix[0], d, c->scale_a, shape->m);
    if (!chain_weights(shape->n, 2 * shape->n, c->blocks)) exit(3);
}

/* The last D is what comes of the first A. */
static bool is_right(const struct chain *c, const struct shape *shape) {
    const size_t bytes = (size_t)(shape->m * shape->n) * 2;
    uint16_t *const right = malloc(bytes);
    if (!right) exit(3);
    chain_compute(right, (const uint8_t *)c->matrix[0], c->scale_a, shape->m, shape->n,
                  2 * shape->n, LINKS);
    const bool same = memcmp(right, c->matrix[LINKS], bytes) == 0;
    free(right);
    return same;
}

/* `hazard`: of the run, NULL: none. */
static void expect_chain(const struct shape *shape, int early, bool written,
                         enum sim_schedule schedule, int seed, const char *hazard) {
    struct chain c = {.written = written};
    open_simulator(shape == &in_clusters ? MANY_SMS : SMS, schedule, seed);
    c.plan = new_plan(shape, early);
    make_matrices(&c, shape);
    const struct contender contender = {.name = "chain", .enqueue = enqueue, .state = &c};
    const struct gemm_problem problem = {.m = shape->m, .n = shape->n, .k = 2 * shape->n};
    const struct capture capture = capture_begin();
    const enum run_status status = backend_run(&contender, &problem, NULL);
    char *const said = capture_end(capture);
    const char *got = NULL, *file;
    int line;
    hazards_get(0, &got, &file, &line);
    const bool wrong = !written && !is_right(&c, shape);
    if (hazard)
        EXPECT(status == RUN_HAZARD && got && !strcmp(got, hazard), "%s, m = %d, %s: %s",
               chosen->variant, shape->m, schedule_names[schedule], said);
    else
        EXPECT(status == RUN_OK && !wrong, "%s, m = %d, early %d, %s: %s\n%s", chosen->variant,
               shape->m, early, schedule_names[schedule], wrong ? "a wrong D" : "no wrong D", said);
    free(said);
    w4a8_gemm_plan_destroy(c.plan);
    backend_close();
}

static void check_chains(const struct shape *shape) {
    expect_chain(shape, W4A8_GEMM_IN_ORDER, false, SCHEDULE_TIME, 1, NULL);
    for (int schedule = SCHEDULE_TIME; schedule <= SCHEDULE_RANDOM; ++schedule)
        for (int seed = 0; seed < (schedule == SCHEDULE_RANDOM ? SEEDS : 1); ++seed)
            expect_chain(shape, W4A8_GEMM_EARLY, false, (enum sim_schedule)schedule, seed, NULL);
}

/* What is no setting is refused; and a kernel that is not for early launches runs in order. */
static void expect_settings(void) {
    extern const struct gemm_kernel kernel_w4a8_gemm_wide_w4a8;
    open_simulator(SMS, SCHEDULE_TIME, 1);
    struct w4a8_gemm_plan *plan = new_plan(&shapes[0], W4A8_GEMM_EARLY);
    const struct capture capture = capture_begin();
    EXPECT(w4a8_gemm_plan_set_early(NULL, 1) == W4A8_GEMM_BAD_ARGUMENT, "%s", "no plan");
    EXPECT(w4a8_gemm_plan_set_early(plan, 2) == W4A8_GEMM_BAD_ARGUMENT, "%s", "2");
    EXPECT(w4a8_gemm_plan_set_early(plan, -1) == W4A8_GEMM_BAD_ARGUMENT, "%s", "-1");
    free(capture_end(capture));
    EXPECT(w4a8_gemm_plan_set_early(plan, W4A8_GEMM_IN_ORDER) == W4A8_GEMM_OK &&
               plan->plan.launches[0].launch.early == GEMM_IN_ORDER,
           "%s", "in order again");
    w4a8_gemm_plan_destroy(plan);
    chosen = &kernel_w4a8_gemm_wide_w4a8;
    EXPECT(w4a8_gemm_plan_create(&plan, 8, 8, 16, 16, 8) == W4A8_GEMM_OK &&
               w4a8_gemm_plan_set_early(plan, W4A8_GEMM_EARLY) == W4A8_GEMM_OK &&
               plan->plan.launches[0].launch.early == GEMM_IN_ORDER,
           "%s", "wide is launched early");
    w4a8_gemm_plan_destroy(plan);
    backend_close();
}

int main(void) {
    srand(1);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i) {
        chosen = kernels[i];
        for (size_t j = 0; j < sizeof shapes / sizeof *shapes; ++j)
            check_chains(&shapes[j]);
        expect_chain(&in_clusters, W4A8_GEMM_EARLY, false, SCHEDULE_RANDOM, 1, NULL);
        for (int schedule = SCHEDULE_TIME; schedule <= SCHEDULE_RANDOM; ++schedule)
            expect_chain(&shapes[1], W4A8_GEMM_EARLY, true, (enum sim_schedule)schedule, 1,
                         "early-access");
    }
    expect_settings();
    return expect_result();
}
