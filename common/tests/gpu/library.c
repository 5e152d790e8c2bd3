/*
 * library.c: does chapter 10 work as a library, as hopper_gemm.h says it does?
 *
 *     build/gpu/library [reversed]
 *
 * On every Hopper that is visible, in the runtime's order or the reverse: first calls from two host
 * threads at once; calls captured into a graph that is replayed with other inputs; calls in a
 * stream of the caller's, with the workspace and without; two threads and two streams at once. Then
 * on all devices in turn, without waiting in between, and on all of them at once, a thread each.
 *
 * Operands are whole numbers from -3 to 3, so that all sums are exact in fp32 and there is one
 * right result, rounded once. Whatever a call must not use or write is NaN.
 *
 * Exit codes: 0 all is right, 1 something is wrong, 2 usage, 3 no device.
 */
#define _GNU_SOURCE /* pthread_barrier_t, nanosleep */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "element_codec.h"
#include "hopper_gemm.h"

enum { TYPES = 2, SETS = 2, MOST_GPUS = 16, CALLS = 50, PATIENCE_S = 120 };

/* The first is what a device and a type are first called with. */
static const struct shape {
    int m, n, k;
    int lda, ldb, ldd;
    bool deep; /* hopper_gemm_workspace() has to ask for some */
} shapes[] = {
    {768, 768, 768, 768, 768, 768, false},     /* several tiles */
    {16, 1024, 2048, 2048, 2048, 1024, false}, /* few rows */
    {333, 517, 705, 712, 720, 528, false},     /* odd, and rows with padding */
    {128, 256, 65536, 65536, 65536, 256, true},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, PRODUCTS = TYPES * SHAPES };

/* A product's two sets of inputs and what they give, in page-locked memory. */
static struct {
    uint16_t *a[SETS], *b[SETS], *d[SETS]; /* with padding, as on the device */
} host[PRODUCTS];
static uint16_t *got; /* room for any D */

/* A product on a device. */
struct product {
    int index; /* type * SHAPES + shape */
    uint16_t *a, *b, *d;
    void *workspace; /* NULL: the library asks for none */
    size_t workspace_bytes;
};

struct gpu {
    int device;
    cudaStream_t stream[TYPES];
    struct product product[PRODUCTS];
};

static int checks, wrong_checks;

static const struct shape *shape_of(int index) { return &shapes[index % SHAPES]; }
static size_t bytes_of(int rows, int ld) { return (size_t)rows * (size_t)ld * sizeof(uint16_t); }

/* A failed call of the runtime ends the program. */
static void must(cudaError_t status, const char *attempt) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "library: %s: %s\n", attempt, cudaGetErrorString(status));
    exit(1);
}

static void *page_locked(size_t bytes) {
    void *memory = NULL;
    must(cudaMallocHost(&memory, bytes), "allocating page-locked memory");
    return memory;
}

static void *on_device(size_t bytes) {
    void *memory = NULL;
    must(cudaMalloc(&memory, bytes), "allocating device memory");
    return memory;
}

static void wait_for(cudaStream_t stream) {
    must(cudaStreamSynchronize(stream), "waiting for a stream");
}

/* ---- inputs and what they give ---- */

/* Whole numbers from -3 to 3. */
static int16_t *random_values(int rows, int columns) {
    const size_t count = (size_t)rows * (size_t)columns;
    int16_t *values = malloc(count * sizeof *values);
    if (!values) must(cudaErrorMemoryAllocation, "allocating a matrix");
    for (size_t i = 0; i < count; ++i)
        values[i] = (int16_t)(rand() % 7 - 3);
    return values;
}

/* Into page-locked memory, with NaN between the rows. */
static uint16_t *encoded(const int16_t *values, int type, int rows, int columns, int ld) {
    uint16_t *matrix = page_locked(bytes_of(rows, ld));
    memset(matrix, 0xff, bytes_of(rows, ld));
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            matrix[(size_t)row * ld + column] =
                encode_element(values[(size_t)row * columns + column],
                               type == HOPPER_GEMM_FP16 ? GEMM_FP16 : GEMM_BF16);
    return matrix;
}

static int dot(const int16_t *a, const int16_t *b, int k) {
    int sum = 0;
    for (int i = 0; i < k; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* Makes one set of one shape's inputs, for both types. A sum of k products is 4 sqrt(k) or so, so
 * that 16 bits are ample; the program ends if they are not. */
static void make_set(int shape, int set) {
    const struct shape *s = &shapes[shape];
    int16_t *a = random_values(s->m, s->k), *b = random_values(s->n, s->k);
    int16_t *d = random_values(s->m, s->n); /* overwritten */
    for (int row = 0; row < s->m; ++row)
        for (int column = 0; column < s->n; ++column) {
            const int sum = dot(&a[(size_t)row * s->k], &b[(size_t)column * s->k], s->k);
            if (sum != (int16_t)sum) must(cudaErrorInvalidValue, "a sum beyond 16 bits");
            d[(size_t)row * s->n + column] = (int16_t)sum;
        }
    for (int type = 0; type < TYPES; ++type) {
        const int index = type * SHAPES + shape;
        host[index].a[set] = encoded(a, type, s->m, s->k, s->lda);
        host[index].b[set] = encoded(b, type, s->n, s->k, s->ldb);
        host[index].d[set] = encoded(d, type, s->m, s->n, s->ldd);
    }
    free(a), free(b), free(d);
}

/* ---- one call ---- */

/* Enqueues the copying of a set of inputs, and NaN wherever something will be written. */
static void load(const struct product *p, int set, cudaStream_t stream) {
    const struct shape *s = shape_of(p->index);
    must(cudaMemcpyAsync(p->a, host[p->index].a[set], bytes_of(s->m, s->lda), cudaMemcpyDefault,
                         stream),
         "copying A");
    must(cudaMemcpyAsync(p->b, host[p->index].b[set], bytes_of(s->n, s->ldb), cudaMemcpyDefault,
                         stream),
         "copying B");
    must(cudaMemsetAsync(p->d, 0xff, bytes_of(s->m, s->ldd), stream), "clearing D");
    if (p->workspace)
        must(cudaMemsetAsync(p->workspace, 0xff, p->workspace_bytes, stream), "clearing");
}

static int multiply(const struct product *p, bool workspace, cudaStream_t stream) {
    const struct shape *s = shape_of(p->index);
    return hopper_gemm(stream, p->index / SHAPES, s->m, s->n, s->k, p->a, s->lda, p->b, s->ldb,
                       p->d, s->ldd, workspace ? p->workspace : NULL);
}

/* Waits for the stream, compares D with what the set gives, and prints the check's line. */
static void check(const struct gpu *gpu, const struct product *p, int set, cudaStream_t stream,
                  int status, const char *what) {
    const struct shape *s = shape_of(p->index);
    const uint16_t *expected = host[p->index].d[set];
    int wrong = 0;
    must(cudaSetDevice(gpu->device), "choosing a device");
    wait_for(stream);
    must(cudaMemcpy(got, p->d, bytes_of(s->m, s->ldd), cudaMemcpyDeviceToHost), "copying D");
    for (size_t i = 0; i < (size_t)s->m * (size_t)s->ldd; ++i)
        wrong += got[i] != expected[i];
    printf("device %d, %s, %d x %d x %d, %s: ", gpu->device, p->index < SHAPES ? "fp16" : "bf16",
           s->m, s->n, s->k, what);
    if (status != HOPPER_GEMM_OK) printf("status %d, ", status);
    if (wrong)
        printf("%d elements wrong\n", wrong);
    else
        printf("%s\n", status == HOPPER_GEMM_OK ? "ok" : "yet the result is there");
    fflush(stdout);
    ++checks;
    wrong_checks += wrong || status != HOPPER_GEMM_OK;
}

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

/* ---- devices ---- */

static void open_gpu(struct gpu *gpu) {
    must(cudaSetDevice(gpu->device), "choosing a device");
    for (int i = 0; i < TYPES; ++i)
        must(cudaStreamCreateWithFlags(&gpu->stream[i], cudaStreamNonBlocking), "making a stream");
    for (int index = 0; index < PRODUCTS; ++index) {
        const struct shape *s = shape_of(index);
        gpu->product[index] = (struct product){.index = index,
                                               .a = on_device(bytes_of(s->m, s->lda)),
                                               .b = on_device(bytes_of(s->n, s->ldb)),
                                               .d = on_device(bytes_of(s->m, s->ldd))};
    }
}

/* A workspace for every product that is said to want one; at least those must. */
static void open_workspaces(struct gpu *gpu) {
    for (int index = 0; index < PRODUCTS; ++index) {
        const struct shape *s = shape_of(index);
        struct product *p = &gpu->product[index];
        p->workspace_bytes =
            hopper_gemm_workspace(index / SHAPES, s->m, s->n, s->k, s->lda, s->ldb);
        if (p->workspace_bytes) p->workspace = on_device(p->workspace_bytes);
        if (!s->deep) continue;
        printf("device %d, %s, %d x %d x %d, workspace of %zu bytes: %s\n", gpu->device,
               index < SHAPES ? "fp16" : "bf16", s->m, s->n, s->k, p->workspace_bytes,
               p->workspace ? "ok" : "the library asks for none");
        ++checks;
        wrong_checks += p->workspace_bytes == 0;
    }
}

static void check_gpu(struct gpu *gpu) {
    open_gpu(gpu);
    two_threads(gpu, 1, "first calls, two threads at once");
    open_workspaces(gpu);
    for (int i = 0; i < PRODUCTS; ++i)
        in_a_graph(gpu, &gpu->product[i]);
    for (int i = 0; i < PRODUCTS; ++i) {
        const struct product *p = &gpu->product[i];
        in_a_stream(gpu, p, false, "in a stream");
        if (p->workspace) in_a_stream(gpu, p, true, "in a stream, with a workspace");
    }
    two_threads(gpu, SHAPES, "two threads at once");
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
    size_t largest = 0;
    for (int shape = 0; shape < SHAPES; ++shape) {
        for (int set = 0; set < SETS; ++set)
            make_set(shape, set);
        const size_t bytes = bytes_of(shapes[shape].m, shapes[shape].ldd);
        if (bytes > largest) largest = bytes;
    }
    got = page_locked(largest);
    for (int i = 0; i < count; ++i)
        check_gpu(&gpus[i]);
    if (count > 1)
        check_together(gpus, count);
    else
        printf("devices in turn, a thread for each device: skipped, there is one device\n");
    printf("%d devices: %d checks passed\n", count, checks - wrong_checks);
    if (wrong_checks) printf("%d checks failed\n", wrong_checks);
    return wrong_checks != 0;
}
