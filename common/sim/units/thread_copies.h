/*
 * thread_copies.h: what other parts need of the asynchronous copies of a thread.
 */
#ifndef SIM_UNITS_THREAD_COPIES_H
#define SIM_UNITS_THREAD_COPIES_H

#include "sim/core/threads.h"

/* The slot of the thread's copies; -1 while it has made none. */
int cp_async_slot(const struct sim_thread *thread);
/* A thread ends: hazard "exit-in-flight" if it has not waited for its copies. */
void cp_async_thread_exit(struct sim_thread *thread);
/* A launch begins: takes back what an abandoned one has left. */
void cp_async_launch_begin(void);
/* Returns the memory kept for further copies. */
void cp_async_release(void);

#endif
