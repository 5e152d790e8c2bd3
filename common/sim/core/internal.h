/*
 * internal.h: what the parts of the simulator share. Kernels see sim.h only.
 *
 * The core (fiber, scheduler, jobs, launch, storage, clock, shadow, shared, global, thread,
 * barrier, collective, matrix, cp_async, report, timing) owns the structures below. The
 * asynchronous units (mbarrier, tma, wgmma, cluster, registers) hang their own state on the
 * pointers that are kept for them, start jobs, block threads and ask the shadow; the core calls
 * them only through callbacks that they register, and through the functions named at the end.
 *
 * Everything runs on one OS thread. `sim_thread()` is the simulated thread whose fiber is running;
 * in a job's complete() there may be none, so a job keeps what it needs.
 */
#ifndef SIM_CORE_INTERNAL_H
#define SIM_CORE_INTERNAL_H

#include <stdarg.h>

#include "backend.h"
#include "hopper/thread.h"
#include "sim/sim.h"
#include "sim/simulation.h"

enum { WARP_SIZE = 32, WARPGROUP_WARPS = 4, WARPGROUP_SIZE = 128 };

struct sim_thread;
struct sim_warp;
struct sim_cta;
struct sim_cluster;
struct sim_fiber; /* fiber.h */

/* ---- happens-before: vector clocks (clock.c) ---- */

/* A vector clock: entry i belongs to slot i of the cluster; entries beyond `size` are 0. */
struct sim_clock {
    uint32_t *at;
    int size;
};

/* What a synchronization object carries from those who release to those who acquire.
 *   c: accesses that happened before, for a generic access that follows
 *   p: generic accesses that happened before an async-proxy operation that follows */
struct sim_sync {
    struct sim_clock c, p;
};

/* An actor whose accesses are numbered: a thread, or an async unit. */
struct sim_slot {
    const char *what;         /* "ld/st", "cp.async", "TMA load", ...: for reports */
    bool async_proxy;         /* its accesses go through the async proxy */
    struct sim_thread *owner; /* or NULL */
};

/* A new slot of the cluster. Its epochs start at 1: an access of epoch e is ordered before thread T
 * if C_T[slot] >= e. */
int sim_slot_new(struct sim_cluster *cluster, const char *what, bool async_proxy,
                 struct sim_thread *owner);

static inline uint32_t sim_clock_get(const struct sim_clock *clock, int slot) {
    return slot < clock->size ? clock->at[slot] : 0;
}
void sim_clock_raise(struct sim_cluster *cluster, struct sim_clock *clock, int slot,
                     uint32_t epoch);
void sim_clock_join(struct sim_cluster *cluster, struct sim_clock *into,
                    const struct sim_clock *from);
void sim_clock_clear(struct sim_clock *clock);

void sim_sync_join(struct sim_cluster *cluster, struct sim_sync *into, const struct sim_sync *from);
void sim_sync_clear(struct sim_sync *sync);

/* T's accesses so far happen before whatever acquires `sync` later. */
void sim_release(struct sim_thread *thread, struct sim_sync *sync);
/* Only what T knows of async units (slots with async_proxy): the remote arrive with .cta scope. */
void sim_release_async_only(struct sim_thread *thread, struct sim_sync *sync);
void sim_acquire(struct sim_thread *thread, const struct sim_sync *sync);
/* T has learned that the slot's accesses up to `epoch` are complete (a wait_group, say). */
void sim_acquire_slot(struct sim_thread *thread, int slot, uint32_t epoch);
/* Is the slot's access of this epoch ordered before T's next generic access? */
bool sim_happens_before(const struct sim_thread *thread, int slot, uint32_t epoch);

/* ---- shadow state of shared memory (shadow.c) ---- */

enum sim_access { SIM_READ, SIM_WRITE };

/* A generic access by T, now: checked and recorded. `offset` counts from the CTA's shared base
 * pointer (not the 32-bit address). */
void sim_shadow_generic(struct sim_thread *thread, struct sim_cta *cta, size_t offset, size_t bytes,
                        enum sim_access access);
/* An access that an async unit makes some time after T issues it here: checked against what T has
 * ordered, recorded as (slot, epoch), ordered for nobody until someone's clock reaches the epoch.
 * The proxy is the slot's. T may belong to another CTA of the cluster (multicast). For each
 * contiguous piece; any alignment down to 4 bytes. */
void sim_shadow_async(struct sim_thread *thread, struct sim_cta *cta, size_t offset, size_t bytes,
                      enum sim_access access, int slot, uint32_t epoch);

/* ---- simulated threads and what they are grouped in (launch.c) ---- */

enum sim_thread_state { THREAD_READY, THREAD_BLOCKED, THREAD_DONE };

struct sim_wait_queue {
    struct sim_thread *head;
};

/* Writes what the thread waits for, for the deadlock report: "mbarrier full[2] (offset 0x18000),
 * phase 3: ...". */
typedef void sim_describe(const struct sim_thread *thread, const void *object, char *text,
                          size_t size);

/* Called when a thread (or CTA) ends; registered with sim_at_thread_exit / sim_at_cta_exit; owned
 * by the caller (embed it in the unit's own state). */
struct sim_exit_call {
    void (*call)(struct sim_exit_call *self);
    struct sim_exit_call *next;
};

struct sim_thread {
    struct sim_self self; /* first: sim_self points here */
    struct sim_fiber *fiber;
    struct sim_warp *warp;
    struct sim_cta *cta;
    int index; /* in the CTA */
    int lane;
    int slot;              /* of its generic accesses: index in the cluster */
    uint32_t epoch;        /* of its next generic access; its own entry in c is not kept */
    struct sim_clock c, p; /* C_T, P_T */
    enum sim_thread_state state;
    bool soft;      /* parked: woken when nothing else can run, too */
    bool signalled; /* woken by a state change, not by a timeout */
    struct sim_wait_queue *queue;
    struct sim_thread *next_waiter;
    sim_describe *describe;
    const void *waits_for;
    bool touched_registers; /* a wrapper has packed, converted or stored registers since the last
                               wgmma.fence */
    bool polled;            /* its last atomic added nothing: it polls a word of global memory */
    uint32_t cycles;        /* charged since its warp's clock was last brought up to date */
    struct cp_async_state *cp_async;
    struct bulk_state *bulk; /* tma.c: allocate on first use with sim_arena_alloc */
    struct sim_exit_call *at_exit;
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
    uint64_t clock; /* cycles, SCHEDULE_TIME */
    bool advanced;  /* some lane's `cycles` are not yet in the clock */
    bool backlog;   /* its lanes have logged accesses that timing.c has not charged yet */
    /* the collective its lanes are gathering at */
    const char *collective; /* NULL: none */
    const char *collective_file;
    int collective_line;
    uint32_t arrived;
    void *operand[WARP_SIZE]; /* each lane's, on its own stack */
    struct sim_wait_queue waiters;
    sim_describe *describe; /* what the whole warp waits for */
    const void *waits_for;
    struct sim_sync *sync;      /* of __syncwarp */
    uint64_t rows_done;         /* the port has served its latest ldmatrix or stmatrix */
    struct warp_timing *timing; /* timing.c */
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
    struct wgmma_state *wgmma; /* wgmma.c */
};

struct sim_cta {
    struct sim_cluster *cluster;
    int rank;  /* in the cluster */
    int index; /* in the grid: x + y * grid_x */
    int sm;
    int place; /* which of the SM's residents */
    int threads, warps, warpgroups;
    struct sim_thread *thread;
    struct sim_warp *warp;
    struct sim_warpgroup *warpgroup;
    unsigned char *shared; /* host memory, 1024-byte aligned */
    size_t shared_bytes;
    struct shadow_cell *shadow; /* one per 16 bytes */
    int live;                   /* threads that have not ended */
    bool exited;
    struct named_barrier *barriers;  /* 16 */
    struct register_pool *registers; /* registers.c; sim_arena_alloc on first use */
    struct sim_exit_call *at_exit;   /* called when its last thread has ended */
    struct sim_cta *next;
};

struct sim_cluster {
    int index;
    int ctas;
    struct sim_cta *cta; /* array, by rank */
    int live;            /* CTAs that have not ended */
    int slots, slot_capacity;
    struct sim_slot *slot;
    struct sim_arena_block *arena;    /* freed with the cluster */
    struct mbarrier_table *mbarriers; /* mbarrier.c */
    struct cluster_barrier *barrier;  /* cluster.c */
    struct sim_cluster *next;
};

/* Zeroed memory that lives as long as the cluster does. */
void *sim_arena_alloc(struct sim_cluster *cluster, size_t bytes);

void sim_at_thread_exit(struct sim_thread *thread, struct sim_exit_call *call);
void sim_at_cta_exit(struct sim_cta *cta, struct sim_exit_call *call);

/* The warpgroup of a thread. */
static inline struct sim_warpgroup *sim_warpgroup_of(const struct sim_thread *thread) {
    return &thread->cta->warpgroup[thread->index / WARPGROUP_SIZE];
}

/* ---- the run (launch.c, scheduler.c) ---- */

struct sim_run {
    enum sim_schedule schedule;
    int sms;
    const struct gemm_launch *launch;
    const struct gemm_args *args;
    struct sim_cluster *clusters; /* resident */
    uint64_t cycles;              /* the end of the latest launch, SCHEDULE_TIME */
    uint64_t steps;               /* scheduling steps so far */
    uint64_t progress;            /* changes of state that a spinning thread may be waiting for */
    unsigned hazards;             /* found since the run began */
};
extern struct sim_run sim;

static inline bool sim_timed(void) { return sim.schedule == SCHEDULE_TIME; }

/* Random choices of SCHEDULE_RANDOM. sim_chance is false under any other schedule. */
uint64_t sim_random(void);
bool sim_chance(unsigned one_in);

/* Blocks the running thread until sim_wake. Whoever wakes it has made its condition true, or it
 * must check in a loop. */
void sim_block(struct sim_wait_queue *queue, sim_describe *describe, const void *object);
/* Parks the running thread after a poll that failed (try_wait, test_wait, a word of memory): comes
 * back with true when woken, with false when the time is up: when nothing else could run, or at
 * random. */
bool sim_park(struct sim_wait_queue *queue, sim_describe *describe, const void *object);
/* Wakes all threads in the queue; their clocks are raised to `time` (pass sim_now() or the job's
 * time). */
void sim_wake_all(struct sim_wait_queue *queue, uint64_t time);
/* Says that shared state changed (an arrival, a landed copy) although nobody was woken. */
static inline void sim_progress(void) { ++sim.progress; }
/* A point where SCHEDULE_RANDOM may run someone else. After every synchronizing instruction that
 * does not block. */
void sim_maybe_yield(void);

/* Simulated cycles: of the running thread's warp, or of the job being completed. Under other
 * schedules than SCHEDULE_TIME: the number of the scheduling step, so that it still orders events.
 */
uint64_t sim_now(void);
/* Charges the running thread. Its warp is charged what its slowest lane was: they run at the
 * same time. No effect except under SCHEDULE_TIME. */
void sim_advance(uint64_t cycles);

/* ---- jobs: what async units have under way (jobs.c) ---- */

struct sim_job {
    void (*complete)(struct sim_job *job); /* makes the effect happen; may free the job */
    void (*cancel)(struct sim_job *job);   /* the launch was abandoned: free the job */
    struct sim_cluster *cluster; /* completed with the cluster at the latest; NULL: with the grid */
    struct sim_job *after; /* must complete first (NULL: nothing); it may have one successor */
    uint64_t time;         /* when it completes, SCHEDULE_TIME */
    struct sim_wait_queue
        waiters; /* woken on completion; if complete() frees the job, nobody may wait */
    /* the scheduler's */
    struct sim_job *successor;
    int heap_index;
    uint64_t number, key; /* of its start; of its place in the order */
    enum { JOB_NEW, JOB_PENDING, JOB_DONE } state;
};

/* Starts a job; fill in complete, cancel, cluster and after. early: completes before this returns.
 * late: when forced, or when no fiber can run, newest first. random: at any step. time: at `time`.
 */
void sim_job_start(struct sim_job *job, uint64_t time);
/* The running thread waits for the job. late: forces it (and what it comes after) right now.
 * Others: blocks until it completes on its own. `describe` says what is waited for. */
void sim_job_wait(struct sim_job *job, sim_describe *describe, const void *object);
/* Completes the job, and what it comes after, now, whatever the schedule; for effects that must not
 * be later than this. */
void sim_job_force(struct sim_job *job);

/* ---- warp-wide and warpgroup-wide instructions (collective.c) ---- */

/* Executes for the warp; operand[lane] is what each lane passed. Returns true if the lanes may go
 * on; false, after sim_warp_blocked_on(), leaves them blocked until sim_warp_wake(). Must not block
 * itself. sim_thread() is some lane of the warp. */
typedef bool sim_warp_execute(struct sim_warp *warp, void *const operand[WARP_SIZE]);
/* The same for the 128 threads of a warpgroup, in thread order; false leaves all four warps
 * blocked, and each of them needs its own sim_warp_blocked_on() and sim_warp_wake(). */
typedef bool sim_warpgroup_execute(struct sim_warpgroup *warpgroup,
                                   void *const operand[WARPGROUP_SIZE]);

/* All 32 lanes must come with the same `name` and source line, else: hazard "diverged-warp", which
 * ends the launch. The last one executes. `name` is a literal such as "ldmatrix". */
void sim_warp_collective(const char *name, void *operand, sim_warp_execute *execute);
/* All four warps, likewise ("diverged-warpgroup"). */
void sim_warpgroup_collective(const char *name, void *operand, sim_warpgroup_execute *execute);
/* While blocked by an execute() that returned false, the lanes show `describe` in a deadlock
 * report. Call in execute(). */
void sim_warp_blocked_on(struct sim_warp *warp, sim_describe *describe, const void *object);
void sim_warp_wake(struct sim_warp *warp, uint64_t time);

/* ---- memory (shared.c, global.c) ---- */

/* Where a CTA's dynamic shared memory begins in its 16 MiB window of shared addresses; as on the
 * GPU, where the first KiB is the system's. */
enum { SHARED_BASE = 1024, SHARED_RANK_SHIFT = 24 };
#define SHARED_OFFSET_MASK ((1u << SHARED_RANK_SHIFT) - 1)

/* A place in the shared memory of a CTA of the running thread's cluster. */
struct sim_shared_place {
    struct sim_cta *cta;
    size_t offset;       /* from cta->shared */
    unsigned char *host; /* cta->shared + offset */
};

/* From a pointer into the running thread's own shared memory; ends the launch ("shared-bounds") if
 * the bytes do not all lie in it, ("misaligned") if it is not aligned. */
struct sim_shared_place sim_shared_at(const void *pointer, size_t bytes, size_t alignment);
/* The same from a 32-bit address. */
struct sim_shared_place sim_shared_at_address(uint32_t address, size_t bytes, size_t alignment);
/* The same offset in the CTA of this rank (mapa). Ends the launch ("bad-rank") if there is none. */
struct sim_shared_place sim_shared_map(struct sim_shared_place place, unsigned rank);
/* The 32-bit address of a place. */
static inline uint32_t sim_shared_place_address(struct sim_shared_place place) {
    return (uint32_t)place.cta->rank << SHARED_RANK_SHIFT | (uint32_t)(SHARED_BASE + place.offset);
}

/* Is [pointer, pointer + bytes) inside one allocation, writable if `write`? Else a hazard
 * ("global-bounds", "global-read-only"), once per line, and false: leave the access out. */
bool sim_global_check(const void *pointer, size_t bytes, enum sim_access access);
/* Notes that the running thread's launch stores these bytes of D or of a workspace (not for
 * reductions): hazard "global-write-write" if another thread stored there in the same launch. For
 * TMA stores: the issuing thread. */
void sim_global_wrote(struct sim_thread *thread, const void *pointer, size_t bytes);

/* What uninitialized shared memory and in-flight destinations hold: a signalling pattern in both
 * 16-bit types and in fp32. */
#define SIM_POISON_16 0x7fb7u
void sim_poison(void *memory, size_t bytes);

/* What an accumulator holds while a wgmma owns it: a NaN with this payload. The low bits count up
 * to tell instances apart. */
#define SIM_ACCUMULATOR_TAG 0x7fd3a000u
#define SIM_ACCUMULATOR_TAG_MASK 0xfffff000u
static inline bool sim_is_tagged(float value) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return (bits & SIM_ACCUMULATOR_TAG_MASK) == SIM_ACCUMULATOR_TAG;
}

/* Reports an accumulator that a wgmma still owns; every wrapper that packs or stores registers
 * asks. */
void sim_accumulator_in_use(void);
static inline void sim_check_register(uint32_t bits) {
    if ((bits & SIM_ACCUMULATOR_TAG_MASK) == SIM_ACCUMULATOR_TAG) sim_accumulator_in_use();
}

/* ---- reports (report.c) ---- */

/* Reports a hazard of the running (or the given) thread and goes on. `kind` is a stable word for
 * machines, such as "data-race". The line printed is hazard: <kind>: <file>:<line>: <who>:
 * <message> and the message may have further lines, each indented by four spaces. The same kind at
 * the same line is reported once. */
void sim_hazard(const char *kind, const struct sim_thread *thread, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a place in the source that the thread has left, such as where an async operation was
 * issued. */
void sim_hazard_at(const char *kind, const char *file, int line, const struct sim_thread *thread,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Reports and ends the launch; the run's status is RUN_HAZARD. From a fiber or from a job. */
void sim_fatal(const char *kind, const struct sim_thread *thread, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));
/* "thread 129 (warp 4, warpgroup 1) of CTA 3". Returns text. */
const char *sim_who(const struct sim_thread *thread, char *text, size_t size);
/* "shared memory +0x4010 (16 bytes)" of CTA so and so. Returns text. */
const char *sim_where(const struct sim_cta *cta, size_t offset, char *text, size_t size);

/* ---- events for the timeline, statistics ---- */

enum sim_event_kind {
    SIM_EVENT_MARK,         /* trace(): event, argument */
    SIM_EVENT_TMA_LOAD,     /* begin..end: issue to landed; argument: bytes; offset: destination */
    SIM_EVENT_TMA_STORE,    /* begin..end: issue to complete; offset: source */
    SIM_EVENT_WGMMA,        /* begin..end: Tensor Core busy; argument: n */
    SIM_EVENT_MMA,          /* begin..end: Tensor Core busy, mma.sync */
    SIM_EVENT_BARRIER_INIT, /* mbarrier at `offset`, state after the event in phase, pending, tx */
    SIM_EVENT_BARRIER_ARRIVE,
    SIM_EVENT_BARRIER_EXPECT_TX,
    SIM_EVENT_BARRIER_COMPLETE_TX,
    SIM_EVENT_BARRIER_FLIP,
    SIM_EVENT_BARRIER_WAIT, /* a thread begins to wait */
    SIM_EVENT_BARRIER_PASS, /* a thread passes */
};

struct sim_event {
    enum sim_event_kind kind;
    uint64_t begin, end;
    const struct sim_cta *cta;
    int thread; /* in the CTA; -1: an async unit */
    int event;  /* enum trace_event, for SIM_EVENT_MARK */
    int role;   /* enum trace_role, for SIM_EVENT_MARK */
    int64_t argument;
    size_t offset;
    int by_cta; /* of an event at a barrier: index of the CTA that `thread` belongs to */
    unsigned phase, pending, expected;
    int tx;
    const char *file;
    int line;
    const char *name; /* of an mbarrier: the argument of its mbarrier_init(); NULL: not at one */
};

/* NULL: not recording. Called in the order of simulation, which is not quite the order of time. */
extern void (*sim_event_hook)(const struct sim_event *event);
static inline bool sim_recording(void) { return sim_event_hook != NULL; }

/* recording.c: hands the events of one run to the timeline. The backend brackets a run with these
 * when the user asked for a trace; `cycles` is negative under schedules that keep no time.
 * sim_trace() is there, too. */
void sim_recording_begin(const struct gemm_kernel *stage, const struct gemm_problem *problem);
void sim_recording_end(double cycles);

/* Counted over a run. A conflict is one extra pass over 32 banks of 4 bytes. The lanes of
 * ld.shared, st.shared and cp.async are put together under SCHEDULE_TIME only, and so are those of
 * ld.global and st.global; ldmatrix and stmatrix are counted under every schedule. */
struct sim_statistics {
    uint64_t ld_shared, ld_shared_conflicts;
    uint64_t st_shared, st_shared_conflicts;
    uint64_t ldmatrix, ldmatrix_conflicts;
    uint64_t stmatrix, stmatrix_conflicts;
    uint64_t cp_async, cp_async_conflicts;
    uint64_t mma, wgmma, tma_load_bytes, tma_store_bytes;
    uint64_t global_sectors; /* of 32 bytes, that ld.global and st.global touched */
};
extern struct sim_statistics sim_statistics;

/* ---- timing: servers that async units share with the core (timing.c); cycles ---- */

/* Books `cycles` of a server from `time` on; returns when the work begins. */
enum sim_server { SERVER_TENSOR_CORE, SERVER_TMA, SERVERS_PER_SM };
uint64_t sim_server_book(int sm, enum sim_server server, uint64_t time, uint64_t cycles);
/* Books bytes of the pipe that L1 and shared memory share, from `time` on; returns when the last of
 * them has passed. */
uint64_t sim_port_book(int sm, uint64_t time, uint64_t bytes);
/* Books bytes of the L2's (and DRAM's) bandwidth; returns when the last byte has arrived. `latency`
 * excluded. */
uint64_t sim_l2_book(uint64_t time, uint64_t bytes);
/* Fetches these bytes of global memory from `time` on: L2 or, if they are not there yet, DRAM;
 * their latency and bandwidth. Returns when the last byte has arrived at the SM. */
uint64_t sim_global_fetch(uint64_t time, const void *address, size_t bytes);

/* ---- values of elements (element.c) ---- */

uint16_t sim_element_nearest(float value,
                             int bf16); /* ties to even; the other way: tensor_core.h */

/* ---- what the core needs of the units ---- */

/* registers.c: the second number of the kernel's launch bounds, KERNEL(threads, ctas). */
int sim_launch_bounds_ctas(const void *kernel);

/* mbarrier.c: the arrival of cp.async.mbarrier.arrive.noinc, when the copies have landed: one
 * pending arrival at `place`, which carries nothing but (slot, epoch). May be called from a job. */
void sim_mbarrier_arrive_landed(struct sim_shared_place place, struct sim_thread *thread, int slot,
                                uint32_t epoch, uint64_t time);

/* Does `waiter` wait for something that `other` owes, as far as can be known? Each answers for its
 * own kind of wait: mbarrier.c for arrivals that came in the phase before and not yet in this one,
 * cluster.c for cluster_sync. */
bool mbarrier_awaits(const struct sim_thread *waiter, const struct sim_thread *other);
bool cluster_barrier_awaits(const struct sim_thread *waiter, const struct sim_thread *other);
/* registers.c: is the thread blocked in setmaxnreg? */
bool registers_awaited(const struct sim_thread *waiter);

#endif
