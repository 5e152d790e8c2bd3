/*
 * museum_test.c: every exhibit of the museum in the simulator, under all schedules.
 *
 *     museum_test FOLDER [EXHIBIT...]
 *
 * The fixed form passes: nothing is reported, and D is right. The broken form is caught under every
 * schedule, its first hazard at a line that carries
 *
 *     ... accused: KIND, KIND ...            or, for some schedules alone,
 *     ... accused under time late: KIND ...
 *
 * in a comment, at its end or in a line of its own before it, and with one of these kinds. Under
 * `random` a few seeds are tried, and all of them have to find it if the comment names no schedule.
 * Each kind has to be seen at its line under some schedule, so that no comment outlives its hazard.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/hazards.h"
#include "sim/core/simulation.h"
#include "tests/museum/museum_run.h"
#include "tests/support/expect.h"

enum { SMS = 4, SEEDS = 12, RARE_SEEDS = 60, MAX_MARKS = 16 };

struct mark {
    int line;
    char kind[48];
    bool seen;
};
struct marks {
    struct mark mark[MAX_MARKS];
    int count;
    bool named;                   /* whether a comment names schedules */
    bool schedule[SIM_SCHEDULES]; /* under which one has to be found */
};

/* The kinds behind the colon, separated by commas, for `line`. */
static void add_kinds(struct marks *marks, char *kinds, int line) {
    for (char *kind = strtok(kinds, ", "); kind && *kind != '*'; kind = strtok(NULL, ", ")) {
        struct mark *const mark = &marks->mark[marks->count++];
        if (marks->count > MAX_MARKS) exit(1);
        snprintf(mark->kind, sizeof mark->kind, "%s", kind);
        mark->line = line;
    }
}

static struct marks read_marks(const char *folder, const char *name) {
    struct marks marks = {0};
    char path[512], text[256];
    snprintf(path, sizeof path, "%s/%s.cu", folder, name);
    FILE *const file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    for (int line = 1; fgets(text, sizeof text, file); ++line) {
        char *const comment = strstr(text, "/* accused");
        char *const colon = comment ? strchr(comment, ':') : NULL;
        if (!colon) continue;
        *colon = 0;
        for (int s = 0; s < SIM_SCHEDULES; ++s)
            if (strstr(comment, schedule_names[s])) marks.named = marks.schedule[s] = true;
        add_kinds(&marks, colon + 1, line + (strspn(text, " ") == (size_t)(comment - text)));
    }
    fclose(file);
    for (int s = 0; s < SIM_SCHEDULES; ++s)
        if (!marks.named) marks.schedule[s] = true;
    return marks;
}

static struct mark *find_mark(struct marks *marks, const char *kind, int line) {
    for (int i = 0; i < marks->count; ++i)
        if (marks->mark[i].line == line && strcmp(marks->mark[i].kind, kind) == 0)
            return &marks->mark[i];
    return NULL;
}

static enum run_status run(const struct museum_exhibit *exhibit, int fixed,
                           enum sim_schedule schedule, int seed, int *wrong) {
    sim_configure(SMS, schedule, (uint64_t)seed);
    if (museum_open(exhibit) != EXIT_VERIFIED) exit(1);
    hazards_quiet(true);
    const enum run_status status = museum_run(exhibit, fixed, wrong);
    museum_close();
    return status;
}

/* Runs the broken form once; true if it was caught. */
static bool run_broken(const struct museum_exhibit *exhibit, struct marks *marks,
                       enum sim_schedule schedule, int seed) {
    int wrong = 0, line = 0;
    if (run(exhibit, 0, schedule, seed, &wrong) != RUN_HAZARD) return false;
    const char *kind = "nothing", *file = "";
    hazards_get(0, &kind, &file, &line);
    struct mark *const mark = find_mark(marks, kind, line);
    EXPECT(mark && strstr(file, exhibit->name), "%s, %s, seed %d: %s at %s:%d is not expected",
           exhibit->name, schedule_names[schedule], seed, kind, file, line);
    if (mark) mark->seen = true;
    return true;
}

static void check(const struct museum_exhibit *exhibit, const char *folder) {
    struct marks marks = read_marks(folder, exhibit->name);
    EXPECT(marks.count, "%s: no line is accused", exhibit->name);
    for (int schedule = 0; schedule < SIM_SCHEDULES; ++schedule) {
        const bool random = schedule == SCHEDULE_RANDOM;
        const int seeds = !random ? 1 : marks.named ? RARE_SEEDS : SEEDS;
        int caught = 0;
        for (int seed = 0; seed < seeds; ++seed) {
            int wrong = 0;
            caught += run_broken(exhibit, &marks, schedule, seed);
            if (seed >= SEEDS) continue;
            const enum run_status status = run(exhibit, 1, schedule, seed, &wrong);
            EXPECT(status == RUN_OK && !wrong, "%s fixed, %s, seed %d: status %d, %d wrong",
                   exhibit->name, schedule_names[schedule], seed, status, wrong);
        }
        EXPECT(!marks.schedule[schedule] || caught >= (marks.named ? 1 : seeds),
               "%s: caught %d times of %d under %s", exhibit->name, caught, seeds,
               schedule_names[schedule]);
        EXPECT(marks.schedule[schedule] || !caught,
               "%s: caught under %s, too: its comment does not say so", exhibit->name,
               schedule_names[schedule]);
    }
    for (int i = 0; i < marks.count; ++i)
        EXPECT(marks.mark[i].seen, "%s:%d: %s was never seen", exhibit->name, marks.mark[i].line,
               marks.mark[i].kind);
}

int main(int argc, char **argv) {
    if (argc < 2) return EXIT_USAGE;
    for (int i = 0; i < museum_exhibit_count; ++i) {
        bool wanted = argc == 2;
        for (int j = 2; j < argc; ++j)
            wanted |= strcmp(argv[j], museum_exhibits[i].name) == 0;
        if (wanted) check(&museum_exhibits[i], argv[1]);
    }
    return expect_result();
}
