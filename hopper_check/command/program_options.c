/* program_options.c: reading them. */
#include "command/program_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/options.h"
#include "runtime/advice.h"

enum { USUAL_SMS = 8, USUAL_SEEDS = 3, USUAL_LAUNCH_SECONDS = 120, MOST_JOBS = 64 };

void program_options_help(FILE *out) {
    fputs(
        "usage: hopper_check [OPTION...] PROGRAM [ARGUMENT...]\n"
        "\n"
        "runs a CUDA program without a GPU, once for each schedule, and reports races and broken\n"
        "rules of its kernels. Compile it with " BUILD_FLAGS ".\n"
        "\n"
        "  --check                  the default: time, late, early, and random with 3 seeds, up "
        "to\n"
        "                           the first run with findings\n"
        "  --keep-going             and all the runs after it\n"
        "  --seeds N                seeds of random (default 3)\n"
        "  --schedule NAME          one run alone: time, early, late or random\n"
        "  --seed N                 of --schedule random (default 1): what a finding was made "
        "with\n"
        "  --jobs N                 runs at the same time (default: the processors)\n"
        "  --sms N                  SMs (default 8)\n"
        "  --launch-limit SECONDS   a launch that is expected to take longer is not begun\n"
        "                           (default 120); any: none is too long\n"
        "  --suppressions FILE      findings that are known: lines of RULE FILE:LINE [FILE:LINE];\n"
        "                           all runs are made then\n"
        "  --kernel-name NAME       only launches of kernels with this in their names are judged\n"
        "  --launch-skip N, --launch-count N   of these, not the first N, and no more than N\n"
        "  --print-limit N          findings that are printed (default 100)\n"
        "  --error-exitcode N       the exit code of findings (default 4)\n"
        "  --log-file FILE          what is printed goes there\n"
        "  --json FILE, --sarif FILE   the findings\n"
        "  --report DIRECTORY       one more run: a page of the launch with the first finding, "
        "with\n"
        "                           both lines, and each mbarrier step by step\n"
        "  --elect any              elect.sync takes the lane that the schedule says\n"
        "                           (default lowest)\n"
        "  --doubtful on|off        also the rules that are in doubt (default off)\n"
        "  --follow all             who reads which memory, also where a launch writes none of it\n"
        "                           (default written)\n"
        "  --step-limit N, --branch-limit N   as of run\n"
        "\n"
        "Ends with 0: clean; 1: the program failed, and nothing was reported; 2: it cannot be run\n"
        "here; 3: no memory; 4: findings; 5: incomplete, no verdict; 130: interrupted.\n",
        out);
}

static bool small_number(const char *option, const char *text, int least, int most, int *out) {
    uint64_t value;
    if (!options_number(option, text, (uint64_t)least, (uint64_t)most, &value)) return false;
    *out = (int)value;
    return true;
}

/* What is planned with. */
struct plan {
    int schedule; /* < 0: all */
    uint64_t seed;
    int seeds;
};

static bool parse_schedule(const char *text, struct plan *plan) {
    for (int i = 0; i < SIM_SCHEDULES; ++i)
        if (!strcmp(text, schedule_names[i])) {
            plan->schedule = i;
            return true;
        }
    return options_complain("--schedule", text, "is none of time, early, late, random");
}

/* NAME, or as compute-sanitizer has it kernel_substring=NAME. */
static bool parse_kernel(const char *text, struct launch_filter *filter) {
    const char *const equals = strchr(text, '=');
    if (equals && strncmp(text, "kernel_substring=", 17) != 0 && strncmp(text, "kns=", 4) != 0)
        return options_complain("--kernel-name", text,
                                "is neither a name nor kernel_substring=NAME");
    filter->kernel = equals ? equals + 1 : text;
    return true;
}

static bool parse_option(const char *name, const char *value, struct program_options *o,
                         struct plan *plan) {
    if (!strcmp(name, "--schedule")) return parse_schedule(value, plan);
    if (!strcmp(name, "--seed")) return options_number(name, value, 0, UINT64_MAX, &plan->seed);
    if (!strcmp(name, "--seeds")) return small_number(name, value, 0, MOST_RUNS - 3, &plan->seeds);
    if (!strcmp(name, "--jobs")) return small_number(name, value, 1, MOST_JOBS, &o->jobs);
    if (!strcmp(name, "--sms")) return small_number(name, value, 1, MAX_SMS, &o->sms);
    if (!strcmp(name, "--step-limit"))
        return options_number(name, value, 0, UINT64_MAX, &o->step_limit);
    if (!strcmp(name, "--branch-limit"))
        return options_number(name, value, 0, UINT64_MAX, &o->branch_limit);
    if (!strcmp(name, "--launch-limit"))
        return !strcmp(value, "any") ? (o->launch_limit = 0, true)
                                     : options_number(name, value, 1, UINT32_MAX, &o->launch_limit);
    if (!strcmp(name, "--print-limit"))
        return small_number(name, value, 0, INT32_MAX, &o->print_limit);
    if (!strcmp(name, "--error-exitcode"))
        return small_number(name, value, 0, 255, &o->error_exitcode);
    if (!strcmp(name, "--elect"))
        return options_choice(name, value, "any", "lowest", &o->elect_any);
    if (!strcmp(name, "--doubtful")) return options_choice(name, value, "on", "off", &o->doubtful);
    if (!strcmp(name, "--follow"))
        return options_choice(name, value, "all", "written", &o->follow_all);
    if (!strcmp(name, "--kernel-name")) return parse_kernel(value, &o->filter);
    if (!strcmp(name, "--launch-skip"))
        return small_number(name, value, 0, INT32_MAX, &o->filter.skip);
    if (!strcmp(name, "--launch-count"))
        return small_number(name, value, 1, INT32_MAX, &o->filter.count);
    if (!strcmp(name, "--json")) return (o->json = value) != NULL;
    if (!strcmp(name, "--report")) return (o->report = value) != NULL;
    if (!strcmp(name, "--sarif")) return (o->sarif = value) != NULL;
    if (!strcmp(name, "--log-file")) return (o->log_file = value) != NULL;
    if (!strcmp(name, "--suppressions")) return (o->suppressions = value) != NULL;
    return options_complain(name, NULL, "unknown option; --help lists them");
}

static void make_plan(const struct plan *plan, struct program_options *o) {
    static const enum sim_schedule usual[] = {SCHEDULE_TIME, SCHEDULE_LATE, SCHEDULE_EARLY};
    if (plan->schedule >= 0) {
        o->plan[o->runs++] = (struct planned_run){(enum sim_schedule)plan->schedule, plan->seed};
        return;
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; ++i)
        o->plan[o->runs++] = (struct planned_run){usual[i], 1};
    for (int i = 0; i < plan->seeds; ++i)
        o->plan[o->runs++] = (struct planned_run){SCHEDULE_RANDOM, plan->seed + (uint64_t)i};
}

bool program_options_parse(int argc, char **argv, struct program_options *o) {
    struct plan plan = {-1, 1, USUAL_SEEDS};
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *o = (struct program_options){.jobs = processors < 1           ? 1
                                          : processors < MOST_JOBS ? (int)processors
                                                                   : MOST_JOBS,
                                  .sms = USUAL_SMS,
                                  .step_limit = STEP_LIMIT,
                                  .branch_limit = BRANCH_LIMIT,
                                  .launch_limit = USUAL_LAUNCH_SECONDS,
                                  .filter = {.count = -1},
                                  .error_exitcode = EXIT_FINDINGS,
                                  .print_limit = 100};
    int i = 1;
    for (; i < argc && !strncmp(argv[i], "--", 2); ++i) {
        if (!strcmp(argv[i], "--")) {
            ++i;
            break;
        }
        if (!strcmp(argv[i], "--check")) continue;
        if (!strcmp(argv[i], "--keep-going")) {
            o->keep_going = true;
            continue;
        }
        char name[32];
        const char *value = strchr(argv[i], '=');
        snprintf(name, sizeof name, "%.*s", value ? (int)(value - argv[i]) : 31, argv[i]);
        if (value)
            ++value;
        else if (i + 1 == argc)
            return options_complain(argv[i], NULL, "needs a value");
        else
            value = argv[++i];
        if (!parse_option(name, value, o, &plan)) return false;
    }
    if (i == argc) return options_complain("which program?", NULL, "--help");
    o->program = argv + i;
    /* What is not reported ends no run of runs. */
    if (o->suppressions || o->filter.kernel || o->filter.skip || o->filter.count >= 0)
        o->keep_going = true;
    make_plan(&plan, o);
    return true;
}
