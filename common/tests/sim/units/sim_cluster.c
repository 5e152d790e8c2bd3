/* sim_cluster.c: what CTAs of a cluster do to each other, and how warpgroups share registers:
 * rightly, and every wrong way. */
#include "hopper/cluster.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/tma.h"
#include "tests/sim/sim_trials.h"

enum {
    BOX_ELEMENTS = TRIAL_BOX * 64,
    BOX_BYTES = BOX_ELEMENTS * 2,
    THREADS = 64,
    CLUSTER = 2,
    ROUNDS = 5
};

struct smem {
    element_t box[BOX_ELEMENTS];
    mbarrier_t full, empty;
};

enum mistake {
    NONE,
    NO_INIT_FENCE,
    NO_FIRST_SYNC,
    NO_LAST_SYNC,
    NOT_RELEASED,
    GENERIC_RELEASE,
    RELEASE_OF_CLUSTER, /* that has one of the two scopes that it needs */
    ACQUIRE_OF_CLUSTER, /* the other one */
    SCOPE_OF_CLUSTER,   /* no mistake: both */
    WRONG_RANK,
    EMPTY_MASK,
    LAST_PHASE_AWAITED,
    RELAXED_FIRST,          /* no mistake where only barriers are to be seen */
    RELAXED_FIRST_NO_FENCE, /* but their fence must be there */
    RELAXED_LAST,
    HALVES, /* no mistake: cluster_sync() in its halves */
    READS_AFTER_ARRIVAL,
    WRITES_AFTER_ARRIVAL,
    ENDS_AFTER_ARRIVAL,
    ARRIVES_TWICE,
    ONLY_WAITS,
};

static void begin(struct smem *shared, enum mistake mistake, int full, int empty) {
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, full);
        mbarrier_init(&shared->empty, empty);
        if (mistake != NO_INIT_FENCE && mistake != RELAXED_FIRST_NO_FENCE) fence_mbarrier_init();
    }
    if (mistake == NO_FIRST_SYNC)
        __syncthreads();
    else if (mistake == RELAXED_FIRST || mistake == RELAXED_FIRST_NO_FENCE)
        cluster_sync_relaxed();
    else
        cluster_sync();
}

/* Is a box read by ld, and not by the TMA? */
static bool is_generic(enum mistake mistake) {
    return mistake >= GENERIC_RELEASE && mistake <= SCOPE_OF_CLUSTER;
}

/* CTA 0 loads boxes into both CTAs; warp 1 of each stores them to D with the TMA and, having waited
 * for the reads, arrives on CTA 0's empty barrier. */
KERNEL(THREADS, 1) multicast(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const enum mistake mistake = (enum mistake)args.splits;
    begin(shared, mistake, 1, CLUSTER);
    for (int i = 0; i < ROUNDS; ++i) {
        if (threadIdx.x == 0) {
            if (cluster_rank() == 0) {
                if (mistake == SCOPE_OF_CLUSTER || mistake == ACQUIRE_OF_CLUSTER)
                    mbarrier_wait_cluster(&shared->empty, i % 2 ^ 1);
                else if (mistake != NOT_RELEASED)
                    mbarrier_wait(&shared->empty, i % 2 ^ 1);
                mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
                const unsigned mask = mistake == WRONG_RANK ? 6 : mistake == EMPTY_MASK ? 0 : 3;
                tma_load_multicast(shared->box, &args.map_a, i % 4 * TRIAL_BOX, 0, &shared->full,
                                   mask);
            } else {
                mbarrier_wait(&shared->full, i % 2 ^ 1); /* one announcement a phase */
                mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
            }
        }
        if (threadIdx.x == 32) {
            mbarrier_wait(&shared->full, i % 2);
            if (is_generic(mistake)) {
                ld_shared_b32((uint32_t *)(void *)shared->box);
                fence_proxy_async();
            } else {
                bulk_wait_group(3); /* four rounds ago the store went to the same rows */
                tma_store(&args.map_d, i % 4 * TRIAL_BOX, (int)cluster_rank() * 64, shared->box);
                bulk_commit_group();
                bulk_wait_group_read(0);
            }
            if (mistake == RELEASE_OF_CLUSTER || mistake == SCOPE_OF_CLUSTER)
                mbarrier_arrive_remote_release(&shared->empty, 0);
            else
                mbarrier_arrive_remote(&shared->empty, 0);
        }
        __syncwarp();
    }
    if (mistake == LAST_PHASE_AWAITED && threadIdx.x == 0 && cluster_rank() == 0)
        mbarrier_wait(&shared->empty,
                      (ROUNDS - 1) % 2); /* every arrival of the peer has been seen */
    if (mistake == RELAXED_LAST)
        cluster_sync_relaxed();
    else if (mistake != NO_LAST_SYNC && mistake != LAST_PHASE_AWAITED)
        cluster_sync();
}

/* CTA 1 ends at once, CTA 0 arrives there later. */
KERNEL(THREADS, 1) arrives_at_the_dead(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, NONE, 1, 1);
    if (cluster_rank() == 1) return;
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES); /* takes its time */
        tma_load(shared->box, &args.map_a, 0, 0, &shared->full);
        mbarrier_wait(&shared->full, 0);
        mbarrier_arrive_remote(&shared->empty, 1);
    }
}

static void arrive_and_wait(enum mistake mistake, struct b128 *own_box, struct b128 own) {
    if (mistake != ONLY_WAITS) cluster_arrive();
    if (mistake == ARRIVES_TWICE) cluster_arrive();
    if (mistake == WRITES_AFTER_ARRIVAL) st_shared_b128(own_box, own);
    cluster_wait();
}

/* Each CTA leaves its rank in its shared memory and reads the other's. */
KERNEL(THREADS, 1) reads_the_peer(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const enum mistake mistake = (enum mistake)args.splits;
    const uint32_t rank = cluster_rank();
    const struct b128 own = {{rank, rank, rank, 100 + rank}};
    struct b128 *const own_box = (struct b128 *)(void *)shared->box + threadIdx.x;
    st_shared_b128(own_box, own);
    if (mistake == NO_FIRST_SYNC)
        __syncthreads();
    else if (mistake == RELAXED_FIRST)
        cluster_sync_relaxed();
    else if (mistake < HALVES)
        cluster_sync();
    else
        arrive_and_wait(mistake, own_box, own);
    const uint32_t from = mistake == WRONG_RANK ? CLUSTER : CLUSTER - 1 - rank;
    const struct b128 other = ld_shared_cluster_b128(own_box, from);
    const struct b128 same = ld_shared_cluster_b128(own_box, rank);
    if (threadIdx.x == 0) args.workspace[rank] = (float)(other.word[3] + 1000 * same.word[3]);
    if (mistake == NOT_RELEASED) st_shared_b128(own_box, other);
    if (mistake == NO_LAST_SYNC) return;
    cluster_arrive();
    if (mistake == READS_AFTER_ARRIVAL) ld_shared_cluster_b128(own_box, from);
    if (mistake != ENDS_AFTER_ARRIVAL) cluster_wait();
}

/* Threads that have ended do not take part in the barrier of the cluster. */
KERNEL(THREADS, 1) others_have_ended(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    (void)args;
    cluster_sync();
    if (threadIdx.x < 32) return;
    cluster_sync();
}

/* Nor does a thread that ends when it has arrived, whether the others come before or after. */
KERNEL(THREADS, 1) some_arrive_and_end(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    (void)args;
    for (int i = 0; i < ROUNDS; ++i) {
        cluster_arrive();
        if (threadIdx.x / 8 == (unsigned)i) return;
        cluster_wait();
    }
}

KERNEL(THREADS, 1) one_does_not_come(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, NONE, 1, 1);
    if (cluster_rank() == 0) cluster_sync();
    if (cluster_rank() == 1) mbarrier_wait(&shared->full, 0);
}

/* ---- registers: args.splits is what a consumer asks for; three warpgroups, 168 at entry ---- */

enum { WARPGROUP = 128 };

/* The instruction has the number as an immediate. */
#define TAKE(count)                                                                                \
    if (args.splits == (count)) setmaxnreg_inc(count)

KERNEL(384, 1) registers(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    if (threadIdx.x < 128) setmaxnreg_dec(40);
    if (threadIdx.x < 128) return;
    TAKE(232);
    TAKE(240);
    TAKE(36);
    TAKE(264);
}

/* 65536 / (384 * 2) is 85, so 80 at entry. */
KERNEL(384, 2) registers_of_two_ctas(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    if (threadIdx.x < 128) setmaxnreg_dec(24);
    if (threadIdx.x < 128) return;
    TAKE(104);
    TAKE(112);
}

KERNEL(384, 1) raised_by_dec(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    (void)args;
    setmaxnreg_dec(240);
}

/* What is between two setmaxnreg of a warpgroup; args.splits. */
enum between { NOTHING, ONE_WARP, WARPS_ALONE, NAMED_BARRIER, SYNCTHREADS, MBARRIER };

KERNEL(384, 1) twice(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const enum between between = (enum between)args.splits;
    begin(shared, NO_FIRST_SYNC, WARPGROUP, 1);
    if (threadIdx.x >= WARPGROUP && between != SYNCTHREADS) return;
    if (threadIdx.x < WARPGROUP) setmaxnreg_dec(104);
    if (between == SYNCTHREADS) __syncthreads();
    if (threadIdx.x >= WARPGROUP) return;
    if (between == WARPS_ALONE) __syncwarp();
    if (between == ONE_WARP && threadIdx.x == 32) mbarrier_arrive(&shared->empty);
    if (between == ONE_WARP) mbarrier_wait(&shared->empty, 0);
    if (between == NAMED_BARRIER) named_barrier_sync(1, WARPGROUP);
    if (between == MBARRIER) {
        mbarrier_arrive(&shared->full);
        mbarrier_wait(&shared->full, 0);
    }
    setmaxnreg_dec(40);
}

/* One warp of the four does not come. */
KERNEL(128, 1) one_warp_missing(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)shared;
    (void)args;
    if (threadIdx.x >= 32) setmaxnreg_dec(40);
}

/* ---- */

static void check(const struct sim_trial *t) {
    if (t->kernel == multicast && !is_generic((enum mistake)t->argument))
        for (int i = 0; i < 4 * BOX_ELEMENTS; ++i)
            for (int rank = 0; rank < CLUSTER; ++rank) {
                const int row = i / 64, column = i % 64;
                const uint16_t got = trial_d[row * TRIAL_EXTENT + rank * 64 + column];
                EXPECT(got == trial_a[row * TRIAL_EXTENT + column], "%s: CTA %d (%d, %d): 0x%04x",
                       t->name, rank, row, column, got);
            }
    if (t->kernel == reads_the_peer)
        for (int rank = 0; rank < CLUSTER; ++rank)
            EXPECT(trial_workspace[rank] == 1000 * (100 + rank) + 100 + CLUSTER - 1 - rank,
                   "CTA %d: %g", rank, trial_workspace[rank]);
}

#define TRIAL(kernel, ...)                                                                         \
    {                                                                                              \
#kernel, kernel, .threads = THREADS, .cluster = CLUSTER,                                   \
                         .smem_bytes = sizeof(struct smem), __VA_ARGS__                            \
    }
#define REGISTERS(kernel, ...)                                                                     \
    {                                                                                              \
#kernel, kernel, .threads = 384, .cluster = 1, .smem_bytes = sizeof(struct smem),          \
                         __VA_ARGS__                                                               \
    }

int main(int argc, char **argv) {
    static const struct sim_trial trials[] = {
        TRIAL(multicast),
        TRIAL(multicast, .argument = NO_INIT_FENCE, .hazard = "missing-fence-mbarrier-init"),
        TRIAL(multicast, .argument = NO_FIRST_SYNC,
              .hazard = "mbarrier-init-order|mbarrier-uninitialized|missing-fence-mbarrier-init"),
        TRIAL(multicast, .argument = NO_LAST_SYNC,
              .hazard = "exit-before-remote-arrival|cta-exited"),
        TRIAL(multicast, .argument = LAST_PHASE_AWAITED),
        TRIAL(multicast, .argument = NOT_RELEASED,
              .hazard = "overwritten-while-read|overwritten-in-flight"),
        TRIAL(multicast, .argument = GENERIC_RELEASE, .hazard = "overwritten-while-read",
              .text = "arrive by mbarrier_arrive_remote_release() and wait by"),
        TRIAL(multicast, .argument = ACQUIRE_OF_CLUSTER, .hazard = "overwritten-while-read",
              .text = "has the scope of the CTA"),
        TRIAL(multicast, .argument = RELEASE_OF_CLUSTER, .hazard = "overwritten-while-read",
              .text = "wait by mbarrier_wait_cluster()"),
        TRIAL(multicast, .argument = SCOPE_OF_CLUSTER),
        TRIAL(multicast, .argument = WRONG_RANK, .hazard = "bad-rank"),
        TRIAL(multicast, .argument = EMPTY_MASK, .hazard = "cta-mask"),
        TRIAL(multicast, .argument = RELAXED_FIRST),
        TRIAL(multicast, .argument = RELAXED_FIRST_NO_FENCE,
              .hazard = "missing-fence-mbarrier-init|mbarrier-init-order"),
        TRIAL(multicast, .argument = RELAXED_LAST, .hazard = "exit-before-remote-arrival"),
        TRIAL(arrives_at_the_dead, .hazard = "cta-exited",
              .schedules = 1 << SCHEDULE_LATE | 1 << SCHEDULE_TIME),
        TRIAL(arrives_at_the_dead, .hazard = "cta-exited|exit-before-remote-arrival"),
        TRIAL(reads_the_peer),
        TRIAL(reads_the_peer, .argument = NO_FIRST_SYNC,
              .hazard = "data-race|overwritten-while-read|exit-before-remote-read"),
        TRIAL(reads_the_peer, .argument = RELAXED_FIRST, .hazard = "data-race",
              .text = "but it is relaxed and orders"),
        TRIAL(reads_the_peer, .argument = NO_LAST_SYNC,
              .hazard = "exit-before-remote-read|cta-exited",
              .text = "end the kernel with a cluster_sync()"),
        TRIAL(reads_the_peer, .argument = NOT_RELEASED,
              .hazard = "data-race|overwritten-while-read"),
        TRIAL(reads_the_peer, .argument = WRONG_RANK, .hazard = "bad-rank"),
        TRIAL(reads_the_peer, .argument = HALVES),
        TRIAL(reads_the_peer, .argument = READS_AFTER_ARRIVAL,
              .hazard = "exit-before-remote-read|cta-exited",
              .text = "arrival has to come after this"),
        TRIAL(reads_the_peer, .argument = WRITES_AFTER_ARRIVAL, .hazard = "data-race"),
        TRIAL(reads_the_peer, .argument = ENDS_AFTER_ARRIVAL,
              .hazard = "exit-before-remote-read|cta-exited"),
        TRIAL(reads_the_peer, .argument = ARRIVES_TWICE, .hazard = "cluster-barrier",
              .text = "arrives at the cluster's barrier again"),
        TRIAL(reads_the_peer, .argument = ONLY_WAITS, .hazard = "cluster-barrier",
              .text = "waits at the cluster's barrier without an arrival"),
        TRIAL(others_have_ended),
        TRIAL(some_arrive_and_end),
        TRIAL(one_does_not_come, .hazard = "deadlock",
              .text = "cluster_sync: 64 of the cluster's 128 threads"),
        REGISTERS(registers, .argument = 232),
        REGISTERS(registers, .argument = 240, .hazard = "deadlock",
                  .text = "register budgets exceed the pool"),
        REGISTERS(registers, .argument = 36, .hazard = "register-count"),
        REGISTERS(registers, .argument = 264, .hazard = "register-count"),
        REGISTERS(registers_of_two_ctas, .argument = 104),
        REGISTERS(registers_of_two_ctas, .argument = 112, .hazard = "deadlock",
                  .text = "register budgets exceed the pool"),
        REGISTERS(raised_by_dec, .hazard = "register-count"),
        REGISTERS(twice, .argument = NOTHING, .hazard = "setmaxnreg-order",
                  .text = "put named_barrier_sync() between them"),
        REGISTERS(twice, .argument = ONE_WARP, .hazard = "setmaxnreg-order"),
        REGISTERS(twice, .argument = WARPS_ALONE, .hazard = "setmaxnreg-order"),
        REGISTERS(twice, .argument = NAMED_BARRIER),
        REGISTERS(twice, .argument = SYNCTHREADS),
        REGISTERS(twice, .argument = MBARRIER),
        {"one_warp_missing", one_warp_missing, .hazard = "deadlock|diverged-warpgroup",
         .text = "warp 0", .threads = 128, .cluster = 1, .smem_bytes = sizeof(struct smem)},
    };
    run_trials(trials, sizeof trials / sizeof *trials, check, argc, argv);
    return expect_result();
}
