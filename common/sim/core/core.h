/*
 * core.h: what the files of the simulator's core share among themselves and the asynchronous units
 * need not know.
 */
#ifndef SIM_CORE_CORE_H
#define SIM_CORE_CORE_H

#include "sim/core/internal.h"

/* ---- launch.c ---- */

/* Makes CTAs resident while there is room; false when the grid is used up and nothing is resident.
 */
bool launch_admit(void);
/* After its last thread has ended: frees the cluster's places. From the scheduler. */
void launch_retire(struct sim_cluster *cluster);
/* Resident warps, in the order of launch. */
extern struct sim_warp **resident_warps;
extern int resident_warp_count;
/* CTAs of this launch that fit an SM. */
int launch_ctas_per_sm(const struct gemm_launch *launch);
/* Runs a grid to its end. False if it was refused (said why). *abandoned: a fatal hazard ended it.
 */
bool launch_run(const struct gemm_launch *launch, const struct gemm_args *args, bool *abandoned);


/* ---- storage.c ---- */

struct sim_cluster *storage_new(const struct gemm_launch *launch);
/* Empties the arena. */
void storage_clear(struct sim_cluster *cluster);
void storage_free(struct sim_cluster *cluster);
/* calloc, or the end of the program with a message. */
void *storage_zeroed(size_t count, size_t size);

/* ---- scheduler.c ---- */

void scheduler_begin(enum sim_schedule schedule, uint64_t seed);
/* Runs until the grid is done; false if the launch was abandoned after a fatal hazard. */
bool scheduler_run(void);
/* Where a fatal hazard ends: leaves the launch. */
void scheduler_abandon(void) __attribute__((noreturn));
/* Makes a thread ready to run. */
void scheduler_ready(struct sim_thread *thread, uint64_t time);

/* Adds to the warp's clock what its lanes have been charged. */
void scheduler_advance_warp(struct sim_warp *warp);
/* Back to the scheduler, ready to go on. From a fiber. */
void scheduler_yield(void);

/* ---- jobs.c ---- */

/* The job that completes next; NULL: none is under way. */
const struct sim_job *jobs_next(void);
/* Completes it; false if there is none. */
bool jobs_complete_next(void);
/* Completes what the cluster has under way. */
void jobs_complete_all(const struct sim_cluster *cluster);
/* Frees the jobs that a launch has left. */
void jobs_cancel(void);
/* Is a job being completed? At what time? */
bool jobs_now(uint64_t *time);

/* ---- clock.c ---- */

enum { SLOT_LIMIT = 65535 }; /* of a cluster: shadow records hold 16 bits */

/* ---- shadow.c ---- */

/* 64 bytes of shadow for 16 bytes of shared memory; zero-initialized. */
struct shadow_cell *shadow_new(size_t shared_bytes);
void shadow_clear(struct shadow_cell *cells, size_t shared_bytes);
void shadow_free(struct shadow_cell *cells, size_t shared_bytes);

/* ---- report.c ---- */

void report_begin(void);    /* a run begins: forget what was reported */
void report_end(void);      /* says how much was not shown */
/* Counts hazards without printing them, for tests that expect thousands. */
void report_quiet(bool quiet);
/* The i-th distinct hazard of the run; false if there are not so many. */
bool report_get(int i, const char **kind, const char **file, int *line);
/* A file's name as reports show it. */
const char *report_file(const char *file);
/* An id for the running line of a thread, and back. */
uint16_t report_site(const char *file, int line);
void report_site_of(uint16_t site, const char **file, int *line);

/* ---- deadlock.c ---- */

/* Reports that the resident threads wait for each other. */
void report_deadlock(void);

/* ---- timing.c: charging a warp for what its lanes do; all no-ops but under SCHEDULE_TIME ---- */

enum timing_op {
    TIMING_LD_GLOBAL,
    TIMING_ST_GLOBAL,
    TIMING_ATOMIC,
    TIMING_LD_SHARED,
    TIMING_ST_SHARED,
    TIMING_CP_ASYNC,
    TIMING_LD_CLUSTER, /* of another CTA's shared memory */
    TIMING_OPS
};

void timing_begin(int sms); /* a run begins: caches are cold */
void timing_end(void);
/* One lane's access. `address` is a global address or an offset in shared memory. */
void timing_access(struct sim_thread *thread, enum timing_op op, uint64_t address, unsigned bytes);
/* Charges the warp for what its lanes have logged, until its clock passes the horizon. True if
 * something is left. */
bool timing_settle(struct sim_warp *warp, uint64_t horizon);
/* The running thread lets others go on until its warp's log is settled: before anything that all
 * lanes do together. */
void timing_drain(struct sim_warp *warp);
/* A warp-wide access to shared memory of `rows` 16-byte rows at these offsets; returns extra passes
 * over the banks. */
unsigned timing_rows(struct sim_warp *warp, const size_t *offset, int rows);
/* Before an mma.sync, by each lane: the warp waits for the registers it takes and for its Tensor
 * Core. */
void timing_operands(struct sim_thread *thread, const float *d, const uint32_t *a,
                     const uint32_t *b);
/* mma.sync by a warp, into d. */
void timing_mma(struct sim_warp *warp, const float *d);
/* ldmatrix: the registers at r are ready when the rows have come. */
void timing_fragments(struct sim_warp *warp, const uint32_t *r);
void timing_warp_begin(struct sim_warp *warp, uint64_t time);
/* When a copy of up to 16 bytes from this address, issued by the thread now, will have landed. */
uint64_t timing_copy(struct sim_thread *thread, const void *global);

/* ---- global.c ---- */

void *global_alloc(size_t bytes, const char *label, bool writable);
void global_free(void *memory);
void global_free_all(void);
/* Where the word lies in the simulated memory, for caches that must behave the same in every run.
 */
uint64_t global_device_address(const void *pointer);
void global_launch_begin(void);

/* ---- collective.c, cp_async.c, barrier.c ---- */

/* See mbarrier_awaits(). */
bool collective_awaits(const struct sim_thread *waiter, const struct sim_thread *other);
bool barrier_awaits(const struct sim_thread *waiter, const struct sim_thread *other);

void collective_thread_exit(struct sim_thread *thread);

void cp_async_thread_exit(struct sim_thread *thread);
/* The slot of the thread's copies; -1 while it has made none. */
int cp_async_slot(const struct sim_thread *thread);
void cp_async_launch_begin(void);
/* Returns the memory kept for further copies. */
void cp_async_release(void);
void barrier_cta_begin(struct sim_cta *cta);

#endif
