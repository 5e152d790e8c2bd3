/*
 * simulation.h: the simulator as tests and tools set it up, besides backend.h.
 */
#ifndef SIM_CORE_SIMULATION_H
#define SIM_CORE_SIMULATION_H

#include <stdint.h>

/* In which order threads run, and when asynchronous effects become visible. */
enum sim_schedule {
    SCHEDULE_TIME,  /* by the timing model, which gives simulated cycles */
    SCHEDULE_EARLY, /* every effect as early as the rules allow */
    SCHEDULE_LATE,  /* as late */
    SCHEDULE_RANDOM /* at any moment */
};
enum { SIM_SCHEDULES = 4 };
extern const char *const schedule_names[SIM_SCHEDULES]; /* "time", ... */

enum { MAX_SMS = 1024 };

/* Sets what the options --sms, --schedule and --schedule-seed set; holds from the next
 * backend_open() on. sms: 1 to MAX_SMS; seed: of SCHEDULE_RANDOM. Host thread. */
void sim_configure(int sms, enum sim_schedule schedule, uint64_t seed);

#endif
