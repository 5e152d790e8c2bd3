/*
 * library_host.c: what chapter 10's library does on the host, against a CUDA runtime that is faked
 * here: no GPU is needed.
 *
 * A run of a plan makes few calls of the runtime, and these are counted. It works again after the
 * device has been reset. Threads with one plan get their own pointers, and a thread that makes a
 * plan keeps no other from launching. The services of common/gpu are linked as they are; the kernel
 * is made up.
 */
#define _GNU_SOURCE /* pthread_barrier_t */
#include <cuda.h>
#include <cuda_runtime.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "hopper_gemm.h"
#include "select.h"
#include "tests/support/expect.h"

enum { DEVICES = 2, SMS = 132, SMEM = 200 * 1024, DEFAULT_SMEM = 48 * 1024, CLUSTER = 2 };

/* ---- the runtime ---- */

static struct {
    int launches, attributes, encoded, moved, devices_asked, others; /* calls */
    int smem[DEVICES];                                               /* that the kernel may use */
    cudaError_t refuse, last; /* the error of every launch; the one that is kept */
    struct gemm_args args;
    int mixed_up;         /* launches whose pointers are not all of their caller */
    int inside, unlocked; /* threads that ask for their device; times that it was several at once */
    void (*meanwhile)(void); /* NULL, or called while a map is made */
} fake;
static pthread_mutex_t fake_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int device;
static _Thread_local uintptr_t self; /* the caller of this thread's run */

static cudaError_t count(int *calls) {
    pthread_mutex_lock(&fake_mutex);
    ++*calls;
    pthread_mutex_unlock(&fake_mutex);
    return cudaSuccess;
}

/* The services ask under their lock. */
cudaError_t cudaGetDevice(int *current) {
    *current = device;
    count(&fake.inside);
    sched_yield();
    pthread_mutex_lock(&fake_mutex);
    fake.unlocked += fake.inside > 1;
    --fake.inside;
    pthread_mutex_unlock(&fake_mutex);
    return count(&fake.devices_asked);
}

cudaError_t cudaSetDevice(int chosen) {
    device = chosen;
    return count(&fake.others);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int of) {
    (void)attribute, (void)of;
    *value = SMS;
    return count(&fake.others);
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute,
                                 int value) {
    (void)function;
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) fake.smem[device] = value;
    return count(&fake.attributes);
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                           const cudaLaunchConfig_t *config) {
    (void)function, (void)config;
    *clusters = SMS / CLUSTER;
    return count(&fake.others);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, size_t smem) {
    (void)function, (void)threads, (void)smem;
    *blocks = 1;
    return count(&fake.others);
}

/* A caller's pointers differ in their last 28 bits alone. */
static uintptr_t caller_of(const void *pointer) { return (uintptr_t)pointer >> 28; }
static uintptr_t base_of(const struct tensor_map *map) { return (uintptr_t)map->opaque[0]; }

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                void **parameters) {
    const struct gemm_args *args = parameters[0];
    (void)function;
    count(&fake.launches);
    cudaError_t status = fake.refuse;
    if (config->dynamicSmemBytes > (size_t)fake.smem[device]) status = cudaErrorInvalidValue;
    pthread_mutex_lock(&fake_mutex);
    if (status) fake.last = status;
    const uintptr_t caller = caller_of(args->a);
    fake.mixed_up += caller != self || caller != caller_of(args->b) ||
                     caller != caller_of(args->d) || base_of(&args->map_a) != (uintptr_t)args->a ||
                     base_of(&args->map_b) != (uintptr_t)args->b ||
                     base_of(&args->map_d) != (uintptr_t)args->d ||
                     (uintptr_t)config->stream != caller;
    fake.args = *args;
    pthread_mutex_unlock(&fake_mutex);
    return status;
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
    *memory = malloc(bytes);
    if (*memory) memset(*memory, 0xff, bytes);
    return count(&fake.others);
}

cudaError_t cudaFree(void *memory) {
    free(memory);
    return count(&fake.others);
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes) {
    memset(memory, value, bytes);
    return count(&fake.others);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream) {
    (void)memory, (void)value, (void)bytes, (void)stream;
    return count(&fake.others);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    (void)stream;
    return count(&fake.others);
}

const char *cudaGetErrorString(cudaError_t status) {
    return status == cudaErrorInvalidValue ? "invalid argument" : "some error";
}

cudaError_t cudaGetLastError(void) {
    const cudaError_t last = fake.last;
    fake.last = cudaSuccess;
    return last;
}

/* A map: its base, then the promotion into the L2. */
static CUresult encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *base,
                       const cuuint64_t *extents, const cuuint64_t *pitch, const cuuint32_t *box,
                       const cuuint32_t *every, CUtensorMapInterleave interleave,
                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                       CUtensorMapFloatOOBfill fill) {
    (void)type, (void)rank, (void)extents, (void)pitch, (void)box, (void)every;
    (void)interleave, (void)swizzle, (void)fill;
    const cuuint64_t words[2] = {(cuuint64_t)(uintptr_t)base, promotion};
    memset(map, 0, sizeof *map);
    memcpy(map, words, sizeof words);
    count(&fake.encoded);
    if (fake.meanwhile) fake.meanwhile();
    return CUDA_SUCCESS;
}

static CUresult replace(CUtensorMap *map, void *base) {
    const cuuint64_t word = (cuuint64_t)(uintptr_t)base;
    memcpy(map, &word, sizeof word);
    count(&fake.moved);
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found) {
    (void)version, (void)flags;
    *found = cudaDriverEntryPointSuccess;
    *function = strcmp(name, "cuTensorMapEncodeTiled") == 0      ? (void *)encode
                : strcmp(name, "cuTensorMapReplaceAddress") == 0 ? (void *)replace
                                                                 : NULL;
    if (!*function) *found = cudaDriverEntryPointSymbolNotFound;
    return count(&fake.others);
}

/* ---- the kernel ---- */

static void function(void) {}
static enum gemm_status launch(const struct gemm_problem *p, void *stream);
static const struct gemm_kernel kernel = {.name = "made_up",
                                          .variant = "made_up",
                                          .threads = 384,
                                          .cluster = CLUSTER,
                                          .smem_bytes = SMEM,
                                          .function = (const void *)function,
                                          .launch = launch,
                                          .counters = true};

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, 128, 256, 64);
    if (gemm_tensor_map(&args.map_a, GEMM_BF16, p->a, p->m, p->k, p->lda, 128, 64, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, GEMM_BF16, p->b, p->n, p->k, p->ldb, 128, 64, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_d, GEMM_BF16, p->d, p->m, p->n, p->ldd, 64, 64, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    const struct gemm_launch question = gemm_launch_of(&kernel, CLUSTER, NULL);
    return gemm_launch_grid(&kernel, CLUSTER * gemm_resident_clusters(&question), &args, stream);
}

const struct gemm_kernel *selected_kernel(enum gemm_type type, const struct gemm_problem *problem,
                                          size_t limit) {
    (void)type, (void)problem, (void)limit;
    return &kernel;
}

/* ---- the tests ---- */

enum { M = 512, N = 512, K = 512 };

static struct hopper_gemm_plan *new_plan(void) {
    struct hopper_gemm_plan *plan = NULL;
    if (hopper_gemm_plan_create(&plan, HOPPER_GEMM_BF16, M, N, K, K, K, N, 0)) exit(1);
    return plan;
}

/* A caller's pointers are in 2^28 bytes of its own; its number is its stream, too. */
static char *memory_of(int caller) { return (char *)((uintptr_t)caller << 28); }

static int run(const struct hopper_gemm_plan *plan, int caller, size_t offset) {
    char *const memory = memory_of(caller) + offset;
    self = (uintptr_t)caller;
    return hopper_gemm_plan_run(plan, (void *)(uintptr_t)caller, memory, memory + (1 << 20),
                                memory + (2 << 20), NULL);
}

static void forget_calls(void) {
    fake.launches = fake.attributes = fake.encoded = fake.moved = fake.devices_asked = 0;
    fake.others = 0;
}

#define EXPECT_CALLS(what, l, a, e, m)                                                             \
    EXPECT(fake.launches == (l) && fake.attributes == (a) && fake.encoded == (e) &&                \
               fake.moved == (m) && fake.others == 0,                                              \
           "%s: %d launches, %d attributes, %d maps made, %d moved, %d other calls", what,         \
           fake.launches, fake.attributes, fake.encoded, fake.moved, fake.others)

/* A run: one launch, three maps moved, and one question which device it is. */
static void expect_few_calls(const struct hopper_gemm_plan *plan) {
    for (int caller = 1; caller < 4; ++caller) {
        forget_calls();
        EXPECT(run(plan, caller, 0) == HOPPER_GEMM_OK, "caller %d: refused", caller);
        EXPECT_CALLS("a run", 1, 0, 0, 3);
        EXPECT(fake.devices_asked == 1, "%d questions", fake.devices_asked);
    }
    /* The maps of matrices off the lines of the L2 promote less. */
    const uint64_t whole_lines = fake.args.map_a.opaque[1];
    forget_calls();
    EXPECT(run(plan, 1, 16) == HOPPER_GEMM_OK, "%s", "16 bytes off: refused");
    EXPECT_CALLS("16 bytes off", 1, 0, 3, 0);
    EXPECT(fake.args.map_a.opaque[1] != whole_lines, "%s", "16 bytes off: the same maps");
    EXPECT(fake.mixed_up == 0, "%d launches with wrong pointers", fake.mixed_up);
}

static void reset(void) { fake.smem[device] = DEFAULT_SMEM; }

/* After a reset the kernel's attributes are set again, and only then. */
static void expect_resets(const struct hopper_gemm_plan *plan) {
    reset();
    forget_calls();
    EXPECT(run(plan, 1, 0) == HOPPER_GEMM_OK, "%s", "a run after a reset fails");
    EXPECT_CALLS("a run after a reset", 2, 1, 0, 3);
    EXPECT(fake.last == cudaSuccess, "a reset leaves error %d", (int)fake.last);
    forget_calls();
    EXPECT(run(plan, 1, 0) == HOPPER_GEMM_OK, "%s", "the run after that fails");
    EXPECT_CALLS("the run after that", 1, 0, 0, 3);
    reset();
    struct hopper_gemm_plan *made_after = new_plan();
    EXPECT(run(made_after, 1, 0) == HOPPER_GEMM_OK, "%s", "a plan made after a reset fails");
    hopper_gemm_plan_destroy(made_after);
    reset();
    char *const memory = memory_of(1);
    EXPECT(hopper_gemm(NULL, HOPPER_GEMM_BF16, M, N, K, memory, K, memory, K, memory, N, memory) ==
               HOPPER_GEMM_OK,
           "%s", "hopper_gemm() after a reset fails");
    fake.mixed_up = 0; /* that call's matrices are one */
}

/* Another reason to refuse a launch: tried twice, reported, not left behind. */
static void expect_failures(const struct hopper_gemm_plan *plan) {
    fake.refuse = cudaErrorLaunchOutOfResources;
    forget_calls();
    EXPECT(run(plan, 1, 0) == HOPPER_GEMM_FAILED && fake.launches == 2, "%d launches",
           fake.launches);
    EXPECT(fake.last == cudaSuccess, "a failed launch leaves error %d", (int)fake.last);
    fake.refuse = cudaSuccess;
    EXPECT(run(plan, 1, 0) == HOPPER_GEMM_OK, "%s", "a launch after a failed one fails");
}

/* Attributes are each device's own. */
static void expect_devices(void) {
    for (device = DEVICES - 1; device >= 0; --device) {
        struct hopper_gemm_plan *plan = new_plan();
        forget_calls();
        EXPECT(run(plan, 1, 0) == HOPPER_GEMM_OK && fake.launches == 1, "device %d: %d launches",
               device, fake.launches);
        hopper_gemm_plan_destroy(plan);
    }
    device = 0;
}

/* While one thread makes a plan, the launches of another are launched. */
static const struct hopper_gemm_plan *run_meanwhile;
static int ran_meanwhile;

static void *call_once(void *unused) {
    (void)unused;
    ran_meanwhile += run(run_meanwhile, 2, 0) == HOPPER_GEMM_OK;
    return NULL;
}

static void call_from_another_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, call_once, NULL)) exit(1);
    pthread_join(thread, NULL);
}

static void expect_threads_apart(const struct hopper_gemm_plan *plan) {
    run_meanwhile = plan;
    fake.meanwhile = call_from_another_thread;
    forget_calls();
    hopper_gemm_plan_destroy(new_plan());
    fake.meanwhile = NULL;
    EXPECT(ran_meanwhile == 3 && fake.launches == 3, "%d runs, %d launches", ran_meanwhile,
           fake.launches);
}

enum { THREADS = 4, RUNS = 5000 };
static struct {
    const struct hopper_gemm_plan *plan;
    pthread_barrier_t start;
    int failed;
} threads;

static void *call(void *argument) {
    const int caller = (int)(uintptr_t)argument;
    int failed = 0;
    pthread_barrier_wait(&threads.start);
    for (int i = 0; i < RUNS; ++i) {
        failed += run(threads.plan, caller, (size_t)(i % 100) * 128) != HOPPER_GEMM_OK;
        if (caller != 1 || i % 10) continue;
        hopper_gemm_plan_destroy(new_plan());
    }
    pthread_mutex_lock(&fake_mutex);
    threads.failed += failed;
    pthread_mutex_unlock(&fake_mutex);
    return NULL;
}

/* The first of them also makes plans. */
static void expect_threads(const struct hopper_gemm_plan *plan) {
    pthread_t thread[THREADS];
    threads.plan = plan;
    pthread_barrier_init(&threads.start, NULL, THREADS);
    forget_calls();
    for (int i = 0; i < THREADS; ++i)
        if (pthread_create(&thread[i], NULL, call, (void *)(uintptr_t)(i + 1))) exit(1);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(thread[i], NULL);
    EXPECT(threads.failed == 0 && fake.launches == THREADS * RUNS, "%d failed, %d launches",
           threads.failed, fake.launches);
    EXPECT(fake.mixed_up == 0, "%d launches with another thread's pointers", fake.mixed_up);
    EXPECT(fake.unlocked == 0, "%d times without the lock", fake.unlocked);
}

/* A plan's counters are zero, and its own. */
static void expect_counters(void) {
    struct hopper_gemm_plan *plan[2] = {new_plan(), new_plan()};
    uint32_t *counters[2];
    for (int i = 0; i < 2; ++i) {
        EXPECT(run(plan[i], 1, 0) == HOPPER_GEMM_OK, "plan %d: refused", i);
        counters[i] = fake.args.tile_counter;
        for (int j = 0; j < GEMM_COUNTERS; ++j)
            EXPECT(counters[i][j] == 0, "plan %d: counter %d is %u", i, j, counters[i][j]);
    }
    EXPECT(counters[0] != counters[1], "%s", "two plans share counters");
    hopper_gemm_plan_destroy(plan[0]);
    hopper_gemm_plan_destroy(plan[1]);
}

int main(void) {
    for (int i = 0; i < DEVICES; ++i)
        fake.smem[i] = DEFAULT_SMEM;
    struct hopper_gemm_plan *plan = new_plan();
    expect_few_calls(plan);
    expect_resets(plan);
    expect_failures(plan);
    expect_devices();
    expect_counters();
    expect_threads_apart(plan);
    expect_threads(plan);
    hopper_gemm_plan_destroy(plan);
    return expect_result();
}
