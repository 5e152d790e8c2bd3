/*
 * rivals.cu: what the kernels of this chapter are timed beside; on the GPU alone.
 *
 * "product" is 08 alone and leaves nothing to be compared, as do the libraries without an
 * activation: what the epilogue adds is the difference. A kernel behind the product rounds twice,
 * and cuBLASLt's GELU is an approximation, so both are held to a wider bound than the chapter's.
 */
#include "rivals.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "activation.h"
#include "fused.h"
#include "gpu/baselines.h"
#include "gpu/cublaslt_call.h"
#include "gpu/cuda_call.h"
#include "gpu/from_kernel.h"

/* ---- a kernel behind the product ---- */

enum { CHUNK = 8, CHUNK_THREADS = 256 }; /* elements of a thread, 16 bytes */

static __device__ float decode(uint16_t bits, bool bf16) {
    return bf16 ? __bfloat162float(__ushort_as_bfloat16(bits))
                : __half2float(__ushort_as_half(bits));
}
static __device__ uint16_t encode(float value, bool bf16) {
    return bf16 ? __bfloat16_as_ushort(__float2bfloat16_rn(value))
                : __half_as_ushort(__float2half_rn(value));
}

/* A row of a matrix of 16 bits in chunks. */
struct matrix {
    uint16_t *memory; /* NULL: there is none */
    int64_t ld;
};

static __device__ void load_chunk(uint16_t chunk[CHUNK], const uint16_t *from) {
    *(uint4 *)chunk = *(const uint4 *)from;
}

/* The elements of a chunk that lie in the matrix. */
static __device__ void store_chunk(uint16_t *to, const uint16_t chunk[CHUNK], int left) {
    if (left >= CHUNK) *(uint4 *)to = *(const uint4 *)chunk;
    else
        for (int i = 0; i < left; ++i) to[i] = chunk[i];
}

/* D = gelu(D + bias + C), a chunk for each thread. */
static __global__ void finish(struct matrix d, struct matrix bias, struct matrix c, int n,
                              bool bf16) {
    const int column = (blockIdx.x * CHUNK_THREADS + threadIdx.x) * CHUNK;
    const int64_t row = blockIdx.y;
    if (column >= n) return;
    __align__(16) uint16_t sum[CHUNK], biases[CHUNK], more[CHUNK];
    load_chunk(sum, &d.memory[row * d.ld + column]);
    load_chunk(biases, &bias.memory[column]);
    if (c.memory) load_chunk(more, &c.memory[row * c.ld + column]);
    UNROLL for (int i = 0; i < CHUNK; ++i) {
        float value = decode(sum[i], bf16) + decode(biases[i], bf16);
        if (c.memory) value += decode(more[i], bf16);
        sum[i] = encode(gelu(value), bf16);
    }
    store_chunk(&d.memory[row * d.ld + column], sum, n - column);
}

/* D = silu(gate) * up, which lie side by side in a row of the product. */
static __global__ void multiply_gates(struct matrix d, struct matrix product, int n, bool bf16) {
    const int column = (blockIdx.x * CHUNK_THREADS + threadIdx.x) * CHUNK;
    const int64_t row = blockIdx.y;
    if (column >= n) return;
    __align__(16) uint16_t gate[CHUNK], up[CHUNK];
    const uint16_t *const gates = &product.memory[row * product.ld + column];
    load_chunk(gate, gates);
    if (n % CHUNK == 0) load_chunk(up, gates + n);
    else
        for (int i = 0; i < CHUNK && column + i < n; ++i) up[i] = gates[n + i];
    UNROLL for (int i = 0; i < CHUNK; ++i)
        gate[i] = encode(silu(decode(gate[i], bf16)) * decode(up[i], bf16), bf16);
    store_chunk(&d.memory[row * d.ld + column], gate, n - column);
}

static struct matrix matrix_of(const struct gemm_problem *p, int matrix) {
    const struct matrix of = {(uint16_t *)p->matrix[matrix].memory, p->matrix[matrix].ld};
    return of;
}

static dim3 chunk_grid(const struct gemm_problem *p) {
    return dim3((unsigned)ceil_div(p->n, CHUNK * CHUNK_THREADS), (unsigned)p->m);
}

/* ---- 08's product ---- */

/* Where a product lies that is no D of the problem: m x 2 n. */
static struct {
    uint16_t *memory;
    size_t bytes;
} scratch;

static bool open_scratch(const struct gemm_problem *p) {
    const size_t bytes = (size_t)p->m * (2 * (size_t)p->n + 16) * sizeof *scratch.memory;
    if (bytes <= scratch.bytes) return true;
    if (scratch.memory) cudaFree(scratch.memory);
    scratch.bytes = 0;
    if (!cuda_ok(cudaMalloc((void **)&scratch.memory, bytes), "allocating a product")) return false;
    scratch.bytes = bytes;
    return true;
}

static enum gemm_status multiply_alone(const struct contender *self, const struct gemm_problem *p,
                                       void *stream) {
    (void)self;
    return from_kernel_launch(p, stream);
}

/* The same product in the scratch memory, with as many times n columns. */
static struct gemm_problem in_scratch(const struct gemm_problem *p, int times) {
    struct gemm_problem product = *p;
    product.n *= times;
    product.ldd = (product.n + 7) / 8 * 8;
    product.d = (element_t *)scratch.memory;
    return product;
}

static enum gemm_status multiply_aside(const struct contender *self, const struct gemm_problem *p,
                                       void *stream) {
    (void)self;
    const struct gemm_problem product = in_scratch(p, 1);
    return from_kernel_launch(&product, stream);
}

/* Gates and values. */
static enum gemm_status multiply_both(const struct contender *self, const struct gemm_problem *p,
                                      void *stream) {
    (void)self;
    const struct gemm_problem product = in_scratch(p, 2);
    return from_kernel_launch(&product, stream);
}

static enum gemm_status launched(void) {
    return cuda_ok(cudaGetLastError(), "launching the kernel behind a product")
               ? GEMM_OK
               : GEMM_LAUNCH_FAILED;
}

static enum gemm_status finish_product(const struct gemm_problem *p, struct matrix c,
                                       void *stream) {
    const struct matrix d = {(uint16_t *)p->d, p->ldd};
    const enum gemm_status status = from_kernel_launch(p, stream);
    if (status != GEMM_OK) return status;
    finish<<<chunk_grid(p), CHUNK_THREADS, 0, (cudaStream_t)stream>>>(
        d, matrix_of(p, BIAS), c, p->n, gpu_state.type == GEMM_BF16);
    return launched();
}

static enum gemm_status multiply_and_finish(const struct contender *self,
                                            const struct gemm_problem *p, void *stream) {
    (void)self;
    const struct matrix none = {NULL, 0};
    return finish_product(p, none, stream);
}

static enum gemm_status multiply_and_finish_with_c(const struct contender *self,
                                                   const struct gemm_problem *p, void *stream) {
    (void)self;
    return finish_product(p, matrix_of(p, C), stream);
}

static enum gemm_status multiply_and_gate(const struct contender *self,
                                          const struct gemm_problem *p, void *stream) {
    (void)self;
    const struct gemm_problem product = in_scratch(p, 2);
    const struct matrix d = {(uint16_t *)p->d, p->ldd};
    const struct matrix both = {(uint16_t *)product.d, product.ldd};
    const enum gemm_status status = from_kernel_launch(&product, stream);
    if (status != GEMM_OK) return status;
    multiply_gates<<<chunk_grid(p), CHUNK_THREADS, 0, (cudaStream_t)stream>>>(
        d, both, p->n, gpu_state.type == GEMM_BF16);
    return launched();
}

/* ---- cuBLASLt ---- */

enum { NONE = CUBLASLT_NO_MATRIX };
static const struct cublaslt_way product_way = {
    "cublaslt-product", RESULT_NONE, true, SCALING_NONE, CUBLASLT_EPILOGUE_DEFAULT, NONE, NONE};
static const struct cublaslt_way bias_way = {
    "cublaslt-bias", RESULT_NONE, true, SCALING_NONE, CUBLASLT_EPILOGUE_BIAS, BIAS, NONE};
static const struct cublaslt_way gelu_way = {
    "cublaslt-gelu-bias", RESULT_ROUNDED, true, SCALING_NONE, CUBLASLT_EPILOGUE_GELU_BIAS,
    BIAS, NONE};
static const struct cublaslt_way c_way = {
    "cublaslt-c", RESULT_NONE, true, SCALING_NONE, CUBLASLT_EPILOGUE_DEFAULT, NONE, C};
static const struct cublaslt_way bias_c_way = {
    "cublaslt-bias-c", RESULT_NONE, true, SCALING_NONE, CUBLASLT_EPILOGUE_BIAS, BIAS, C};
static const struct cublaslt_way gelu_c_way = {
    "cublaslt-gelu-bias-c", RESULT_ROUNDED, true, SCALING_NONE, CUBLASLT_EPILOGUE_GELU_BIAS,
    BIAS, C};

/* ---- the kinds ---- */

int bias_gelu_rivals(const struct gemm_problem *p, int count, uint32_t wanted,
                     struct contender *out, int room) {
    (void)count, (void)room;
    int made = 0;
    out[made++] = contender_of("product", RESULT_NONE, multiply_alone, NULL);
    out[made++] = contender_of("product-then-gelu", RESULT_ROUNDED, multiply_and_finish, NULL);
    made += cublaslt_fastest(&product_way, p, &out[made]);
    made += cublaslt_fastest(&bias_way, p, &out[made]);
    made += cublaslt_fastest(&gelu_way, p, &out[made]);
    return made;
}

int fused_rivals(const struct gemm_problem *p, int count, uint32_t wanted,
                 struct contender *out, int room) {
    (void)count, (void)room;
    int made = 0;
    out[made++] = contender_of("product", RESULT_NONE, multiply_alone, NULL);
    out[made++] =
        contender_of("product-then-gelu-c", RESULT_ROUNDED, multiply_and_finish_with_c, NULL);
    made += cublaslt_fastest(&product_way, p, &out[made]);
    made += cublaslt_fastest(&c_way, p, &out[made]);
    made += cublaslt_fastest(&bias_c_way, p, &out[made]);
    made += cublaslt_fastest(&gelu_c_way, p, &out[made]);
    return made;
}

int swiglu_rivals(const struct gemm_problem *p, int count, uint32_t wanted,
                  struct contender *out, int room) {
    (void)count, (void)room;
    if (!open_scratch(p)) return 0;
    out[0] = contender_of("product", RESULT_NONE, multiply_both, NULL);
    out[1] = contender_of("product-then-swiglu", RESULT_NONE, multiply_and_gate, NULL);
    return 2;
}

int quantize_rivals(const struct gemm_problem *p, int count, uint32_t wanted,
                    struct contender *out, int room) {
    (void)count, (void)room;
    if (!open_scratch(p)) return 0;
    out[0] = contender_of("product", RESULT_NONE, multiply_aside, NULL);
    return 1;
}
