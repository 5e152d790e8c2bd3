/*
 * settings.h: the simulator's options of the command line, as backend.h declares them, by name; and
 * the state of its backend.
 */
#ifndef SIM_SETTINGS_H
#define SIM_SETTINGS_H

#include "backend.h"

/* Indices into backend_settings. */
enum {
    SETTING_SMS,
    SETTING_HELD,
    SETTING_SCHEDULE,
    SETTING_SEED,
    SETTING_LAUNCHES,
    SETTING_HAZARDS,
    SETTING_DOUBTFUL,
    SETTING_STEPS,
    SETTINGS
};

/* What the launches of a run share. */
struct sim_run {
    bool running;   /* there is one */
    bool abandoned; /* after a fatal hazard */
};
extern struct sim_run sim_run;

#endif
