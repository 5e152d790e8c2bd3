/*
 * jobs.h: what asynchronous units have under way.
 */
#ifndef SIM_CORE_JOBS_H
#define SIM_CORE_JOBS_H

#include "sim/core/threads.h"

struct sim_job {
    void (*complete)(struct sim_job *job); /* makes the effect happen; may free the job */
    void (*cancel)(struct sim_job *job);   /* the launch was abandoned: free the job */
    struct sim_cluster *cluster; /* completed with the cluster at the latest; NULL: with the grid */
    struct sim_job *after;       /* must complete first (NULL: nothing) */
    uint64_t time;               /* when it completes, SCHEDULE_TIME */
    struct sim_wait_queue
        waiters; /* woken on completion; if complete() frees the job, no thread may wait */
    /* the scheduler's */
    struct sim_job *successor, *sibling; /* those that come after it, a list */
    int heap_index;
    uint64_t number, key; /* of its start; of its place in the order */
    enum { JOB_NEW, JOB_PENDING, JOB_DONE } state;
};

/* Starts a job; fill in complete, cancel, cluster and after. early: completes before this returns.
 * late: when forced, or when no fiber can run, newest first. random: at any step. time: at `time`.
 */
void sim_job_start(struct sim_job *job, uint64_t time);
/* The running thread waits for the job. late: forces it (and what it comes after) right now.
 * Others: blocks until it completes on its own. `wait` says what is waited for. */
void sim_job_wait(struct sim_job *job, const struct sim_wait *wait, const void *object);
/* Completes the job, and what it comes after, now, whatever the schedule; for effects that must not
 * be later than this. */
void sim_job_force(struct sim_job *job);

/* ---- for the scheduler and the grid ---- */

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

#endif
