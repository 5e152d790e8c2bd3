/* aligned.h: do the four warps of a warpgroup execute the same fences and waits? */
#ifndef SIM_UNITS_WGMMA_ALIGNED_H
#define SIM_UNITS_WGMMA_ALIGNED_H

#include "sim/core/threads.h"

/* A wgmma.fence or wgmma.wait_group that some warps have executed and others not yet. */
struct aligned_call {
    const char *name;
    const struct sim_thread *thread; /* the first that executed it, and where */
    const char *file;
    int line;
};

/* Of a warpgroup, since its warps last met at a wgmma or a commit. */
struct aligned_calls {
    struct aligned_call *call;
    int count, room;
    int executed[WARPGROUP_WARPS]; /* of them, by each warp */
};

/* The running thread's warp executes it, as a whole. Ends the launch if another warp of the
 * warpgroup executed another instruction in its place: "diverged-warpgroup". */
void wgmma_aligned_call(struct aligned_calls *calls, const char *name);
/* The four warps have met, or end: reports a call that some of them have left out. */
void wgmma_aligned_meet(struct aligned_calls *calls, const char *where);

#endif
