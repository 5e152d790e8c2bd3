/*
 * sim_strong.c: strong accesses of shared memory, of this CTA and of another, and instructions of
 * some lanes of a warp: rightly, and wrong.
 */
#include "tests/sim/sim_kernels.h"

#include "hopper/cluster.h"
#include "hopper/thread.h"
#include "sim/core/lanes.h"
#include "sim/core/shared_memory.h"
#include "sim/units/access.h"
#include "sim/units/strong.h"

struct smem {
    uint32_t data, flag, sum;
};

static int me(void) { return (int)threadIdx.x; }

static struct strong_access as(enum sim_semantics semantics, struct sim_shared_pointer *pointer,
                               uint32_t *word) {
    *pointer = sim_shared_at(word, sizeof *word, sizeof *word);
    return (struct strong_access){sizeof *word, semantics, SIM_SCOPE_CTA, pointer};
}

/* Thread 0 passes a word to thread 32. */
#define PASS(name, release, acquire)                                                               \
    KERNEL(64, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct smem);                                                                \
        struct sim_shared_pointer pointer;                                                         \
        const struct strong_access writes = as(release, &pointer, &shared->flag),                  \
                                   reads = as(acquire, &pointer, &shared->flag);                   \
        const uint32_t one = 1;                                                                    \
        uint32_t seen = 0;                                                                         \
        (void)args;                                                                                \
        if (me() == 0) st_shared_b32(&shared->flag, 0);                                            \
        __syncthreads();                                                                           \
        if (me() == 0) {                                                                           \
            MARK st_shared_b32(&shared->data, 7);                                                  \
            SIM(strong_store(&shared->flag, &one, writes));                                        \
        }                                                                                          \
        while (me() == 32 && !seen)                                                                \
            SIM(strong_load(&shared->flag, &seen, reads));                                         \
        if (me() == 32) st_global_b32(args.d, ld_shared_b32(&shared->data));                       \
    }
PASS(released, SIM_RELEASE, SIM_ACQUIRE)
PASS(not_released, SIM_RELAXED, SIM_ACQUIRE)
PASS(not_acquired, SIM_RELEASE, SIM_RELAXED)

static void add(const void *before, void *after, const void *object) {
    uint32_t sum, term;
    memcpy(&sum, before, sizeof sum);
    memcpy(&term, object, sizeof term);
    sum += term;
    memcpy(after, &sum, sizeof sum);
}

/* Each thread adds its number; the sum is read behind a barrier, or without one. */
#define ADD(name, barrier)                                                                         \
    KERNEL(64, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct smem);                                                                \
        struct sim_shared_pointer pointer;                                                         \
        const struct strong_access relaxed = as(SIM_RELAXED, &pointer, &shared->sum);              \
        const uint32_t term = (uint32_t)me();                                                      \
        uint32_t before;                                                                           \
        if (me() == 0) st_shared_b32(&shared->sum, 0);                                             \
        __syncthreads();                                                                           \
        SIM(strong_atomic(&shared->sum, &before, add, &term, true, relaxed));                      \
        barrier;                                                                                   \
        if (me() == 63) st_global_b32(args.d, ld_shared_b32(&shared->sum));                        \
    }
ADD(summed, __syncthreads())
ADD(summed_too_early, )

/* Each CTA writes into the other. */
#define SEND(name, middle, end)                                                                    \
    KERNEL(32, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct smem);                                                                \
        const uint32_t value = 5;                                                                  \
        cluster_sync();                                                                            \
        if (me() == 0) {                                                                           \
            const struct sim_shared_pointer own = sim_shared_at(&shared->data, 4, 4),              \
                                            other = sim_shared_map(own, cluster_rank() ^ 1);       \
            memcpy(SIM(sim_access_cluster(other, 4, SIM_WRITE)), &value, sizeof value);            \
        }                                                                                          \
        middle;                                                                                    \
        if (me() == 1) st_global_b32(args.d + 2 * cluster_rank(), ld_shared_b32(&shared->data));   \
        end;                                                                                       \
    }
SEND(sent, cluster_sync(), )
SEND(sent_too_late, , cluster_sync())
KERNEL(32, 1) sent_to_the_dead(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    const struct sim_shared_pointer own = sim_shared_at(&shared->data, 4, 4);
    if (me() == 0)
        memset(SIM(sim_access_cluster(sim_shared_map(own, cluster_rank() ^ 1), 4, SIM_WRITE)), 0,
               4);
}

/* Lanes 0 and 1 meet; the others do something else. */
#define MEET(name, mask)                                                                           \
    KERNEL(32, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct smem);                                                                \
        if (me() == 0) st_shared_b32(&shared->data, 7);                                            \
        if (me() < 2) SIM(sim_sync_lanes(mask));                                                   \
        if (me() == 1) st_global_b32(args.d, ld_shared_b32(&shared->data));                        \
    }
MEET(two_lanes, 3u)
MEET(each_alone, 1u << me())
MEET(not_itself, 4u)

/* `kind`: NULL, nothing is reported. */
static void run(const char *name, struct test_launch launch, const char *kind, uint32_t result) {
    for (int i = 0; i < 3 + 6; ++i) {
        const enum sim_schedule schedule = i < 3 ? (enum sim_schedule)i : SCHEDULE_RANDOM;
        const char *got = "nothing", *file;
        int line;
        uint32_t value;
        test_open(schedule, (uint64_t)i, 4);
        const enum run_status status = test_run(&launch, NULL);
        hazards_get(0, &got, &file, &line);
        EXPECT(kind ? status == RUN_HAZARD && strstr(kind, got) : status == RUN_OK,
               "%s, %s: expected %s, got %s", name, schedule_names[schedule],
               kind ? kind : "nothing", got);
        memcpy(&value, test_out, sizeof value);
        EXPECT(kind || value == result, "%s, %s: %u", name, schedule_names[schedule], value);
    }
}
#define RUN(kernel, threads, cluster, kind, result)                                                \
    run(#kernel, (struct test_launch){kernel, cluster, cluster, threads, sizeof(struct smem)},     \
        kind, result)

int main(void) {
    RUN(released, 64, 1, NULL, 7);
    RUN(not_released, 64, 1, "data-race", 0);
    RUN(not_acquired, 64, 1, "data-race", 0);
    RUN(summed, 64, 1, NULL, 63 * 64 / 2);
    RUN(summed_too_early, 64, 1, "data-race", 0);
    RUN(sent, 32, 2, NULL, 5);
    RUN(sent_too_late, 32, 2, "data-race", 0);
    RUN(sent_to_the_dead, 32, 2, "exit-before-remote-write|cta-exited", 0);
    RUN(two_lanes, 32, 1, NULL, 7);
    RUN(each_alone, 32, 1, "data-race", 0);
    RUN(not_itself, 32, 1, "diverged-warp", 0);
    backend_close();
    return expect_result();
}
