/*
 * library_host.c: what hopper_gemm does on the host, against the runtime of
 * fake_runtime.c: no GPU is needed.
 *
 * A run of a plan makes few calls of the runtime, and these are counted. It works again after the
 * device has been reset. Threads with one plan get their own pointers, and a thread that makes a
 * plan keeps no other from launching. The services of common/gpu are linked as they are; the kernel
 * is made up.
 */
#define _GNU_SOURCE /* pthread_barrier_t */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "services/selection.h"
#include "hopper_gemm.h"
#include "select.h"
#include "tests/gpu/fake_runtime.h"
#include "tests/support/expect.h"

enum { SMEM = 200 * 1024 };

/* ---- the kernel ---- */

static void function(void) {}
static enum gemm_status launch(const struct gemm_problem *p, void *stream);
static const struct gemm_kernel kernel = {.name = "made_up",
                                          .variant = "made_up",
                                          .threads = 384,
                                          .cluster = FAKE_CLUSTER,
                                          .smem_bytes = SMEM,
                                          .function = (const void *)function,
                                          .launch = launch};

static enum gemm_status launch_when(const struct gemm_problem *p, void *stream,
                                    enum gemm_early early) {
    struct gemm_args args = gemm_args_of(p, 128, 256, 64);
    if (gemm_tensor_map(&args.map_a, GEMM_BF16, p->a, p->m, p->k, p->lda, 128, 64, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, GEMM_BF16, p->b, p->n, p->k, p->ldb, 128, 64, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_d, GEMM_BF16, p->d, p->m, p->n, p->ldd, 64, 64, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    const struct gemm_launch question = gemm_launch_of(&kernel, FAKE_CLUSTER, NULL);
    struct gemm_launch grid =
        gemm_launch_of(&kernel, FAKE_CLUSTER * gemm_resident_clusters(&question), stream);
    grid.early = early;
    return gemm_launch_kernel(&grid, &args);
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    return launch_when(p, stream, GEMM_IN_ORDER);
}

static enum gemm_status launch_early(const struct gemm_problem *p, void *stream) {
    return launch_when(p, stream, GEMM_EARLY);
}

static enum gemm_status launch_not(const struct gemm_problem *p, void *stream) {
    (void)p, (void)stream;
    return GEMM_UNSUPPORTED;
}

int describe_kernel(const struct gemm_kernel *asked, const struct gemm_problem *problem, char *text,
                    size_t bytes) {
    (void)problem;
    return snprintf(text, bytes, "%s", asked->name);
}

/* Two, of which the second may be one that cannot be launched. */
static struct gemm_kernel second;
int ranked_kernels(enum gemm_type type, const struct gemm_problem *problem, size_t limit,
                   const struct gemm_kernel **kernels, int most) {
    (void)type, (void)problem, (void)limit;
    kernels[0] = &kernel;
    if (most > 1) kernels[1] = &second;
    return most > 1 ? 2 : 1;
}

static size_t form_bytes; /* of workspace that the early form would use; the other uses none */
static size_t workspace_of_form(const struct gemm_problem *p) {
    (void)p;
    return form_bytes;
}

const struct gemm_kernel *early_form(const struct gemm_kernel *of, enum gemm_early early) {
    static struct gemm_kernel form;
    form = kernel;
    form.launch = launch_early;
    form.workspace_bytes = workspace_of_form;
    return early == GEMM_IN_ORDER ? of : &form;
}

/* ---- the tests ---- */

enum { M = 512, N = 512, K = 512 };

static struct hopper_gemm_plan *new_plan(void) {
    struct hopper_gemm_plan *plan = NULL;
    if (hopper_gemm_plan_create(&plan, HOPPER_GEMM_BF16, M, N, K, K, K, N, 0)) exit(1);
    return plan;
}

static int run(const struct hopper_gemm_plan *plan, int caller, size_t offset) {
    char *const memory = fake_memory((uintptr_t)caller) + offset;
    fake_caller = (uintptr_t)caller;
    return hopper_gemm_plan_run(plan, (void *)(uintptr_t)caller, memory, memory + (1 << 20),
                                memory + (2 << 20), NULL);
}

#define EXPECT_CALLS(what, l, a, e, m)                                                             \
    EXPECT(fake.launches == (l) && fake.attributes == (a) && fake.encoded == (e) &&                \
               fake.moved == (m) && fake.others == 0,                                              \
           "%s: %d launches, %d attributes, %d maps made, %d moved, %d other calls", what,         \
           fake.launches, fake.attributes, fake.encoded, fake.moved, fake.others)

/* A run: one launch and three maps moved. It does not even ask for the current device. */
static void expect_few_calls(const struct hopper_gemm_plan *plan) {
    for (int caller = 1; caller < 4; ++caller) {
        fake_forget_calls();
        EXPECT(run(plan, caller, 0) == HOPPER_GEMM_OK, "caller %d: refused", caller);
        EXPECT_CALLS("a run", 1, 0, 0, 3);
        EXPECT(fake.devices_asked == 0, "%d queries", fake.devices_asked);
    }
    /* The maps of matrices off the lines of the L2 promote less. */
    const uint64_t whole_lines = fake.args.map_a.opaque[1];
    fake_forget_calls();
    EXPECT(run(plan, 1, 16) == HOPPER_GEMM_OK, "%s", "16 bytes off: refused");
    EXPECT_CALLS("16 bytes off", 1, 0, 3, 0);
    EXPECT(fake.args.map_a.opaque[1] != whole_lines, "%s", "16 bytes off: the same maps");
    EXPECT(fake.mixed_up == 0, "%d launches with wrong pointers", fake.mixed_up);
}

/* After a reset the kernel's attributes are set again, and only then. */
static void expect_resets(const struct hopper_gemm_plan *plan) {
    fake_reset(0);
    fake_forget_calls();
    EXPECT(run(plan, 1, 0) == HOPPER_GEMM_OK, "%s", "a run after a reset fails");
    EXPECT_CALLS("a run after a reset", 2, 1, 0, 3);
    EXPECT(fake.last == cudaSuccess, "a reset leaves error %d", (int)fake.last);
    fake_forget_calls();
    EXPECT(run(plan, 1, 0) == HOPPER_GEMM_OK, "%s", "the run after that fails");
    EXPECT_CALLS("the run after that", 1, 0, 0, 3);
    fake_reset(0);
    struct hopper_gemm_plan *made_after = new_plan();
    fake_forget_calls();
    EXPECT(run(made_after, 1, 0) == HOPPER_GEMM_OK, "%s", "a plan made after a reset fails");
    EXPECT_CALLS("a run of a plan made after a reset", 1, 0, 0, 3);
    hopper_gemm_plan_destroy(made_after);
    fake_reset(0);
    char *const memory = fake_memory(1);
    EXPECT(hopper_gemm(NULL, HOPPER_GEMM_BF16, M, N, K, memory, K, memory, K, memory, N, memory) ==
               HOPPER_GEMM_OK,
           "%s", "hopper_gemm() after a reset fails");
    fake.mixed_up = 0; /* that call's matrices are one */
}

/* What fits is asked once. A question that is new after a reset has the attributes, too; one that
 * fails is asked again, and the thread can tell that it failed. */
static void expect_questions(void) {
    struct gemm_launch question = gemm_launch_of(&kernel, FAKE_CLUSTER, NULL);
    fake_reset(0);
    fake.no_answer = cudaErrorMemoryAllocation;
    EXPECT(gemm_resident_clusters(&question) > 0 && !gemm_questions_failed(), "%s",
           "what is known is asked again");
    for (question.cluster = FAKE_CLUSTER + 1; question.cluster < 5; ++question.cluster) {
        fake.no_answer = cudaErrorMemoryAllocation;
        EXPECT(gemm_resident_clusters(&question) == 0 && gemm_questions_failed() &&
                   !gemm_questions_failed(),
               "clusters of %d: an answer where there is none", question.cluster);
        fake_reset(0);
        fake.no_answer = cudaSuccess;
        EXPECT(gemm_resident_clusters(&question) == FAKE_SMS / FAKE_CLUSTER &&
                   !gemm_questions_failed(),
               "clusters of %d: none after a reset", question.cluster);
    }
}

/* Another reason to refuse a launch: tried twice, reported, not left behind. */
static void expect_failures(const struct hopper_gemm_plan *plan) {
    fake.refuse = cudaErrorLaunchOutOfResources;
    fake_forget_calls();
    EXPECT(run(plan, 1, 0) == HOPPER_GEMM_FAILED && fake.launches == 2, "%d launches",
           fake.launches);
    EXPECT(fake.last == cudaSuccess, "a failed launch leaves error %d", (int)fake.last);
    fake.refuse = cudaSuccess;
    EXPECT(run(plan, 1, 0) == HOPPER_GEMM_OK, "%s", "a launch after a failed one fails");
}

/* Attributes are each device's own. */
static void expect_devices(void) {
    for (fake_device = FAKE_DEVICES - 1; fake_device >= 0; --fake_device) {
        struct hopper_gemm_plan *plan = new_plan();
        fake_forget_calls();
        EXPECT(run(plan, 1, 0) == HOPPER_GEMM_OK && fake.launches == 1, "device %d: %d launches",
               fake_device, fake.launches);
        hopper_gemm_plan_destroy(plan);
    }
    fake_device = 0;
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
    fake_forget_calls();
    hopper_gemm_plan_destroy(new_plan());
    fake.meanwhile = NULL;
    EXPECT(ran_meanwhile == 3 && fake.launches == 3, "%d runs, %d launches", ran_meanwhile,
           fake.launches);
}

enum { THREADS = 4, RUNS = 5000 };
static struct {
    const struct hopper_gemm_plan *plan;
    pthread_barrier_t start;
    pthread_mutex_t lock;
    int failed;
} threads = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *call(void *argument) {
    const int caller = (int)(uintptr_t)argument;
    int failed = 0;
    pthread_barrier_wait(&threads.start);
    for (int i = 0; i < RUNS; ++i) {
        failed += run(threads.plan, caller, (size_t)(i % 100) * 128) != HOPPER_GEMM_OK;
        if (caller != 1 || i % 10) continue;
        hopper_gemm_plan_destroy(new_plan());
    }
    pthread_mutex_lock(&threads.lock);
    threads.failed += failed;
    pthread_mutex_unlock(&threads.lock);
    return NULL;
}

/* The first of them also makes plans. */
static void expect_threads(const struct hopper_gemm_plan *plan) {
    pthread_t thread[THREADS];
    threads.plan = plan;
    pthread_barrier_init(&threads.start, NULL, THREADS);
    fake_forget_calls();
    for (int i = 0; i < THREADS; ++i)
        if (pthread_create(&thread[i], NULL, call, (void *)(uintptr_t)(i + 1))) exit(1);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(thread[i], NULL);
    EXPECT(threads.failed == 0 && fake.launches == THREADS * RUNS, "%d failed, %d launches",
           threads.failed, fake.launches);
    EXPECT(fake.mixed_up == 0, "%d launches with another thread's pointers", fake.mixed_up);
    EXPECT(fake.unlocked == 0, "%d times without the lock", fake.unlocked);
}

/* Only the runs of an early plan have the attribute, beside that of the cluster. */
static void expect_early(void) {
    struct hopper_gemm_plan *plan = new_plan();
    static const int settings[] = {HOPPER_GEMM_IN_ORDER, HOPPER_GEMM_EARLY, HOPPER_GEMM_EARLY_B,
                                   HOPPER_GEMM_IN_ORDER};
    for (int i = 0; i < 4; ++i) {
        EXPECT(hopper_gemm_plan_set_early(plan, settings[i]) == HOPPER_GEMM_OK, "set %d", i);
        fake_forget_calls();
        EXPECT(run(plan, 1, 0) == HOPPER_GEMM_OK, "set to %d: refused", settings[i]);
        EXPECT_CALLS("set early", 1, 0, 0, 3);
        EXPECT(fake.early == (settings[i] != HOPPER_GEMM_IN_ORDER) && fake.cluster == FAKE_CLUSTER,
               "set to %d: early %d, clusters of %d", settings[i], fake.early, fake.cluster);
    }
    /* If it fails, the plan is as before. The early form may not need more workspace. */
    fake.refuse_maps = true;
    EXPECT(hopper_gemm_plan_set_early(plan, HOPPER_GEMM_EARLY) == HOPPER_GEMM_FAILED, "%s",
           "set early without maps");
    fake.refuse_maps = false;
    form_bytes = 1;
    EXPECT(hopper_gemm_plan_set_early(plan, HOPPER_GEMM_EARLY) == HOPPER_GEMM_FAILED, "%s",
           "set early with a larger workspace");
    form_bytes = 0;
    fake_forget_calls();
    EXPECT(run(plan, 1, 0) == HOPPER_GEMM_OK, "%s", "after a failed setting: refused");
    EXPECT_CALLS("after a failed setting", 1, 0, 0, 3);
    EXPECT(!fake.early, "%s", "after a failed setting: early");
    hopper_gemm_plan_destroy(plan);
}

/* As many kernels as a program may have: each keeps its answer. */
static void expect_many_kernels(void) {
    enum { KERNELS = 2000 };
    static char functions[KERNELS];
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < KERNELS; ++i) {
            struct gemm_launch question = gemm_launch_of(&kernel, FAKE_CLUSTER, NULL);
            question.kernel = &functions[i];
            fake_forget_calls();
            const int resident = gemm_resident_clusters(&question);
            EXPECT(resident == FAKE_SMS / FAKE_CLUSTER && (fake.attributes > 0) == (round == 0),
                   "kernel %d: %d at once, %d attributes", i, resident, fake.attributes);
        }
}

/* Several plans: all of them, or none. */
static void expect_several(void) {
    enum { MOST = 3 };
    for (int good = 0; good < 2; ++good) {
        struct hopper_gemm_plan *plans[MOST];
        memset(plans, 1, sizeof plans);
        int count = -1;
        second = kernel;
        if (!good) second.launch = launch_not;
        const int status =
            hopper_gemm_plans_create(plans, MOST, &count, HOPPER_GEMM_BF16, M, N, K, K, K, N, 0);
        EXPECT(status == (good ? HOPPER_GEMM_OK : HOPPER_GEMM_FAILED) && count == 2 * good,
               "several plans: status %d, %d plans", status, count);
        for (int i = 0; i < MOST; ++i)
            EXPECT((plans[i] != NULL) == (i < count), "several plans: plan %d of %d", i, count);
        for (int i = 0; i < count; ++i) {
            EXPECT(run(plans[i], 1, 0) == HOPPER_GEMM_OK, "plan %d of several: refused", i);
            hopper_gemm_plan_destroy(plans[i]);
        }
    }
}

int main(void) {
    struct hopper_gemm_plan *plan = new_plan();
    expect_few_calls(plan);
    expect_resets(plan);
    expect_questions();
    expect_failures(plan);
    expect_devices();
    expect_early();
    expect_many_kernels();
    expect_several();
    expect_threads_apart(plan);
    expect_threads(plan);
    hopper_gemm_plan_destroy(plan);
    return expect_result();
}
