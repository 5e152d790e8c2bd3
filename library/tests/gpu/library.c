/*
 * library.c: does hopper_gemm work as its header says it does?
 *
 *     build/gpu/library [reversed]
 *
 * On every Hopper that is visible, in the runtime's order or the reverse: first calls from two host
 * threads at once; calls captured into a graph that is replayed with other inputs; calls in a
 * stream of the caller's, with the workspace and without; a plan on the matrices of two products,
 * in turn and at once; runs that begin early, on what the run before has written; four threads and
 * two streams at once. Then on all devices in turn, without waiting in between, and on all of them
 * at once, a thread each. Last, one device is reset and calls and plans work again. Everything is
 * done by hopper_gemm() and by plans.
 *
 * Exit codes: 0 all is right, 1 something is wrong, 2 usage, 3 no device.
 */
#define _GNU_SOURCE /* pthread_barrier_t, nanosleep */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/gpu/library_products.h"

enum { MOST_GPUS = 16, CALLS = 50, PATIENCE_S = 120 };

/* ---- several threads ---- */

/* A host thread's calls: `count` products from `first` on, over and over. */
struct caller {
    pthread_t thread;
    pthread_barrier_t *start;
    const struct gpu *gpu;
    int first, count, stream;
    int status; /* of the last call that failed */
};

static void *call(void *argument) {
    struct caller *c = argument;
    /* A new thread is on device 0, where this is its first call into CUDA. */
    if (c->gpu->device != 0) must(cudaSetDevice(c->gpu->device), "choosing a device");
    pthread_barrier_wait(c->start);
    for (int i = 0; i < CALLS * c->count; ++i) {
        const struct product *p = &c->gpu->product[c->first + i % c->count];
        const int status = multiply(p, true, c->gpu->stream[c->stream]);
        if (status != HOPPER_GEMM_OK) c->status = status;
    }
    return NULL;
}

/* Lets all callers loose at once. Each gets inputs of its own set, and what its last calls have
 * computed is compared. */
static void call_at_once(struct caller *callers, int count, const char *what) {
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (struct caller *c = callers; c < callers + count; ++c) {
        const cudaStream_t stream = c->gpu->stream[c->stream];
        c->start = &start;
        must(cudaSetDevice(c->gpu->device), "choosing a device");
        for (int i = 0; i < c->count; ++i)
            load(&c->gpu->product[c->first + i], i % SETS, stream);
        wait_for(stream);
    }
    for (struct caller *c = callers; c < callers + count; ++c)
        if (pthread_create(&c->thread, NULL, call, c))
            must(cudaErrorOperatingSystem, "starting a thread");
    for (struct caller *c = callers; c < callers + count; ++c)
        pthread_join(c->thread, NULL);
    for (struct caller *c = callers; c < callers + count; ++c)
        for (int i = 0; i < c->count; ++i)
            check(c->gpu, &c->gpu->product[c->first + i], i % SETS, c->gpu->stream[c->stream],
                  c->status, what);
    pthread_barrier_destroy(&start);
}

/* Two threads on one device, one per type, on a stream each: `count` shapes. */
static void two_threads(const struct gpu *gpu, int count, const char *what) {
    struct caller callers[TYPES] = {{.gpu = gpu, .first = 0, .count = count, .stream = 0},
                                    {.gpu = gpu, .first = SHAPES, .count = count, .stream = 1}};
    call_at_once(callers, TYPES, what);
}

/* Four: two by plans, and two on each stream. */
static void four_threads(const struct gpu *gpu) {
    struct caller callers[2 * TYPES];
    for (int i = 0; i < 2 * TYPES; ++i)
        callers[i] = (struct caller){
            .gpu = gpu, .first = i * SHAPES, .count = SHAPES, .stream = (i + i / TYPES) % TYPES};
    call_at_once(callers, 2 * TYPES, "four threads at once");
}

/* ---- one thread ---- */

/* Captures a call, under the strictest of the rules for captures, and replays it with both sets of
 * inputs, the first a second time. */
static void in_a_graph(const struct gpu *gpu, const struct product *p) {
    static const char *const what[] = {"in a graph", "in a graph, other inputs",
                                       "in a graph, the first inputs again"};
    const cudaStream_t stream = gpu->stream[0];
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning a capture");
    const int status = multiply(p, true, stream);
    must(cudaStreamEndCapture(stream, &graph), "ending a capture");
    must(cudaGraphInstantiate(&ready, graph, 0), "instantiating a graph");
    for (int replay = 0; replay < 3; ++replay) {
        load(p, replay % SETS, stream);
        must(cudaGraphLaunch(ready, stream), "launching a graph");
        check(gpu, p, replay % SETS, stream, status, what[replay]);
    }
    must(cudaGraphExecDestroy(ready), "destroying a graph");
    must(cudaGraphDestroy(graph), "destroying a graph");
}

static void CUDART_CB nap(void *unused) {
    (void)unused;
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

/* Everything on a stream of the caller's that waits for no other, and late: what runs elsewhere
 * finds NaN in A and B, and its D is overwritten. */
static void in_a_stream(const struct gpu *gpu, const struct product *p, bool workspace,
                        const char *what) {
    const struct shape *s = shape_of(p->index);
    const cudaStream_t stream = gpu->stream[1];
    must(cudaMemset(p->a, 0xff, bytes_of(s->m, s->lda)), "clearing A");
    must(cudaMemset(p->b, 0xff, bytes_of(s->n, s->ldb)), "clearing B");
    must(cudaDeviceSynchronize(), "waiting for the device");
    must(cudaLaunchHostFunc(stream, nap, NULL), "enqueuing a pause");
    load(p, 1, stream);
    check(gpu, p, 1, stream, multiply(p, workspace, stream), what);
}

/* One plan on two products' matrices in turn, each with its own workspace. */
static void on_both(const struct gpu *gpu, const struct product *p, const struct product *q) {
    const cudaStream_t stream = gpu->stream[0];
    int status[2];
    load(p, 0, stream);
    load(q, 1, stream);
    status[0] = multiply_by(p, p, true, stream);
    status[1] = multiply_by(p, q, true, stream);
    check(gpu, p, 0, stream, status[0], "on its own matrices");
    check(gpu, q, 1, stream, status[1], "on other matrices, by another's plan");
    load(p, 1, stream);
    check(gpu, p, 1, stream, multiply_by(p, p, true, stream), "on its own again");
}

/* Runs of a plan on a product's matrices, as a graph. */
static cudaGraphExec_t graph_of_runs(const struct product *by, const struct product *p, int runs,
                                     cudaStream_t stream, int *status) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning a capture");
    for (int run = 0; run < runs; ++run)
        *status |= multiply_by(by, p, true, stream);
    must(cudaStreamEndCapture(stream, &graph), "ending a capture");
    must(cudaGraphInstantiate(&ready, graph, 0), "instantiating a graph");
    must(cudaGraphDestroy(graph), "destroying a graph");
    return ready;
}

/* One plan in two streams at once, on two products' matrices and workspaces, which hold anything;
 * then in two graphs that are replayed at once. */
static void on_both_at_once(const struct gpu *gpu, const struct product *p,
                            const struct product *q) {
    enum { RUNS = 5 };
    const struct product *const of[] = {p, q};
    const cudaStream_t *const stream = gpu->stream;
    cudaGraphExec_t graph[2];
    int status[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
        load(of[i], i, stream[i]);
        if (of[i]->workspace)
            must(cudaMemsetAsync(of[i]->workspace, 0x5a + i, of[i]->workspace_bytes, stream[i]),
                 "filling a workspace");
    }
    for (int call = 0; call < 2 * CALLS; ++call)
        status[call % 2] |= multiply_by(p, of[call % 2], true, stream[call % 2]);
    for (int i = 0; i < 2; ++i)
        check(gpu, of[i], i, stream[i], status[i], "by one plan in two streams");
    for (int i = 0; i < 2; ++i)
        graph[i] = graph_of_runs(p, of[i], RUNS, stream[i], &status[i]);
    for (int i = 0; i < 2; ++i)
        load(of[i], 1 - i, stream[i]);
    for (int call = 0; call < 2 * CALLS; ++call)
        must(cudaGraphLaunch(graph[call % 2], stream[call % 2]), "launching a graph");
    for (int i = 0; i < 2; ++i) {
        check(gpu, of[i], 1 - i, stream[i], status[i], "by one plan in two graphs");
        must(cudaGraphExecDestroy(graph[i]), "destroying a graph");
    }
}

/* A run copies A by a product with a unit matrix, and the next multiplies the copy: three times the
 * two, one after another, in order or early. In a graph, so that nothing comes between them. */
static void early_runs(const struct gpu *gpu, const struct product *p) {
    static const struct {
        int copy, multiply;
        const char *what;
    } settings[] = {
        {HOPPER_GEMM_IN_ORDER, HOPPER_GEMM_EARLY, "early, after a run in order"},
        {HOPPER_GEMM_EARLY, HOPPER_GEMM_EARLY, "early, after an early run"},
        {HOPPER_GEMM_EARLY_B, HOPPER_GEMM_EARLY_B, "early, B ahead"},
    };
    const struct shape *s = shape_of(p->index);
    const cudaStream_t stream = gpu->stream[0];
    if (s->deep) return; /* the unit matrix would be too large */
    uint16_t *const unit = unit_on_device(type_of(p->index), s->k, s->lda);
    uint16_t *const a = matrix_on_device(s->off, s->m, s->lda);
    struct hopper_gemm_plan *copy;
    if (hopper_gemm_plan_create(&copy, type_of(p->index), s->m, s->k, s->k, s->lda, s->lda, s->lda,
                                0) != HOPPER_GEMM_OK)
        must(cudaErrorUnknown, "making a plan");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; ++i) {
        int status = hopper_gemm_plan_set_early(copy, settings[i].copy) |
                     hopper_gemm_plan_set_early(p->plan, settings[i].multiply);
        cudaGraph_t graph;
        cudaGraphExec_t ready;
        must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning a capture");
        for (int run = 0; run < 3; ++run) {
            status |= hopper_gemm_plan_run(copy, stream, p->a, unit, a, NULL);
            status |= hopper_gemm_plan_run(p->plan, stream, a, p->b, p->d, p->workspace);
        }
        must(cudaStreamEndCapture(stream, &graph), "ending a capture");
        must(cudaGraphInstantiate(&ready, graph, 0), "instantiating a graph");
        for (int set = 0; set < SETS; ++set) {
            must(cudaMemsetAsync(a, 0xff, bytes_of(s->m, s->lda), stream), "clearing the copy");
            load(p, set, stream);
            must(cudaGraphLaunch(ready, stream), "launching a graph");
            check(gpu, p, set, stream, status, settings[i].what);
        }
        must(cudaGraphExecDestroy(ready), "destroying a graph");
        must(cudaGraphDestroy(graph), "destroying a graph");
    }
    hopper_gemm_plan_set_early(p->plan, HOPPER_GEMM_IN_ORDER);
    hopper_gemm_plan_destroy(copy);
    must(cudaFree(unit), "freeing a matrix");
    must(cudaFree((char *)a - s->off), "freeing a matrix");
}

/* ---- devices ---- */

static void open_gpu(struct gpu *gpu) {
    must(cudaSetDevice(gpu->device), "choosing a device");
    for (int i = 0; i < TYPES; ++i)
        must(cudaStreamCreateWithFlags(&gpu->stream[i], cudaStreamNonBlocking), "making a stream");
    for (int index = 0; index < PRODUCTS; ++index) {
        const struct shape *s = shape_of(index);
        gpu->product[index] = (struct product){.index = index,
                                               .a = matrix_on_device(s->off, s->m, s->lda),
                                               .b = matrix_on_device(s->off, s->n, s->ldb),
                                               .d = matrix_on_device(s->off, s->m, s->ldd)};
    }
}

/* A workspace for every product that is said to want one, which the deep ones must, and two plans
 * for those of the second half. */
static void open_workspaces_and_plans(struct gpu *gpu) {
    for (int index = 0; index < PRODUCTS; ++index) {
        const struct shape *s = shape_of(index);
        struct product *p = &gpu->product[index];
        const int type = type_of(index);
        p->workspace_bytes = hopper_gemm_workspace(type, s->m, s->n, s->k, s->lda, s->ldb, s->ldd);
        if (p->workspace_bytes) p->workspace = on_device(p->workspace_bytes);
        if (s->deep) state(gpu, index, p->workspace != NULL, "asks for a workspace");
        if (index < INPUTS) continue;
        const bool made = hopper_gemm_plan_create(&p->plan, type, s->m, s->n, s->k, s->lda, s->ldb,
                                                  s->ldd, SIZE_MAX) == HOPPER_GEMM_OK &&
                          hopper_gemm_plan_create(&p->frugal, type, s->m, s->n, s->k, s->lda,
                                                  s->ldb, s->ldd, 0) == HOPPER_GEMM_OK;
        state(gpu, index, made, "makes plans");
        if (!made) exit(1);
        state(gpu, index,
              hopper_gemm_plan_workspace(p->plan) <= p->workspace_bytes &&
                  hopper_gemm_plan_workspace(p->frugal) == 0,
              "plans need no more workspace");
    }
}

static void destroy_plans(struct gpu *gpu) {
    for (int i = 0; i < PRODUCTS; ++i) {
        hopper_gemm_plan_destroy(gpu->product[i].plan);
        hopper_gemm_plan_destroy(gpu->product[i].frugal);
    }
}

static void check_gpu(struct gpu *gpu) {
    open_gpu(gpu);
    two_threads(gpu, 1, "first calls, two threads at once");
    open_workspaces_and_plans(gpu);
    for (int i = 0; i < PRODUCTS; ++i)
        in_a_graph(gpu, &gpu->product[i]);
    for (int i = 0; i < PRODUCTS; ++i) {
        const struct product *p = &gpu->product[i];
        in_a_stream(gpu, p, false, "in a stream");
        if (p->workspace) in_a_stream(gpu, p, true, "in a stream, with a workspace");
    }
    for (int i = 0; i < INPUTS; ++i) {
        on_both(gpu, &gpu->product[INPUTS + i], &gpu->product[i]);
        on_both_at_once(gpu, &gpu->product[INPUTS + i], &gpu->product[i]);
    }
    for (int i = INPUTS; i < PRODUCTS; ++i)
        early_runs(gpu, &gpu->product[i]);
    four_threads(gpu);
}

/* Call by call from device to device, and nobody waits before the last. Then a thread for each
 * device, all at once. */
static void check_together(const struct gpu *gpus, int count) {
    int status[MOST_GPUS][PRODUCTS];
    for (int i = 0; i < count * PRODUCTS; ++i) {
        const struct gpu *gpu = &gpus[i % count];
        const struct product *p = &gpu->product[i / count];
        must(cudaSetDevice(gpu->device), "choosing a device");
        load(p, 0, gpu->stream[0]);
        status[i % count][p->index] = multiply(p, true, gpu->stream[0]);
    }
    for (int i = 0; i < count * PRODUCTS; ++i)
        check(&gpus[i % count], &gpus[i % count].product[i / count], 0, gpus[i % count].stream[0],
              status[i % count][i / count], "devices in turn");
    struct caller callers[MOST_GPUS];
    for (int i = 0; i < count; ++i)
        callers[i] = (struct caller){.gpu = &gpus[i], .first = 0, .count = PRODUCTS, .stream = 1};
    call_at_once(callers, count, "a thread for each device");
}

/* Resets a device. All memory is gone then, page-locked memory, too. The library has loaded its
 * kernels before, into a context that is no more. */
static void check_after_reset(struct gpu *gpu) {
    must(cudaSetDevice(gpu->device), "choosing a device");
    must(cudaDeviceReset(), "resetting the device");
    make_inputs();
    open_gpu(gpu);
    two_threads(gpu, 1, "after a reset, two threads at once");
    open_workspaces_and_plans(gpu);
    for (int i = INPUTS; i < PRODUCTS; ++i) /* plans have made their kernels ready for a capture */
        in_a_graph(gpu, &gpu->product[i]);
    for (int i = 0; i < PRODUCTS; ++i)
        in_a_stream(gpu, &gpu->product[i], true, "after a reset");
    destroy_plans(gpu);
}

/* The Hoppers that are visible, at most MOST_GPUS. */
static int find_gpus(struct gpu *gpus) {
    int visible = 0, count = 0, major = 0, minor = 0;
    if (cudaGetDeviceCount(&visible) != cudaSuccess) visible = 0;
    for (int device = 0; device < visible && count < MOST_GPUS; ++device)
        if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
                cudaSuccess &&
            cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) ==
                cudaSuccess &&
            major == 9 && minor == 0)
            gpus[count++].device = device;
    return count;
}

int main(int argc, char **argv) {
    static struct gpu gpus[MOST_GPUS];
    const bool reversed = argc == 2 && strcmp(argv[1], "reversed") == 0;
    if (argc > 2 || (argc == 2 && !reversed)) {
        fprintf(stderr, "usage: %s [reversed]\n", argv[0]);
        return 2;
    }
    const int count = find_gpus(gpus);
    if (count == 0) {
        fprintf(stderr, "library: no CUDA device of compute capability 9.0; the test hopper_gemm "
                        "asks the library in the simulator\n");
        return 3;
    }
    alarm(PATIENCE_S); /* a kernel that hangs would keep the GPU */
    for (int i = 0; reversed && i < count / 2; ++i) {
        const int device = gpus[i].device;
        gpus[i].device = gpus[count - 1 - i].device;
        gpus[count - 1 - i].device = device;
    }
    make_inputs();
    for (int i = 0; i < count; ++i)
        check_gpu(&gpus[i]);
    if (count > 1)
        check_together(gpus, count);
    else
        printf("devices in turn, a thread for each device: skipped, there is one device\n");
    for (int i = 0; i < count; ++i)
        destroy_plans(&gpus[i]);
    check_after_reset(&gpus[0]);
    printf("%d devices: %d checks passed\n", count, checks - wrong_checks);
    if (wrong_checks) printf("%d checks failed\n", wrong_checks);
    return wrong_checks != 0;
}
