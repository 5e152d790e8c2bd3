/*
 * timing.h: burst and sustained speed of several contenders, measured so that their order does not
 * matter.
 *
 * burst: an idle pause, one warm-up, a few milliseconds of work. sustained: seconds of continuous
 * load, the contenders rotating in blocks of equal time, the settling part of every block thrown
 * away, the order drawn anew each round. Both report medians over rounds and their spread. Never
 * compare numbers from different runs.
 */
#ifndef HARNESS_TIMING_H
#define HARNESS_TIMING_H

#include <stdio.h>

#include "backend.h"

enum { TIMING_BURST = 1, TIMING_SUSTAINED = 2 };

struct timing_options {
    int modes;        /* TIMING_ flags */
    int rounds;       /* of each mode; 0: the default */
    uint64_t seed;    /* of the order */
    bool fixed_order; /* every round as the contenders are given, instead of an order of its own */
};

/* Of one contender in one mode; all zero if it was not measured. */
struct speed {
    int samples;
    double ms;        /* per multiplication, median */
    double tflops;    /* 2 m n k / ms */
    double clock_mhz; /* median */
    double cycles;    /* SM cycles per multiplication, median */
    double spread;    /* (third quartile - first quartile) / median of ms */
    double power_w;   /* sustained only; 0: not known */
};

struct timing {
    struct speed burst, sustained;
};

/* Times all contenders in one rotation over `problem_count` problems of one size (same m, n, k,
 * different buffers). results[i] belongs to contenders[i]. Every batch is also written to `csv`
 * if it is not NULL. Progress goes to stderr if `show`. False if a launch failed. */
bool timing_run(const struct timing_options *options, const struct contender *contenders,
                int contender_count, const struct gemm_problem *problems, int problem_count,
                struct timing *results, FILE *csv, bool show);

#endif
