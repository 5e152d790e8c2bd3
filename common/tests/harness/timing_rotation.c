/*
 * timing_rotation.c: timing_run() against a GPU that is all arithmetic: it gets slower while it is
 * under load and recovers when it rests. What burst and sustained must come out as is then known.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/timing.h"

enum { CONTENDERS = 3, PROBLEMS = 2, ROUNDS = 5, MAX_BLOCKS = 256 };

/* The GPU: half a second of load brings it from full speed to HOT times as long. It draws WATTS,
 * also in the gap that it is left idle behind a batch, and its clock follows its speed. */
static const double HOT = 1.25, HEATING_S = 0.5, WATTS = 600.0, COLD_MHZ = 2000.0, GAP_S = 0.005;
static const double cold_ms[CONTENDERS] = {1.0, 0.02, 150.0}; /* of one multiplication */

static double load_s;          /* since the last rest */
static double joules, wall_s;  /* in all */
static int pauses, fail_after; /* fail_after > 0: the launch that fails, counted down */
static int blocks[MAX_BLOCKS]; /* which contender ran, one entry per change of contender */
static int block_count;
static int failures;

static void check(bool holds, const char *what, double got, double expected) {
    if (holds) return;
    printf("%s: got %g, expected %g\n", what, got, expected);
    ++failures;
}

static void check_near(const char *what, double got, double expected, double relative) {
    check(fabs(got - expected) <= relative * fabs(expected), what, got, expected);
}

/* ---- the backend ---- */

bool backend_time(const struct contender *contender, const struct gemm_problem *problems, int count,
                  int launches, struct batch *out) {
    (void)problems, (void)count;
    const int c = atoi(contender->name);
    if (fail_after > 0 && --fail_after == 0) return false;
    if (block_count == 0 || blocks[block_count - 1] != c || load_s == 0.0)
        if (block_count < MAX_BLOCKS) blocks[block_count++] = c;
    double ms = 0.0, cycles = 0.0;
    for (int i = 0; i < launches; ++i) {
        const double slower = 1.0 + (HOT - 1.0) * fmin(1.0, load_s / HEATING_S);
        ms += cold_ms[c] * slower;
        cycles += cold_ms[c] * COLD_MHZ * 1e3; /* the work's cycles do not depend on the clock */
        load_s += 1e-3 * cold_ms[c] * slower;
    }
    wall_s += 1e-3 * ms + GAP_S;
    joules += WATTS * (1e-3 * ms + GAP_S);
    *out = (struct batch){launches, ms, cycles, cycles / ms * 1e-3};
    return true;
}

int backend_baselines(const struct gemm_problem *problems, int count, uint32_t wanted,
                      struct contender *out, int room) {
    (void)problems, (void)count, (void)wanted, (void)out, (void)room;
    return 0;
}

void backend_pause(double seconds) {
    check(seconds >= 0.1, "a rest is long enough", seconds, 0.1);
    load_s = 0.0;
    ++pauses;
}

bool backend_energy(struct energy_reading *out) {
    *out = (struct energy_reading){joules, wall_s, 4};
    return true;
}

void backend_range_begin(const char *name) { (void)name; }
void backend_range_end(void) {}

/* ---- the checks ---- */

/* In `ROUNDS` rounds of a mode, each round visits each contender once, not always in one order. */
static void check_order(const int *first) {
    bool changed = false;
    for (int round = 0; round < ROUNDS; ++round) {
        int seen = 0;
        for (int i = 0; i < CONTENDERS; ++i) {
            seen |= 1 << first[round * CONTENDERS + i];
            changed |= first[round * CONTENDERS + i] != first[i];
        }
        check(seen == (1 << CONTENDERS) - 1, "contenders in a round, as bits", seen,
              (1 << CONTENDERS) - 1);
    }
    check(changed, "the order changes between rounds", changed, 1);
}

/* Rows by mode, and those of them that were not counted. */
static void check_csv(FILE *csv) {
    char line[512];
    int burst = 0, sustained = 0, discarded = 0, headers = 0, columns = 0;
    rewind(csv);
    while (fgets(line, sizeof line, csv)) {
        int commas = 0, round, batch, counted;
        for (const char *c = line; *c; ++c)
            commas += *c == ',';
        if (columns == 0) columns = commas; /* the header comes first */
        check(commas == columns, "commas in a row", commas, columns);
        if (strncmp(line, "contender,", 10) == 0)
            ++headers;
        else if (sscanf(line, "%*d,,burst,%d,%d,%d,", &round, &batch, &counted) == 3)
            ++burst;
        else if (sscanf(line, "%*d,,sustained,%d,%d,%d,", &round, &batch, &counted) == 3)
            ++sustained, discarded += !counted;
    }
    check(headers == 1, "header lines", headers, 1);
    check(burst == ROUNDS * CONTENDERS, "burst rows", burst, ROUNDS * CONTENDERS);
    check(sustained > 2 * discarded && discarded > ROUNDS * CONTENDERS, "settling rows", discarded,
          sustained / 2.0);
}

int main(void) {
    const double ceiling_flops = 3e9; /* the last contender does more than the problem has */
    const struct gemm_problem problems[PROBLEMS] = {{.m = 1000, .n = 500, .k = 2000},
                                                    {.m = 1000, .n = 500, .k = 2000}};
    const double flops = 2.0 * 1000 * 500 * 2000;
    const struct contender contenders[CONTENDERS] = {
        {.name = "0"}, {.name = "1"}, {.name = "2", .flops = ceiling_flops}};
    struct timing_options options = {
        .modes = TIMING_BURST | TIMING_SUSTAINED, .rounds = ROUNDS, .seed = 7};
    struct timing results[CONTENDERS];
    FILE *csv = tmpfile();
    if (!csv) {
        perror("tmpfile");
        return 1;
    }

    const bool good =
        timing_run(&options, contenders, CONTENDERS, problems, PROBLEMS, results, csv, false);
    check(good, "timing_run", good, 1);
    for (int c = 0; c < CONTENDERS; ++c) {
        const struct speed *burst = &results[c].burst, *sustained = &results[c].sustained;
        const double work = c == 2 ? ceiling_flops : flops;
        /* A few milliseconds of load slow the GPU by less than one percent; a long launch is not
         * warmed up for. */
        check_near("burst ms", burst->ms, cold_ms[c], 0.01);
        check_near("sustained ms", sustained->ms, HOT * cold_ms[c], 1e-9);
        check_near("sustained tflops", sustained->tflops, work / sustained->ms * 1e-9, 1e-9);
        check_near("burst tflops", burst->tflops, work / burst->ms * 1e-9, 1e-9);
        check_near("sustained clock", sustained->clock_mhz, COLD_MHZ / HOT, 1e-9);
        check_near("cycles", sustained->cycles, cold_ms[c] * COLD_MHZ * 1e3, 1e-9);
        check_near("power", sustained->power_w, WATTS, 1e-6);
        check(burst->power_w == 0.0, "power in a burst", burst->power_w, 0.0);
        check(burst->samples == ROUNDS, "burst samples", burst->samples, ROUNDS);
        check(sustained->spread < 1e-9, "spread of a steady GPU", sustained->spread, 0.0);
    }
    check(pauses == ROUNDS * CONTENDERS, "rests", pauses, ROUNDS * CONTENDERS);
    check_csv(csv);
    /* Blocks: one per contender from the estimates, then the burst's, then the sustained ones,
     * where two neighbours of different rounds may be the same contender and count once. */
    check_order(blocks + CONTENDERS);

    /* Another seed gives another order, the same seed the same. */
    int orders[3][ROUNDS * CONTENDERS];
    const uint64_t seeds[3] = {7, 7, 8};
    options.modes = TIMING_BURST;
    for (int i = 0; i < 3; ++i) {
        block_count = 0;
        options.seed = seeds[i];
        timing_run(&options, contenders, CONTENDERS, problems, PROBLEMS, results, NULL, false);
        memcpy(orders[i], blocks + CONTENDERS, sizeof orders[i]);
    }
    check(memcmp(orders[0], orders[1], sizeof orders[0]) == 0, "same seed, same order", 0, 1);
    check(memcmp(orders[0], orders[2], sizeof orders[0]) != 0, "other seed, other order", 0, 1);

    options.fixed_order = true;
    block_count = 0;
    timing_run(&options, contenders, CONTENDERS, problems, PROBLEMS, results, NULL, false);
    for (int i = 0; i < ROUNDS * CONTENDERS; ++i)
        check(blocks[CONTENDERS + i] == i % CONTENDERS, "the fixed order", blocks[CONTENDERS + i],
              i % CONTENDERS);
    options.fixed_order = false;

    /* A launch that fails, whichever, is not taken for a measurement. Twice each for an estimate,
     * and a warm-up and a batch in every round; the long one has no second run and no warm-ups. */
    for (int launch = 1; launch <= 6 - 1 + 2 * ROUNDS * CONTENDERS - ROUNDS; ++launch) {
        fail_after = launch;
        const bool passed =
            timing_run(&options, contenders, CONTENDERS, problems, PROBLEMS, results, NULL, false);
        check(!passed, "a failed launch is reported", launch, 0);
    }
    fclose(csv);
    if (failures == 0) printf("burst, sustained, order and CSV as computed\n");
    return failures != 0;
}
