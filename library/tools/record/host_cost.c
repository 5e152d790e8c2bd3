/*
 * host_cost.c: what a call costs the host: hopper_gemm, cuBLAS, cuBLASLt, and a launch
 * alone.
 *
 *     build/gpu/host_cost
 *
 * A batch is a number of calls in a row, fewer than the runtime queues without waiting. Its time on
 * the host, divided by the number of calls, is one sample. Between batches the program waits for
 * the GPU. The contenders take turns, round after round; the table has medians, smallest and
 * largest samples, in microseconds. All use one stream, and none has its stream or workspace set
 * anew.
 *
 * Exit codes: 0, or 1 after a failed call, 3 no device.
 */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gemm.h"
#include "gpu/cuda_call.h"
#include "hopper_gemm.h"
#include "tools/record/empty_kernels.h"

enum { SETS = 8, BATCH = 100, ROUNDS = 15, WORKSPACE = 64 << 20 };

static const struct shape {
    int m, n, k;
    const char *what;
} shapes[] = {
    {64, 4096, 4096, "few rows"},
    {1024, 1024, 1024, "one wave or less"},
    {4096, 4096, 4096, "several waves"},
    {256, 256, 65536, "a long k, with a workspace"},
};

static struct {
    const struct shape *shape;
    char *a, *b, *d; /* SETS matrices each */
    size_t a_bytes, b_bytes, d_bytes;
    void *workspace;
    cudaStream_t stream;
    struct hopper_gemm_plan *plan;
    cublasHandle_t cublas;
    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a_layout, b_layout, d_layout;
    cublasLtMatmulAlgo_t algorithm;
} now;

static void must(bool done, const char *attempt) {
    if (done) return;
    fprintf(stderr, "host_cost: %s failed\n", attempt);
    exit(1);
}

static void *on_device(size_t bytes) {
    void *memory = NULL;
    must(cudaMalloc(&memory, bytes) == cudaSuccess, "allocating device memory");
    must(cudaMemset(memory, 0, bytes) == cudaSuccess, "clearing device memory");
    return memory;
}

/* ---- the contenders: each enqueues one call, on the set of matrices with this number ---- */

static char *a_of(int set) { return now.a + (size_t)set * now.a_bytes; }
static char *b_of(int set) { return now.b + (size_t)set * now.b_bytes; }
static char *d_of(int set) { return now.d + (size_t)set * now.d_bytes; }

static bool launch_empty(const void *kernel, void *parameter) {
    const cudaLaunchConfig_t config = {
        .gridDim = {1, 1, 1}, .blockDim = {32, 1, 1}, .stream = now.stream};
    void *parameters[] = {parameter};
    return cudaLaunchKernelExC(&config, kernel, parameters) == cudaSuccess;
}

static bool launch_int(int set) { return launch_empty(empty_kernel_int(), &set); }

static bool launch_args(int set) {
    static struct gemm_args args;
    args.m = set;
    return launch_empty(empty_kernel_args(), &args);
}

/* The same without the runtime, which finds the kernel of a context by the function's address. */
static bool launch_by_driver(int set) {
    static CUresult (*launch)(const CUlaunchConfig *, CUfunction, void **, void **);
    static cudaKernel_t kernel;
    static struct gemm_args args;
    args.m = set;
    if (!launch) {
        must(cudaGetKernel(&kernel, empty_kernel_args()) == cudaSuccess, "finding a kernel");
        must((launch = cuda_driver_function("cuLaunchKernelEx", 12000)), "finding the launch");
    }
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 32,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = now.stream};
    void *parameters[] = {&args};
    return launch(&config, (CUfunction)kernel, parameters, NULL) == CUDA_SUCCESS;
}

static bool one_call(int set) {
    const struct shape *s = now.shape;
    return hopper_gemm(now.stream, HOPPER_GEMM_BF16, s->m, s->n, s->k, a_of(set), s->k, b_of(set),
                       s->k, d_of(set), s->n, now.workspace) == HOPPER_GEMM_OK;
}

static bool run_plan(int set) {
    return hopper_gemm_plan_run(now.plan, now.stream, a_of(set), b_of(set), d_of(set),
                                now.workspace) == HOPPER_GEMM_OK;
}

static bool run_plan_again(int set) {
    (void)set;
    return run_plan(0);
}

static bool run_plan_off(int set) {
    return hopper_gemm_plan_run(now.plan, now.stream, a_of(set) + 16, b_of(set) + 16,
                                d_of(set) + 16, now.workspace) == HOPPER_GEMM_OK;
}

/* The operands are turned around as in gpu/cublas.c. */
static bool call_cublas(int set) {
    const struct shape *s = now.shape;
    const float one = 1, zero = 0;
    return cublasGemmEx(now.cublas, CUBLAS_OP_T, CUBLAS_OP_N, s->n, s->m, s->k, &one, b_of(set),
                        CUDA_R_16BF, s->k, a_of(set), CUDA_R_16BF, s->k, &zero, d_of(set),
                        CUDA_R_16BF, s->n, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
}

static bool call_cublaslt(int set) {
    const float one = 1, zero = 0;
    return cublasLtMatmul(now.lt, now.operation, &one, b_of(set), now.b_layout, a_of(set),
                          now.a_layout, &zero, d_of(set), now.d_layout, d_of(set), now.d_layout,
                          &now.algorithm, now.workspace, WORKSPACE,
                          now.stream) == CUBLAS_STATUS_SUCCESS;
}

static const struct {
    const char *name;
    bool (*enqueue)(int set);
} contenders[] = {
    {"a launch alone, 4 bytes of parameters", launch_int},
    {"a launch alone, with a struct gemm_args", launch_args},
    {"the same launch by cuLaunchKernelEx()", launch_by_driver},
    {"hopper_gemm()", one_call},
    {"hopper_gemm_plan_run(), the same pointers", run_plan_again},
    {"hopper_gemm_plan_run(), other pointers", run_plan},
    {"hopper_gemm_plan_run(), others, 16 bytes off", run_plan_off},
    {"cublasGemmEx()", call_cublas},
    {"cublasLtMatmul(), its algorithm known", call_cublaslt},
};
enum { CONTENDERS = sizeof contenders / sizeof *contenders };

/* ---- a shape ---- */

/* What cuBLASLt needs to know of a shape, and the first of its proposals. */
static void describe(const struct shape *s) {
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const size_t workspace = WORKSPACE;
    const uint64_t m = (uint64_t)s->m, n = (uint64_t)s->n, k = (uint64_t)s->k;
    cublasLtMatmulPreference_t preference = NULL;
    cublasLtMatmulHeuristicResult_t proposal;
    int found = 0;
    must(!cublasLtMatmulDescCreate(&now.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F) &&
             !cublasLtMatmulDescSetAttribute(now.operation, CUBLASLT_MATMUL_DESC_TRANSA,
                                             &transposed, sizeof transposed) &&
             !cublasLtMatrixLayoutCreate(&now.b_layout, CUDA_R_16BF, k, n, s->k) &&
             !cublasLtMatrixLayoutCreate(&now.a_layout, CUDA_R_16BF, k, m, s->k) &&
             !cublasLtMatrixLayoutCreate(&now.d_layout, CUDA_R_16BF, n, m, s->n) &&
             !cublasLtMatmulPreferenceCreate(&preference) &&
             !cublasLtMatmulPreferenceSetAttribute(preference,
                                                   CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                   &workspace, sizeof workspace) &&
             !cublasLtMatmulAlgoGetHeuristic(now.lt, now.operation, now.b_layout, now.a_layout,
                                             now.d_layout, now.d_layout, preference, 1, &proposal,
                                             &found) &&
             found == 1,
         "describing a problem to cuBLASLt");
    now.algorithm = proposal.algo;
    cublasLtMatmulPreferenceDestroy(preference);
}

/* Each matrix is followed by 256 bytes, for those that begin later. */
static void open_shape(const struct shape *s) {
    now.shape = s;
    now.a_bytes = ((size_t)s->m * (size_t)s->k * 2 + 511) / 256 * 256;
    now.b_bytes = ((size_t)s->n * (size_t)s->k * 2 + 511) / 256 * 256;
    now.d_bytes = ((size_t)s->m * (size_t)s->n * 2 + 511) / 256 * 256;
    now.a = on_device(SETS * now.a_bytes);
    now.b = on_device(SETS * now.b_bytes);
    now.d = on_device(SETS * now.d_bytes);
    must(hopper_gemm_workspace(HOPPER_GEMM_BF16, s->m, s->n, s->k, s->k, s->k, s->n) <= WORKSPACE,
         "staying within the workspace");
    must(hopper_gemm_plan_create(&now.plan, HOPPER_GEMM_BF16, s->m, s->n, s->k, s->k, s->k, s->n,
                                 WORKSPACE) == HOPPER_GEMM_OK,
         "making a plan");
    describe(s);
}

static void close_shape(void) {
    hopper_gemm_plan_destroy(now.plan);
    cublasLtMatmulDescDestroy(now.operation);
    cublasLtMatrixLayoutDestroy(now.a_layout);
    cublasLtMatrixLayoutDestroy(now.b_layout);
    cublasLtMatrixLayoutDestroy(now.d_layout);
    must(!cudaFree(now.a) && !cudaFree(now.b) && !cudaFree(now.d), "freeing device memory");
}

/* ---- timing ---- */

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* Microseconds of a call, in a batch. */
static double sample(bool (*enqueue)(int set)) {
    const double begin = now_us();
    for (int i = 0; i < BATCH; ++i)
        must(enqueue(i % SETS), "a call");
    const double us = (now_us() - begin) / BATCH;
    must(cudaStreamSynchronize(now.stream) == cudaSuccess, "waiting for the GPU");
    return us;
}

static double sample_plan(void) {
    const struct shape *s = now.shape;
    const double begin = now_us();
    for (int i = 0; i < BATCH; ++i) {
        struct hopper_gemm_plan *plan;
        must(hopper_gemm_plan_create(&plan, HOPPER_GEMM_BF16, s->m, s->n, s->k, s->k, s->k, s->n,
                                     WORKSPACE) == HOPPER_GEMM_OK,
             "making a plan");
        hopper_gemm_plan_destroy(plan);
    }
    return (now_us() - begin) / BATCH;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *name, double samples[ROUNDS]) {
    qsort(samples, ROUNDS, sizeof *samples, by_value);
    printf("  %-46s %6.2f   %6.2f to %6.2f\n", name, samples[ROUNDS / 2], samples[0],
           samples[ROUNDS - 1]);
}

static void measure(void) {
    static double samples[CONTENDERS + 1][ROUNDS];
    for (int c = 0; c < CONTENDERS; ++c)
        sample(contenders[c].enqueue); /* loads kernels */
    for (int round = 0; round < ROUNDS; ++round) {
        for (int c = 0; c < CONTENDERS; ++c)
            samples[c][round] = sample(contenders[c].enqueue);
        samples[CONTENDERS][round] = sample_plan();
    }
    for (int c = 0; c < CONTENDERS; ++c)
        print(contenders[c].name, samples[c]);
    print("hopper_gemm_plan_create() and _destroy()", samples[CONTENDERS]);
}

/* The host's processor, because it is what is measured. */
static void print_processor(void) {
    char line[256] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file) && strncmp(line, "model name", 10)) {
    }
    if (file) fclose(file);
    const char *const name = strncmp(line, "model name", 10) ? NULL : strchr(line, ':');
    printf("host: %s", name ? name + 2 : "not known\n");
}

int main(void) {
    int device_major = 0;
    if (cudaDeviceGetAttribute(&device_major, cudaDevAttrComputeCapabilityMajor, 0) !=
            cudaSuccess ||
        device_major != 9) {
        fprintf(stderr, "host_cost: no CUDA device of compute capability 9.0\n");
        return 3;
    }
    must(cudaStreamCreateWithFlags(&now.stream, cudaStreamNonBlocking) == cudaSuccess,
         "making a stream");
    now.workspace = on_device(WORKSPACE);
    must(!cublasCreate(&now.cublas) && !cublasSetStream(now.cublas, now.stream) &&
             !cublasSetWorkspace(now.cublas, now.workspace, WORKSPACE) && !cublasLtCreate(&now.lt),
         "opening cuBLAS");
    print_processor();
    printf("microseconds of host time a call: median, smallest and largest of %d batches of %d\n",
           ROUNDS, BATCH);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        const struct shape *s = &shapes[i];
        printf("%d x %d x %d, bf16: %s\n", s->m, s->n, s->k, s->what);
        open_shape(s);
        measure();
        close_shape();
    }
    cublasDestroy(now.cublas);
    cublasLtDestroy(now.lt);
    return 0;
}
