/*
 * sim_cluster_launch.c: requests for clusters that have not begun: every cluster runs or is handed
 * out once, and each rule broken alone.
 */
#include "blackwell/cluster_launch.h"
#include "hopper/atomics.h"
#include "hopper/cluster.h"
#include "hopper/tma.h"
#include "tests/sim/sim_kernels.h"

enum { CLUSTERS = 40, THREADS = 32, ANSWER_BYTES = 16 };

struct smem {
    struct b128 answer;
    mbarrier_t full;
};

static int fault;
enum fault {
    NOTHING,
    NO_WAIT,
    NO_PROXY_FENCE,
    USES_REFUSAL,
    ASKS_AFTER_REFUSAL,
    NO_ANSWER,
    FEWER_BYTES
};

/* With this fault the report names this statement. */
#define AT(statement, wrong)                                                                       \
    do {                                                                                           \
        if (fault == (wrong)) marked_line = __LINE__;                                              \
        statement;                                                                                 \
    } while (0)

/* Notes that this piece of work is done, and by how many. */
static void work(const struct gemm_args *args, int cta) {
    atomic_add_relaxed(&args->tile_counter[0], 1, SCOPE_GPU);
    atomic_add_relaxed(&args->tile_counter[1], (uint32_t)cta, SCOPE_GPU);
}

/* One thread of each CTA works. */
KERNEL(THREADS, 1) steals(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x != 0) return;
    mbarrier_init(&shared->full, 1);
    fence_mbarrier_init();
    int cta = (int)blockIdx.x;
    for (uint32_t phase = 0; cta >= 0; phase ^= 1) {
        const uint32_t bytes = fault == FEWER_BYTES ? 8 : ANSWER_BYTES;
        AT(mbarrier_arrive_expect_tx(&shared->full, bytes), FEWER_BYTES);
        AT(cluster_try_cancel(&shared->answer, &shared->full), NO_PROXY_FENCE);
        work(&args, cta);
        if (fault != NO_WAIT) mbarrier_wait(&shared->full, phase);
        const struct b128 answer = ld_shared_b128(&shared->answer);
        const bool canceled = cluster_is_canceled(answer);
        cta = -1;
        if (canceled || fault == USES_REFUSAL) AT(cta = cluster_first_cta(answer), USES_REFUSAL);
        if (fault != NO_PROXY_FENCE) fence_proxy_async();
        if (fault == USES_REFUSAL && cta < 0) break;
        if (fault == ASKS_AFTER_REFUSAL && cta < 0) {
            mbarrier_arrive_expect_tx(&shared->full, ANSWER_BYTES);
            AT(cluster_try_cancel(&shared->answer, &shared->full), ASKS_AFTER_REFUSAL);
            mbarrier_wait(&shared->full, phase ^ 1);
        }
        if (fault == NO_WAIT) mbarrier_wait(&shared->full, phase);
    }
}

KERNEL(THREADS, 1) asks_nobody(KERNEL_ARGS args) {
    (void)args;
    const struct b128 nothing = {{1, 2, 3, 4}};
    MARK cluster_is_canceled(nothing);
}

/* Two CTAs of a cluster: one thread asks, both learn of it, each works. */
KERNEL(THREADS, 1) steals_pairs(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x != 0) {
        cluster_sync();
        return;
    }
    if (cluster_rank() == 0) {
        mbarrier_init(&shared->full, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&shared->full, ANSWER_BYTES);
        cluster_try_cancel(&shared->answer, &shared->full);
        mbarrier_wait(&shared->full, 0);
        const struct b128 answer = ld_shared_b128(&shared->answer);
        for (int i = 0; i < 2; ++i) {
            work(&args, (int)blockIdx.x + i);
            if (cluster_is_canceled(answer)) work(&args, cluster_first_cta(answer) + i);
        }
    }
    cluster_sync();
}

static void all_work_is_done(const char *name, const struct test_launch *launch) {
    fault = NOTHING;
    for (int i = 0; i < 3 + 12; ++i) {
        const enum sim_schedule schedule = i < 3 ? (enum sim_schedule)i : SCHEDULE_RANDOM;
        test_open(schedule, (uint64_t)i, launch->cluster * (1 + i % 4));
        const enum run_status status = test_run(launch, NULL);
        EXPECT(status == RUN_OK, "%s, %s: status %d", name, schedule_names[schedule], status);
        EXPECT(test_counter[0] == CLUSTERS && test_counter[1] == CLUSTERS * (CLUSTERS - 1) / 2,
               "%s, %s: %u pieces of work, sum %u", name, schedule_names[schedule], test_counter[0],
               test_counter[1]);
    }
}

static const struct test_launch of_steals = {steals, CLUSTERS, 1, THREADS, sizeof(struct smem)};

static void run(const char *name, int wrong, const char *kind) {
    fault = wrong;
    expect_run_(name, &of_steals, kind);
}

int main(void) {
    test_machine = MACHINE_BLACKWELL;
    all_work_is_done("steals", &of_steals);
    all_work_is_done("steals_pairs", &(struct test_launch){steals_pairs, CLUSTERS, 2, THREADS,
                                                           sizeof(struct smem)});
    run("NO_PROXY_FENCE", NO_PROXY_FENCE, "missing-proxy-fence-after-read");
    run("USES_REFUSAL", USES_REFUSAL, "cluster-answer");
    run("ASKS_AFTER_REFUSAL", ASKS_AFTER_REFUSAL, "cluster-refused");
    fault = NO_WAIT;
    expect_race_("NO_WAIT", &of_steals);
    fault = FEWER_BYTES;
    expect_race_("FEWER_BYTES", &of_steals);
    expect_run_("asks_nobody",
                &(struct test_launch){asks_nobody, 1, 1, THREADS, sizeof(struct smem)},
                "cluster-answer");
    backend_close();
    return expect_result();
}
