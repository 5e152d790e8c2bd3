/*
 * sim_early.c: launches that begin before the kernel ahead of them is complete. Whatever a kernel
 * accesses before its griddepcontrol_wait() is reported, under every schedule, and what is ordered
 * after the wait of any thread is not.
 */
#include "tests/sim/sim_kernels.h"

#include "hopper/atomics.h"
#include "hopper/cp_async.h"
#include "hopper/griddepcontrol.h"
#include "hopper/tma.h"
#include "tests/support/capture.h"

/* Reports name lines: what belongs to one report stays on one. */
// clang-format off

enum { THREADS = 64, CTAS = 4, ROWS = 8, COLUMNS = 32, FLOATS = ROWS * COLUMNS };

/* A, B and D: FLOATS floats for each CTA. */
struct smem {
    float tile[FLOATS] __attribute__((aligned(1024)));
    uint32_t word;
    mbarrier_t full;
};

static int me(void) { return (int)threadIdx.x; }
static size_t at(int i) { return (size_t)((int)blockIdx.x * FLOATS + 4 * i) * sizeof(float); }
static void *of(const void *matrix, int i) { return (char *)(uintptr_t)matrix + at(i); }

static void copy(const struct gemm_args *args) {
    st_global_b128(of(args->d, me()), ld_global_b128(of(args->a, me())));
}

/* ---- right ---- */

KERNEL(THREADS, 1) all_wait(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    griddepcontrol_launch_dependents();
    griddepcontrol_wait();
    copy(&args);
}

KERNEL(THREADS, 1) one_waits(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (me() == 0) {
        mbarrier_init(&shared->full, 1);
        fence_mbarrier_init();
        griddepcontrol_wait();
    }
    __syncthreads();
    copy(&args);
}

/* The way of the chapter: the arrival at the full barrier passes the wait on. */
KERNEL(THREADS, 1) producer_waits(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (me() == 0) {
        mbarrier_init(&shared->full, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (me() == 0) {
        griddepcontrol_wait();
        mbarrier_arrive_expect_tx(&shared->full, sizeof shared->tile);
        tma_load(shared->tile, &args.map_a, (int)blockIdx.x * ROWS, 0, &shared->full);
    }
    mbarrier_wait(&shared->full, 0);
    st_global_b128(of(args.d, me()), ld_shared_b128(&shared->tile[4 * me()]));
}

KERNEL(THREADS, 1) reads_b_ahead(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    MARK const struct b128 b = ld_global_b128(of(args.b, me()));
    griddepcontrol_wait();
    st_global_b128(of(args.d, me()), b);
}

/* The TMA's bytes come before the thread that announces them has waited. */
KERNEL(THREADS, 1) loads_b_ahead(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (me() == 0) {
        mbarrier_init(&shared->full, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (me() == 0) {
        MARK tma_load(shared->tile, &args.map_b, (int)blockIdx.x * ROWS, 0, &shared->full);
        griddepcontrol_wait();
        mbarrier_arrive_expect_tx(&shared->full, sizeof shared->tile);
    }
    mbarrier_wait(&shared->full, 0);
    st_global_b128(of(args.d, me()), ld_shared_b128(&shared->tile[4 * me()]));
}

/* ---- wrong, if the launch is early ---- */

KERNEL(THREADS, 1) no_wait(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    MARK copy(&args);
}

KERNEL(THREADS, 1) waits_too_late(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    MARK const struct b128 a = ld_global_b128(of(args.a, me()));
    griddepcontrol_wait();
    st_global_b128(of(args.d, me()), a);
}

KERNEL(THREADS, 1) no_barrier(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    if (me() == 0) griddepcontrol_wait();
    MARK const struct b128 a = ld_global_b128(of(args.a, me()));
    __syncthreads();
    st_global_b128(of(args.d, me()), a);
}

KERNEL(THREADS, 1) stores_early(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    const struct b128 zeros = {{0}};
    MARK st_global_b128(of(args.d, me()), zeros);
    griddepcontrol_wait();
    copy(&args);
}

KERNEL(THREADS, 1) counts_early(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    MARK if (me() == 0) red_add_relaxed(args.tile_counter, 1, SCOPE_GPU);
    griddepcontrol_wait();
    copy(&args);
}

KERNEL(THREADS, 1) loads_a_early(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (me() == 0) {
        mbarrier_init(&shared->full, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (me() == 0) {
        mbarrier_arrive_expect_tx(&shared->full, sizeof shared->tile);
        MARK tma_load(shared->tile, &args.map_a, (int)blockIdx.x * ROWS, 0, &shared->full);
        griddepcontrol_wait();
    }
    mbarrier_wait(&shared->full, 0);
    griddepcontrol_wait();
    st_global_b128(of(args.d, me()), ld_shared_b128(&shared->tile[4 * me()]));
}

KERNEL(THREADS, 1) copies_a_early(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    MARK cp_async_16(&shared->tile[4 * me()], of(args.a, me()), 16);
    cp_async_commit_group();
    cp_async_wait_group(0);
    griddepcontrol_wait();
    st_global_b128(of(args.d, me()), ld_shared_b128(&shared->tile[4 * me()]));
}

/* The announcement comes before the wait, so it does not pass the wait on. */
KERNEL(THREADS, 1) announces_early(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (me() == 0) {
        mbarrier_init(&shared->full, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (me() == 0) {
        mbarrier_arrive_expect_tx(&shared->full, sizeof shared->tile);
        griddepcontrol_wait();
        tma_load(shared->tile, &args.map_a, (int)blockIdx.x * ROWS, 0, &shared->full);
    }
    mbarrier_wait(&shared->full, 0);
    MARK st_global_b128(of(args.d, me()), ld_shared_b128(&shared->tile[4 * me()]));
}

/* Work before the wait, which may run while the kernel ahead does; in CTA 0 as much after it. */
static void work(struct smem *shared, int times) {
    if (me() == 0) for (int i = 0; i < times; ++i) st_shared_b32(&shared->word, (uint32_t)i);
}
enum { TIMES = 400 };

KERNEL(THREADS, 1) uneven(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    griddepcontrol_launch_dependents();
    work(shared, TIMES);
    griddepcontrol_wait();
    copy(&args);
    if (blockIdx.x == 0) work(shared, TIMES);
}

/* The next launch begins when CTA 0 has ended. */
KERNEL(THREADS, 1) uneven_at_the_end(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    work(shared, TIMES);
    griddepcontrol_wait();
    copy(&args);
    if (blockIdx.x == 0) work(shared, TIMES);
}

/* Allows the next launch at once, and may end before the kernel ahead of it. */
KERNEL(THREADS, 1) never_waits(KERNEL_ARGS args) {
    (void)args;
    griddepcontrol_launch_dependents();
}
KERNEL(THREADS, 1) waits_for_it(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    MARK griddepcontrol_wait();
    copy(&args);
}

// clang-format on

/* ---- chains of launches ---- */

enum { LONGEST_CHAIN = 3 };
struct link {
    void (*kernel)(const struct gemm_args);
    enum gemm_early early;
    bool zeroes; /* zeroes the counters first: then no kernel is directly ahead */
};
static struct link chain[LONGEST_CHAIN];
static int links;
static element_t *matrix[LONGEST_CHAIN + 1]; /* link i reads [i] as A and writes [i + 1] */
static element_t *weights;                   /* as matrix[0] */
static element_t *b;                         /* NULL: link i's B is its A */

static enum gemm_status enqueue_chain(const struct contender *self,
                                      const struct gemm_problem *problem, void *stream) {
    (void)self, (void)problem;
    for (int i = 0; i < links; ++i) {
        struct gemm_args args = {.a = matrix[i],
                                 .b = b ? b : matrix[i],
                                 .d = matrix[i + 1],
                                 .tile_counter = test_counter};
        const struct gemm_launch launch = {.kernel = (const void *)(uintptr_t)chain[i].kernel,
                                           .name = "test",
                                           .grid = CTAS,
                                           .cluster = 1,
                                           .threads = THREADS,
                                           .smem_bytes = sizeof(struct smem),
                                           .stream = stream,
                                           .early = chain[i].early};
        if (gemm_tensor_map(&args.map_a, GEMM_FP32, args.a, CTAS * ROWS, COLUMNS, COLUMNS, ROWS,
                            COLUMNS, SWIZZLE_NONE) ||
            gemm_tensor_map(&args.map_b, GEMM_FP32, args.b, CTAS * ROWS, COLUMNS, COLUMNS, ROWS,
                            COLUMNS, SWIZZLE_NONE) ||
            (chain[i].zeroes && gemm_zero(test_counter, 256, stream)) ||
            gemm_launch_kernel(&launch, &args))
            return GEMM_LAUNCH_FAILED;
    }
    return GEMM_OK;
}

static enum run_status run_chain(enum sim_schedule schedule, int seed, double *cycles) {
    static const struct contender contender = {.name = "test", .enqueue = enqueue_chain};
    static const struct gemm_problem problem;
    test_open(schedule, (uint64_t)seed, CTAS);
    for (int i = 1; i <= LONGEST_CHAIN; ++i)
        memset(matrix[i], 0xff, TEST_BYTES);
    memset(test_counter, 0, 256);
    marked_line = 0;
    return backend_run(&contender, &problem, cycles);
}

/* Under every schedule: nothing is reported and the last matrix is a copy of the first; or the
 * first report is "early-access", in the marked line, and contains `text`. */
static void expect(const char *name, const char *text) {
    for (int i = 0; i < 3 + 6; ++i) {
        const enum sim_schedule schedule = i < 3 ? (enum sim_schedule)i : SCHEDULE_RANDOM;
        const struct capture capture = capture_begin();
        const enum run_status status = run_chain(schedule, i, NULL);
        char *const said = capture_end(capture);
        const char *got = "nothing", *file;
        int line = 0;
        hazards_get(0, &got, &file, &line);
        if (!text) {
            EXPECT(status == RUN_OK &&
                       !memcmp(matrix[links], matrix[0], CTAS * FLOATS * sizeof(float)),
                   "%s, %s: status %d\n%s", name, schedule_names[schedule], status, said);
        } else {
            EXPECT(status == RUN_HAZARD && !strcmp(got, "early-access") && line == marked_line &&
                       strstr(said, text),
                   "%s, %s: got %s at line %d, expected line %d and \"%s\"\n%s", name,
                   schedule_names[schedule], got, line, marked_line, text, said);
        }
        free(said);
    }
}

/* One launch, with `early`. */
static void expect_one(const char *name, void (*kernel)(const struct gemm_args),
                       enum gemm_early early, const char *text) {
    links = 1;
    chain[0] = (struct link){kernel, early, false};
    expect(name, text);
}
#define EXPECT_RIGHT(kernel, early) expect_one(#kernel, kernel, early, NULL)
#define EXPECT_WRONG(kernel, early, text) expect_one(#kernel, kernel, early, text)

/* Three launches of a kernel. */
static void make_chain(void (*kernel)(const struct gemm_args), enum gemm_early early) {
    links = LONGEST_CHAIN;
    for (int i = 0; i < links; ++i)
        chain[i] = (struct link){kernel, early, false};
}

static double cycles_of_chain(void (*kernel)(const struct gemm_args), enum gemm_early early) {
    double cycles = -1;
    make_chain(kernel, early);
    EXPECT(run_chain(SCHEDULE_TIME, 0, &cycles) == RUN_OK, "a chain failed");
    return cycles;
}

static void check_chains(void) {
    make_chain(all_wait, GEMM_EARLY);
    expect("a chain", NULL);
    make_chain(waits_for_it, GEMM_EARLY);
    chain[1].kernel = never_waits;
    expect("a chain through one that never waits", "has never waited");
    make_chain(producer_waits, GEMM_EARLY_B);
    expect("a chain of TMA loads", NULL);
    make_chain(reads_b_ahead, GEMM_EARLY_B);
    expect("a chain that reads one B", NULL);
    b = NULL;
    /* Each B is what the launch before has written: only the first may read it. */
    make_chain(reads_b_ahead, GEMM_EARLY_B);
    expect("a B that is written ahead", "says that B is complete");
    make_chain(loads_b_ahead, GEMM_EARLY_B);
    expect("a B that is written ahead, by the TMA", "says that B is complete");
    /* The launch between may still be running, and so may the first. */
    make_chain(loads_b_ahead, GEMM_EARLY_B);
    chain[0].kernel = chain[1].kernel = all_wait;
    b = matrix[1];
    chain[0].early = GEMM_IN_ORDER;
    expect("a B that was written two launches ahead", "says that B is complete");
    /* In order, it is complete; and so it is after anything but a kernel. */
    chain[1].early = GEMM_IN_ORDER;
    expect("a B that is complete", NULL);
}

/* What three launches take. An early launch's CTAs begin when the last CTA on their SM has ended
 * and all CTAs ahead allow it: then the CTAs that share no SM with CTA 0 have worked already. */
static void check_cycles(void) {
    b = weights;
    const double in_order = cycles_of_chain(uneven, GEMM_IN_ORDER);
    const double at_the_end = cycles_of_chain(uneven_at_the_end, GEMM_EARLY);
    const double early = cycles_of_chain(uneven, GEMM_EARLY);
    EXPECT(at_the_end >= in_order, "in order %.0f cycles, early but allowed at the end %.0f",
           in_order, at_the_end);
    EXPECT(early < in_order - 500, "in order %.0f cycles, early %.0f", in_order, early);
    make_chain(uneven, GEMM_EARLY);
    chain[1].zeroes = chain[2].zeroes = true;
    double zeroed = -1;
    EXPECT(run_chain(SCHEDULE_TIME, 0, &zeroed) == RUN_OK && zeroed >= in_order,
           "in order %.0f cycles, early but after a memset %.0f", in_order, zeroed);
}

int main(void) {
    test_open(SCHEDULE_EARLY, 0, CTAS);
    for (int i = 0; i <= LONGEST_CHAIN; ++i)
        matrix[i] = backend_alloc(TEST_BYTES, "matrix", true);
    b = weights = backend_alloc(TEST_BYTES, "weights", false);
    memcpy(matrix[0], test_in, TEST_BYTES);
    memcpy(weights, test_in, TEST_BYTES);

    EXPECT_RIGHT(all_wait, GEMM_EARLY);
    EXPECT_RIGHT(one_waits, GEMM_EARLY);
    EXPECT_RIGHT(producer_waits, GEMM_EARLY);
    EXPECT_RIGHT(reads_b_ahead, GEMM_EARLY_B);
    EXPECT_RIGHT(loads_b_ahead, GEMM_EARLY_B);
    EXPECT_RIGHT(no_wait, GEMM_IN_ORDER);
    EXPECT_RIGHT(all_wait, GEMM_IN_ORDER);
    EXPECT_RIGHT(stores_early, GEMM_IN_ORDER);

    EXPECT_WRONG(waits_too_late, GEMM_EARLY, "reads matrix");
    EXPECT_WRONG(waits_too_late, GEMM_EARLY_B, "reads matrix");
    EXPECT_WRONG(reads_b_ahead, GEMM_EARLY, "reads weights");
    EXPECT_WRONG(no_barrier, GEMM_EARLY, "a thread that has waited");
    EXPECT_WRONG(stores_early, GEMM_EARLY, "writes matrix");
    EXPECT_WRONG(counts_early, GEMM_EARLY, "writes tile counter");
    EXPECT_WRONG(loads_a_early, GEMM_EARLY, "reads matrix");
    EXPECT_WRONG(loads_b_ahead, GEMM_EARLY, "reads weights");
    EXPECT_WRONG(copies_a_early, GEMM_EARLY, "reads matrix");
    EXPECT_WRONG(announces_early, GEMM_EARLY, "writes matrix");
    check_chains();
    check_cycles();
    backend_close();
    return expect_result();
}
