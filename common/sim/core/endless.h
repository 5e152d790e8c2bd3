/*
 * endless.h: a launch that does not end is reported, not waited for.
 */
#ifndef SIM_CORE_ENDLESS_H
#define SIM_CORE_ENDLESS_H

#include <stdint.h>

/* After so many turns of threads sim.launch counts as endless. 0: after several times as many as a
 * GEMM of its m, n and k takes in any kernel of the book, or as many products of wgmma. Set before
 * a run. */
extern uint64_t endless_step_limit;
/* After so many seconds of processor time one turn does, and more the larger the problem; a turn is
 * microseconds. */
extern double endless_turn_seconds;

/* A hazard has been reported: what the kernel does from now on is worth less patience. */
void endless_hurry(void);

/* Around the launch. Until its end the process is interrupted every second of its own time. */
void endless_watch(void);
void endless_watch_ends(void);

/* Of the launch under way: sim.steps and sim_statistics.products may grow so far. */
extern uint64_t endless_last_step, endless_last_product;
/* Reports it, and what every thread does. */
void report_endless(void);

#endif
