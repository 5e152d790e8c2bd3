/*
 * sim_endless.c: kernels that never end are reported, with what every thread does; kernels that
 * take long are not. A thread that never gives its turn back ends the program, with exit code 4.
 */
#include <sys/wait.h>

#include "hopper/mbarrier.h"
#include "hopper/mma.h"
#include "sim/core/endless.h"
#include "sim/core/hazards.h"
#include "tests/sim/sim_trials.h"

enum { THREADS = 64, LIMIT = 100000 };

struct smem {
    mbarrier_t ping, pong;
    uint32_t word[4];
};

static int me(void) { return (int)threadIdx.x; }
static volatile int never;

/* Every wait succeeds, args.splits times. */
KERNEL(THREADS, 1) many_barriers(KERNEL_ARGS args) {
    for (int i = 0; i < args.splits; ++i)
        __syncthreads();
}

/* Two threads hand the turn to each other for ever; the others wait at the end. */
KERNEL(THREADS, 1) for_ever_by_turns(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    if (me() == 0) {
        mbarrier_init(&shared->ping, 1);
        mbarrier_init(&shared->pong, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    for (uint32_t phase = 0; !never && me() == 0; phase ^= 1) {
        mbarrier_arrive(&shared->ping);
        mbarrier_wait(&shared->pong, phase);
    }
    for (uint32_t phase = 0; !never && me() == 32; phase ^= 1) {
        mbarrier_wait(&shared->ping, phase);
        mbarrier_arrive(&shared->pong);
    }
    __syncthreads();
}

enum { PLAIN_LINE = __LINE__ + 5 };
KERNEL(THREADS, 1) plain_loop(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (me() == 37) {
        /* The last wrapper that is called. */
        ld_global_element(&args.a[0]);
        while (!never) {
        }
    }
    (void)shared;
    __syncthreads();
}

/* A mistake, and then more turns than a right kernel of this size takes. */
KERNEL(THREADS, 1) hazard_and_barriers(KERNEL_ARGS args) {
    if (me() == 37) ld_global_element(&args.a[-8]);
    for (int i = 0; i < args.splits; ++i)
        __syncthreads();
}

/* The same behind another mistake. */
KERNEL(THREADS, 1) hazard_and_loop(KERNEL_ARGS args) {
    if (me() == 37) {
        ld_global_element(&args.a[-8]);
        while (!never) {
        }
    }
    __syncthreads();
}

/* A spin on a word of shared memory, by ordinary loads: they never wait. */
KERNEL(THREADS, 1) spin_on_a_word(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    if (me() == 0) st_shared_b32(&shared->word[0], 0);
    __syncthreads();
    while (ld_shared_b32(&shared->word[0]) == 0) {
    }
}

/* Runs a trial in a process of its own, which has to end with exit code 4 and to say all this. */
static void expect_end(const struct sim_trial *t, const char *const *says) {
    char path[] = "/tmp/sim_endless.XXXXXX", text[8192];
    const int file = mkstemp(path);
    if (file < 0) exit(1);
    unlink(path);
    const pid_t child = fork();
    if (child == 0) {
        dup2(file, STDERR_FILENO);
        run_once(t, NULL);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const ssize_t size = pread(file, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = 0;
    close(file);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 4, "%s: status %#x\n%s", t->name, status,
           text);
    for (; *says; ++says)
        EXPECT(strstr(text, *says), "%s: the report lacks \"%s\"\n%s", t->name, *says, text);
}

static void expect_ends(void) {
    static char place[96];
    snprintf(place, sizeof place, "hazard: endless: core/sim_endless.c:%d: thread 37 (warp 1)",
             PLAIN_LINE);
    const char *const plain[] = {place, "has not waited for anything for ", "threads 0-31, ",
                                 "The simulator cannot leave it", NULL};
    const char *const soon[] = {
        "hazard: global-bounds: ", "has not waited for anything for 1 second", NULL};
    const char *const spin[] = {"hazard: endless: core/sim_endless.c:", NULL};
    const struct sim_trial trials[] = {
        {.name = "plain_loop",
         .kernel = plain_loop,
         .threads = THREADS,
         .cluster = 1,
         .smem_bytes = sizeof(struct smem)},
        {.name = "spin_on_a_word",
         .kernel = spin_on_a_word,
         .threads = THREADS,
         .cluster = 1,
         .smem_bytes = sizeof(struct smem)},
        {.name = "hazard_and_loop",
         .kernel = hazard_and_loop,
         .threads = THREADS,
         .cluster = 1,
         .smem_bytes = sizeof(struct smem)},
    };
    endless_turn_seconds = 1;
    open_trial(TRIAL_SMS, SCHEDULE_EARLY, 1);
    expect_end(&trials[0], plain);
    expect_end(&trials[1], spin);
    endless_turn_seconds = 30;
    expect_end(&trials[2], soon);
    endless_turn_seconds = 1;
    backend_close();
}

static enum gemm_status launch_smallest(const void *kernel, const char *name, int splits,
                                        void *stream) {
    static const element_t no_allocation[8];
    const struct gemm_args args = {
        .a = no_allocation + 8, .m = 1, .n = 1, .k = 1, .splits = splits};
    const struct gemm_launch launch = {.kernel = kernel,
                                       .name = name,
                                       .grid = 1,
                                       .cluster = 1,
                                       .threads = THREADS,
                                       .stream = stream};
    return gemm_launch_kernel(&launch, &args);
}

static enum gemm_status enqueue_barriers(const struct contender *self,
                                         const struct gemm_problem *problem, void *stream) {
    (void)self, (void)problem;
    return launch_smallest((const void *)many_barriers, "many_barriers", 1 << 30, stream);
}

static enum gemm_status enqueue_hazard(const struct contender *self,
                                       const struct gemm_problem *problem, void *stream) {
    (void)self, (void)problem;
    enum { AFTER_A_REPORT = 500000 }; /* turns that the smallest problem has then */
    return launch_smallest((const void *)hazard_and_barriers, "hazard_and_barriers",
                           2 * AFTER_A_REPORT / THREADS, stream);
}

/* The smallest problem with the limit that is set: one report, of this kind. */
static void expect_one(const char *kind,
                       enum gemm_status (*enqueue)(const struct contender *,
                                                   const struct gemm_problem *, void *)) {
    const struct contender contender = {.name = "smallest", .enqueue = enqueue};
    const struct gemm_problem problem = {.m = 1, .n = 1, .k = 1};
    struct backend_info info;
    sim_configure(TRIAL_SMS, SCHEDULE_EARLY, 1);
    if (backend_open(&(struct backend_options){.type = GEMM_FP16}, &info)) exit(1);
    const enum run_status status = backend_run(&contender, &problem, NULL);
    const char *said, *file;
    int line;
    EXPECT(status == RUN_HAZARD && hazards_get(0, &said, &file, &line) && !strcmp(said, kind) &&
               !hazards_get(1, &said, &file, &line),
           "%s alone was expected: status %d, %s", kind, status, said);
    backend_close();
}

int main(int argc, char **argv) {
    const struct sim_trial trials[] = {
        /* A turn for each thread and barrier, and never more than three. */
        {.name = "many_barriers",
         .kernel = many_barriers,
         .threads = THREADS,
         .cluster = 1,
         .smem_bytes = sizeof(struct smem),
         .argument = LIMIT / THREADS / 3},
        {.name = "many_barriers",
         .kernel = many_barriers,
         .threads = THREADS,
         .cluster = 1,
         .smem_bytes = sizeof(struct smem),
         .argument = 1 << 30,
         .hazard = "endless",
         .text = "and the kernel has not ended:\n    CTA 0, "},
        {.name = "for_ever_by_turns",
         .kernel = for_ever_by_turns,
         .threads = THREADS,
         .cluster = 1,
         .smem_bytes = sizeof(struct smem),
         .hazard = "endless",
         .text = "mbarrier p",
         .schedules = 1 << SCHEDULE_TIME | 1 << SCHEDULE_EARLY | 1 << SCHEDULE_LATE},
        {.name = "for_ever_by_turns",
         .kernel = for_ever_by_turns,
         .threads = THREADS,
         .cluster = 1,
         .smem_bytes = sizeof(struct smem),
         .hazard = "endless",
         .text = "CTA 0, threads 33-63, "},
    };
    struct backend_setting *const limit = &backend_settings[backend_setting_count - 1];
    EXPECT(!strcmp(limit->option, "--step-limit"), "the last setting is %s", limit->option);
    limit->value = LIMIT;
    run_trials(trials, (int)(sizeof trials / sizeof *trials), NULL, argc, argv);
    expect_ends();
    limit->value = 10 * LIMIT * THREADS;
    expect_one("global-bounds", enqueue_hazard);
    limit->value = 0;
    expect_one("endless", enqueue_barriers);
    return expect_result();
}
