/* program.c: from the command line to the verdict. */
#include "command/program.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "command/loader.h"
#include "command/runs.h"
#include "command/summary.h"
#include "command/suppressions.h"

static bool worse(enum exit a, enum exit b) {
    static const int rank[] = {[EXIT_CLEAN] = 0,     [EXIT_DIFFERENT] = 2, [EXIT_BAD_INPUT] = 3,
                               [EXIT_NO_MEMORY] = 3, [EXIT_FINDINGS] = 4,  [EXIT_INCOMPLETE] = 1};
    return rank[a] > rank[b];
}

/* And what the first run did that had not ended. */
static void say_interrupted(const struct run *run, int runs, char *why, size_t size) {
    snprintf(why, size, "it was interrupted");
    for (int i = 0; i < runs; ++i) {
        const struct results *const r = &run[i].results;
        if (!r->under_way) continue;
        snprintf(why, size, "it was interrupted in launch %d, of %s, whose threads had executed ",
                 r->number, r->kernel ? r->kernel : "?");
        const size_t used = strlen(why);
        if (r->so_far)
            snprintf(why + used, size - used, "%llu instructions, under %s",
                     (unsigned long long)r->so_far, run[i].name);
        else
            snprintf(why + used, size - used, "for less than a second, under %s", run[i].name);
        return;
    }
}

/* The worst of the runs. Findings are worse than all of them. */
static void judge(const struct run *run, int runs, int planned, struct summary *s) {
    char why[2200];
    int same = 0; /* runs that say the same as the worst */
    for (int i = 0; i < runs; ++i) {
        const enum exit code = run_verdict(&run[i], why, sizeof why);
        s->launches += run[i].results.launches;
        s->executed += run[i].results.executed;
        s->checked += run[i].results.checked;
        same += code == s->code;
        if (!worse(code, s->code)) continue;
        same = 1;
        s->code = code;
        snprintf(s->why, sizeof s->why, "%s", why);
        s->under = run[i].name;
    }
    s->runs = runs;
    if (same == runs) s->under = NULL;
    if (s->code == EXIT_CLEAN && runs < planned && !findings_count()) {
        s->code = EXIT_INCOMPLETE;
        snprintf(s->why, sizeof s->why, "%d of %d runs could be started", runs, planned);
    }
    if (findings_count()) s->code = EXIT_FINDINGS;
    s->interrupted = runs_interrupted();
    if (s->interrupted) {
        s->code = EXIT_INCOMPLETE;
        say_interrupted(run, runs, s->why, sizeof s->why);
        s->under = NULL;
    }
}

/* Of the launch with the first finding, or of the first one. */
static bool make_page(const struct program_options *o, const char *path, struct summary *s) {
    int run = 0;
    const struct finding *const f = findings_first(&run);
    const int launch = f ? f->launch_number : 1;
    if (s->interrupted || !s->launches) return true;
    if (launch && runs_report(o, path, run, launch)) s->page = launch;
    if (!launch)
        fprintf(stderr, "hopper_check: --report: the first finding is about no launch; there is no "
                        "page\n");
    return s->page != 0;
}

int program_main(int argc, char **argv) {
    static struct program_options o; /* large */
    static struct run run[MOST_RUNS];
    static struct summary s;
    char directory[PATH_MAX], path[PATH_MAX];
    bool page = true;
    enum { INTERRUPTED = 130 };
    if (!program_options_parse(argc, argv, &o)) return EXIT_BAD_INPUT;
    if (!loader_find_runtime(directory, sizeof directory)) return EXIT_BAD_INPUT;
    loader_set_path(directory);
    s.code = loader_check(o.program[0], directory, path, sizeof path, s.why, sizeof s.why);
    if (s.code == EXIT_CLEAN) {
        const int runs = runs_make(&o, path, run);
        if (runs < 0) return EXIT_BAD_INPUT;
        if (o.suppressions && !suppressions_apply(o.suppressions)) return EXIT_BAD_INPUT;
        judge(run, runs, o.runs, &s);
        if (o.report) page = make_page(&o, path, &s);
    }
    if (!summary_write(&s, &o)) return EXIT_BAD_INPUT;
    if (s.interrupted) return INTERRUPTED;
    if (!page && s.code == EXIT_CLEAN) return EXIT_BAD_INPUT;
    return s.code == EXIT_FINDINGS ? o.error_exitcode : (int)s.code;
}
