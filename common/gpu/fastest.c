/*
 * fastest.c: which of a library's kernels is the fastest for a problem.
 */
#include <stdlib.h>

#include "gpu/baselines.h"

enum { ROUNDS = 3 /* in which each is timed; the median counts */ };
static const double WORK_MS = 3.0;   /* of one candidate in one round */
static const double PAUSE_S = 0.02;  /* before it, so that no candidate inherits a hot GPU */
static const double HOPELESS = 1.25; /* times the best of the first round: not timed again */

/* Milliseconds of one multiplication, in a short batch; negative if it does not run. */
static double time_one(const struct contender *candidate, const struct gemm_problem *problem) {
    struct batch batch;
    double cycles;
    /* Once outside of a capture, where a kernel may not be loaded. */
    if (backend_run(candidate, problem, &cycles) != RUN_OK) return -1.0;
    backend_pause(PAUSE_S);
    if (!backend_time(candidate, problem, 1, 1, &batch)) return -1.0;
    const double estimate = batch.ms / batch.launches;
    const int launches = estimate * 2 < WORK_MS ? (int)(WORK_MS / estimate) : 2;
    if (!backend_time(candidate, problem, 1, launches, &batch)) return -1.0;
    return batch.ms / batch.launches;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int fastest_candidate(const struct contender *candidates, int count,
                      const struct gemm_problem *problem) {
    double ms[MOST_CANDIDATES][ROUNDS];
    bool out[MOST_CANDIDATES] = {false};
    for (int round = 0; round < ROUNDS; ++round) {
        /* Every stride prime to the count visits all candidates; it and the start differ between
         * the rounds. */
        static const int strides[ROUNDS] = {1, 31, 7};
        const int stride = count % strides[round] ? strides[round] : 1;
        for (int i = 0; i < count; ++i) {
            const int c = (round * 11 + i * stride) % count;
            if (out[c]) continue;
            ms[c][round] = time_one(&candidates[c], problem);
            out[c] = ms[c][round] <= 0.0;
        }
        double best = 0.0;
        for (int c = 0; c < count; ++c)
            if (!out[c] && (best == 0.0 || ms[c][round] < best)) best = ms[c][round];
        for (int c = 0; c < count && round == 0; ++c)
            if (!out[c] && ms[c][round] > HOPELESS * best) out[c] = true;
    }
    int winner = -1;
    for (int c = 0; c < count; ++c) {
        if (out[c]) continue;
        qsort(ms[c], ROUNDS, sizeof ms[c][0], by_value);
        if (winner < 0 || ms[c][ROUNDS / 2] < ms[winner][ROUNDS / 2]) winner = c;
    }
    return winner;
}
