/*
 * access_times.h: when accesses were made: for the picture of a hazard, and only while a run is
 * recorded.
 */
#ifndef SIM_ORDER_ACCESS_TIMES_H
#define SIM_ORDER_ACCESS_TIMES_H

#include "sim/core/hazards.h"

/* From here on, and no longer. */
void access_times_begin(void);
void access_times_end(void);

/* The running (or the given) thread makes or issues an access at its line. `slot`, `epoch`: as the
 * shadow records it. */
void access_times_note(const struct sim_thread *thread, int slot, uint32_t epoch, uint16_t site);
/* The cycle of such an access by a thread of that cluster; SIDE_UNKNOWN: it is no longer known. */
uint64_t access_time_of(int cluster, int slot, uint32_t epoch, uint16_t site);

#endif
