/*
 * timed_experiment.c: all contenders in one rotation, each with outputs of its own, and what these
 * hold afterwards.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/allocate.h"
#include "harness/experiment.h"
#include "harness/message.h"

/* "cublas", or as of kernels. Returns text. */
static const char *contender_label(const struct contender *contender, char *text, size_t size) {
    if (contender->kernel) return kernel_label(contender->kernel, text, size);
    snprintf(text, size, "%s", contender->name);
    return text;
}

/* A contender that writes to an output of its own, and remembers into which sets; and what is to be
 * filled in of its result. */
struct timed_contender {
    const struct contender *inner;
    const struct experiment *experiment;
    int output;
    bool *launched; /* [sets] */
    enum exit_code *code;
    struct comparison *comparison; /* NULL: its result cannot be compared */
    struct timing *timing;
};

static enum gemm_status enqueue_timed(const struct contender *self,
                                      const struct gemm_problem *problem, void *stream) {
    const struct timed_contender *timed = self->state;
    const struct buffers *const buffers = &timed->experiment->buffers;
    const int set = (int)((problem->tile_counter - buffers->tile_counters) / GEMM_COUNTERS);
    const struct gemm_problem own =
        experiment_problem(timed->experiment, timed->inner->kernel, timed->output, set);
    timed->launched[set] = true;
    return timed->inner->enqueue(timed->inner, &own, stream);
}

/* Verifies what the timed runs of a contender have left in its output. */
static void check_timed(struct experiment *e, const struct timed_contender *timed) {
    const struct contender *contender = timed->inner;
    char label[96], what[160];
    contender_label(contender, label, sizeof label);
    int checked = 0;
    for (int set = 0; set < e->buffers.sets && *timed->code == EXIT_VERIFIED; ++set) {
        if (!timed->launched[set]) continue;
        struct comparison comparison;
        snprintf(what, sizeof what, "%s, timed runs, buffer %d", label, set);
        if (experiment_check_output(e, what, contender, timed->output, set, &comparison)) {
            ++checked;
            if (comparison.max_error > timed->comparison->max_error)
                *timed->comparison = comparison;
            continue;
        }
        *timed->comparison = comparison;
        *timed->code = EXIT_WRONG;
    }
    if (*timed->code == EXIT_VERIFIED && checked == 0) {
        complain("%s: was timed, but never launched", label);
        *timed->code = EXIT_WRONG;
    }
    if (*timed->code != EXIT_VERIFIED) memset(timed->timing, 0, sizeof *timed->timing);
}

/* The kernels and baselines that have been verified, in this order. Returns how many; `timed` and
 * `inner` have room for all. */
static int line_up(struct experiment *e, struct kernel_result *results, int count,
                   struct timed_contender *timed, struct contender *inner) {
    int contenders = 0;
    for (int i = 0; i < count; ++i) {
        if (results[i].code != EXIT_VERIFIED) continue;
        inner[contenders] = contender_of_kernel(results[i].kernel);
        timed[contenders++] = (struct timed_contender){.code = &results[i].code,
                                                       .comparison = &results[i].comparison,
                                                       .timing = &results[i].timing};
    }
    for (int i = 0; i < e->baseline_count; ++i) {
        struct baseline_result *result = &e->baselines[i];
        if (result->code != EXIT_VERIFIED) continue;
        inner[contenders] = result->contender;
        timed[contenders++] =
            (struct timed_contender){.code = &result->code,
                                     .comparison = result->compared ? &result->comparison : NULL,
                                     .timing = &result->timing};
    }
    return contenders;
}

bool experiment_time(struct experiment *e, const struct timing_options *options,
                     struct kernel_result *results, int count, FILE *csv) {
    static const char contenders_to_time[] = "the contenders"; /* in a message */
    const int most = count + e->baseline_count;
    struct contender *inner = allocate((size_t)most, sizeof *inner, contenders_to_time);
    struct contender *outer = allocate((size_t)most, sizeof *outer, contenders_to_time);
    struct timed_contender *timed = allocate((size_t)most, sizeof *timed, contenders_to_time);
    struct timing *timings = allocate((size_t)most, sizeof *timings, contenders_to_time);
    bool *launched =
        allocate((size_t)most * (size_t)e->buffers.sets, sizeof *launched, contenders_to_time);
    const int contenders = line_up(e, results, count, timed, inner);
    bool good = true;
    for (int c = 0; c < contenders && good; ++c) {
        timed[c].inner = &inner[c];
        timed[c].experiment = e;
        timed[c].output = c;
        timed[c].launched = launched + c * e->buffers.sets;
        outer[c] = inner[c];
        outer[c].enqueue = enqueue_timed;
        outer[c].state = &timed[c];
        good = (c < e->buffers.output_count || buffers_add_output(&e->buffers) == c) &&
               experiment_poison(e, inner[c].kernel, c);
    }
    if (good && contenders)
        good = timing_run(options, outer, contenders, e->buffers.problems, e->buffers.sets, timings,
                          csv, progress_shown());
    for (int c = 0; c < contenders && good; ++c) {
        *timed[c].timing = timings[c];
        if (timed[c].comparison) check_timed(e, &timed[c]);
    }
    free(launched);
    free(timings);
    free(timed);
    free(outer);
    free(inner);
    return good;
}
