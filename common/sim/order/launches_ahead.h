/*
 * launches_ahead.h: what the launches ahead of an early one have accessed, where that is known.
 *
 * A launch of this repository does not know its neighbours, and prerequisites.h takes them to
 * access all of global memory. A runtime that makes every launch of a program calls
 * launches_ahead_next() before each of them. Then an early launch may access before its
 * griddepcontrol.wait what no unfinished launch ahead of it has accessed, or what both only read.
 *
 * PTX ISA, griddepcontrol: a launch ahead is unfinished only if one of its CTAs has executed
 * .launch_dependents; .wait waits for the launch directly ahead, and thereby for those that this
 * one has waited for.
 */
#ifndef SIM_ORDER_LAUNCHES_AHEAD_H
#define SIM_ORDER_LAUNCHES_AHEAD_H

#include "sim/core/global_memory.h"

/* A launch follows the one before it on its stream. early: it may begin while that one runs. lets:
 * its text has .launch_dependents, so that what it accesses is kept for the next one. */
void launches_ahead_next(bool early, bool lets);
/* All launches so far are complete: the host has waited for them, or what follows on the stream is
 * no launch. */
void launches_ahead_complete(void);

/* ---- for prerequisites.c ---- */

extern bool launches_ahead_known; /* launches_ahead_next() is called */
extern bool launches_ahead_kept;  /* accesses of the running launch are */

/* strong: by an atomic, or an ld or st with semantics. */
void launches_ahead_keep(const void *pointer, size_t bytes, enum sim_access access, bool strong);
/* An access of the running thread, which has waited or not. */
void launches_ahead_check(const void *pointer, size_t bytes, enum sim_access access, bool strong,
                          bool waited);

#endif
