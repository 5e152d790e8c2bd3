/*
 * sim_umma_timing.c RECORD: what the timing model charges for tcgen05.mma against measurements of a
 * B200 that others have published: the time from one to the next of all shapes and formats, and in
 * a kernel, from the issue to the end of the wait.
 */
#include <math.h>
#include <stdio.h>

#include "blackwell/tcgen05.h"
#include "hopper/cluster.h"
#include "hopper/tma.h"
#include "sim/cost/timing_async.h"
#include "tests/sim/sim_kernels.h"

enum { FORMATS = 6, WITHIN_ONE_PERCENT = 222, ROWS = 264, THREADS = 64, COLUMNS = 256 };

struct smem {
    element_t operand[256 * 64];
    mbarrier_t full;
    uint32_t tensor;
};

static int n;
static int count; /* multiplications */

/* `group` CTAs, 128 rows each: one thread issues `count` of them. */
#define CHAIN(name, group)                                                                         \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        (void)args;                                                                                \
        const struct b128 zeros = {{0}};                                                           \
        for (unsigned i = threadIdx.x; i < sizeof shared->operand / 16; i += THREADS)              \
            st_shared_b128(&shared->operand[8 * i], zeros);                                        \
        if (threadIdx.x == 0) mbarrier_init(&shared->full, 1);                                     \
        fence_mbarrier_init();                                                                     \
        fence_proxy_async();                                                                       \
        cluster_sync();                                                                            \
        if (threadIdx.x >= 32) tcgen05_alloc(group, &shared->tensor, COLUMNS);                     \
        cluster_sync();                                                                            \
        const uint64_t tile =                                                                      \
            tcgen05_descriptor(shared_address(shared->operand), 0, 1024, SWIZZLE_128B);            \
        if (threadIdx.x == 0 && cluster_rank() == 0) {                                             \
            const uint32_t d = ld_shared_b32(&shared->tensor);                                     \
            for (int i = 0; i < count; ++i)                                                        \
                tcgen05_mma(group, d, tile, tile, tcgen05_instruction_of(128 * group, n, 0),       \
                            i > 0);                                                                \
            tcgen05_commit_multicast(group, &shared->full, (1 << group) - 1);                      \
        }                                                                                          \
        mbarrier_wait(&shared->full, 0);                                                           \
        cluster_sync();                                                                            \
        if (threadIdx.x >= 32) tcgen05_dealloc(group, ld_shared_b32(&shared->tensor), COLUMNS);    \
    }
CHAIN(one, 1)
CHAIN(two, 2)

static double cycles_of(int group, int multiplications) {
    const struct test_launch launch = {group == 1 ? one : two, group, group, THREADS,
                                       sizeof(struct smem)};
    double cycles = -1;
    count = multiplications;
    test_open(SCHEDULE_TIME, 1, group);
    EXPECT(test_run(&launch, &cycles) == RUN_OK, "group %d, n %d", group, n);
    return cycles;
}

/* In a kernel. What comes besides the latency, launch and allocation, drops out: of another n. */
static void check_kernel(int group, int columns, double interval, double latency,
                         double *first_latency, double *first_cycles) {
    n = columns;
    const double single = cycles_of(group, 1),
                 each = (cycles_of(group, 48) - cycles_of(group, 16)) / 32;
    EXPECT(fabs(each - interval) / interval < 0.02 || columns < 112,
           "group %d, n %d: %g cycles, measured were %g", group, n, each, interval);
    if (*first_cycles > 0)
        EXPECT(fabs(single - *first_cycles - (latency - *first_latency)) < 20,
               "group %d, n %d: the latency grows by %g, measured was %g", group, n,
               single - *first_cycles, latency - *first_latency);
    *first_latency = latency;
    *first_cycles = single;
}

int main(int argc, char **argv) {
    FILE *const record = argc == 2 ? fopen(argv[1], "r") : NULL;
    char line[256], from[3], cell[FORMATS][2][16];
    int group, m, rows = 0, close = 0;
    double sum = 0, worst = 0, first_latency[3] = {0}, first_cycles[3] = {0};
    test_machine = MACHINE_BLACKWELL;
    if (!record) return 2;
    while (fgets(line, sizeof line, record)) {
        if (*line == '#') continue;
        const int read = sscanf(
            line, "%2s %d %d %d | %15s %15s %15s %15s %15s %15s %15s %15s %15s %15s %15s %15s",
            from, &group, &m, &n, cell[0][0], cell[0][1], cell[1][0], cell[1][1], cell[2][0],
            cell[2][1], cell[3][0], cell[3][1], cell[4][0], cell[4][1], cell[5][0], cell[5][1]);
        EXPECT(read == 4 + 2 * FORMATS, "what is %s", line);
        const bool in_shared = *from == 'S';
        for (int i = 0; i < FORMATS && read == 4 + 2 * FORMATS; ++i) {
            if (*cell[i][0] == '-') continue;
            const double interval = atof(cell[i][0]);
            const double error =
                fabs((double)umma_cycles(m, n, group, in_shared) - interval) / interval;
            ++rows;
            sum += error;
            close += error <= 0.01;
            if (error > worst) worst = error;
        }
        if (in_shared && m == 128 * group)
            check_kernel(group, n, atof(cell[0][0]), atof(cell[0][1]), &first_latency[group],
                         &first_cycles[group]);
    }
    fclose(record);
    EXPECT(rows == ROWS, "%d rows, expected %d", rows, ROWS);
    EXPECT(close == WITHIN_ONE_PERCENT && sum / rows < 0.01 && worst < 0.115,
           "%d of %d within 1 %%, mean error %.2f %%, worst %.1f %%", close, rows, 100 * sum / rows,
           100 * worst);
    backend_close();
    return expect_result();
}
