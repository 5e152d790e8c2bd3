/*
 * poll.h: threads that poll words of global memory.
 *
 * A spin must let others run, or what it waits for never comes. Nothing in the source tells a spin
 * from a single load, so a thread that loads the same word again, and finds it as it was, is parked
 * until something is written.
 */
#ifndef SIM_UNITS_POLL_H
#define SIM_UNITS_POLL_H

#include <stdbool.h>
#include <stdint.h>

/* A launch begins: no thread polls. */
void poll_launch_begins(void);
/* Before the running thread loads a word by a strong access. Parks it if this looks like a spin. */
void poll_strong(const void *word);
/* Before any strong access of the running thread. If it loads a word that it has just written, or the
 * other way round, `late` lets others come between the two as long as any can run. So a counter that
 * is read by one access and written by another one is found out. */
void poll_between(const void *word, bool write);
/* poll_strong() for an ordinary load, which may be repeated for better reasons: parks late, and for so
 * short a time that it never counts as a deadlock. */
void poll_ordinary(const void *pointer);
/* Something was written to global memory. */
void poll_written(void);
/* The same, and threads that poll see it so many cycles from now. */
void poll_written_later(uint64_t cycles);

#endif
