/*
 * table.h: the mbarriers of a cluster, and what units do with them: remote arrivals,
 * copies whose bytes they count.
 */
#ifndef SIM_UNITS_MBARRIER_TABLE_H
#define SIM_UNITS_MBARRIER_TABLE_H

#include "sim/core/jobs.h"
#include "sim/core/shared_memory.h"
#include "sim/core/threads.h"
#include "sim/models/mbarrier_state.h"

struct async_copy;

/* Where a thread has arrived at the cluster's barrier, without having waited there since; NULL: it
 * has not. */
struct cluster_arrival {
    const char *file;
    int line;
};
struct cluster_arrival cluster_arrival_of(const struct sim_thread *thread);
/* Has a thread of the CTA waited there since this thread, of another CTA, has ended? */
bool cluster_barrier_follows_end(const struct sim_cta *cta, const struct sim_thread *thread);
/* For a report that a CTA may have ended when a thread that has so arrived accesses it: what to do.
 * Returns text. */
enum { EXIT_ADVICE = 200 };
const char *cluster_exit_advice(struct cluster_arrival arrival, char *text, size_t size);

/* An arrival that came from another CTA of the cluster: the newest of each issuing thread. */
struct remote_arrival {
    const struct sim_thread *issuer;
    uint32_t epoch; /* of the issuer, when it issued */
    bool cluster_scope;
    bool landed;
    struct cluster_arrival after;
    uint32_t landed_phase; /* completed phases by which its phase is over */
    const char *file;
    int line;
    struct remote_arrival *next;
};

/* A barrier that some thread has initialized. The 8 bytes in shared memory hold its index. */
struct mbarrier_record {
    struct mbarrier_state state;
    struct sim_cta *cta;
    size_t offset;
    int slot; /* of the TMA loads that complete on it; epoch: the number of completed phases that
                 covers them */
    struct sim_sync current;   /* released by all arrivals so far */
    struct sim_sync completed; /* what `current` was when the last completed phase ended */
    /* The same of remote arrivals that have the scope of the cluster: for waits that have it. */
    struct sim_sync current_cluster, completed_cluster;
    /* What remote releases of any scope say has been executed (DOUBT_REMOTE_SCOPE), and whether one
     * has had the CTA's. With tensor memory. */
    struct sim_clock current_remote, completed_remote;
    bool narrow;
    struct sim_clock uses; /* each thread's newest arrival, wait or copy */
    struct sim_wait_queue waiters;
    struct sim_thread *initializer;
    uint32_t init_epoch;  /* of the initializer */
    uint32_t fence_epoch; /* the same at its fence.mbarrier_init; 0: none yet */
    int fence_slot;   /* of the initializer's fences: what carries them need carry nothing else */
    const char *file; /* where it was initialized */
    int line;
    const char *text; /* the argument of mbarrier_init() there: "&shared->full[stage]" */
    int number;       /* the index that stands for `stage`; -1: is not known */
    uint64_t *arrivers, *last_arrivers; /* [threads of the cluster], bits: who has arrived in the
                                           current phase, in the one before */
    struct async_copy *in_flight;
    struct remote_arrival *remote;
    uint32_t copy_epoch; /* of the newest copy that was issued for it, and where; 0: none */
    const struct sim_thread *copy_issuer;
    const char *copy_file;
    int copy_line;
    struct commit_watch *commits; /* units/tcgen05.c; NULL: none has arrived here */
};

/* The barriers of a cluster. */
struct mbarrier_table {
    struct mbarrier_record **record;
    uint32_t count, room;
};

/* A copy whose bytes an mbarrier counts, from issue until it has landed; embedded in a unit's job.
 */
struct async_copy {
    struct mbarrier_record *record;
    uint32_t epoch;
    const struct sim_thread *issuer;
    const char *file;
    int line;
    struct sim_job *job;
    struct async_copy *next;
};

/* What reports call the copies that complete on it; at first "TMA load". */
void mbarrier_set_copies(const struct mbarrier_record *record, const char *copy);

/* The barrier there; NULL if there is none. */
struct mbarrier_record *mbarrier_lookup(struct sim_shared_pointer pointer);
/* Makes one there. */
struct mbarrier_record *mbarrier_new(struct sim_shared_pointer pointer, const char *text);
/* "mbarrier full[2] at shared memory +0x18000 of CTA 3, initialized at ...". Returns text. */
const char *mbarrier_name(const struct mbarrier_record *record, char *text, size_t size);
/* "full[2]": the name alone. Returns text. */
const char *mbarrier_short_name(const struct mbarrier_record *record, char *text, size_t size);
/* A hazard, with the state of the barrier. */
void mbarrier_report(const char *kind, const struct mbarrier_record *record,
                     const struct sim_thread *thread, const char *what);

/* The barrier there; ends the launch if there is none. `operation` is what the running thread
 * does with it. Checks that its initialization is ordered before that, across CTAs with
 * fence.mbarrier_init. */
struct mbarrier_record *mbarrier_find(struct sim_shared_pointer pointer, const char *operation);

/* Is the thread ordered after the initialization, as after any other access to shared memory? In
 * the other reading this is enough. If it is and the rule is kept, the next report says that it is
 * in doubt. */
bool mbarrier_may_lack_fence(const struct mbarrier_record *record, const struct sim_thread *thread);
/* Is the thread ordered after the fence.mbarrier_init that follows the initialization? */
bool mbarrier_is_after_fence(const struct mbarrier_record *record, const struct sim_thread *thread);

/* Releases to `sync` the barriers that the thread has initialized and fenced, and nothing else. */
void mbarrier_release_fenced(struct sim_thread *thread, struct sim_sync *sync);

/* A copy that will count down on `record` begins; fills in the epoch and the issuer. */
void mbarrier_copy_begins(struct mbarrier_record *record, struct async_copy *copy,
                          struct sim_job *job);
/* The same of a store that is no copy of the TMA, and needs no proxy fence. */
void mbarrier_store_begins(struct mbarrier_record *record, struct async_copy *copy,
                           struct sim_job *job);
/* It has landed: complete_tx. */
void mbarrier_copy_lands(struct async_copy *copy, uint32_t bytes);
/* The launch was abandoned. */
void mbarrier_copy_cancelled(struct async_copy *copy);

/* What an arrival counts. */
struct mbarrier_arrival {
    uint32_t count;
    bool drop;     /* later phases expect so many fewer */
    bool relaxed;  /* releases nothing */
    bool announce; /* expect_tx, before the arrival */
    uint32_t bytes;
};
#define MBARRIER_ONE_ARRIVAL ((struct mbarrier_arrival){.count = 1})

/* It is counted, after the arriving side has joined its clocks into `record->current`. */
void mbarrier_count_arrival(struct mbarrier_record *record, const struct sim_thread *thread,
                            struct mbarrier_arrival how);

/* mbarrier.arrive in all its forms. Returns the state before it, which a wait takes: the number of
 * completed phases, above it the arrivals that were pending. */
uint64_t sim_mbarrier_arrive_as(uint64_t *barrier, struct mbarrier_arrival how);
/* At the same place in the CTA of this rank; `cluster_scope`: .release.cluster. */
void sim_mbarrier_arrive_remote_as(uint64_t *barrier, uint32_t rank, bool cluster_scope,
                                   struct mbarrier_arrival how);
/* The current phase expects one arrival more: cp.async.mbarrier.arrive without .noinc. */
void sim_mbarrier_expect_arrival(uint64_t *barrier);
/* mbarrier.expect_tx and mbarrier.complete_tx. */
void sim_mbarrier_expect_tx(struct sim_shared_pointer pointer, uint32_t bytes);
void sim_mbarrier_complete_tx(struct sim_shared_pointer pointer, uint32_t bytes);
/* test_wait and try_wait; `cluster_scope`: .acquire.cluster, or .relaxed.cluster. */
bool sim_mbarrier_poll(const uint64_t *barrier, uint32_t parity, bool may_fail, bool cluster_scope,
                       bool relaxed);

/* The arrival of cp.async.mbarrier.arrive.noinc, when the copies have landed: one pending arrival
 * at `pointer`, which carries nothing but (slot, epoch). May be called from a job. */
void sim_mbarrier_arrive_landed(struct sim_shared_pointer pointer, struct sim_thread *thread,
                                int slot, uint32_t epoch, uint64_t time);

/* Is any thread of the CTA ordered after this epoch of the slot? */
bool cta_is_ordered_after(const struct sim_cta *cta, int slot, uint32_t epoch);

/* Ends the launch if the CTA has ended: no thread may access its shared memory any more. */
void check_target_alive(const struct sim_cta *target, const char *operation);

/* Parts of the answer to shadow_too_weak() in order/shadow.h: an arrival, a cluster's barrier. */
bool cluster_barrier_was_relaxed(const struct sim_thread *thread, int slot, uint32_t epoch,
                                 char *text, size_t size);
bool mbarrier_scope_too_narrow(const struct sim_thread *thread, int slot, uint32_t epoch,
                               char *text, size_t size);

#endif
