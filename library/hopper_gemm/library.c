/*
 * library.c: plans, and the call without one.
 *
 * What depends on shape, type and leading dimensions is done when a plan is made: the selection,
 * the grid, the launch's attributes, the tensor maps except for their addresses. A run copies the
 * plan's launches, sets the pointers and launches. It never writes to the plan, so several threads
 * may use one.
 */
#include "hopper_gemm.h"

#include <stdio.h>
#include <stdlib.h>

#include "plan.h"
#include "select.h"

struct hopper_gemm_plan {
    struct gemm_plan plan;
    struct gemm_problem problem; /* extents and leading dimensions */
    const struct gemm_kernel *kernel;
    const struct gemm_kernel *selected; /* that one, or the one of which it is an early form */
    size_t workspace_bytes;
};

/* ---- arguments ---- */

/* Reports on stderr which argument is wrong; false. */
static bool bad(const char *argument, long long value, const char *rule) {
    fprintf(stderr, "hopper_gemm: %s = %lld: %s\n", argument, value, rule);
    return false;
}

static bool check_pointer(const char *name, const void *pointer) {
    return (pointer && (uintptr_t)pointer % 16 == 0) ||
           bad(name, (long long)(uintptr_t)pointer, "must be a multiple of 16 and not NULL");
}

static bool check_ld(const char *name, int64_t ld, int columns) {
    return (ld >= columns && ld % 8 == 0 && ld < INT64_C(1) << 39) ||
           bad(name, ld, "must be a multiple of 8, at least a row's length, and below 2^39");
}

static bool check_type(int type) {
    return type == HOPPER_GEMM_FP16 || type == HOPPER_GEMM_BF16 ||
           bad("type", type, "must be HOPPER_GEMM_FP16 or HOPPER_GEMM_BF16");
}

static bool check_extents(int m, int n, int k) {
    enum { LARGEST = 2000000000 }; /* leaves room for rounding up to a tile */
    static const char *const names[] = {"m", "n", "k"};
    const int extents[] = {m, n, k};
    for (int i = 0; i < 3; ++i)
        if (extents[i] < 1 || extents[i] > LARGEST)
            return bad(names[i], extents[i], "must be from 1 to 2000000000");
    return true;
}

static bool check_shape(int type, const struct gemm_problem *p) {
    return check_type(type) && check_extents(p->m, p->n, p->k) && check_ld("lda", p->lda, p->k) &&
           check_ld("ldb", p->ldb, p->k) && check_ld("ldd", p->ldd, p->n);
}

static bool check_pointers(const void *a, const void *b, const void *d, const void *workspace) {
    return check_pointer("a", a) && check_pointer("b", b) && check_pointer("d", d) &&
           ((uintptr_t)workspace % 256 == 0 ||
            bad("workspace", (long long)(uintptr_t)workspace, "must be a multiple of 256"));
}

/* A problem without memory: all that the selection depends on, and so the workspace. */
static struct gemm_problem problem_of(int m, int n, int k, int64_t lda, int64_t ldb, int64_t ldd) {
    return (struct gemm_problem){.m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldd = ldd};
}

static enum gemm_type element(int type) { return type == HOPPER_GEMM_FP16 ? GEMM_FP16 : GEMM_BF16; }

/* ---- without a plan ---- */

size_t hopper_gemm_workspace(int type, int m, int n, int k, int64_t lda, int64_t ldb, int64_t ldd) {
    const struct gemm_problem problem = problem_of(m, n, k, lda, ldb, ldd);
    if (!check_shape(type, &problem)) return 0;
    const struct gemm_kernel *kernel = selected_kernel(element(type), &problem, SIZE_MAX);
    return kernel ? library_workspace(kernel, &problem) : 0;
}

int hopper_gemm(void *stream, int type, int m, int n, int k, const void *a, int64_t lda,
                const void *b, int64_t ldb, void *d, int64_t ldd, void *workspace) {
    struct gemm_problem problem = problem_of(m, n, k, lda, ldb, ldd);
    problem.a = a;
    problem.b = b;
    problem.d = d;
    problem.workspace = workspace;
    if (!check_shape(type, &problem) || !check_pointers(a, b, d, workspace))
        return HOPPER_GEMM_BAD_ARGUMENT;
    const struct gemm_kernel *kernel =
        selected_kernel(element(type), &problem, workspace ? SIZE_MAX : 0);
    if (!kernel) return HOPPER_GEMM_FAILED;
    return kernel->launch(&problem, stream) == GEMM_OK ? HOPPER_GEMM_OK : HOPPER_GEMM_FAILED;
}

/* ---- plans ---- */

/* Stores the launches of the selected kernel, or of its form for early launches, in the plan. They
 * begin as early as the kernel allows, but not before `early`. False after a message: the plan is
 * as before. */
static bool store_launches(struct hopper_gemm_plan *plan, enum gemm_early early) {
    struct gemm_plan stored;
    struct gemm_problem problem = plan->problem;
    const struct gemm_kernel *kernel = early_form(plan->selected, early);
    problem.early = early < kernel->earliest ? early : kernel->earliest;
    /* The early form asks for itself what fits the device, and might cut k in another way. */
    if (library_workspace(kernel, &problem) > plan->workspace_bytes ||
        !gemm_plan_store(&stored, kernel, problem)) {
        fprintf(stderr, "hopper_gemm: there is no plan for the configuration %s\n",
                kernel->variant);
        return false;
    }
    plan->plan = stored;
    plan->kernel = kernel;
    plan->problem = problem;
    return true;
}

/* NULL after a message. */
static struct hopper_gemm_plan *make_plan(const struct gemm_kernel *kernel,
                                          const struct gemm_problem *problem) {
    struct hopper_gemm_plan *plan = aligned_alloc(_Alignof(struct hopper_gemm_plan), sizeof *plan);
    if (!plan) {
        fprintf(stderr, "hopper_gemm: there is no memory for a plan\n");
        return NULL;
    }
    memset(plan, 0, sizeof *plan);
    plan->problem = *problem;
    plan->selected = kernel;
    plan->workspace_bytes = library_workspace(kernel, problem);
    if (!store_launches(plan, GEMM_IN_ORDER)) {
        hopper_gemm_plan_destroy(plan);
        return NULL;
    }
    return plan;
}

int hopper_gemm_plans_create(struct hopper_gemm_plan **plans, int most, int *count, int type, int m,
                             int n, int k, int64_t lda, int64_t ldb, int64_t ldd,
                             size_t workspace_limit) {
    const struct gemm_problem problem = problem_of(m, n, k, lda, ldb, ldd);
    const struct gemm_kernel *kernels[HOPPER_GEMM_MOST_PLANS];
    if (count) *count = 0;
    if (!plans || !count)
        return bad(plans ? "count" : "plans", 0, "is NULL"), HOPPER_GEMM_BAD_ARGUMENT;
    if (most < 1 || most > HOPPER_GEMM_MOST_PLANS)
        return bad("most", most, "must be from 1 to HOPPER_GEMM_MOST_PLANS"),
               HOPPER_GEMM_BAD_ARGUMENT;
    for (int i = 0; i < most; ++i)
        plans[i] = NULL;
    if (!check_shape(type, &problem)) return HOPPER_GEMM_BAD_ARGUMENT;
    const int found = ranked_kernels(element(type), &problem, workspace_limit, kernels, most);
    while (*count < found && (plans[*count] = make_plan(kernels[*count], &problem)))
        ++*count;
    if (found > 0 && *count == found) return HOPPER_GEMM_OK;
    while (*count > 0) {
        hopper_gemm_plan_destroy(plans[--*count]);
        plans[*count] = NULL;
    }
    return HOPPER_GEMM_FAILED;
}

int hopper_gemm_plan_create(struct hopper_gemm_plan **plan, int type, int m, int n, int k,
                            int64_t lda, int64_t ldb, int64_t ldd, size_t workspace_limit) {
    int count;
    if (!plan) return bad("plan", 0, "is NULL"), HOPPER_GEMM_BAD_ARGUMENT;
    return hopper_gemm_plans_create(plan, 1, &count, type, m, n, k, lda, ldb, ldd, workspace_limit);
}

size_t hopper_gemm_plan_workspace(const struct hopper_gemm_plan *plan) {
    return plan ? plan->workspace_bytes : 0;
}

int hopper_gemm_plan_describe(const struct hopper_gemm_plan *plan, char *text, size_t bytes) {
    return plan ? describe_kernel(plan->selected, &plan->problem, text, bytes)
                : snprintf(text, bytes, "no plan");
}

int hopper_gemm_plan_set_early(struct hopper_gemm_plan *plan, int early) {
    if (!plan) return bad("plan", 0, "is NULL"), HOPPER_GEMM_BAD_ARGUMENT;
    if (early < HOPPER_GEMM_IN_ORDER || early > HOPPER_GEMM_EARLY_B)
        return bad("early", early, "must be an enum hopper_gemm_early"), HOPPER_GEMM_BAD_ARGUMENT;
    return store_launches(plan, (enum gemm_early)early) ? HOPPER_GEMM_OK : HOPPER_GEMM_FAILED;
}

void hopper_gemm_plan_destroy(struct hopper_gemm_plan *plan) { free(plan); }

int hopper_gemm_plan_run(const struct hopper_gemm_plan *plan, void *stream, const void *a,
                         const void *b, void *d, void *workspace) {
    if (!plan) return bad("plan", 0, "is NULL"), HOPPER_GEMM_BAD_ARGUMENT;
    if (!check_pointers(a, b, d, workspace)) return HOPPER_GEMM_BAD_ARGUMENT;
    if (plan->workspace_bytes && !workspace)
        return bad("workspace", 0, "this plan needs one: hopper_gemm_plan_workspace()"),
               HOPPER_GEMM_BAD_ARGUMENT;
    struct gemm_problem problem = plan->problem;
    problem.a = a;
    problem.b = b;
    problem.d = d;
    problem.workspace = workspace;
    return gemm_plan_run(&plan->plan, plan->kernel, &problem, stream) == GEMM_OK
               ? HOPPER_GEMM_OK
               : HOPPER_GEMM_FAILED;
}
