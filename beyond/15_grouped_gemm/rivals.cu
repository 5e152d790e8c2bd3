/*
 * rivals.cu: what the kernels of this chapter are timed beside; on the GPU alone.
 *
 * cuBLAS's own grouped product, and a loop of its single products, are told on the host how many
 * rows each group has. "08", of e4m3 "11", and "cublas-one" compute one product of as many rows,
 * with the first group's weights for all: another problem, so their results are not compared.
 * cuBLAS reads the addresses of the matrices from global memory; they are copied there in every
 * call. cublas.c says why n comes before m. cuBLAS Library: cublasGemmGroupedBatchedEx.
 *
 * rivals_deepgemm.cu adds DeepGEMM's contiguous layout.
 */
#include <cuda_runtime.h>
#include <stdio.h>

#include "grouped.h"
#include "gpu/baselines.h"
#include "gpu/cublas_call.h"
#include "gpu/cuda_call.h"
#include "gpu/from_kernel.h"

extern "C" const struct gemm_kernel kernel_11_fp8_scaling_e4m3;

/* The addresses of the groups' matrices, on their way. Those of a call stay as long as a graph may
 * repeat it, and calls on the same matrices share them. */
struct group_pointers {
    const void *a[GROUPS_MOST], *b[GROUPS_MOST];
    void *d[GROUPS_MOST];
};
enum { CALLS = 64 }; /* on different matrices */

static struct {
    cublasHandle_t handle;
    void *workspace;
    struct group_pointers *host, *device; /* [CALLS] */
    int calls;
} grouped;

/* The product of a group alone. */
static struct gemm_problem group_problem(const struct gemm_problem *p, int group) {
    const int *const first = grouped_of(p)->first_rows + group;
    struct gemm_problem one = *p;
    one.m = first[1] - first[0];
    one.a += (int64_t)first[0] * p->lda;
    one.b += (int64_t)group * p->n * p->ldb;
    one.d += (int64_t)first[0] * p->ldd;
    return one;
}

static enum gemm_status enqueue_loop(const struct contender *self, const struct gemm_problem *p,
                                     void *stream) {
    (void)self;
    for (int g = 0; g < grouped_of(p)->groups; ++g) {
        const struct gemm_problem one = group_problem(p, g);
        if (one.m > 0 &&
            !cublas_multiply(grouped.handle, grouped.workspace, false, &one, (cudaStream_t)stream))
            return GEMM_LAUNCH_FAILED;
    }
    return GEMM_OK;
}

static enum gemm_status enqueue_one(const struct contender *self, const struct gemm_problem *p,
                                    void *stream) {
    (void)self;
    return cublas_multiply(grouped.handle, grouped.workspace, false, p, (cudaStream_t)stream)
               ? GEMM_OK
               : GEMM_LAUNCH_FAILED;
}

static enum gemm_status enqueue_08(const struct contender *self, const struct gemm_problem *p,
                                   void *stream) {
    (void)self;
    return from_kernel_launch(p, stream);
}

static enum gemm_status enqueue_11(const struct contender *self, const struct gemm_problem *p,
                                   void *stream) {
    (void)self;
    struct gemm_problem own = *p;
    own.matrix[MATRIX_SCALES_A] = p->matrix[GROUPED_SCALES + MATRIX_SCALES_A];
    own.matrix[MATRIX_SCALES_B] = p->matrix[GROUPED_SCALES + MATRIX_SCALES_B];
    return kernel_11_fp8_scaling_e4m3.launch(&own, stream);
}

/* The call's pointers, of the `count` groups that are not empty. NULL: too many calls. */
static struct group_pointers *pointers_of(const struct group_pointers *now, int count) {
    const size_t bytes = (size_t)count * sizeof now->d[0];
    for (int i = 0; i < grouped.calls; ++i)
        if (memcmp(grouped.host[i].d, now->d, bytes) == 0 &&
            memcmp(grouped.host[i].a, now->a, bytes) == 0)
            return &grouped.host[i];
    if (grouped.calls == CALLS) return NULL;
    grouped.host[grouped.calls] = *now;
    return &grouped.host[grouped.calls++];
}

static enum gemm_status enqueue_grouped(const struct contender *self, const struct gemm_problem *p,
                                        void *stream) {
    (void)self;
    static const float one = 1.0f, zero = 0.0f;
    cublasOperation_t transposed[GROUPS_MOST], plain[GROUPS_MOST];
    int m[GROUPS_MOST], n[GROUPS_MOST], k[GROUPS_MOST], sizes[GROUPS_MOST], count = 0;
    int lda[GROUPS_MOST], ldb[GROUPS_MOST], ldd[GROUPS_MOST];
    float ones[GROUPS_MOST], zeros[GROUPS_MOST];
    struct group_pointers now = {};
    for (int g = 0; g < grouped_of(p)->groups; ++g) {
        const struct gemm_problem group = group_problem(p, g);
        if (group.m == 0) continue;
        transposed[count] = CUBLAS_OP_T;
        plain[count] = CUBLAS_OP_N;
        m[count] = group.m;
        n[count] = group.n;
        k[count] = group.k;
        lda[count] = (int)group.lda;
        ldb[count] = (int)group.ldb;
        ldd[count] = (int)group.ldd;
        ones[count] = one;
        zeros[count] = zero;
        sizes[count] = 1;
        now.a[count] = group.a;
        now.b[count] = group.b;
        now.d[count++] = group.d;
    }
    const struct group_pointers *const host = pointers_of(&now, count);
    if (!host) {
        fprintf(stderr, "cublas-grouped: more than %d problems\n", CALLS);
        return GEMM_LAUNCH_FAILED;
    }
    struct group_pointers *const device = &grouped.device[host - grouped.host];
    const cudaDataType_t type = gpu_state.type == GEMM_BF16 ? CUDA_R_16BF : CUDA_R_16F;
    const bool done =
        cuda_ok(cudaMemcpyAsync(device, host, sizeof *host, cudaMemcpyHostToDevice,
                                (cudaStream_t)stream),
                "copying the groups' addresses") &&
        cublas_ok(cublasSetStream(grouped.handle, (cudaStream_t)stream), "setting the stream") &&
        cublas_ok(cublasSetWorkspace(grouped.handle, grouped.workspace, LIBRARY_WORKSPACE),
                  "setting the workspace") &&
        cublas_ok(cublasGemmGroupedBatchedEx(grouped.handle, transposed, plain, n, m, k, ones,
                                             device->b, type, ldb, device->a, type, lda, zeros,
                                             device->d, type, ldd, count, sizes,
                                             CUBLAS_COMPUTE_32F),
                  "cublasGemmGroupedBatchedEx");
    return done ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

static bool open_grouped(void) {
    grouped.calls = 0; /* whatever used them is over */
    return grouped.handle ||
           (cublas_ok(cublasCreate(&grouped.handle), "creating a handle") &&
            cuda_ok(cudaMalloc(&grouped.workspace, LIBRARY_WORKSPACE),
                    "allocating cuBLAS's workspace") &&
            cuda_ok(cudaMallocHost((void **)&grouped.host, CALLS * sizeof *grouped.host),
                    "allocating the groups' addresses") &&
            cuda_ok(cudaMalloc((void **)&grouped.device, CALLS * sizeof *grouped.device),
                    "allocating the groups' addresses"));
}

int grouped_rivals(const struct gemm_problem *problems, int count, uint32_t wanted,
                   struct contender *out, int room) {
    (void)room;
    int made = 0;
    const struct grouped_problem *const of = grouped_of(problems);
    if (of->first_rows[of->groups] == 0) return 0; /* there is nothing to compute */
    made += deepgemm_rival(problems, count, &out[made]);
    if (gpu_state.type == GEMM_E4M3) {
        out[made++] = contender_of("11", RESULT_NONE, enqueue_11, NULL);
        return made;
    }
    if (!open_grouped()) return 0;
    out[made++] = contender_of("08", RESULT_NONE, enqueue_08, NULL);
    out[made++] = contender_of("cublas-one", RESULT_NONE, enqueue_one, NULL);
    out[made++] = contender_of("cublas-grouped", RESULT_ROUNDED, enqueue_grouped, NULL);
    out[made++] = contender_of("cublas-loop", RESULT_PRODUCT, enqueue_loop, NULL);
    return made;
}
