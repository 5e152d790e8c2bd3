/*
 * tile_kernels.cu: one tile per CTA, of the types in TENSOR_CORE_A and TENSOR_CORE_B, by wgmma, or
 * with TENSOR_CORE_WARP by mma.sync. The build compiles it once for every pair of types.
 */
#include "hopper/mma.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "tools/arithmetic/tile_kernels.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

enum { M = 64, MOST_N = 256, ROW_BYTES = 128, STEP_BYTES = 32, THREADS = 128 };

struct smem {
    unsigned char a[M * ROW_BYTES], b[MOST_N * ROW_BYTES]; /* [row][k], 128 B swizzle */
};

DEVICE const unsigned char *tile_of(const struct gemm_args *args) {
    return (const unsigned char *)args->a + (size_t)blockIdx.x * (size_t)args->m;
}

/* Where accumulator i of this thread lies in a tile of n columns. */
DEVICE int place(int i, int n) {
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + 8 * (i / 2 % 2);
    return row * n + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
}

#if TENSOR_CORE_WARP

DEVICE uint32_t word(const unsigned char *rows, int row, int row_bytes, int k) {
    return *(const uint32_t *)(rows + row * row_bytes + k * 2);
}

KERNEL(THREADS, 1) multiply(KERNEL_ARGS args) {
    const unsigned char *const a = tile_of(&args);
    const int row_bytes = STEP_BYTES * args.k, n = args.items * 8;
    const unsigned char *const b = a + M * row_bytes;
    const float *const c = (const float *)(b + n * row_bytes);
    float *const d = args.workspace + (size_t)blockIdx.x * M * n;
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, t = threadIdx.x % 4 * 2;
    for (int j = 0; j < args.items; ++j) {
        float acc[4];
        UNROLL for (int i = 0; i < 4; ++i)
            acc[i] = args.splits ? c[place(4 * j + i, n)] : 0.0f;
        for (int step = 0; step < args.k; ++step) {
            const int k = step * 16 + t, column = j * 8 + threadIdx.x % 32 / 4;
            const uint32_t from_a[4] = {
                word(a, row, row_bytes, k), word(a, row + 8, row_bytes, k),
                word(a, row, row_bytes, k + 8), word(a, row + 8, row_bytes, k + 8)};
            const uint32_t from_b[2] = {word(b, column, row_bytes, k),
                                        word(b, column, row_bytes, k + 8)};
            mma_m16n8k16(acc, from_a, from_b);
        }
        UNROLL for (int i = 0; i < 4; ++i) d[place(4 * j + i, n)] = acc[i];
    }
}
#define TENSOR_CORE_ENTRY(n, ...) (const void *)multiply,
#define TENSOR_CORE_CHAIN_ENTRY TENSOR_CORE_ENTRY

#else

#if TENSOR_CORE_BYTE /* elements of one byte: K-major operands only, and no word for it */
#define SHAPE_K "k32"
#define MAJORS ""
#else
#define SHAPE_K "k16"
#define MAJORS ", 0, 0"
#endif
#define MULTIPLY_ISSUE(n, r, a, b, accumulate)                                                     \
    "{ .reg .pred p; setp.ne.b32 p, %" #accumulate ", 0;\n\t"                                      \
    "wgmma.mma_async.sync.aligned.m64n" #n SHAPE_K ".f32." STRING(TENSOR_CORE_A) "."               \
    STRING(TENSOR_CORE_B) " {" ACC_##r(WGMMA_FIRST_NAME, WGMMA_NEXT_NAME) "}, %" #a ", %" #b      \
    ", p, 1, 1" MAJORS "; }"

/* Copies `rows` rows of `chunks` times 16 bytes to where the 128 B swizzle has them. All threads.
 */
DEVICE void fill(unsigned char *shared_rows, const unsigned char *rows, int count, int chunks) {
    for (int i = threadIdx.x; i < count * chunks; i += THREADS) {
        const int row = i / chunks, chunk = i % chunks;
        st_shared_b128(shared_rows + row * ROW_BYTES + ((chunk ^ row % 8) * 16),
                       ld_global_b128(rows + i * 16));
    }
}

#define TENSOR_CORE_ISSUE(n, r, o0, o1, o2, o3, o4, o5)                                            \
    DEVICE void issue_##n(float *acc, uint64_t a, uint64_t b, int accumulate) {                    \
        asm volatile(MULTIPLY_ISSUE(n, r, o0, o1, o2)                                              \
                     : ACC_##r(WGMMA_FIRST_REGISTER, WGMMA_NEXT_REGISTER)                          \
                     : "l"(a), "l"(b), "r"(accumulate));                                           \
    }
WGMMA_SHAPES(TENSOR_CORE_ISSUE)

#define TENSOR_CORE_KERNEL(n, steps)                                                               \
    KERNEL(THREADS, 1) multiply_##n##_##steps(KERNEL_ARGS args) {                                  \
        SHARED_MEMORY(struct smem);                                                                \
        const unsigned char *const from_a = tile_of(&args);                                        \
        const unsigned char *const from_b = from_a + M * STEP_BYTES * steps;                       \
        const float *const c = (const float *)(from_b + n * STEP_BYTES * steps);                   \
        float *const d = args.workspace + (size_t)blockIdx.x * M * n;                              \
        fill(shared->a, from_a, M, STEP_BYTES / 16 * steps);                                       \
        fill(shared->b, from_b, n, STEP_BYTES / 16 * steps);                                       \
        fence_proxy_async(); /* wgmma reads what the threads have stored */                        \
        __syncthreads();                                                                           \
        float acc[n / 2];                                                                          \
        UNROLL for (int i = 0; i < n / 2; ++i) acc[i] = c[place(i, n)];                            \
        const uint64_t a = wgmma_descriptor(shared_address(shared->a), 0, 1024, SWIZZLE_128B);     \
        const uint64_t b = wgmma_descriptor(shared_address(shared->b), 0, 1024, SWIZZLE_128B);     \
        wgmma_fence();                                                                             \
        UNROLL for (int step = 0; step < steps; ++step)                                            \
            issue_##n(acc, a + step * 2, b + step * 2, step > 0 || args.splits);                   \
        wgmma_commit_group();                                                                      \
        wgmma_wait_group(0);                                                                       \
        wgmma_use_registers(acc, n / 2);                                                           \
        UNROLL for (int i = 0; i < n / 2; ++i) d[place(i, n)] = acc[i];                            \
    }
#define TENSOR_CORE_ONE(n, ...) TENSOR_CORE_KERNEL(n, 1)
#define TENSOR_CORE_CHAIN(n, ...) TENSOR_CORE_KERNEL(n, 4)
WGMMA_SHAPES(TENSOR_CORE_ONE)
WGMMA_SHAPES(TENSOR_CORE_CHAIN)
#define TENSOR_CORE_ENTRY(n, ...) (const void *)multiply_##n##_1,
#define TENSOR_CORE_CHAIN_ENTRY(n, ...) (const void *)multiply_##n##_4,

#endif

const struct tensor_core PASTE(tensor_core_, TENSOR_CORE_NAME) = {
    {WGMMA_SHAPES(TENSOR_CORE_ENTRY)},
    {WGMMA_SHAPES(TENSOR_CORE_CHAIN_ENTRY)},
    sizeof(struct smem)};
