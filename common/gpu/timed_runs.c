/*
 * timed_runs.c: running a contender once, or many times under the clock.
 *
 * CUDA Runtime API: "Event Management", "Graph Management" (stream capture).
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#include "backend.h"
#include "services/devices.h"
#include "gpu/clocks.h"
#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"

/* A kernel that has not ended after this long has most likely stopped in a barrier: no chapter
 * needs a tenth of it. */
static const double PATIENCE_S = 30.0;
/* Below this many FLOPs (50 us at 800 TFLOPS) launching costs as much as the work: all contenders
 * go through a graph. */
static const double GRAPH_BELOW_FLOPS = 4e10;
/* Of one graph, at least; a multiple of the rotation where that is longer. */
enum { GRAPH_LAUNCHES = 20 };

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void backend_pause(double seconds) {
    const struct timespec length = {(time_t)seconds,
                                    (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&length, NULL);
}

void backend_range_begin(const char *name) { nvtxRangePushA(name); }
void backend_range_end(void) { nvtxRangePop(); }

/* Waits for the stream without sleeping, so that the GPU does not rest between the batches of a
 * sustained run. A deadlocked kernel can neither be stopped nor outlived by its process: says so
 * and leaves. */
static bool wait_for_end(const char *name) {
    const double start = seconds_now();
    cudaError_t status;
    while ((status = cudaStreamQuery(gpu_state.stream)) == cudaErrorNotReady) {
        if (seconds_now() - start < PATIENCE_S) continue;
        fprintf(stderr,
                "%s: has not ended after %.0f s, most likely a deadlock; in the simulator the same "
                "run names the barrier\n",
                name, PATIENCE_S);
        fflush(NULL);
        _exit(EXIT_HAZARD);
    }
    return cuda_ok(status, name);
}

/* Enqueues so many multiplications of the rotation. On several GPUs they follow each other on each
 * of them, as far as the contender allows: the GPUs meet before the first and after the last. */
static bool enqueue_many(const struct contender *contender, const struct gemm_problem *problems,
                         int count, int launches) {
    const bool follow = contender->kernel && contender->kernel->follows;
    bool good = !follow || gemm_devices_begin(gpu_state.stream) == GEMM_OK;
    for (int i = 0; i < launches && good; ++i)
        good = contender->enqueue(contender, &problems[i % count], gpu_state.stream) == GEMM_OK;
    if (follow) good &= gemm_devices_end(gpu_state.stream) == GEMM_OK;
    return good;
}

enum run_status backend_run(const struct contender *contender, const struct gemm_problem *problem,
                            double *cycles) {
    *cycles = -1.0; /* one run alone is not worth a clock reading */
    const int launches = contender->kernel ? (int)backend_settings[SETTING_LAUNCHES].value : 1;
    if (!enqueue_many(contender, problem, 1, launches)) return RUN_FAILED;
    return wait_for_end(contender->name) ? RUN_OK : RUN_FAILED;
}

bool backend_can_time(void) { return true; }

/* A graph of `launches` multiplications, ready on the device. NULL after a message. */
static cudaGraphExec_t capture(const struct contender *contender,
                               const struct gemm_problem *problems, int count, int launches) {
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    if (!cuda_ok(cudaStreamBeginCapture(gpu_state.stream, cudaStreamCaptureModeRelaxed),
                 "beginning a capture"))
        return NULL;
    const bool enqueued = enqueue_many(contender, problems, count, launches);
    const cudaError_t status = cudaStreamEndCapture(gpu_state.stream, &graph);
    if (!enqueued || !cuda_ok(status, contender->name)) {
        if (graph) cudaGraphDestroy(graph);
        cudaGetLastError();
        return NULL;
    }
    if (!cuda_ok(cudaGraphInstantiate(&ready, graph, 0), "instantiating a graph")) ready = NULL;
    cudaGraphDestroy(graph);
    if (ready && !cuda_ok(cudaGraphUpload(ready, gpu_state.stream), "uploading a graph")) {
        cudaGraphExecDestroy(ready);
        return NULL;
    }
    return ready;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median SM's clock between two sets of readings, in MHz; 0 if no SM is in both. */
static double clock_between(const struct clock_reading *before, const struct clock_reading *after,
                            int readings) {
    double *mhz = malloc(sizeof *mhz * (size_t)readings);
    int found = 0;
    for (int i = 0; mhz && i < readings; ++i) {
        int j = 0;
        while (j < readings && after[j].sm != before[i].sm)
            ++j;
        if (j == readings || after[j].nanoseconds <= before[i].nanoseconds) continue;
        mhz[found++] = 1e3 * (double)(after[j].cycles - before[i].cycles) /
                       (double)(after[j].nanoseconds - before[i].nanoseconds);
    }
    double median = 0.0;
    if (found) {
        qsort(mhz, (size_t)found, sizeof *mhz, by_value);
        median = mhz[found / 2];
    }
    free(mhz);
    return median;
}

/* What a timed batch needs besides the work itself; made once. */
static struct timer {
    cudaEvent_t begin, end;
    struct clock_reading *before, *after; /* in global memory */
    struct clock_reading *host_before, *host_after;
    int readings;
} timer;

static bool timer_open(void) {
    if (timer.readings) return true;
    const int readings = gpu_state.sm_count * CLOCKS_CTAS_PER_SM;
    const size_t bytes = sizeof(struct clock_reading) * (size_t)readings;
    timer.host_before = malloc(bytes);
    timer.host_after = malloc(bytes);
    if (!timer.host_before || !timer.host_after ||
        !cuda_ok(cudaMalloc((void **)&timer.before, bytes), "allocating the clock readings") ||
        !cuda_ok(cudaMalloc((void **)&timer.after, bytes), "allocating the clock readings") ||
        !cuda_ok(cudaEventCreate(&timer.begin), "creating an event") ||
        !cuda_ok(cudaEventCreate(&timer.end), "creating an event"))
        return false;
    timer.readings = readings;
    return true;
}

void timer_close(void) {
    if (timer.before) cudaFree(timer.before);
    if (timer.after) cudaFree(timer.after);
    if (timer.begin) cudaEventDestroy(timer.begin);
    if (timer.end) cudaEventDestroy(timer.end);
    free(timer.host_before);
    free(timer.host_after);
    timer = (struct timer){0};
}

bool backend_time(const struct contender *contender, const struct gemm_problem *problems, int count,
                  int launches, struct batch *out) {
    if (!timer_open()) return false;
    cudaStream_t stream = gpu_state.stream;
    const double flops = 2.0 * problems->m * problems->n * problems->k;
    cudaGraphExec_t graph = NULL;
    int repeats = 1;
    if (flops < GRAPH_BELOW_FLOPS) {
        const int rotations = (GRAPH_LAUNCHES + count - 1) / count;
        const int whole = rotations * count; /* each graph goes around the rotation whole times */
        const int per_graph = launches < whole ? launches : whole;
        repeats = (launches + per_graph - 1) / per_graph;
        launches = repeats * per_graph;
        graph = capture(contender, problems, count, per_graph);
        if (!graph) return false;
    }
    bool good =
        cuda_ok(clocks_read(timer.before, gpu_state.sm_count, stream), "reading the clocks") &&
        cuda_ok(cudaEventRecord(timer.begin, stream), "recording an event");
    if (good && graph)
        for (int i = 0; good && i < repeats; ++i)
            good = cuda_ok(cudaGraphLaunch(graph, stream), contender->name);
    else if (good)
        good = enqueue_many(contender, problems, count, launches);
    good = good && cuda_ok(cudaEventRecord(timer.end, stream), "recording an event") &&
           cuda_ok(clocks_read(timer.after, gpu_state.sm_count, stream), "reading the clocks") &&
           wait_for_end(contender->name);
    if (graph) cudaGraphExecDestroy(graph);
    if (!good) return false;

    float ms = 0.0f;
    const size_t bytes = sizeof(struct clock_reading) * (size_t)timer.readings;
    if (!cuda_ok(cudaEventElapsedTime(&ms, timer.begin, timer.end), "reading the events") ||
        !backend_copy_out(timer.host_before, timer.before, bytes) ||
        !backend_copy_out(timer.host_after, timer.after, bytes))
        return false;
    out->launches = launches;
    out->ms = ms;
    out->clock_mhz = clock_between(timer.host_before, timer.host_after, timer.readings);
    out->sm_cycles = out->clock_mhz * 1e3 * out->ms;
    return true;
}
