/*
 * hopper_gemm_workspace.c: one workspace for calls and plans of several shapes whose k is cut, in
 * one stream, whatever it holds at first. All that is enqueued runs twice, as a graph repeats it.
 * The results are right under every schedule, and nothing is reported.
 */
#include "tests/calls/chosen_kernel.h"

#include "backend.h"
#include "sim/core/simulation.h"
#include "tests/calls/whole_numbers.h"
#include "tests/support/expect.h"

extern const struct gemm_kernel kernel_hopper_gemm_fitted1_bf16, kernel_hopper_gemm_fitted2_bf16;

enum { SHARERS = 3, SMS = 8 };
static const int shapes[SHARERS][3] = {{1, 8, 4100}, {20, 24, 1500}, {40, 24, 2100}};

/* A problem with matrices of its own. */
struct sharer {
    int m, n, k;
    uint16_t *a, *b, *d;
    int *a_values, *b_values;
    struct hopper_gemm_plan *plan;
};

struct sharers {
    struct sharer sharer[SHARERS];
    void *workspace;
};

static int multiply(const struct sharers *all, int i, bool planned, void *stream) {
    const struct sharer *s = &all->sharer[i];
    const int64_t lda = padded(s->k), ldd = padded(s->n);
    return planned ? hopper_gemm_plan_run(s->plan, stream, s->a, s->b, s->d, all->workspace)
                   : hopper_gemm(stream, HOPPER_GEMM_BF16, s->m, s->n, s->k, s->a, lda, s->b, lda,
                                 s->d, ldd, all->workspace);
}

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                void *stream) {
    (void)problem;
    for (int i = 0; i < 2 * SHARERS; ++i)
        if (multiply(self->state, i % SHARERS, i / SHARERS, stream) != HOPPER_GEMM_OK)
            return GEMM_LAUNCH_FAILED;
    return GEMM_OK;
}

static struct sharer new_sharer(int m, int n, int k) {
    const int64_t lda = padded(k), ldd = padded(n);
    struct sharer s = {.m = m, .n = n, .k = k};
    s.a = backend_alloc((size_t)(m * lda) * 2, "A", false);
    s.b = backend_alloc((size_t)(n * lda) * 2, "B", false);
    s.d = backend_alloc((size_t)(m * ldd) * 2, "D", true);
    s.a_values = fill(s.a, GEMM_BF16, m, k, lda);
    s.b_values = fill(s.b, GEMM_BF16, n, k, lda);
    if (hopper_gemm_plan_create(&s.plan, HOPPER_GEMM_BF16, m, n, k, lda, lda, ldd, SIZE_MAX))
        exit(3);
    return s;
}

static void close_sharer(struct sharer *s) {
    free(s->a_values);
    free(s->b_values);
    hopper_gemm_plan_destroy(s->plan);
}

/* What a workspace may hold at first: zeros, ones, or any bits. */
enum garbage { ZEROS, ONES, ANY };

static void expect_right(enum sim_schedule schedule, enum garbage garbage) {
    const struct backend_options options = {.type = GEMM_BF16};
    struct backend_info info;
    struct sharers all;
    size_t bytes = 0;
    sim_configure(SMS, schedule, 1);
    if (backend_open(&options, &info)) exit(3);
    for (int i = 0; i < SHARERS; ++i) {
        all.sharer[i] = new_sharer(shapes[i][0], shapes[i][1], shapes[i][2]);
        const size_t wanted = hopper_gemm_plan_workspace(all.sharer[i].plan);
        EXPECT(wanted > 0, "%s, shape %d: k is not cut", chosen->variant, i);
        if (bytes < wanted) bytes = wanted;
    }
    uint16_t *const words = backend_alloc(bytes, "workspace", true);
    for (size_t i = 0; i < bytes / 2; ++i)
        words[i] = (uint16_t)(garbage == ZEROS ? 0 : garbage == ONES ? 0xffff : rand());
    all.workspace = words;
    const struct contender contender = {.name = "sharers", .enqueue = enqueue, .state = &all};
    const struct gemm_problem problem = {.m = 1, .n = 1, .k = 1};
    for (int replay = 0; replay < 2; ++replay) {
        for (int i = 0; i < SHARERS; ++i)
            backend_fill(all.sharer[i].d, NAN_16,
                         (size_t)(all.sharer[i].m * padded(all.sharer[i].n)));
        const enum run_status status = backend_run(&contender, &problem, NULL);
        for (int i = 0; i < SHARERS; ++i) {
            const struct sharer *s = &all.sharer[i];
            const int wrong = product_errors(s->d, GEMM_BF16, s->m, s->n, s->k, padded(s->n),
                                             s->a_values, s->b_values);
            EXPECT(status == RUN_OK && wrong == 0,
                   "%s, %s, garbage %d, replay %d, %d: %d, %d wrong", chosen->variant,
                   schedule_names[schedule], garbage, replay, i, status, wrong);
        }
    }
    for (int i = 0; i < SHARERS; ++i)
        close_sharer(&all.sharer[i]);
    backend_close();
}

int main(void) {
    srand(1);
    for (int schedule = SCHEDULE_TIME; schedule <= SCHEDULE_RANDOM; ++schedule) {
        chosen = &kernel_hopper_gemm_fitted1_bf16;
        for (int garbage = ZEROS; garbage <= ANY; ++garbage)
            expect_right((enum sim_schedule)schedule, (enum garbage)garbage);
        chosen = &kernel_hopper_gemm_fitted2_bf16;
        expect_right((enum sim_schedule)schedule, ANY);
    }
    return expect_result();
}
