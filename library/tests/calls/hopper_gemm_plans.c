/*
 * hopper_gemm_plans.c: plans of every configuration, whether the selection uses it or
 * not. A run launches, byte for byte, what the configuration's launch function launches for the
 * same pointers. What it computes is right, run after run, on other matrices and in between the
 * runs of another plan, with one workspace for all of them.
 *
 * library.c is compiled here once more with a selection of the test's.
 */
#define ranked_kernels chosen_kernels
#include "hopper_gemm/library.c"
#undef ranked_kernels

#include "backend.h"
#include "harness/registry.h"
#include "sim/core/simulation.h"
#include "tests/calls/whole_numbers.h"
#include "tests/support/expect.h"

static const struct gemm_kernel *chosen;

int chosen_kernels(enum gemm_type type, const struct gemm_problem *problem, size_t limit,
                   const struct gemm_kernel **kernels, int most) {
    (void)type, (void)most;
    kernels[0] = chosen;
    return library_fits(chosen, problem, limit);
}

static const struct shape {
    int m, n, k;
} shapes[] = {{8, 24, 32}, {130, 136, 100}, {66, 72, 1100}};
enum { SHAPES = sizeof shapes / sizeof *shapes, SMS = 8, SETS = 2 };

/* ---- what is launched ---- */

static bool same(const struct gemm_plan *got, const struct gemm_plan *wanted) {
    if (got->count != wanted->count) return false;
    for (int i = 0; i < got->count; ++i) {
        const struct gemm_launch *g = &got->launches[i].launch, *w = &wanted->launches[i].launch;
        if (g->kernel != w->kernel || strcmp(g->name, w->name) || g->grid != w->grid ||
            g->cluster != w->cluster || g->threads != w->threads ||
            g->smem_bytes != w->smem_bytes || g->stream != w->stream || g->early != w->early ||
            got->launches[i].args_bytes != wanted->launches[i].args_bytes ||
            memcmp(&got->launches[i].parameter, &wanted->launches[i].parameter,
                   got->launches[i].args_bytes))
            return false;
    }
    return got->count > 0;
}

/* Any addresses: nothing runs. `offset` in bytes. */
static void expect_same_launches(const struct hopper_gemm_plan *plan, size_t offset) {
    static char memory[3][4096] __attribute__((aligned(256)));
    static int stream;
    static struct gemm_plan got, wanted;
    struct gemm_problem problem = plan->problem;
    problem.a = (const element_t *)(memory[0] + offset);
    problem.b = (const element_t *)(memory[1] + 1024 + offset);
    problem.d = (element_t *)(memory[2] + 2048 + offset);
    problem.workspace = plan->workspace_bytes ? memory[2] : NULL;
    gemm_plan_begin(&wanted);
    const enum gemm_status launched = chosen->launch(&problem, &stream);
    gemm_plan_begin(&got);
    const int ran =
        hopper_gemm_plan_run(plan, &stream, problem.a, problem.b, problem.d, problem.workspace);
    gemm_plan_end();
    EXPECT(launched == GEMM_OK && ran == HOPPER_GEMM_OK && same(&got, &wanted),
           "%s, %zu bytes off: a run launches something else (%d, %d)", chosen->variant, offset,
           launched, ran);
}

/* ---- what is computed ---- */

/* Two sets of matrices; the second is 16 bytes off the lines of the L2. */
struct matrices {
    const struct shape *shape;
    enum gemm_type type;
    int64_t lda, ldd;
    uint16_t *a[SETS], *b[SETS], *d[SETS];
    int *a_values[SETS], *b_values[SETS];
    void *workspace;
};

static void open_matrices(struct matrices *x, const struct shape *shape, enum gemm_type type,
                          size_t workspace_bytes) {
    x->shape = shape;
    x->type = type;
    x->lda = padded(shape->k);
    x->ldd = padded(shape->n);
    for (int set = 0; set < SETS; ++set) {
        const size_t off = set ? 8 : 0; /* elements */
        x->a[set] = backend_alloc(((size_t)(shape->m * x->lda) + off) * 2, "A", false);
        x->b[set] = backend_alloc(((size_t)(shape->n * x->lda) + off) * 2, "B", false);
        x->d[set] = backend_alloc(((size_t)(shape->m * x->ldd) + off) * 2, "D", true);
        x->a[set] += off, x->b[set] += off, x->d[set] += off;
        x->a_values[set] = fill(x->a[set], type, shape->m, shape->k, x->lda);
        x->b_values[set] = fill(x->b[set], type, shape->n, shape->k, x->lda);
    }
    x->workspace = workspace_bytes ? backend_alloc(workspace_bytes, "workspace", true) : NULL;
    if (x->workspace) backend_fill(x->workspace, NAN_16, workspace_bytes / 2);
}

static void close_matrices(struct matrices *x) {
    for (int set = 0; set < SETS; ++set)
        free(x->a_values[set]), free(x->b_values[set]);
}

static int count_wrong(const struct matrices *x, int set) {
    return product_errors(x->d[set], x->type, x->shape->m, x->shape->n, x->shape->k, x->ldd,
                          x->a_values[set], x->b_values[set]);
}

/* One call; without a plan, hopper_gemm(). */
struct call {
    const struct hopper_gemm_plan *plan;
    const struct matrices *x;
    int set;
};

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                void *stream) {
    const struct call *c = self->state;
    const struct matrices *x = c->x;
    const struct shape *s = x->shape;
    (void)problem;
    const int status =
        c->plan ? hopper_gemm_plan_run(c->plan, stream, x->a[c->set], x->b[c->set], x->d[c->set],
                                       x->workspace)
                : hopper_gemm(stream, x->type == GEMM_FP16 ? HOPPER_GEMM_FP16 : HOPPER_GEMM_BF16,
                              s->m, s->n, s->k, x->a[c->set], x->lda, x->b[c->set], x->lda,
                              x->d[c->set], x->ldd, x->workspace);
    return status == HOPPER_GEMM_OK ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

static void expect_right(const struct hopper_gemm_plan *plan, const struct matrices *x, int set,
                         const char *what) {
    const struct shape *s = x->shape;
    struct call call = {plan, x, set};
    const struct contender contender = {.name = what, .enqueue = enqueue, .state = &call};
    const struct gemm_problem problem = {.m = s->m, .n = s->n, .k = s->k};
    backend_fill(x->d[set], NAN_16, (size_t)(s->m * x->ldd));
    const enum run_status status = backend_run(&contender, &problem, NULL);
    const int wrong = count_wrong(x, set);
    EXPECT(status == RUN_OK && wrong == 0, "%s, %s, %d x %d x %d, set %d: status %d, %d wrong",
           chosen->variant, what, s->m, s->n, s->k, set, status, wrong);
}

/* ---- a configuration ---- */

static struct hopper_gemm_plan *plan_of(const struct shape *s, enum gemm_type type, size_t limit,
                                        int wanted) {
    struct hopper_gemm_plan *plan = NULL;
    const int status =
        hopper_gemm_plan_create(&plan, type == GEMM_FP16 ? HOPPER_GEMM_FP16 : HOPPER_GEMM_BF16,
                                s->m, s->n, s->k, padded(s->k), padded(s->k), padded(s->n), limit);
    EXPECT(status == wanted && (plan != NULL) == (wanted == HOPPER_GEMM_OK),
           "%s, %d x %d x %d: status %d", chosen->variant, s->m, s->n, s->k, status);
    return plan;
}

static void check_configuration(enum gemm_type type, const struct shape *shape) {
    const struct backend_options options = {.type = type};
    struct backend_info info;
    sim_configure(SMS, SCHEDULE_TIME, 1);
    if (backend_open(&options, &info)) exit(3);
    /* It clears its workspace, which is no kernel launch. The selection does not use it. */
    if (strcmp(chosen->variant, "split_reduce") == 0) {
        plan_of(shape, type, SIZE_MAX, HOPPER_GEMM_FAILED);
        backend_close();
        return;
    }
    struct hopper_gemm_plan *plan = plan_of(shape, type, SIZE_MAX, HOPPER_GEMM_OK);
    struct hopper_gemm_plan *other = plan_of(shape, type, SIZE_MAX, HOPPER_GEMM_OK);
    if (!plan || !other) exit(expect_result());
    const size_t bytes = hopper_gemm_plan_workspace(plan);
    if (bytes) plan_of(shape, type, bytes - 1, HOPPER_GEMM_FAILED);
    hopper_gemm_plan_destroy(plan_of(shape, type, bytes, HOPPER_GEMM_OK));
    EXPECT(bytes == library_workspace(chosen, &plan->problem), "%s: %zu bytes with a plan",
           chosen->variant, bytes);

    for (size_t offset = 0; offset < 256; offset += 16)
        expect_same_launches(plan, offset);

    struct matrices x;
    open_matrices(&x, shape, type, bytes);
    expect_right(plan, &x, 0, "first run");
    expect_right(plan, &x, 1, "other matrices");
    expect_right(other, &x, 0, "another plan");
    expect_right(plan, &x, 0, "the first matrices again");
    expect_right(NULL, &x, 0, "without a plan");
    expect_right(NULL, &x, 1, "without a plan, other matrices");
    close_matrices(&x);
    hopper_gemm_plan_destroy(plan);
    hopper_gemm_plan_destroy(other);
    hopper_gemm_plan_destroy(NULL);
    backend_close();
}

int main(void) {
    int configurations = 0;
    srand(1);
    for (int i = 0; i < kernel_registry_count; ++i)
        for (enum gemm_type type = GEMM_FP16; type <= GEMM_BF16; ++type) {
            chosen = kernel_of_type(&kernel_registry[i], type);
            if (!chosen || strcmp(chosen->name, "hopper_gemm") || !chosen->variant) continue;
            ++configurations;
            /* Both types in full would take half a minute. */
            for (int shape = 0; shape < (type == GEMM_BF16 ? SHAPES : 1); ++shape)
                check_configuration(type, &shapes[shape]);
        }
    EXPECT(configurations >= 22, "only %d configurations", configurations);
    return expect_result();
}
