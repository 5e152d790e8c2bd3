/*
 * rivals.cu: what the kernels of this chapter are timed beside; on the GPU alone.
 *
 * "product" is 08 alone and leaves nothing to be compared, as do the libraries without an
 * activation: what the epilogue adds is the difference. A kernel behind the product rounds twice,
 * and cuBLASLt's GELU is an approximation, so both are held to a wider bound than the chapter's.
 */
#include "rivals.h"

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdio.h>

#include "activation.h"
#include "fused.h"
#include "gpu/baselines.h"
#include "gpu/cublaslt_algorithm.h"
#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"

extern "C" {
extern const struct gemm_kernel kernel_08_persistent_pingpong_fp16;
extern const struct gemm_kernel kernel_08_persistent_pingpong_bf16;
}

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

static enum gemm_status multiply(const struct gemm_problem *p, void *stream) {
    const struct gemm_kernel *const kernel = gpu_state.type == GEMM_BF16
                                                 ? &kernel_08_persistent_pingpong_bf16
                                                 : &kernel_08_persistent_pingpong_fp16;
    return kernel->launch(p, stream);
}

static enum gemm_status multiply_alone(const struct contender *self, const struct gemm_problem *p,
                                       void *stream) {
    (void)self;
    return multiply(p, stream);
}

/* The same product in the scratch memory, n columns or 2 n; `twice` is its address. */
static const int once = 1, twice = 2;
static struct gemm_problem in_scratch(const struct gemm_problem *p, int times) {
    struct gemm_problem product = *p;
    product.n *= times;
    product.ldd = (product.n + 7) / 8 * 8;
    product.d = (element_t *)scratch.memory;
    return product;
}

static enum gemm_status multiply_aside(const struct contender *self, const struct gemm_problem *p,
                                       void *stream) {
    const struct gemm_problem product = in_scratch(p, *(const int *)self->state);
    return multiply(&product, stream);
}

static enum gemm_status launched(void) {
    return cuda_ok(cudaGetLastError(), "launching the kernel behind a product")
               ? GEMM_OK
               : GEMM_LAUNCH_FAILED;
}

static enum gemm_status multiply_and_finish(const struct contender *self,
                                            const struct gemm_problem *p, void *stream) {
    const bool with_c = self->state != NULL;
    const struct matrix d = {(uint16_t *)p->d, p->ldd}, none = {NULL, 0};
    const enum gemm_status status = multiply(p, stream);
    if (status != GEMM_OK) return status;
    finish<<<chunk_grid(p), CHUNK_THREADS, 0, (cudaStream_t)stream>>>(
        d, matrix_of(p, BIAS), with_c ? matrix_of(p, C) : none, p->n, gpu_state.type == GEMM_BF16);
    return launched();
}

static enum gemm_status multiply_and_gate(const struct contender *self,
                                          const struct gemm_problem *p, void *stream) {
    (void)self;
    const struct gemm_problem product = in_scratch(p, 2);
    const struct matrix d = {(uint16_t *)p->d, p->ldd};
    const struct matrix both = {(uint16_t *)product.d, product.ldd};
    const enum gemm_status status = multiply(&product, stream);
    if (status != GEMM_OK) return status;
    multiply_gates<<<chunk_grid(p), CHUNK_THREADS, 0, (cudaStream_t)stream>>>(
        d, both, p->n, gpu_state.type == GEMM_BF16);
    return launched();
}

/* ---- cuBLASLt, whose matrices are ours turned around: a bias has an element for each row ---- */

struct way {
    const char *name;
    cublasLtEpilogue_t epilogue;
    bool c; /* with beta = 1 */
    enum contender_result result;
};
static const struct way product_way = {"cublaslt-product", CUBLASLT_EPILOGUE_DEFAULT, false,
                                       RESULT_NONE};
static const struct way bias_way = {"cublaslt-bias", CUBLASLT_EPILOGUE_BIAS, false, RESULT_NONE};
static const struct way gelu_way = {"cublaslt-gelu-bias", CUBLASLT_EPILOGUE_GELU_BIAS, false,
                                    RESULT_ROUNDED};
static const struct way c_way = {"cublaslt-c", CUBLASLT_EPILOGUE_DEFAULT, true, RESULT_NONE};
static const struct way bias_c_way = {"cublaslt-bias-c", CUBLASLT_EPILOGUE_BIAS, true,
                                      RESULT_NONE};
static const struct way gelu_c_way = {"cublaslt-gelu-bias-c", CUBLASLT_EPILOGUE_GELU_BIAS, true,
                                      RESULT_ROUNDED};

struct setup {
    struct way way;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, c, d;
    cublasLtMatmulAlgo_t algorithm;
};

static struct {
    cublasLtHandle_t handle;
    void *workspace;
    struct setup setups[8];
    int count;
} lt;

static bool lt_ok(cublasStatus_t status, const char *attempt) {
    if (status == CUBLAS_STATUS_SUCCESS) return true;
    fprintf(stderr, "cuBLASLt: %s: %s\n", attempt, cublasLtGetStatusString(status));
    return false;
}

static bool open_library(void) {
    return lt.handle ||
           (lt_ok(cublasLtCreate(&lt.handle), "creating a handle") &&
            cuda_ok(cudaMalloc(&lt.workspace, LIBRARY_WORKSPACE), "allocating a workspace"));
}

static bool set(struct setup *s, cublasLtMatmulDescAttributes_t attribute, const void *value,
                size_t bytes) {
    return lt_ok(cublasLtMatmulDescSetAttribute(s->operation, attribute, value, bytes),
                 "describing the operation");
}

static bool set_bias(struct setup *s, const struct gemm_problem *p) {
    void *const bias = p->matrix[BIAS].memory;
    return s->way.epilogue == CUBLASLT_EPILOGUE_DEFAULT ||
           set(s, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
}

static enum gemm_status call_library(const struct contender *self, const struct gemm_problem *p,
                                     void *stream) {
    struct setup *const s = (struct setup *)self->state;
    const float one = 1, zero = 0;
    const void *const c = s->way.c ? p->matrix[C].memory : p->d;
    return set_bias(s, p) &&
                   lt_ok(cublasLtMatmul(lt.handle, s->operation, &one, p->b, s->b, p->a, s->a,
                                        s->way.c ? &one : &zero, c, s->c, p->d, s->d, &s->algorithm,
                                        lt.workspace, LIBRARY_WORKSPACE, (cudaStream_t)stream),
                         "cublasLtMatmul")
               ? GEMM_OK
               : GEMM_LAUNCH_FAILED;
}

static void destroy(struct setup *s) {
    if (s->operation) cublasLtMatmulDescDestroy(s->operation);
    if (s->a) cublasLtMatrixLayoutDestroy(s->a);
    if (s->b) cublasLtMatrixLayoutDestroy(s->b);
    if (s->c) cublasLtMatrixLayoutDestroy(s->c);
    if (s->d) cublasLtMatrixLayoutDestroy(s->d);
    memset(s, 0, sizeof *s);
}

static bool describe(struct setup *s, const struct gemm_problem *p) {
    const cudaDataType_t type = gpu_state.type == GEMM_BF16 ? CUDA_R_16BF : CUDA_R_16F;
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const uint64_t m = (uint64_t)p->m, n = (uint64_t)p->n, k = (uint64_t)p->k;
    const int64_t ldc = s->way.c ? p->matrix[C].ld : p->ldd;
    return lt_ok(cublasLtMatmulDescCreate(&s->operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                 "describing the operation") &&
           set(s, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed) &&
           set(s, CUBLASLT_MATMUL_DESC_EPILOGUE, &s->way.epilogue, sizeof s->way.epilogue) &&
           set_bias(s, p) &&
           lt_ok(cublasLtMatrixLayoutCreate(&s->b, type, k, n, p->ldb), "describing B") &&
           lt_ok(cublasLtMatrixLayoutCreate(&s->a, type, k, m, p->lda), "describing A") &&
           lt_ok(cublasLtMatrixLayoutCreate(&s->c, type, n, m, ldc), "describing C") &&
           lt_ok(cublasLtMatrixLayoutCreate(&s->d, type, n, m, p->ldd), "describing D");
}

static int propose(struct setup *s, cublasLtMatmulHeuristicResult_t found[MOST_CANDIDATES]) {
    cublasLtMatmulPreference_t preference;
    const size_t workspace = LIBRARY_WORKSPACE;
    int count = 0;
    if (!lt_ok(cublasLtMatmulPreferenceCreate(&preference), "creating a preference")) return 0;
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &workspace, sizeof workspace);
    cublasLtMatmulAlgoGetHeuristic(lt.handle, s->operation, s->b, s->a, s->c, s->d, preference,
                                   MOST_CANDIDATES, found, &count);
    cublasLtMatmulPreferenceDestroy(preference);
    return count;
}

/* The fastest of what the library proposes. Returns 1, or 0 if it has nothing for the problem. */
static int add_library(const struct way *way, const struct gemm_problem *p, struct contender *out) {
    struct setup *const s = &lt.setups[lt.count++ % 8];
    struct setup tried[MOST_CANDIDATES];
    struct contender candidates[MOST_CANDIDATES];
    cublasLtMatmulHeuristicResult_t found[MOST_CANDIDATES];
    if (!open_library()) return 0;
    destroy(s);
    s->way = *way;
    if (!describe(s, p)) return 0;
    const int count = propose(s, found);
    for (int i = 0; i < count; ++i) {
        tried[i] = *s;
        tried[i].algorithm = found[i].algo;
        memset(&candidates[i], 0, sizeof candidates[i]);
        candidates[i].name = way->name;
        candidates[i].result = way->result;
        candidates[i].enqueue = call_library;
        candidates[i].state = &tried[i];
    }
    const int winner = count ? fastest_candidate(candidates, count, p) : -1;
    if (winner < 0) {
        fprintf(stderr, "cuBLASLt: no algorithm for %d x %d x %d (%s)\n", p->m, p->n, p->k,
                way->name);
        return 0;
    }
    s->algorithm = found[winner].algo;
    *out = candidates[winner];
    out->state = s;
    out->algorithm = cublaslt_algorithm(&s->algorithm);
    return 1;
}

/* ---- the kinds ---- */

typedef enum gemm_status enqueue_t(const struct contender *self, const struct gemm_problem *p,
                                   void *stream);

static struct contender contender_of(const char *name, enqueue_t *enqueue,
                                     enum contender_result result, const void *state,
                                     double flops) {
    struct contender made;
    memset(&made, 0, sizeof made);
    made.name = name;
    made.enqueue = enqueue;
    made.result = result;
    made.state = (void *)(uintptr_t)state;
    made.flops = flops;
    return made;
}

int bias_gelu_rivals(const struct gemm_problem *p, int count, struct contender *out, int room) {
    (void)count, (void)room;
    int made = 0;
    out[made++] = contender_of("product", multiply_alone, RESULT_NONE, NULL, 0);
    out[made++] = contender_of("product-then-gelu", multiply_and_finish, RESULT_ROUNDED, NULL, 0);
    made += add_library(&product_way, p, &out[made]);
    made += add_library(&bias_way, p, &out[made]);
    made += add_library(&gelu_way, p, &out[made]);
    return made;
}

int fused_rivals(const struct gemm_problem *p, int count, struct contender *out, int room) {
    (void)count, (void)room;
    int made = 0;
    out[made++] = contender_of("product", multiply_alone, RESULT_NONE, NULL, 0);
    out[made++] =
        contender_of("product-then-gelu-c", multiply_and_finish, RESULT_ROUNDED, &once, 0);
    made += add_library(&product_way, p, &out[made]);
    made += add_library(&c_way, p, &out[made]);
    made += add_library(&bias_c_way, p, &out[made]);
    made += add_library(&gelu_c_way, p, &out[made]);
    return made;
}

int swiglu_rivals(const struct gemm_problem *p, int count, struct contender *out, int room) {
    (void)count, (void)room;
    const double flops = 4.0 * p->m * p->n * p->k;
    if (!open_scratch(p)) return 0;
    out[0] = contender_of("product", multiply_aside, RESULT_NONE, &twice, flops);
    out[1] = contender_of("product-then-swiglu", multiply_and_gate, RESULT_NONE, NULL, flops);
    return 2;
}

int quantize_rivals(const struct gemm_problem *p, int count, struct contender *out, int room) {
    (void)count, (void)room;
    if (!open_scratch(p)) return 0;
    out[0] = contender_of("product", multiply_aside, RESULT_NONE, &once, 0);
    return 1;
}
