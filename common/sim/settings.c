#include "sim/settings.h"

#include <stddef.h>

#include "sim/core/hazards.h"
#include "sim/core/simulation.h"

struct sim_run sim_run;

const char *const schedule_names[SIM_SCHEDULES] = {"time", "early", "late", "random"};

static const char *const off_on_all[] = {"off", "on", "all"};

_Static_assert((int)SETTINGS <= (int)CHECK_SETTINGS, "a run of --check has a value for each");
struct backend_setting backend_settings[] = {
    [SETTING_SMS] = {"--sms", "N", "SMs (default 4)", NULL, 1, MAX_SMS, 4},
    [SETTING_HELD] = {"--held", "CYCLES", "for which another kernel holds the first SM (default 0)",
                      NULL, 0, 1000000000, 0},
    [SETTING_SCHEDULE] = {"--schedule", "ORDER",
                          "time (default): by the timing model, gives simulated cycles;\n"
                          "early, late, random: asynchronous operations complete as\n"
                          "early as possible, as late as possible, at a random legal moment",
                          schedule_names, 0, SIM_SCHEDULES - 1, SCHEDULE_TIME},
    [SETTING_SEED] = {"--schedule-seed", "SEED", "of random (default 1)", NULL, 0, UINT64_MAX, 1},
    [SETTING_LAUNCHES] = {"--launches", "N",
                          "in each run (default 1). Kernels for several GPUs may begin a\n"
                          "launch while other GPUs still run the one before it",
                          NULL, 1, MOST_LAUNCHES, 1},
    [SETTING_HAZARDS] = {"--hazards", "N|all",
                         "how many reports a run makes (default 4), one for each line;\n"
                         "those of one cause together",
                         NULL, 1, HAZARDS_MOST, HAZARDS_USUALLY},
    [SETTING_DOUBTFUL] = {"--doubtful", "on|off|all",
                          "rules that are in doubt, docs/rules-in-doubt.md (default on); all: and\n"
                          "those that kernels in wide use break",
                          off_on_all, 0, 2, 1},
    [SETTING_STEPS] = {"--step-limit", "STEPS",
                       "how often threads run before a launch counts as endless\n"
                       "(default 0: by the size of the problem)",
                       NULL, 0, UINT64_MAX, 0},
};
const int backend_setting_count = SETTINGS;
const char *const backend_settings_heading = "The simulator";
