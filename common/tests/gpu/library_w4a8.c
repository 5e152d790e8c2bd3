/*
 * library_w4a8.c: do runs of chapter 12's library that begin early wait for what they need?
 *
 *     build/gpu/library_w4a8
 *
 * On the current device, for several shapes: a graph of LINKS runs of a plan, each of which reads
 * as its A what the run before it has written as its D. In order, early, and in turns; with a matrix
 * for each D, and with two matrices, of which a run overwrites the A of the run before it. Many
 * times each, and every last D is compared with what it is computed from.
 *
 * Exit codes: 0 all is right, 1 something is wrong, 3 no device.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/library/w4a8_chain.h"

enum { LINKS = 5, REPEATS = 40, PATIENCE_S = 120 };

static const int rows[] = {1, 16, 30, 48, 64, 96};
static const int columns[] = {72, 1024, 4096};

/* Ends the program if a call of the runtime has failed. */
static void must(cudaError_t status, const char *attempt) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "library_w4a8: %s: %s\n", attempt, cudaGetErrorString(status));
    exit(status == cudaErrorMemoryAllocation ? 3 : 1);
}

static void *on_device(size_t bytes) {
    void *memory;
    must(cudaMalloc(&memory, bytes), "allocating device memory");
    return memory;
}

static void *on_host(size_t bytes) {
    void *memory = malloc(bytes);
    if (!memory) must(cudaErrorMemoryAllocation, "allocating host memory");
    return memory;
}

/* The runs of a chain. IN_TURNS: every other one is early. */
enum order { IN_ORDER, EARLY, IN_TURNS, ORDERS };
static const char *const order_names[ORDERS] = {"in order", "early", "in turns"};

/* Device memory of a chain. Run i reads matrix[i] and writes matrix[i + 1]. */
struct chain {
    int m, n;
    const void *blocks;
    float *scale_a;
    void *matrix[LINKS + 1];
};

static cudaGraphExec_t graph_of(struct w4a8_gemm_plan *plan, enum order order,
                                const struct chain *chain, cudaStream_t stream) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning a capture");
    for (int i = 0; i < LINKS; ++i) {
        const bool early = order == EARLY || (order == IN_TURNS && i % 2 == 1);
        if (w4a8_gemm_plan_set_early(plan, early ? W4A8_GEMM_EARLY : W4A8_GEMM_IN_ORDER) ||
            w4a8_gemm_plan_run(plan, stream, chain->matrix[i], chain->scale_a, chain->blocks,
                               chain->matrix[i + 1]))
            must(cudaErrorUnknown, "running a plan");
    }
    must(cudaStreamEndCapture(stream, &graph), "ending a capture");
    must(cudaGraphInstantiate(&ready, graph, 0), "instantiating a graph");
    must(cudaGraphDestroy(graph), "destroying a graph");
    return ready;
}

/* Launches of the graph after which an element was wrong. `first`, `scales`: on the host. */
static int wrong_launches(cudaGraphExec_t graph, const struct chain *chain, const uint8_t *first,
                          const float *scales, cudaStream_t stream) {
    const size_t bytes = (size_t)chain->m * (size_t)chain->n * 2;
    uint16_t *const last = on_host(bytes);
    int wrong = 0;
    for (int i = 0; i < REPEATS; ++i) {
        for (int link = 1; link <= LINKS; ++link)
            must(cudaMemsetAsync(chain->matrix[link], 0xff, bytes, stream), "clearing a matrix");
        must(cudaMemcpyAsync(chain->matrix[0], first, bytes, cudaMemcpyHostToDevice, stream),
             "copying A");
        must(cudaGraphLaunch(graph, stream), "launching a graph");
        must(cudaMemcpyAsync(last, chain->matrix[LINKS], bytes, cudaMemcpyDeviceToHost, stream),
             "copying a result");
        must(cudaStreamSynchronize(stream), "waiting for a graph");
        wrong += chain_count_wrong(first, scales, last, chain->m, chain->n, LINKS) > 0;
    }
    free(last);
    return wrong;
}

/* All chains of one shape; how many are wrong. */
static int check_shape(int m, int n, const void *blocks, cudaStream_t stream) {
    const size_t bytes = (size_t)m * (size_t)n * 2, scale_bytes = sizeof(float) * (size_t)m;
    uint8_t *const first = on_host(bytes);
    float *const scales = on_host(scale_bytes);
    struct chain chain = {.m = m, .n = n, .blocks = blocks, .scale_a = on_device(scale_bytes)};
    struct w4a8_gemm_plan *plan;
    void *own[LINKS + 1];
    int failed = 0;
    chain_fill(first, bytes, scales, m);
    for (int i = 0; i <= LINKS; ++i)
        own[i] = on_device(bytes);
    must(cudaMemcpy(chain.scale_a, scales, scale_bytes, cudaMemcpyHostToDevice), "copying scales");
    if (w4a8_gemm_plan_create(&plan, m, n, 2 * n, 2 * n, n))
        must(cudaErrorUnknown, "making a plan");
    for (int two = 0; two < 2; ++two) {
        for (int i = 0; i <= LINKS; ++i)
            chain.matrix[i] = own[two ? i % 2 : i];
        for (enum order order = IN_ORDER; order < ORDERS; ++order) {
            const cudaGraphExec_t graph = graph_of(plan, order, &chain, stream);
            const int wrong = wrong_launches(graph, &chain, first, scales, stream);
            printf("%d x %d x %d, %d runs %s, %d matrices: %d of %d launches wrong\n", m, n, 2 * n,
                   LINKS, order_names[order], two ? 2 : LINKS + 1, wrong, REPEATS);
            must(cudaGraphExecDestroy(graph), "destroying a graph");
            failed += wrong > 0;
        }
    }
    w4a8_gemm_plan_destroy(plan);
    for (int i = 0; i <= LINKS; ++i)
        must(cudaFree(own[i]), "freeing a matrix");
    must(cudaFree(chain.scale_a), "freeing scales");
    free(scales);
    free(first);
    return failed;
}

static bool is_hopper(void) {
    struct cudaDeviceProp properties;
    return cudaGetDeviceProperties(&properties, 0) == cudaSuccess && properties.major == 9 &&
           properties.minor == 0;
}

int main(void) {
    cudaStream_t stream;
    int checks = 0, failed = 0;
    if (!is_hopper()) {
        fprintf(stderr, "library_w4a8: no CUDA device of compute capability 9.0; the test "
                        "w4a8_gemm_early asks the library in the simulator\n");
        return 3;
    }
    alarm(PATIENCE_S); /* a kernel that hangs would keep the GPU */
    srand(1);
    must(cudaStreamCreate(&stream), "creating a stream");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; ++i) {
        const int n = columns[i];
        const size_t bytes = w4a8_gemm_weight_bytes(n, 2 * n);
        void *const blocks = on_device(bytes), *const arranged = on_host(bytes);
        if (!chain_weights(n, arranged)) must(cudaErrorMemoryAllocation, "arranging weights");
        must(cudaMemcpy(blocks, arranged, bytes, cudaMemcpyHostToDevice), "copying weights");
        for (size_t j = 0; j < sizeof rows / sizeof *rows; ++j, checks += 2 * ORDERS)
            failed += check_shape(rows[j], n, blocks, stream);
        must(cudaFree(blocks), "freeing weights");
        free(arranged);
    }
    printf("%d checks, %d failed\n", checks, failed);
    return failed != 0;
}
