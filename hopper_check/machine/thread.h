/*
 * thread.h: one simulated thread executes a program.
 */
#ifndef MACHINE_THREAD_H
#define MACHINE_THREAD_H

#include "program/program.h"

struct three {
    int x, y, z;
};

/* A launch of a program, while it runs. */
struct launch {
    const struct program *program;
    struct three grid, block, cluster;
    int dynamic_shared_bytes;
    int parameters_at;    /* where the kernel's parameters begin in what the launch passes */
    void *grid_barrier;   /* 8 bytes of global memory, zeros; NULL: the launch is not cooperative */
    bool silent;          /* what the kernel prints is left out */
    bool elect_any;       /* elect.sync takes the lane that the schedule says, and not the lowest */
    bool keeps_variables; /* of the module, placed before: they outlive the launch */
    bool early;           /* it may begin while the launch before it still runs */
    uint64_t branch_limit; /* taken in one turn of a thread, after which it counts as endless */
    uint64_t executed;     /* instructions, of all threads that have ended */
    uint64_t checked;      /* of them those that the simulator judges: accesses, barriers, copies */
    void (*cta_begins)(struct launch *launch); /* NULL: nobody counts them */
    const struct operation *incomplete;        /* what could not be executed; NULL: nothing */
};
/* The one that is under way. */
extern struct launch *launch_running;

/* The function that the simulator launches for every program. */
const void *thread_kernel(void);

/* The operation uses this value: reports it if it is, or was copied from, an accumulator that a
 * wgmma owns (sim/units/registers/accumulators.h). */
void thread_check_register(const struct operation *op, uint32_t bits);

/* Ends the launch: the running thread has come to something that is not modelled, and that could
 * not be known before. */
void thread_not_modelled(const struct operation *op, const char *why) __attribute__((noreturn));

#endif
