/*
 * fuzz_umma.c: random products by tcgen05.mma, of one CTA and of pairs, against a plain product:
 * shapes, swizzles, columns of tensor memory, with and without accumulation, loads of all widths.
 * Elements are small whole numbers, so that every sum is exact.
 */
#include <stdlib.h>

#include "blackwell/tcgen05.h"
#include "hopper/cluster.h"
#include "hopper/tma.h"
#include "sim/models/element_values.h"
#include "tests/sim/sim_kernels.h"
#include "tests/support/fuzz.h"

enum { LAUNCHES = 120, BM = 128, MOST_N = 256, MOST_K = 128, STEP_K = 16, PAIR = 2 };
enum { EPILOGUE = 128, THREADS = EPILOGUE + 32, TILE_BYTES = MOST_N * MOST_K * 2 };

struct smem {
    unsigned char a[TILE_BYTES / 2], b[TILE_BYTES] __attribute__((aligned(1024)));
    mbarrier_t full;
    uint32_t tensor;
};

static struct product {
    int group, n, k, column, width, columns;
    enum gemm_swizzle swizzle;
    bool twice; /* D += A * B once more */
} p;
static int8_t a[PAIR * BM][MOST_K], b[MOST_N][MOST_K];
static float d[PAIR * BM][MOST_N];

static uint32_t width_of(enum gemm_swizzle swizzle) { return swizzle ? 16u << swizzle : 16; }

/* Byte offset of element (row, k) of a K-major tile of `rows` rows. Without swizzle: core matrices
 * of eight rows and eight k, below each other, then along k. */
static uint32_t offset_of(uint32_t rows, uint32_t row, uint32_t k) {
    const uint32_t width = width_of(p.swizzle), chunks = width / 16;
    if (!p.swizzle) return k / 8 * (rows * 16) + row * 16 + k % 8 * 2;
    const uint32_t offset = k * 2 / width * (rows * width) + row * width + k * 2 % width;
    const uint32_t chunk = offset % width / 16;
    return offset - chunk * 16 + (chunk ^ (offset / 128 % chunks)) * 16;
}

/* The descriptor of 16 elements of k from 16 * step on. */
static uint64_t describe(uint32_t rows, const unsigned char *tile, uint32_t step) {
    const uint32_t width = width_of(p.swizzle), start = shared_address(tile);
    if (!p.swizzle)
        return tcgen05_descriptor(start + step * 2 * rows * 16, rows * 16, 128, p.swizzle);
    return tcgen05_descriptor(start + step * 32 / width * (rows * width) + step * 32 % width, 0,
                              8 * width, p.swizzle);
}

/* Each thread writes words of 4 bytes: two k of a row. */
static void fill(unsigned char *tile, int rows, int8_t (*numbers)[MOST_K]) {
    for (int i = (int)threadIdx.x; i < rows * p.k / 2; i += THREADS) {
        const int row = i / (p.k / 2), k = i % (p.k / 2) * 2;
        const uint32_t word = (uint32_t)element_nearest((float)numbers[row][k], false) |
                              (uint32_t)element_nearest((float)numbers[row][k + 1], false) << 16;
        st_shared_b32(tile + offset_of((uint32_t)rows, (uint32_t)row, (uint32_t)k), word);
    }
}

static void load(uint32_t address, float *values) {
    switch (p.width) {
    case 8:
        tcgen05_load(8, values, address);
        break;
    case 16:
        tcgen05_load(16, values, address);
        break;
    case 32:
        tcgen05_load(32, values, address);
        break;
    case 64:
        tcgen05_load(64, values, address);
        break;
    default:
        tcgen05_load(128, values, address);
        break;
    }
    tcgen05_wait_load();
}

#define MULTIPLY(name, group)                                                                      \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        (void)args;                                                                                \
        const int rank = (int)cluster_rank(), half = p.n / group;                                  \
        fill(shared->a, BM, a + rank * BM);                                                        \
        fill(shared->b, half, b + rank * half);                                                    \
        if (threadIdx.x == 0) mbarrier_init(&shared->full, 1);                                     \
        fence_mbarrier_init();                                                                     \
        fence_proxy_async();                                                                       \
        cluster_sync();                                                                            \
        if (threadIdx.x >= EPILOGUE) tcgen05_alloc(group, &shared->tensor, p.columns);             \
        cluster_sync();                                                                            \
        const uint32_t at = ld_shared_b32(&shared->tensor) + (uint32_t)p.column;                   \
        if (threadIdx.x == EPILOGUE && rank == 0) {                                                \
            for (int step = 0; step < (p.twice ? 2 : 1) * p.k / STEP_K; ++step)                    \
                tcgen05_mma(group, at, describe(BM, shared->a, step % (p.k / STEP_K)),             \
                            describe(half, shared->b, step % (p.k / STEP_K)),                      \
                            tcgen05_instruction_of(BM *group, p.n, 0), step > 0);                  \
            tcgen05_commit_multicast(group, &shared->full, (1 << group) - 1);                      \
        }                                                                                          \
        mbarrier_wait(&shared->full, 0);                                                           \
        tcgen05_fence_after();                                                                     \
        if (threadIdx.x < EPILOGUE)                                                                \
            for (int column = 0; column < p.n; column += p.width) {                                \
                float values[128];                                                                 \
                load(at + (threadIdx.x / 32 * 32 << 16) + (uint32_t)column, values);               \
                memcpy(&d[rank * BM + (int)threadIdx.x][column], values,                           \
                       (size_t)p.width * sizeof *values);                                          \
            }                                                                                      \
        tcgen05_fence_before();                                                                    \
        cluster_sync();                                                                            \
        if (threadIdx.x >= EPILOGUE)                                                               \
            tcgen05_dealloc(group, ld_shared_b32(&shared->tensor), p.columns);                     \
    }
MULTIPLY(multiply_one, 1)
MULTIPLY(multiply_pair, 2)

static void draw(void) {
    p.group = fuzz_between(1, 2);
    p.n = 8 * p.group * fuzz_between(1, MOST_N / 8 / p.group);
    p.swizzle = (enum gemm_swizzle)fuzz_between(0, 3);
    p.k = 16 * fuzz_between(1, MOST_K / 16);
    if (p.swizzle) p.k = 64 * fuzz_between(1, MOST_K / 64);
    p.twice = fuzz_once_in(3);
    /* The width divides n, and a half of a tile keeps whole patterns of eight rows. */
    p.width = 8 << fuzz_between(0, 4);
    while (p.n % p.width)
        p.width /= 2;
    p.columns = 512 >> fuzz_between(0, 2);
    while (p.columns < p.n)
        p.columns *= 2;
    p.column = fuzz_between(0, (p.columns - p.n) / 8) * 8;
    for (int k = 0; k < MOST_K; ++k) {
        for (int i = 0; i < PAIR * BM; ++i)
            a[i][k] = (int8_t)fuzz_between(-4, 4);
        for (int i = 0; i < MOST_N; ++i)
            b[i][k] = (int8_t)fuzz_between(-4, 4);
    }
}

static int wrong_sums(void) {
    int wrong = 0;
    for (int i = 0; i < p.group * BM; ++i)
        for (int j = 0; j < p.n; ++j) {
            int sum = 0;
            for (int k = 0; k < p.k; ++k)
                sum += a[i][k] * b[j][k];
            wrong += d[i][j] != (float)(p.twice ? 2 * sum : sum);
        }
    return wrong;
}

int main(void) {
    test_machine = MACHINE_BLACKWELL;
    for (int i = 0; i < LAUNCHES; ++i) {
        draw();
        const struct test_launch launch = {p.group == 1 ? multiply_one : multiply_pair, p.group,
                                           p.group, THREADS, sizeof(struct smem)};
        test_open((enum sim_schedule)(i % SIM_SCHEDULES), (uint64_t)i, 2);
        memset(d, 0, sizeof d);
        const enum run_status status = test_run(&launch, NULL);
        const int wrong = wrong_sums();
        EXPECT(status == RUN_OK && wrong == 0,
               "%d CTAs, n %d, k %d, swizzle %d, column %d of %d, width %d%s: status %d, %d wrong",
               p.group, p.n, p.k, (int)p.swizzle, p.column, p.columns, p.width,
               p.twice ? ", twice" : "", (int)status, wrong);
    }
    backend_close();
    return expect_result();
}
