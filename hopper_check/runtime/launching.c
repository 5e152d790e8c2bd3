/* launching.c: from a request to the simulator's launch. */
#include "runtime/launching.h"

#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "runtime/blocks.h"
#include "runtime/errors.h"
#include "runtime/estimate.h"
#include "runtime/graphs.h"
#include "runtime/outputs.h"
#include "runtime/progress.h"
#include "runtime/report_page.h"
#include "runtime/session.h"
#include "sim/core/global_memory.h"
#include "sim/core/state.h"
#include "sim/order/launches_ahead.h"
#include "sim/settings.h"

enum {
    MOST_PARAMETER_BYTES = 3584, /* the simulator's 4096, less a gemm_args */
    USUAL_SHARED_BYTES = 48 << 10,
    MOST_SHARED_BYTES = 227 << 10,
    MOST_THREADS = 1024,
    MOST_CLUSTER = 16
};
static const double CYCLES_OF_A_MILLISECOND = 1.98e6; /* an H200 at its highest clock */

static struct {
    struct launch launch;
    unsigned char args[sizeof(struct gemm_args) + MOST_PARAMETER_BYTES]
        __attribute__((aligned(128)));
    size_t bytes;
} task;
static int launches;
static double cycles;

double launch_milliseconds(void) { return cycles / CYCLES_OF_A_MILLISECOND; }

/* ---- what CUDA refuses ---- */

static int count(struct three v) { return v.x * v.y * v.z; }
static bool positive(struct three v) { return v.x > 0 && v.y > 0 && v.z > 0; }

static cudaError_t complain(const struct kernel *k, cudaError_t error, const char *why, long have,
                            long most) {
    char text[256];
    snprintf(text, sizeof text, why, have, most);
    session_note("a launch of %s fails with %s: %s", k->shown, cudaGetErrorName(error), text);
    return error;
}

/* The shape of the launch, as the kernel and the request have it. */
static cudaError_t shape(const struct kernel *k, const struct request *r, struct launch *l) {
    const struct ptx_function *const f = k->function;
    const long limit = k->most_dynamic_shared
                           ? k->most_dynamic_shared
                           : USUAL_SHARED_BYTES - k->program->static_shared_bytes;
    if (!positive(r->grid) || !positive(r->block))
        return complain(k, cudaErrorInvalidConfiguration, "an extent of its grid or block is 0", 0,
                        0);
    if (count(r->block) > MOST_THREADS)
        return complain(k, cudaErrorInvalidConfiguration, "%ld threads of a CTA, at most %ld",
                        count(r->block), MOST_THREADS);
    if ((long)r->dynamic_shared > limit)
        return complain(
            k, cudaErrorInvalidValue,
            "%ld bytes of dynamic shared memory, at most %ld: "
            "cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize) allows more",
            (long)r->dynamic_shared, limit);
    *l = (struct launch){.program = k->program,
                         .grid = r->grid,
                         .block = r->block,
                         .cluster = r->cluster,
                         .parameters_at = sizeof(struct gemm_args),
                         .elect_any = session_get()->elect_any,
                         .early = r->early,
                         .keeps_variables = true,
                         .branch_limit = session_get()->branch_limit ? session_get()->branch_limit
                                                                     : BRANCH_LIMIT,
                         .cta_begins = estimate_progress};
    l->dynamic_shared_bytes = (int)r->dynamic_shared;
    if (!l->cluster.x)
        l->cluster = f->cluster[0] ? (struct three){f->cluster[0], f->cluster[1], f->cluster[2]}
                                   : (struct three){1, 1, 1};
    if (count(l->cluster) > MOST_CLUSTER)
        return complain(k, cudaErrorInvalidClusterSize, "clusters of %ld CTAs, at most %ld",
                        count(l->cluster), MOST_CLUSTER);
    if (l->grid.x % l->cluster.x || l->grid.y % l->cluster.y || l->grid.z % l->cluster.z)
        return complain(k, cudaErrorInvalidConfiguration,
                        "its grid of %ld CTAs is not made of its clusters of %ld", count(l->grid),
                        count(l->cluster));
    if (!launch_acceptable(l)) return cudaErrorInvalidConfiguration;
    return cudaSuccess;
}

/* All CTAs of a cooperative launch are resident at once, and have a barrier. */
static cudaError_t cooperate(const struct kernel *k, struct launch *l) {
    enum { BARRIER_BYTES = 8 }; /* cooperative_groups/details/driver_abi.h */
    static void *barrier;
    const int most = launch_ask(l, gemm_resident_clusters) * count(l->cluster);
    if (count(l->grid) > most)
        return complain(k, cudaErrorCooperativeLaunchTooLarge,
                        "a cooperative launch of %ld CTAs, and %ld fit: --sms gives it more SMs",
                        count(l->grid), most);
    if (!barrier) barrier = backend_alloc(BARRIER_BYTES, "the grid's barrier", true);
    if (!barrier) return cudaErrorMemoryAllocation;
    memset(barrier, 0, BARRIER_BYTES);
    l->grid_barrier = barrier;
    return cudaSuccess;
}

static cudaError_t parameters(const struct kernel *k, const struct request *r) {
    const struct ptx_function *const f = k->function;
    unsigned char *const to = task.args + sizeof(struct gemm_args);
    if (f->param_bytes > MOST_PARAMETER_BYTES)
        session_refuse(REFUSED_INCOMPLETE,
                       "%s has %zu bytes of parameters; more than %d are not "
                       "modelled",
                       k->shown, f->param_bytes, (int)MOST_PARAMETER_BYTES);
    memset(task.args, 0, sizeof task.args);
    task.bytes = sizeof(struct gemm_args) + f->param_bytes;
    if (!r->argument && r->packed_bytes < f->param_bytes)
        return f->param_bytes ? cudaErrorInvalidValue : cudaSuccess;
    if (!r->argument) memcpy(to, r->packed, f->param_bytes);
    for (int i = 0; r->argument && i < f->params; ++i)
        memcpy(to + f->param[i].offset, r->argument[i], f->param[i].bytes);
    return cudaSuccess;
}

/* ---- the launch ---- */

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                void *stream) {
    (void)problem, (void)stream;
    page_begin(self->name, count(task.launch.cluster), launches);
    const enum gemm_status status = launch_run(&task.launch, task.args, task.bytes);
    page_end();
    return status;
}

static void tell_begin(const struct kernel *k) {
    char number[16], ctas[32], threads[32];
    const struct launch *const l = &task.launch;
    snprintf(number, sizeof number, "%d", launches);
    snprintf(ctas, sizeof ctas, "%d", count(l->grid));
    snprintf(threads, sizeof threads, "%d", count(l->block));
    session_tell("launch", (const char *const[]){number, k->shown, ctas, threads}, 4);
}

static void tell_end(void) {
    char executed[32], checked[32];
    snprintf(executed, sizeof executed, "%llu", (unsigned long long)task.launch.executed);
    snprintf(checked, sizeof checked, "%llu", (unsigned long long)task.launch.checked);
    session_tell("ended", (const char *const[]){executed, checked}, 2);
}

void launch_uses(const void *stream) {
    static const void *first;
    static bool any;
    if (capture_of(stream))
        session_refuse(REFUSED_INCOMPLETE, "a capture of a stream does not take all calls: copies, "
                                           "fills, launches and host functions of the runtime's");
    if (stream == cudaStreamLegacy) stream = NULL; /* two names of the default stream */
    if (!any) first = stream;
    any = true;
    if (stream != first)
        session_note(
            "the program uses more than one stream: they run in the order of its calls, and "
            "races between two of them are not seen");
}

/* On another stream than the launch before it, a launch has none ahead of it that it could overlap
 * with; the order of the host's calls is that of all streams. */
static void begin_on(const void *stream, const struct kernel *k) {
    static const void *latest;
    if (stream != latest) launches_ahead_complete();
    latest = stream;
    launches_ahead_next(task.launch.early, k->lets_next);
}

static cudaError_t run(const struct kernel *k, const void *stream) {
    const struct contender contender = {.name = k->shown, .enqueue = enqueue};
    static const struct gemm_problem problem;
    double taken = 0;
    if (count(task.launch.cluster) > session_get()->sms)
        session_refuse(REFUSED_INPUT,
                       "a cluster of %d CTAs needs as many SMs, and there are %d: "
                       "--sms %d",
                       count(task.launch.cluster), session_get()->sms, count(task.launch.cluster));
    ++launches;
    tell_begin(k);
    estimate_begin(k, &task.launch, task.args + sizeof(struct gemm_args));
    outputs_apply(k->outputs, k->function, task.args + sizeof(struct gemm_args));
    launch_uses(stream);
    begin_on(stream, k);
    if (task.launch.grid_barrier) global_let_write_to(task.launch.grid_barrier);
    progress_begin(&task.launch, launches, k->shown);
    const enum run_status status = backend_run(&contender, &problem, &taken);
    progress_end();
    tell_end();
    cycles += taken > 0 ? taken : (double)sim.steps;
    if (sim_run.abandoned) return errors_lose(cudaErrorLaunchFailure);
    return status == RUN_FAILED ? cudaErrorLaunchFailure : cudaSuccess;
}

cudaError_t launch_request(const struct request *r) {
    session_get();
    session_enter();
    blocks_open(NULL);
    const struct kernel *const k = kernel_find(r->handle);
    cudaError_t error = errors_lost();
    if (!k && !error) error = cudaErrorInvalidDeviceFunction;
    if (!error) error = shape(k, r, &task.launch);
    if (!error && r->cooperative) error = cooperate(k, &task.launch);
    if (!error) error = parameters(k, r);
    const void *const packed = task.args + sizeof(struct gemm_args);
    if (!error)
        error = capture_of(r->stream) ? capture_launch(r, packed, k->function->param_bytes)
                                      : run(k, r->stream);
    session_leave();
    return error;
}

/* ---- occupancy ---- */

static int ask(const struct request *r, int (*answer)(const struct gemm_launch *launch)) {
    struct launch l;
    int found = 0;
    session_enter();
    const struct kernel *const k = kernel_find(r->handle);
    if (k && shape(k, r, &l) == cudaSuccess && launch_shared_bytes(&l) <= MOST_SHARED_BYTES)
        found = launch_ask(&l, answer);
    session_leave();
    return found;
}

static int per_sm(const struct gemm_launch *launch) {
    return gemm_resident_clusters(launch) * launch->cluster / session_get()->sms;
}

int launch_ctas_per_sm(const struct request *r) { return ask(r, per_sm); }
int launch_clusters(const struct request *r) { return ask(r, gemm_resident_clusters); }
