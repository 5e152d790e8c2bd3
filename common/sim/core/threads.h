/*
 * threads.h: a simulated thread, and what threads are grouped in: warps, warpgroups, CTAs,
 * clusters.
 *
 * Everything runs on one OS thread. `sim_thread()` is the simulated thread whose fiber is running;
 * in a job's complete() there may be none, so a job keeps what it needs. The units hang their own
 * state on the pointers that are kept for them here.
 */
#ifndef SIM_CORE_THREADS_H
#define SIM_CORE_THREADS_H

#include <stddef.h>

#include "sim/hopper/call.h"

enum { WARP_SIZE = 32, WARPGROUP_WARPS = 4, WARPGROUP_SIZE = 128 };

struct sim_fiber; /* fiber.h */
struct sim_cta;
struct sim_cluster;

/* ---- clocks of happens-before, which order/clock.h works on ---- */

/* A vector clock: entry i belongs to slot i of the cluster; entries beyond `size` are 0. */
struct sim_clock {
    uint32_t *at;
    int size;
};

struct sim_known; /* of other clusters: order/known_clocks.h */

/* What a synchronization object carries from those who release to those who acquire.
 *   c: accesses that happened before, for a generic access that follows
 *   p: generic accesses of shared memory that happened before an async-proxy operation that follows
 *   g: the same for global memory
 *   known: all three, of threads of other clusters; NULL: nothing
 *   x: what has been executed before, in order or not; empty without tensor memory */
struct sim_sync {
    struct sim_clock c, p, g;
    struct sim_known *known;
    struct sim_clock x;
};

/* An actor whose accesses are numbered: a thread, or an async unit. */
struct sim_slot {
    const char *what;         /* "ld/st", "cp.async", "TMA load", ...: for reports */
    bool async_proxy;         /* its accesses go through the async proxy */
    struct sim_thread *owner; /* or NULL */
};

enum { SLOT_LIMIT = 65535 }; /* of a cluster: shadow records hold 16 bits */

/* ---- waiting ---- */

struct sim_wait_queue {
    struct sim_thread *head;
};

/* A way to wait, for the report of a deadlock; each unit that blocks threads has its own. */
struct sim_wait {
    /* Writes what the thread waits for: "mbarrier full[2] (offset 0x18000), phase 3: ...". */
    void (*describe)(const struct sim_thread *thread, const void *object, char *text, size_t size);
    /* Does `waiter`, which waits in this way, wait for something that `other` owes, as far as that
     * can be known? NULL: no thread is known to owe it. */
    bool (*awaits)(const struct sim_thread *waiter, const struct sim_thread *other);
    bool root; /* a report begins with a thread that waits in this way, if there is one */
    bool far;  /* a thread of any CTA may owe it, resident or not */
};

/* Called when a thread (or CTA) ends; registered with sim_at_thread_exit / sim_at_cta_exit; owned
 * by the caller (embed it in the unit's own state). */
struct sim_exit_call {
    void (*call)(struct sim_exit_call *self);
    struct sim_exit_call *next;
};

/* ---- threads and their groups ---- */

enum sim_thread_state { THREAD_READY, THREAD_BLOCKED, THREAD_DONE };

struct sim_thread {
    struct sim_self self; /* first: sim_self points here */
    struct sim_fiber *fiber;
    struct sim_warp *warp;
    struct sim_cta *cta;
    int index; /* in the CTA */
    int lane;
    uint64_t turns;              /* that the scheduler has given it */
    int slot;                    /* of its generic accesses: index in the cluster */
    uint32_t epoch;              /* of its next generic access; its own entry in c is not kept */
    struct sim_clock c, p, g, x; /* C_T, P_T, G_T, X_T: order/clock.c */
    struct sim_known *known;     /* the same of other clusters: order/known_clocks.c */
    uint32_t acquired;           /* how often */
    struct {
        uint32_t epoch, acquired; /* of the thread, at its latest proxy fence; epoch 0: none */
    } fence;
    struct release_state *releases; /* its fences, and what it has seen: order/release.c */
    enum sim_thread_state state;
    bool soft;      /* parked: woken when nothing else can run, too */
    bool signalled; /* woken by a state change, not by a timeout */
    struct sim_wait_queue *queue;
    struct sim_thread *next_waiter;
    const struct sim_wait *wait; /* NULL: does not wait */
    const void *waits_for;
    struct poll_state *poll; /* units/poll.c */
    const uint64_t *gave_up; /* the mbarrier whose try_wait has just failed for no reason */
    uint32_t cycles;         /* charged since its warp's clock was last brought up to date */
    struct cp_async_state *cp_async; /* units/cp_async.c */
    struct bulk_state *bulk;         /* units/tma/store.c */
    struct tensor_order *tensor;     /* order/tensor_shadow.c */
    struct register_watch
        *registers; /* units/registers/watch.c; NULL before its first wgmma.fence */
    struct sim_exit_call *at_exit;
    unsigned cues; /* enum turn: which calls are some */
};

/* The thread whose fiber is running; NULL outside of fibers. */
static inline struct sim_thread *sim_thread(void) { return (struct sim_thread *)sim_self; }

struct sim_warp {
    struct sim_cta *cta;
    int index; /* in the CTA */
    struct sim_thread *thread[WARP_SIZE];
    uint32_t lanes; /* existing */
    uint32_t ready; /* can run */
    uint32_t exited;
    int elected;    /* by elect.sync, the same lane every time: its number + 1; 0: not asked yet */
    uint64_t clock; /* cycles, SCHEDULE_TIME */
    bool advanced;  /* some lane's `cycles` are not yet in the clock */
    bool backlog;   /* its lanes have logged accesses that the cost model has not charged yet */
    /* the collective its lanes are gathering at */
    const char *collective; /* NULL: none */
    const char *collective_file;
    int collective_line;
    int collective_ended; /* enum sim_ended */
    bool (*collective_execute)(struct sim_warp *warp, void *const operand[WARP_SIZE]);
    uint32_t arrived;
    /* the lane that came last; it goes on while the others wake */
    const struct sim_thread *ahead;
    void *operand[WARP_SIZE]; /* each lane's, on its own stack */
    struct sim_wait_queue waiters;
    struct gathering *gatherings; /* of some of its lanes: core/lanes.c */
    const struct sim_wait *wait;  /* what the whole warp waits for */
    const void *waits_for;
    struct sim_sync *sync;         /* of __syncwarp: units/warp.c */
    struct sim_sync *exchanged;    /* what the lanes knew at exchanges: order/exchange.c */
    struct sim_sync all_lanes;     /* some of what each lane is ordered after: order/shadow.c */
    uint64_t rows_done;            /* the port has served its latest ldmatrix or stmatrix */
    struct map_copier *map_copier; /* units/tma/map_edit.c */
    struct warp_timing *timing;    /* cost/warp_timing.c */
};

struct sim_warpgroup {
    struct sim_cta *cta;
    int index; /* in the CTA */
    struct sim_warp *warp[WARPGROUP_WARPS];
    int warps; /* existing: 4, fewer in a CTA whose size is no multiple of 128 */
    const char *collective;
    const char *collective_file;
    int collective_line;
    unsigned arrived;          /* mask of warps */
    struct wgmma_state *wgmma; /* units/wgmma/wgmma.c */
};

struct sim_cta {
    struct sim_cluster *cluster;
    int rank;  /* in the cluster */
    int index; /* in the grid, or in all grids of a run: launch by launch, device by device */
    int device, launch;
    int sm; /* among those of all devices */
    int threads, warps, warpgroups;
    struct sim_thread *thread;
    struct sim_warp *warp;
    struct sim_warpgroup *warpgroup;
    unsigned char *shared; /* host memory, 1024-byte aligned */
    size_t shared_bytes;
    struct shadow_cell *shadow; /* one per 16 bytes: order/shadow.c */
    int live;                   /* threads that have not ended */
    bool exited;
    bool launched_dependents;        /* by griddepcontrol.launch_dependents */
    bool has_waited;                 /* a thread of it, by griddepcontrol.wait */
    struct named_barrier *barriers;  /* 16: units/named_barrier.c */
    struct register_pool *registers; /* units/registers/setmaxnreg.c */
    struct tensor_memory *tensor;    /* units/tcgen05_memory.c */
    struct sim_known *fences;        /* order/sequential_fences.c */
    const char *refused_file;        /* units/cluster_launch.c; NULL: it has seen no refusal */
    int refused_line;
    struct sim_exit_call *at_exit; /* called when its last thread has ended */
    struct sim_cta *next;
};

struct sim_cluster {
    int index;
    int ctas;
    struct sim_cta *cta; /* array, by rank */
    int live;            /* CTAs that have not ended */
    int slots, slot_capacity;
    struct sim_slot *slot;
    struct sim_arena_block *arena;    /* freed with the cluster: storage.c */
    struct mbarrier_table *mbarriers; /* units/mbarrier/table.c */
    struct cluster_barrier *barrier;  /* units/cluster.c */
    struct sim_known *fences;         /* order/sequential_fences.c */
    int tensor_group;                 /* of its tcgen05 instructions; 0: it has had none */
    struct sim_cluster *next;
};

void sim_at_thread_exit(struct sim_thread *thread, struct sim_exit_call *call);
void sim_at_cta_exit(struct sim_cta *cta, struct sim_exit_call *call);

/* The warpgroup of a thread. */
static inline struct sim_warpgroup *sim_warpgroup_of(const struct sim_thread *thread) {
    return &thread->cta->warpgroup[thread->index / WARPGROUP_SIZE];
}

#endif
