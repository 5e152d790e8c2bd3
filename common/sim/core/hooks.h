/*
 * hooks.h: what the core asks of the folders above it, which it does not know. sim/hooks.c says who
 * answers.
 */
#ifndef SIM_CORE_HOOKS_H
#define SIM_CORE_HOOKS_H

#include "sim/core/threads.h"

struct sim_hooks {
    /* Memory for a CTA has been made, and will be freed. order/ */
    void (*cta_made)(struct sim_cta *cta);
    void (*cta_freed)(struct sim_cta *cta);
    /* A CTA begins in that memory. order/, units/ */
    void (*cta_begins)(struct sim_cta *cta);
    /* A warp of it begins at this time. cost/ */
    void (*warp_begins)(struct sim_warp *warp, uint64_t time);
    /* A thread has returned from the kernel. units/ */
    void (*thread_ends)(struct sim_thread *thread);
    /* All threads of a cluster have ended. order/ */
    void (*cluster_retires)(struct sim_cluster *cluster);
    /* A launch begins; one before it may have been abandoned. order/, units/ */
    void (*launch_begins)(void);
    /* Charges the warp for what its lanes have logged, until its clock passes the horizon. True if
     * something is left. cost/ */
    bool (*settle)(struct sim_warp *warp, uint64_t horizon);
};
extern const struct sim_hooks sim_hooks;

/* The running thread lets others go on until its warp's log is settled: before anything that all
 * lanes do together. cost/. A function, not a pointer as the others: it may suspend the thread, and
 * fiber_asyncify.h follows direct calls alone. */
void sim_drain(struct sim_warp *warp);

#endif
