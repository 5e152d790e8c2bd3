/*
 * settings.h: the simulator's options of the command line, as backend.h declares them, by name.
 */
#ifndef SIM_SETTINGS_H
#define SIM_SETTINGS_H

#include "backend.h"

/* Indices into backend_settings. */
enum { SETTING_SMS, SETTING_SCHEDULE, SETTING_SEED, SETTING_STEPS, SETTINGS };

#endif
