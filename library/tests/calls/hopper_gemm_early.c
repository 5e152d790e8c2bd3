/*
 * hopper_gemm_early.c: plans whose runs begin early, in chains D = (A * B) * B ... in one stream:
 * every run reads what the run before it writes. All of them share the workspace, and two
 * plans take turns. The results are right under every schedule, and nothing is reported. B may be
 * read ahead if it is constant, and is reported if a run before has written it.
 *
 * The selection is of kernels that may be launched early.
 */
#include "tests/calls/chosen_kernel.h"

#include "backend.h"
#include "sim/core/hazards.h"
#include "sim/core/simulation.h"
#include "tests/calls/whole_numbers.h"
#include "tests/support/capture.h"
#include "tests/support/expect.h"

extern const struct gemm_kernel kernel_hopper_gemm_fitted1_bf16, kernel_hopper_gemm_fitted2_bf16;

/* Runs of two plans take turns: m x n x k and m x k x n. With one row and a long k the first is cut
 * into parts: it needs the workspace. */
static const struct shape { int m, n, k; } shapes[] = {{1, 8, 4100}, {64, 136, 72}, {130, 72, 136}};
enum { LINKS = 4, SMS = 8, SEEDS = 2 };

struct chain {
    int m, columns[2]; /* of matrices 0, 2 ... and 1, 3 ... */
    bool written;      /* B is what the run before has written, whatever that is */
    struct hopper_gemm_plan *plan[2];
    uint16_t *matrix[LINKS + 1], *b[2];
    void *workspace;
};

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                void *stream) {
    const struct chain *c = self->state;
    (void)problem;
    for (int i = 0; i < LINKS; ++i)
        if (hopper_gemm_plan_run(c->plan[i % 2], stream, c->matrix[i],
                                 c->written ? c->matrix[i] : c->b[i % 2], c->matrix[i + 1],
                                 c->workspace) != HOPPER_GEMM_OK)
            return GEMM_LAUNCH_FAILED;
    return GEMM_OK;
}

/* The column of A that column `column` of D is a copy of: so all products are exact. */
static int source_of(int column, int columns) { return (5 * column + 1) % columns; }

static void fill_with(uint16_t *matrix, int rows, int columns, bool copies) {
    const int64_t ld = padded(columns);
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < ld; ++column) {
            const int value = copies ? column == source_of(row, columns) : rand() % 63 - 31;
            matrix[row * ld + column] =
                column < columns ? encode_element((float)value, GEMM_BF16) : NAN_16;
        }
}

static void make_matrices(struct chain *c) {
    const int n = c->columns[1], k = c->columns[0], most = n > c->m ? n : c->m;
    const size_t elements = (size_t)((most > k ? most : k) * padded(n > k ? n : k));
    for (int i = 0; i <= LINKS; ++i) {
        c->matrix[i] = backend_alloc(elements * 2, i ? "D" : "A", i > 0);
        backend_fill(c->matrix[i], NAN_16, elements);
    }
    for (int i = 0; i < 2; ++i)
        c->b[i] = backend_alloc(elements * 2, "B", false);
    fill_with(c->matrix[0], c->m, k, false);
    fill_with(c->b[0], n, k, true);
    fill_with(c->b[1], k, n, true);
}

static int count_wrong(const struct chain *c) {
    const int columns = c->columns[LINKS % 2];
    int wrong = 0;
    for (int row = 0; row < c->m; ++row)
        for (int column = 0; column < columns; ++column) {
            int from = column;
            for (int i = LINKS; i > 0; --i)
                from = source_of(from, c->columns[(i - 1) % 2]);
            wrong += c->matrix[LINKS][row * padded(columns) + column] !=
                     c->matrix[0][row * padded(c->columns[0]) + from];
        }
    return wrong;
}

static struct hopper_gemm_plan *new_plan(int m, int n, int k, int early) {
    struct hopper_gemm_plan *plan;
    if (hopper_gemm_plan_create(&plan, HOPPER_GEMM_BF16, m, n, k, padded(k), padded(k), padded(n),
                                SIZE_MAX) ||
        hopper_gemm_plan_set_early(plan, early))
        exit(3);
    return plan;
}

static void open_simulator(enum sim_schedule schedule, int seed) {
    const struct backend_options options = {.type = GEMM_BF16};
    struct backend_info info;
    sim_configure(SMS, schedule, (uint64_t)seed);
    if (backend_open(&options, &info)) exit(3);
}

/* `hazard`: of the run, NULL: none. */
static void expect_chain(const struct shape *shape, int early, bool written,
                         enum sim_schedule schedule, int seed, const char *hazard) {
    struct chain c = {.m = shape->m, .columns = {shape->k, shape->n}, .written = written};
    open_simulator(schedule, seed);
    c.plan[0] = new_plan(c.m, shape->n, shape->k, early);
    c.plan[1] = new_plan(c.m, shape->k, shape->n, early);
    make_matrices(&c);
    const size_t bytes = hopper_gemm_plan_workspace(c.plan[0]);
    EXPECT(c.m > 1 || bytes > 0, "%s: one row, and k is not cut", chosen->variant);
    EXPECT(hopper_gemm_plan_workspace(c.plan[1]) <= bytes, "%s: the short k is cut",
           chosen->variant);
    EXPECT((int)c.plan[0]->plan.launches[0].launch.early == early, "%s is not launched early",
           chosen->variant);
    c.workspace = bytes ? backend_alloc(bytes, "workspace", true) : NULL;
    const struct contender contender = {.name = "chain", .enqueue = enqueue, .state = &c};
    const struct gemm_problem problem = {.m = shape->m, .n = shape->n, .k = shape->k};
    const struct capture capture = capture_begin();
    const enum run_status status = backend_run(&contender, &problem, NULL);
    char *const said = capture_end(capture);
    const char *got = NULL, *file;
    int line;
    hazards_get(0, &got, &file, &line);
    if (hazard)
        EXPECT(status == RUN_HAZARD && got && !strcmp(got, hazard), "%s, m = %d, early %d, %s: %s",
               chosen->variant, c.m, early, schedule_names[schedule], said);
    else
        EXPECT(status == RUN_OK && count_wrong(&c) == 0, "%s, m = %d, early %d, %s: %d wrong\n%s",
               chosen->variant, c.m, early, schedule_names[schedule], count_wrong(&c), said);
    free(said);
    for (int i = 0; i < 2; ++i)
        hopper_gemm_plan_destroy(c.plan[i]);
    backend_close();
}

/* What is no setting is refused. */
static void expect_settings(void) {
    open_simulator(SCHEDULE_TIME, 1);
    struct hopper_gemm_plan *plan = new_plan(1, 8, 64, HOPPER_GEMM_EARLY);
    const struct capture capture = capture_begin();
    EXPECT(hopper_gemm_plan_set_early(NULL, 1) == HOPPER_GEMM_BAD_ARGUMENT, "%s", "no plan");
    EXPECT(hopper_gemm_plan_set_early(plan, 3) == HOPPER_GEMM_BAD_ARGUMENT, "%s", "3");
    EXPECT(hopper_gemm_plan_set_early(plan, -1) == HOPPER_GEMM_BAD_ARGUMENT, "%s", "-1");
    free(capture_end(capture));
    EXPECT(hopper_gemm_plan_set_early(plan, HOPPER_GEMM_IN_ORDER) == HOPPER_GEMM_OK &&
               plan->plan.launches[0].launch.early == GEMM_IN_ORDER,
           "%s", "in order again");
    hopper_gemm_plan_destroy(plan);
    backend_close();
}

static void check_chains(const struct gemm_kernel *kernel) {
    chosen = kernel;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i)
        for (int early = HOPPER_GEMM_IN_ORDER; early <= HOPPER_GEMM_EARLY_B; ++early)
            for (int schedule = SCHEDULE_TIME; schedule <= SCHEDULE_RANDOM; ++schedule)
                for (int seed = 0; seed < (schedule == SCHEDULE_RANDOM ? SEEDS : 1); ++seed)
                    expect_chain(&shapes[i], early, false, (enum sim_schedule)schedule, seed, NULL);
    for (int schedule = SCHEDULE_TIME; schedule <= SCHEDULE_RANDOM; ++schedule)
        expect_chain(&shapes[1], HOPPER_GEMM_EARLY_B, true, (enum sim_schedule)schedule, 1,
                     "early-access");
}

int main(void) {
    srand(1);
    check_chains(&kernel_hopper_gemm_fitted1_bf16);
    check_chains(&kernel_hopper_gemm_fitted2_bf16);
    expect_settings();
    return expect_result();
}
