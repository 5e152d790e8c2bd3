/*
 * sim_schedules.c: grids, residency and the four schedules: what they may reorder, and that a seed
 * repeats a run.
 */
#include "tests/sim/sim_kernels.h"

#include "hopper/cluster.h"
#include "hopper/cp_async.h"

struct smem {
    uint32_t word[256];
};

static int me(void) { return (int)threadIdx.x; }

/* ---- every thread of the grid runs once, with the right coordinates ---- */

enum { GRID = 37, THREADS = 96 };
static int ran[GRID][THREADS];

KERNEL(THREADS, 2) coordinates(KERNEL_ARGS args) {
    (void)args;
    EXPECT(blockDim.x == THREADS && gridDim.x == GRID && blockDim.y == 1 && gridDim.y == 1,
           "%u threads, %u CTAs", blockDim.x, gridDim.x);
    ++ran[blockIdx.x][me()];
    __syncthreads();
}

static void test_coordinates(void) {
    memset(ran, 0, sizeof ran);
    expect_run_("coordinates", &(struct test_launch){coordinates, GRID, 1, THREADS, 0}, NULL);
    for (int cta = 0; cta < GRID; ++cta)
        for (int i = 0; i < THREADS; ++i)
            EXPECT(ran[cta][i] == 9, "CTA %d, thread %d ran %d times in 9 runs", cta, i,
                   ran[cta][i]);
}

/* ---- the order in which threads come first ---- */

static int order[64], order_count;

KERNEL(32, 1) note_order(KERNEL_ARGS args) {
    (void)args;
    if (order_count < 64) order[order_count++] = (int)blockIdx.x * 32 + me();
}

static void run_order(enum sim_schedule schedule, uint64_t seed) {
    test_open(schedule, seed, 4);
    order_count = 0;
    EXPECT(test_run(&(struct test_launch){note_order, 2, 1, 32, 0}, NULL) == RUN_OK, "note_order");
    EXPECT(order_count == 64, "%d threads", order_count);
}

static void test_order(void) {
    run_order(SCHEDULE_EARLY, 0);
    for (int i = 0; i < 64; ++i)
        EXPECT(order[i] == i, "early, turn %d: thread %d", i, order[i]);
    run_order(SCHEDULE_LATE, 0);
    /* CTAs start in reverse, so the one that started last is CTA 0; its threads come first, from
     * the last one down. */
    for (int i = 0; i < 64; ++i)
        EXPECT(order[i] == (i < 32 ? 31 - i : 95 - i), "late, turn %d: thread %d", i, order[i]);
    int first[64], different = 0;
    run_order(SCHEDULE_RANDOM, 1);
    memcpy(first, order, sizeof first);
    run_order(SCHEDULE_RANDOM, 1);
    EXPECT(!memcmp(first, order, sizeof first), "seed 1 gave two orders");
    for (int seed = 2; seed < 6; ++seed) {
        run_order(SCHEDULE_RANDOM, (uint64_t)seed);
        different += memcmp(first, order, sizeof first) != 0;
    }
    EXPECT(different == 4, "%d of 4 other seeds gave another order", different);
}

/* ---- when a copy lands ---- */

static int
    landed; /* lanes that found the data before they waited: a race, to look at the schedule */

KERNEL(32, 1) peek(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    cp_async_16(&shared->word[4 * me()], &args.a[8 * me()], 16);
    cp_async_commit_group();
    landed += memcmp(&shared->word[4 * me()], &args.a[8 * me()], 16) == 0;
    cp_async_wait_group(0);
    EXPECT(!memcmp(&shared->word[4 * me()], &args.a[8 * me()], 16), "lane %d: not landed", me());
}

static void test_landing(void) {
    const struct test_launch launch = {peek, 1, 1, 32, sizeof(struct smem)};
    static const int want[] = {0, 32, 0};
    for (int schedule = SCHEDULE_TIME; schedule <= SCHEDULE_LATE; ++schedule) {
        test_open((enum sim_schedule)schedule, 0, 4);
        landed = 0;
        test_run(&launch, NULL);
        EXPECT(landed == want[schedule], "%s: %d copies had landed", schedule_names[schedule],
               landed);
    }
}

/* ---- residency ---- */

static int resident_now, resident_most, sm_of_cta[16];

KERNEL(64, 2) count_residents(KERNEL_ARGS args) {
    (void)args;
    if (me() == 0 && ++resident_now > resident_most) resident_most = resident_now;
    for (int i = 0; i < 100; ++i)
        __syncthreads();
    if (me() == 0) --resident_now;
}

static int most_resident(size_t smem_bytes, int sms) {
    test_open(SCHEDULE_TIME, 0, sms);
    resident_now = resident_most = 0;
    test_run(&(struct test_launch){count_residents, 40, 1, 64, smem_bytes}, NULL);
    const struct gemm_launch launch = {.kernel = (const void *)(uintptr_t)count_residents,
                                       .grid = 40,
                                       .cluster = 1,
                                       .threads = 64,
                                       .smem_bytes = smem_bytes};
    EXPECT(gemm_resident_clusters(&launch) == resident_most, "%zu bytes: %d CTAs promised, %d seen",
           smem_bytes, gemm_resident_clusters(&launch), resident_most);
    return resident_most;
}

KERNEL(64, 2) cluster_places(KERNEL_ARGS args) {
    (void)args;
    const unsigned first = blockIdx.x - cluster_rank();
    sm_of_cta[blockIdx.x] = sim_thread()->cta->sm;
    EXPECT(cluster_rank() == blockIdx.x % 4, "CTA %u has rank %u", blockIdx.x, cluster_rank());
    cluster_sync();
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < a; ++b)
            EXPECT(sm_of_cta[first + a] != sm_of_cta[first + b], "ranks %d and %d share an SM", a,
                   b);
    cluster_sync();
}

static void test_residency(void) {
    /* The launch bounds ask for two; 113 KiB and the 1 KiB of the system each is the most that two
     * can have. */
    EXPECT(most_resident(0, 4) == 8, "%d", resident_most);
    EXPECT(most_resident(113 << 10, 4) == 8, "%d", resident_most);
    EXPECT(most_resident((113 << 10) + 16, 4) == 4, "%d", resident_most);
    EXPECT(most_resident(0, 1) == 2, "%d", resident_most);
    for (int schedule = SCHEDULE_TIME; schedule <= SCHEDULE_RANDOM; ++schedule) {
        test_open((enum sim_schedule)schedule, 5, 4);
        EXPECT(test_run(&(struct test_launch){cluster_places, 16, 4, 64, 0}, NULL) == RUN_OK, "%s",
               schedule_names[schedule]);
    }
}

static void test_refusals(void) {
    static const struct test_launch refused[] = {
        {coordinates, 4, 4, 64, 0},              /* a cluster of 4 on 2 SMs */
        {coordinates, 3, 2, 64, 0},              /* no whole number of clusters */
        {coordinates, 0, 1, 64, 0},              /* no CTA */
        {coordinates, 1, 1, 2048, 0},            /* too many threads */
        {coordinates, 1, 1, 64, 227 * 1024 + 1}, /* too much shared memory */
    };
    test_open(SCHEDULE_TIME, 0, 2);
    for (unsigned i = 0; i < sizeof refused / sizeof refused[0]; ++i)
        EXPECT(test_run(&refused[i], NULL) == RUN_FAILED, "launch %u was not refused", i);
}

/* ---- time ---- */

static void test_time(void) {
    double once, twice, again;
    test_open(SCHEDULE_TIME, 0, 1);
    test_run(&(struct test_launch){count_residents, 2, 1, 64, 0}, &once);
    test_run(&(struct test_launch){count_residents, 2, 1, 64, 0}, &again);
    test_run(&(struct test_launch){count_residents, 4, 1, 64, 0}, &twice);
    EXPECT(once == again, "two runs of the same: %g and %g cycles", once, again);
    EXPECT(once > 100 * 15 && once < 100 * 200, "100 barriers in %g cycles", once);
    EXPECT(twice > 1.9 * once && twice < 2.1 * once, "two waves: %g, one: %g", twice, once);
    test_open(SCHEDULE_LATE, 0, 1);
    test_run(&(struct test_launch){count_residents, 2, 1, 64, 0}, &once);
    EXPECT(once < 0, "cycles under another schedule: %g", once);
}

/* ---- many runs in one process, abandoned ones among them ---- */

KERNEL(64, 1) hangs(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    cp_async_16(&shared->word[4 * (me() % 32)], args.a, 16);
    cp_async_commit_group();
    if (me() < 32) __syncthreads();
}

static void test_endurance(void) {
    for (int i = 0; i < 2000; ++i) {
        test_open((enum sim_schedule)(i % 4), (uint64_t)i, 2);
        if (i % 10) {
            EXPECT(test_run(&(struct test_launch){coordinates, GRID, 1, THREADS, 0}, NULL) ==
                       RUN_OK,
                   "run %d", i);
            continue;
        }
        hazards_quiet(true);
        EXPECT(test_run(&(struct test_launch){hangs, 2, 1, 64, 1024}, NULL) == RUN_HAZARD, "run %d",
               i);
        hazards_quiet(false);
    }
}

int main(void) {
    test_coordinates();
    test_order();
    test_landing();
    test_residency();
    test_refusals();
    test_time();
    test_endurance();
    backend_close();
    return expect_result();
}
