/*
 * hopper_gemm.c: the library hopper_gemm: what it computes, what it refuses, and which
 * configuration it picks.
 */
#include "hopper_gemm.h"

#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "services/selection.h"
#include "select.h"
#include "sim/core/simulation.h"
#include "tests/calls/whole_numbers.h"
#include "tests/support/expect.h"

extern const struct gemm_kernel kernel_hopper_gemm_fp16, kernel_hopper_gemm_bf16;

/* ---- computing ---- */

/* The arguments of a call. */
struct call {
    int type, m, n, k;
    const void *a, *b;
    void *d;
    int64_t lda, ldb, ldd;
    void *workspace;
    const struct hopper_gemm_plan *plan; /* NULL: hopper_gemm() */
};

static int status_of_call;

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                void *stream) {
    const struct call *c = self->state;
    (void)problem;
    status_of_call = c->plan ? hopper_gemm_plan_run(c->plan, stream, c->a, c->b, c->d, c->workspace)
                             : hopper_gemm(stream, c->type, c->m, c->n, c->k, c->a, c->lda, c->b,
                                           c->ldb, c->d, c->ldd, c->workspace);
    return status_of_call == HOPPER_GEMM_OK ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

static enum run_status run(const struct call *call) {
    const struct contender contender = {
        .name = "hopper_gemm", .enqueue = enqueue, .state = (void *)call};
    const struct gemm_problem problem = {.m = call->m, .n = call->n, .k = call->k};
    return backend_run(&contender, &problem, NULL);
}

/* Elements of D that are wrong, its padding included; makes them all wrong. */
static int count_wrong(const struct call *c, const int *a_values, const int *b_values,
                       enum gemm_type element) {
    const int wrong = product_errors(c->d, element, c->m, c->n, c->k, c->ldd, a_values, b_values);
    backend_fill(c->d, NAN_16, (size_t)(c->m * c->ldd));
    return wrong;
}

/* A plan's line names its shape and its kernel, and is cut off like any text of snprintf(). Returns
 * the predicted time. */
static double expect_words(const struct hopper_gemm_plan *plan, const struct call *call,
                           const struct gemm_kernel *kernel) {
    char line[512], begin[512], few[8];
    const int length = hopper_gemm_plan_describe(plan, line, sizeof line);
    snprintf(begin, sizeof begin, "hopper_gemm %d x %d x %d, %s: ", call->m, call->n, call->k,
             kernel->variant);
    EXPECT(length == (int)strlen(line) && strncmp(line, begin, strlen(begin)) == 0,
           "'%s' does not begin with '%s'", line, begin);
    EXPECT(hopper_gemm_plan_describe(plan, few, sizeof few) == length &&
               strlen(few) == sizeof few - 1 && strncmp(few, line, sizeof few - 1) == 0,
           "'%s' is not the beginning of '%s'", few, line);
    const bool parts = strstr(line, " parts of k") && !strstr(line, " 1 parts of k");
    EXPECT(parts == (hopper_gemm_plan_workspace(plan) > 0), "'%s' has %zu bytes of workspace", line,
           hopper_gemm_plan_workspace(plan));
    const char *time = strstr(line, " us predicted");
    while (time && time > line && !strchr(" ", time[-1]))
        --time;
    return time ? atof(time) : -1;
}

/* Makes all plans for a call. Each has another kernel, needs no more than `bytes` of workspace and
 * computes the right result. The first is the one of a single plan. */
static void expect_all_plans(struct call call, size_t bytes, const int *a_values,
                             const int *b_values, enum gemm_type element) {
    struct hopper_gemm_plan *plans[HOPPER_GEMM_MOST_PLANS], *single = NULL;
    int count = -1;
    EXPECT(hopper_gemm_plans_create(plans, HOPPER_GEMM_MOST_PLANS, &count, call.type, call.m,
                                    call.n, call.k, call.lda, call.ldb, call.ldd,
                                    bytes) == HOPPER_GEMM_OK &&
               hopper_gemm_plan_create(&single, call.type, call.m, call.n, call.k, call.lda,
                                       call.ldb, call.ldd, bytes) == HOPPER_GEMM_OK,
           "%d x %d x %d: %d plans", call.m, call.n, call.k, count);
    if (count < 2 || !single) exit(expect_result());
    const struct gemm_problem problem = {
        .m = call.m, .n = call.n, .k = call.k, .lda = call.lda, .ldb = call.ldb, .ldd = call.ldd};
    const struct gemm_kernel *kernels[HOPPER_GEMM_MOST_PLANS];
    EXPECT(ranked_kernels(element, &problem, bytes, kernels, HOPPER_GEMM_MOST_PLANS) == count &&
               selected_kernel(element, &problem, bytes) == kernels[0],
           "%d x %d x %d: %d kernels in another order", call.m, call.n, call.k, count);
    /* A shorter list is the beginning of the long one. */
    for (int most = 1; most < count; ++most) {
        const struct gemm_kernel *few[HOPPER_GEMM_MOST_PLANS];
        EXPECT(ranked_kernels(element, &problem, bytes, few, most) == most &&
                   memcmp(few, kernels, (size_t)most * sizeof *few) == 0,
               "%d x %d x %d: the first %d of %d kernels are others", call.m, call.n, call.k, most,
               count);
    }
    EXPECT(hopper_gemm_plan_workspace(single) == hopper_gemm_plan_workspace(plans[0]),
           "%d x %d x %d: the first of %d plans is another one", call.m, call.n, call.k, count);
    hopper_gemm_plan_destroy(single);
    double us = 0;
    for (int i = 0; i < count; ++i) {
        const double next = expect_words(plans[i], &call, kernels[i]);
        EXPECT(next > 0 && next >= us, "plan %d: %.2f us, after one of %.2f", i, next, us);
        us = next;
        for (int before = 0; before < i; ++before)
            EXPECT(kernels[before] != kernels[i], "plans %d and %d have one kernel", before, i);
        EXPECT(hopper_gemm_plan_workspace(plans[i]) <= bytes, "plan %d of %d: %zu bytes", i, count,
               hopper_gemm_plan_workspace(plans[i]));
        call.plan = plans[i];
        const enum run_status status = run(&call);
        const int wrong = count_wrong(&call, a_values, b_values, element);
        EXPECT(status == RUN_OK && wrong == 0, "%d x %d x %d, %s: status %d, %d elements wrong",
               call.m, call.n, call.k, kernels[i]->variant, status, wrong);
        hopper_gemm_plan_destroy(plans[i]);
    }
}

/* A product of whole numbers: exact sums, rounded once. `wants_workspace`: whether the library asks
 * for one; then it is given one, full of NaN. Then the same with plans, one of which may use no
 * workspace. */
static void expect_product(int type, int m, int n, int k, int sms, bool wants_workspace) {
    const enum gemm_type element = type == HOPPER_GEMM_FP16 ? GEMM_FP16 : GEMM_BF16;
    const struct backend_options options = {.type = element};
    sim_configure(sms, SCHEDULE_TIME, 1);
    struct backend_info info;
    if (backend_open(&options, &info)) exit(3);
    const int64_t lda = padded(k), ldb = padded(k), ldd = padded(n);
    uint16_t *a = backend_alloc((size_t)(m * lda) * 2, "A", false);
    uint16_t *b = backend_alloc((size_t)(n * ldb) * 2, "B", false);
    uint16_t *d = backend_alloc((size_t)(m * ldd) * 2, "D", true);
    int *a_values = fill(a, element, m, k, lda);
    int *b_values = fill(b, element, n, k, ldb);
    backend_fill(d, NAN_16, (size_t)(m * ldd));
    const size_t bytes = hopper_gemm_workspace(type, m, n, k, lda, ldb, ldd);
    EXPECT((bytes > 0) == wants_workspace, "%d x %d x %d: %zu bytes of workspace", m, n, k, bytes);
    void *workspace = bytes ? backend_alloc(bytes, "workspace", true) : NULL;
    if (workspace) backend_fill(workspace, NAN_16, bytes / 2);
    struct call call = {type, m, n, k, a, b, d, lda, ldb, ldd, workspace, NULL};
    static const char *const what[] = {"no plan", "a plan", "a plan without a workspace"};
    struct hopper_gemm_plan *plan = NULL;
    for (int i = 0; i < 3; ++i) {
        if (i > 0) {
            EXPECT(hopper_gemm_plan_create(&plan, type, m, n, k, lda, ldb, ldd,
                                           i == 1 ? SIZE_MAX : 0) == HOPPER_GEMM_OK,
                   "%d x %d x %d: %s", m, n, k, what[i]);
            if (!plan) exit(expect_result());
            EXPECT((hopper_gemm_plan_workspace(plan) > 0) == (i == 1 && wants_workspace),
                   "%d x %d x %d: %s of %zu bytes", m, n, k, what[i],
                   hopper_gemm_plan_workspace(plan));
            call.plan = plan;
            if (i == 2) call.workspace = NULL;
        }
        const enum run_status status = run(&call);
        EXPECT(status == RUN_OK && status_of_call == HOPPER_GEMM_OK,
               "%d x %d x %d, %s: status %d, %d", m, n, k, what[i], status, status_of_call);
        const int wrong = count_wrong(&call, a_values, b_values, element);
        EXPECT(wrong == 0, "type %d, %d x %d x %d, %d SMs, %s: %d elements wrong", type, m, n, k,
               sms, what[i], wrong);
        hopper_gemm_plan_destroy(plan);
        plan = NULL;
    }
    call.workspace = workspace;
    /* Of the long k, which takes long, in one type. */
    if (!wants_workspace || type == HOPPER_GEMM_BF16)
        expect_all_plans(call, bytes, a_values, b_values, element);
    free(a_values);
    free(b_values);
    backend_close();
}

/* ---- refusing ---- */

/* Of the same calls by a plan: each is refused when the plan is made, or else when it runs. */
static void expect_plan_refusals(const struct call *bad, int count, uint16_t *memory) {
    struct hopper_gemm_plan *good = NULL, *plan;
    for (int i = 0; i < count; ++i) {
        const struct call *c = &bad[i];
        plan = (struct hopper_gemm_plan *)memory;
        const int made = hopper_gemm_plan_create(&plan, c->type, c->m, c->n, c->k, c->lda, c->ldb,
                                                 c->ldd, SIZE_MAX);
        EXPECT((made == HOPPER_GEMM_OK) == (plan != NULL), "plan %d: status %d", i, made);
        const int ran =
            plan ? hopper_gemm_plan_run(plan, NULL, c->a, c->b, c->d, c->workspace) : made;
        EXPECT(ran == HOPPER_GEMM_BAD_ARGUMENT, "plan %d: status %d", i, ran);
        hopper_gemm_plan_destroy(plan);
    }
    EXPECT(hopper_gemm_plan_create(NULL, 0, 8, 8, 8, 8, 8, 8, 0) == HOPPER_GEMM_BAD_ARGUMENT, "%s",
           "a plan into nothing");
    EXPECT(hopper_gemm_plan_run(NULL, NULL, memory, memory, memory, NULL) ==
               HOPPER_GEMM_BAD_ARGUMENT,
           "%s", "no plan");
    /* One that needs a workspace. */
    EXPECT(hopper_gemm_plan_create(&good, HOPPER_GEMM_BF16, 64, 64, 65536, 65536, 65536, 64,
                                   SIZE_MAX) == HOPPER_GEMM_OK &&
               hopper_gemm_plan_workspace(good) > 0,
           "%s", "no workspace for 64 x 64 x 65536");
    EXPECT(hopper_gemm_plan_run(good, NULL, memory, memory, memory, NULL) ==
               HOPPER_GEMM_BAD_ARGUMENT,
           "%s", "ran without its workspace");
    /* The limit is for what the caller provides: what the fastest plan needs is enough for it. */
    const size_t bytes = hopper_gemm_plan_workspace(good);
    hopper_gemm_plan_destroy(good);
    for (size_t less = 0; less < 2; ++less) {
        EXPECT(hopper_gemm_plan_create(&good, HOPPER_GEMM_BF16, 64, 64, 65536, 65536, 65536, 64,
                                       bytes - less) == HOPPER_GEMM_OK &&
                   (hopper_gemm_plan_workspace(good) == bytes) == (less == 0) &&
                   hopper_gemm_plan_workspace(good) <= bytes - less,
               "limit %zu: %zu bytes of workspace", bytes - less, hopper_gemm_plan_workspace(good));
        hopper_gemm_plan_destroy(good);
    }
    EXPECT(hopper_gemm_plan_workspace(NULL) == 0, "%s", "a workspace for no plan");
    /* Several. */
    struct hopper_gemm_plan *plans[2] = {good, good};
    int plan_count = 5;
    for (int most = -1; most <= HOPPER_GEMM_MOST_PLANS + 1; ++most)
        if (most < 1 || most > HOPPER_GEMM_MOST_PLANS)
            EXPECT(hopper_gemm_plans_create(plans, most, &plan_count, HOPPER_GEMM_BF16, 8, 8, 8, 8,
                                            8, 8, 0) == HOPPER_GEMM_BAD_ARGUMENT &&
                       plan_count == 0,
                   "%d plans: %d", most, plan_count);
    plan_count = 5;
    EXPECT(hopper_gemm_plans_create(plans, 2, NULL, HOPPER_GEMM_BF16, 8, 8, 8, 8, 8, 8, 0) ==
                   HOPPER_GEMM_BAD_ARGUMENT &&
               hopper_gemm_plans_create(NULL, 2, &plan_count, HOPPER_GEMM_BF16, 8, 8, 8, 8, 8, 8,
                                        0) == HOPPER_GEMM_BAD_ARGUMENT &&
               plan_count == 0,
           "%s", "several plans into nothing");
    EXPECT(hopper_gemm_plans_create(plans, 2, &plan_count, HOPPER_GEMM_BF16, 8, 8, 8, 4, 8, 8, 0) ==
                   HOPPER_GEMM_BAD_ARGUMENT &&
               plan_count == 0 && !plans[0] && !plans[1],
           "%s", "several plans with a short row");
}

static void expect_refusals(void) {
    const struct backend_options options = {.type = GEMM_FP16};
    sim_configure(2, SCHEDULE_TIME, 1);
    struct backend_info info;
    if (backend_open(&options, &info)) exit(3);
    enum { EXTENT = 16, LD = 24 };
    uint16_t *memory = backend_alloc((EXTENT + 1) * LD * 2, "memory", true);
    backend_fill(memory, 0, (EXTENT + 1) * LD);
    const struct call good = {HOPPER_GEMM_FP16, EXTENT, EXTENT, EXTENT, memory, memory,
                              memory,           LD,     LD,     LD,     NULL,   NULL};
    enum { CALLS = 14 };
    struct call bad[CALLS];
    for (int i = 0; i < CALLS; ++i)
        bad[i] = good;
    bad[0].type = 2;
    bad[1].m = 0;
    bad[2].n = -1;
    bad[3].k = 2000000001;
    bad[4].a = memory + 4;
    bad[5].b = NULL;
    bad[6].d = memory + 1;
    bad[7].lda = LD - 4;
    bad[8].ldb = EXTENT - 8;
    bad[9].ldd = 8;
    bad[10].ldd = -LD;
    bad[11].type = -1;
    bad[12].workspace = memory + 8;
    bad[13].lda = INT64_C(1) << 39;
    for (int i = 0; i < CALLS; ++i) {
        backend_fill(memory, NAN_16, (EXTENT + 1) * LD);
        const enum run_status status = run(&bad[i]);
        EXPECT(status == RUN_FAILED && status_of_call == HOPPER_GEMM_BAD_ARGUMENT,
               "bad argument %d: status %d, %d", i, status, status_of_call);
        for (int j = 0; j < (EXTENT + 1) * LD; ++j)
            EXPECT(memory[j] == NAN_16, "bad argument %d: memory was written", i);
    }
    expect_plan_refusals(bad, CALLS, memory);
    backend_close();
}

/* If the runtime cannot say what fits, another kernel would be selected than by the next call, with
 * another workspace: so none is. Called instead of gemm_questions_failed(). */
static bool questions_fail;
bool __wrap_gemm_questions_failed(void);
bool __wrap_gemm_questions_failed(void) { return questions_fail; }

static void expect_nothing_for(int n, int64_t ldd, uint16_t *memory) {
    struct hopper_gemm_plan *plan = NULL;
    EXPECT(hopper_gemm(NULL, HOPPER_GEMM_BF16, n, n, 16, memory, 24, memory, 24, memory, ldd,
                       NULL) == HOPPER_GEMM_FAILED &&
               hopper_gemm_plan_create(&plan, HOPPER_GEMM_BF16, n, n, 16, 24, 24, ldd, 0) ==
                   HOPPER_GEMM_FAILED &&
               !plan &&
               hopper_gemm_workspace(HOPPER_GEMM_BF16, n, n, 65536, 65536, 65536, ldd) == 0,
           "%d x %d: selected", n, n);
}

/* More tiles than an int counts, too. */
static void expect_no_selection(void) {
    const struct backend_options options = {.type = GEMM_BF16};
    sim_configure(132, SCHEDULE_TIME, 1);
    struct backend_info info;
    if (backend_open(&options, &info)) exit(3);
    uint16_t *memory = backend_alloc(16 * 24 * 2, "memory", true);
    questions_fail = true;
    expect_nothing_for(16, 24, memory);
    questions_fail = false;
    expect_nothing_for(2000000000, 2000000000, memory);
    EXPECT(hopper_gemm_workspace(HOPPER_GEMM_BF16, 16, 16, 65536, 65536, 65536, 16) > 0, "%s",
           "no workspace for a long k");
    backend_close();
}

/* Without a simulator, and outside of a run: an error, and nothing worse. */
static void expect_no_launch(void) {
    static uint16_t none[16 * 24] __attribute__((aligned(256)));
    EXPECT(hopper_gemm(NULL, HOPPER_GEMM_BF16, 16, 16, 16, none, 24, none, 24, none, 24, NULL) ==
               HOPPER_GEMM_FAILED,
           "%s", "computed without a simulator");
    struct hopper_gemm_plan *plan;
    EXPECT(hopper_gemm_plan_create(&plan, HOPPER_GEMM_BF16, 16, 16, 16, 24, 24, 24, 0) ==
                   HOPPER_GEMM_FAILED &&
               !plan,
           "%s", "a plan without a simulator");
    const struct backend_options options = {.type = GEMM_BF16};
    sim_configure(2, SCHEDULE_TIME, 1);
    struct backend_info info;
    if (backend_open(&options, &info)) exit(3);
    uint16_t *memory = backend_alloc(sizeof none, "memory", true);
    EXPECT(hopper_gemm(NULL, HOPPER_GEMM_BF16, 16, 16, 16, memory, 24, memory, 24, memory, 24,
                       NULL) == HOPPER_GEMM_FAILED,
           "%s", "computed outside of a run");
    EXPECT(hopper_gemm_plan_create(&plan, HOPPER_GEMM_BF16, 16, 16, 16, 24, 24, 24, 0) ==
                   HOPPER_GEMM_OK &&
               hopper_gemm_plan_run(plan, NULL, memory, memory, memory, NULL) == HOPPER_GEMM_FAILED,
           "%s", "a plan ran outside of a run");
    hopper_gemm_plan_destroy(plan);
    backend_close();
}

/* ---- picking: whatever the constants, these must hold ---- */

static const struct gemm_kernel *pick(int m, int n, int k, int sms) {
    const struct backend_options options = {.type = GEMM_BF16};
    sim_configure(sms, SCHEDULE_TIME, 1);
    struct backend_info info;
    if (backend_open(&options, &info)) exit(3);
    const struct gemm_problem problem = {.m = m, .n = n, .k = k};
    const struct gemm_kernel *kernel = kernel_hopper_gemm_bf16.select(&problem);
    EXPECT(kernel != NULL, "%d x %d x %d on %d SMs: nothing was picked", m, n, k, sms);
    if (kernel == NULL) exit(expect_result());
    EXPECT(kernel->variant && kernel->launch, "%d x %d x %d on %d SMs: no variant", m, n, k, sms);
    EXPECT(kernel->cluster <= sms, "%d x %d x %d: clusters of %d on %d SMs", m, n, k,
           kernel->cluster, sms);
    backend_close();
    return kernel;
}

/* Is it for a small D? */
static bool is_small(const struct gemm_kernel *kernel) {
    return strncmp(kernel->variant, "split", 5) == 0 ||
           strncmp(kernel->variant, "fitted", 6) == 0 || strncmp(kernel->variant, "direct", 6) == 0;
}

static void expect_picks(void) {
    static const int extents[] = {1, 16, 64, 128, 513, 2048, 8192, 65536, 2000000000};
    enum { EXTENTS = sizeof extents / sizeof *extents };
    for (int i = 0; i < EXTENTS * EXTENTS * EXTENTS; ++i) {
        const int m = extents[i % EXTENTS], n = extents[i / EXTENTS % EXTENTS];
        const bool countable = (double)m * n < 256.0 * 256 * GEMM_MOST_TILES;
        for (int sms = 1; countable && sms <= 132; sms += i % 7 == 0 ? 1 : 131)
            pick(m, n, extents[i / EXTENTS / EXTENTS], sms);
    }
    const struct gemm_kernel *large = pick(8192, 8192, 8192, 132);
    EXPECT(!is_small(large) && large->tile_m * large->tile_n >= 128 * 192, "8192: %s",
           large->variant);
    const struct gemm_kernel *deep = pick(64, 64, 65536, 132);
    EXPECT(deep->workspace_bytes(&(struct gemm_problem){.m = 64, .n = 64, .k = 65536}) > 0,
           "64 x 64 x 65536: %s", deep->variant);
    const struct gemm_kernel *token = pick(16, 8192, 8192, 132);
    EXPECT(is_small(token), "16 x 8192 x 8192: %s", token->variant);
}

/* ---- the workspace ---- */

/* The query and the call have to see the same problem: hopper_gemm() must not use more than
 * hopper_gemm_workspace() asks for. The way to compute depends on where rows begin, too. In between
 * another problem is selected for, as by another call on the thread: the last answer is kept. */
static void expect_enough_workspace(void) {
    enum { PROBLEMS = 400, SMS = 132 };
    const struct backend_options options = {.type = GEMM_BF16};
    sim_configure(SMS, SCHEDULE_TIME, 1);
    struct backend_info info;
    if (backend_open(&options, &info)) exit(3);
    int with_workspace = 0, differing = 0;
    for (int i = 0; i < PROBLEMS; ++i) {
        struct gemm_problem p = {
            .m = 1 + rand() % 3000, .n = 1 + rand() % 300, .k = 1 + rand() % 30000};
        const int64_t in_sectors = (p.k + 15) / 16 * 16;
        p.lda = in_sectors + 8 * (i % 2);
        p.ldb = padded(p.k) + 8 * (rand() % 3);
        p.ldd = padded(p.n);
        const struct gemm_problem other = {
            .m = 100, .n = 100, .k = 100 + i, .lda = 40000, .ldb = 40000, .ldd = 104};
        const size_t asked =
            hopper_gemm_workspace(HOPPER_GEMM_BF16, p.m, p.n, p.k, p.lda, p.ldb, p.ldd);
        selected_kernel(GEMM_BF16, &other, SIZE_MAX);
        const struct gemm_kernel *kernel = selected_kernel(GEMM_BF16, &p, SIZE_MAX);
        const size_t used = library_workspace(kernel, &p);
        EXPECT(asked == used, "%d x %d x %d, lda %lld: asks for %zu bytes, uses %zu", p.m, p.n, p.k,
               (long long)p.lda, asked, used);
        with_workspace += used > 0;
        /* Would the test notice if one side knew another lda? */
        p.lda = in_sectors + 8 * !(i % 2);
        differing += library_workspace(selected_kernel(GEMM_BF16, &p, SIZE_MAX), &p) != used;
    }
    EXPECT(with_workspace > PROBLEMS / 4 && differing > 0,
           "%d problems with a workspace, and %d in which it depends on lda", with_workspace,
           differing);
    backend_close();
}

int main(void) {
    srand(1);
    expect_no_launch(); /* first: later there has been a simulator */
    for (int type = 0; type < 2; ++type) {
        expect_product(type, 1, 1, 1, 1, false);
        expect_product(type, 70, 200, 45, 1, false);
        expect_product(type, 129, 257, 100, 4, false);
        expect_product(type, 64, 100, 300, 8, false);
        expect_product(type, 70, 100, 20000, 8, true);
    }
    expect_refusals();
    char line[16];
    EXPECT(hopper_gemm_plan_describe(NULL, line, sizeof line) == 7 && !strcmp(line, "no plan"),
           "no plan is '%s'", line);
    expect_no_selection();
    expect_picks();
    expect_enough_workspace();
    return expect_result();
}
