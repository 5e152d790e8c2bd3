/*
 * library_w4a8.c: do runs of the library w4a8_gemm that begin early wait for what they need?
 *
 *     build/gpu/library_w4a8
 *
 * On the current device, for several shapes: a graph of LINKS runs of a plan, each of which reads
 * as its A what the run before it has written as its D. In order, early, and in turns; with a
 * matrix for each D, and with two, where a run overwrites the A of the run before it. Many times
 * each, and every last D is compared with what it should be. How many runs can begin early is
 * counted in the graph, and printed with a launch's CTAs and shared memory, which tell the kernels
 * apart.
 *
 * The scales of A are there before a graph is launched. A run that did not wait for them would not
 * be found here; the simulator finds it.
 *
 * Exit codes: 0 all is right, 1 something is wrong, 3 no device.
 */
#include <unistd.h>

#include "tests/gpu/runtime.h"
#include "tests/calls/w4a8_chain.h"

#if CUDART_VERSION < 13000
#define cudaGraphGetEdges cudaGraphGetEdges_v2 /* its name until then */
#endif

enum { LINKS = 5, REPEATS = 40, PATIENCE_S = 60 };

static const int rows[] = {1, 16, 30, 48, 64, 96};
static const struct {
    int n, k;
} weights[] = {{72, 144}, {1024, 2048}, {4096, 8192}, {14336, 4096}, {28672, 8192}};
enum { FEW_ROWS = 64 }; /* up to here every kernel has an early form */

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
    int m, n, k;
    const void *blocks;
    float *scale_a;
    void *matrix[LINKS + 1];
};

/* Runs of a captured chain that may begin before the one ahead has ended. Prints what runs. */
static int early_runs(cudaGraph_t graph) {
    cudaGraphNode_t nodes[LINKS], from[LINKS], to[LINKS];
    cudaGraphEdgeData edges[LINKS];
    size_t node_count = LINKS, edge_count = LINKS - 1;
    struct cudaKernelNodeParams params;
    int early = 0;
    must(cudaGraphGetNodes(graph, nodes, &node_count), "reading a graph");
    must(cudaGraphGetEdges(graph, from, to, edges, &edge_count), "reading a graph's edges");
    must(cudaGraphKernelNodeGetParams(nodes[0], &params), "reading a graph's kernel");
    for (size_t i = 0; i < edge_count; ++i)
        early += edges[i].type == cudaGraphDependencyTypeProgrammatic;
    printf("%u CTAs, %u bytes, %d of %d early", params.gridDim.x, params.sharedMemBytes, early,
           LINKS - 1);
    return early;
}

/* `*early`: see early_runs(). */
static cudaGraphExec_t graph_of(struct w4a8_gemm_plan *plan, enum order order,
                                const struct chain *chain, cudaStream_t stream, int *early) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning a capture");
    for (int i = 0; i < LINKS; ++i) {
        const bool begins_early = order == EARLY || (order == IN_TURNS && i % 2 == 1);
        if (w4a8_gemm_plan_set_early(plan, begins_early ? W4A8_GEMM_EARLY : W4A8_GEMM_IN_ORDER) ||
            w4a8_gemm_plan_run(plan, stream, chain->matrix[i], chain->scale_a, chain->blocks,
                               chain->matrix[i + 1]))
            must(cudaErrorUnknown, "running a plan");
    }
    must(cudaStreamEndCapture(stream, &graph), "ending a capture");
    *early = early_runs(graph);
    must(cudaGraphInstantiate(&ready, graph, 0), "instantiating a graph");
    must(cudaGraphDestroy(graph), "destroying a graph");
    return ready;
}

/* Launches of the graph after which the last D was wrong. `first`, `right`: on the host. */
static int wrong_launches(cudaGraphExec_t graph, const struct chain *chain, const uint8_t *first,
                          const uint16_t *right, cudaStream_t stream) {
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
        wrong += memcmp(last, right, bytes) != 0;
    }
    free(last);
    return wrong;
}

/* All chains of one shape; how many are wrong. */
static int check_shape(int m, int n, int k, const void *blocks, cudaStream_t stream) {
    static const int expected[ORDERS] = {[EARLY] = LINKS - 1, [IN_TURNS] = LINKS / 2};
    const size_t bytes = (size_t)m * (size_t)n * 2, scale_bytes = sizeof(float) * (size_t)m;
    uint8_t *const first = on_host(bytes);
    uint16_t *const right = on_host(bytes);
    float *const scales = on_host(scale_bytes);
    struct chain chain = {
        .m = m, .n = n, .k = k, .blocks = blocks, .scale_a = on_device(scale_bytes)};
    struct w4a8_gemm_plan *plan;
    void *own[LINKS + 1];
    int failed = 0;
    chain_fill(first, bytes, scales, m);
    chain_compute(right, first, scales, m, n, k, LINKS);
    for (int i = 0; i <= LINKS; ++i)
        own[i] = on_device(bytes);
    must(cudaMemcpy(chain.scale_a, scales, scale_bytes, cudaMemcpyHostToDevice), "copying scales");
    if (w4a8_gemm_plan_create(&plan, m, n, k, 2 * n, n)) must(cudaErrorUnknown, "making a plan");
    alarm(PATIENCE_S); /* a kernel that hangs would keep the GPU */
    for (int two = 0; two < 2; ++two) {
        for (int i = 0; i <= LINKS; ++i)
            chain.matrix[i] = own[two ? i % 2 : i];
        for (enum order order = IN_ORDER; order < ORDERS; ++order) {
            int early;
            printf("%d x %d x %d, %d runs %s, %d matrices: ", m, n, k, LINKS, order_names[order],
                   two ? 2 : LINKS + 1);
            const cudaGraphExec_t graph = graph_of(plan, order, &chain, stream, &early);
            const int wrong = wrong_launches(graph, &chain, first, right, stream);
            const bool missed = m <= FEW_ROWS && early != expected[order];
            printf(", %d of %d launches wrong%s\n", wrong, REPEATS,
                   missed ? ", and not as many early as should be" : "");
            must(cudaGraphExecDestroy(graph), "destroying a graph");
            failed += wrong > 0 || missed;
        }
    }
    alarm(0);
    w4a8_gemm_plan_destroy(plan);
    for (int i = 0; i <= LINKS; ++i)
        must(cudaFree(own[i]), "freeing a matrix");
    must(cudaFree(chain.scale_a), "freeing scales");
    free(scales);
    free(right);
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
    srand(1);
    must(cudaStreamCreate(&stream), "creating a stream");
    for (size_t i = 0; i < sizeof weights / sizeof *weights; ++i) {
        const int n = weights[i].n, k = weights[i].k;
        const size_t bytes = w4a8_gemm_weight_bytes(n, k);
        void *const blocks = on_device(bytes), *const arranged = on_host(bytes);
        if (!chain_weights(n, k, arranged)) must(cudaErrorMemoryAllocation, "arranging weights");
        must(cudaMemcpy(blocks, arranged, bytes, cudaMemcpyHostToDevice), "copying weights");
        for (size_t j = 0; j < sizeof rows / sizeof *rows; ++j, checks += 2 * ORDERS)
            failed += check_shape(rows[j], n, k, blocks, stream);
        must(cudaFree(blocks), "freeing weights");
        free(arranged);
    }
    printf("%d checks, %d failed\n", checks, failed);
    return failed != 0;
}
