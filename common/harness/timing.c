/*
 * timing.c: burst and sustained timing of several contenders in one rotation.
 *
 * A GPU of this size runs into its power limit within milliseconds, so a kernel's speed depends on
 * what ran before it. Hence the two modes: burst lets the GPU rest before every sample, sustained
 * loads it until clock and power have settled. In both, every round visits every contender once, in
 * an order of its own, so that no contender always follows the same one.
 */
#include "harness/timing.h"
#include "harness/problem_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/allocate.h"
#include "harness/message.h"
#include "harness/statistics.h"
#include "splitmix64.h"

/* Burst: a pause, one warm-up, then BURST_WORK_MS of work, but no fewer than BURST_LAUNCHES
 * multiplications; a single one, not warmed up for, where that alone takes BURST_LONG_MS. */
enum { BURST_ROUNDS = 5, BURST_LAUNCHES = 3 };
static const double BURST_PAUSE_S = 0.3, BURST_WORK_MS = 4.0, BURST_LONG_MS = 60.0;
/* Sustained: a block per contender and round, of batches of about BATCH_MS. The power reading needs
 * at least a second. */
enum { SUSTAINED_ROUNDS = 3 };
static const double SETTLE_S = 0.5, MEASURE_S = 1.1, BATCH_MS = 100.0;

/* The samples of one contender in one mode, one per round. */
struct samples {
    int count;
    double *ms, *clock_mhz, *cycles; /* of one multiplication */
    double joules, seconds;          /* energy, and the time it was spent in, gaps included */
};

/* One run of timing_run(). */
struct rotation {
    const struct contender *contenders;
    int contender_count;
    const struct gemm_problem *problems;
    int problem_count;
    FILE *csv;
    bool show;
    bool fixed_order;
    uint64_t random;  /* state of the order's generator */
    int *order;       /* contenders in the order of this round */
    double *estimate; /* ms of one multiplication */
    struct samples *samples;
};

/* FLOPs of one multiplication by this contender. */
static double flops_of(const struct rotation *r, int c) {
    const struct gemm_problem *p = r->problems;
    return r->contenders[c].flops > 0.0 ? r->contenders[c].flops
                                        : kind_flops(r->contenders[c].kernel, p->m, p->n, p->k);
}

static void shuffle_order(struct rotation *r) {
    for (int i = r->contender_count - 1; i > 0; --i) {
        const int j = (int)(splitmix64(&r->random) % (uint64_t)(i + 1));
        const int other = r->order[j];
        r->order[j] = r->order[i];
        r->order[i] = other;
    }
}

static void write_csv_header(FILE *csv) {
    fprintf(csv, "contender,variant,mode,round,batch,counted,m,n,k,launches,ms,tflops,sm_cycles,"
                 "clock_mhz,power_w,throttle_reasons\n");
}

/* One batch as a row. `mode` is burst or sustained; `counted`: did it enter the result? power_w:
 * over all counted batches, in the row of the last; <= 0: not known. */
static void write_csv(const struct rotation *r, int c, const char *mode, int round, int batch,
                      bool counted, const struct batch *b, double power_w, uint64_t throttle) {
    if (!r->csv) return;
    const struct contender *who = &r->contenders[c];
    const struct gemm_problem *p = r->problems;
    const double ms = b->ms / b->launches;
    fprintf(r->csv, "%s,%s,%s,%d,%d,%d,%d,%d,%d,%d,%.6f,%.3f,", who->name,
            who->variant ? who->variant : "", mode, round, batch, counted, p->m, p->n, p->k,
            b->launches, ms, flops_of(r, c) / ms * 1e-9);
    if (b->sm_cycles > 0.0)
        fprintf(r->csv, "%.0f,%.2f,", b->sm_cycles / b->launches, b->clock_mhz);
    else
        fputs(",,", r->csv);
    if (power_w > 0.0)
        fprintf(r->csv, "%.1f,0x%llx\n", power_w, (unsigned long long)throttle);
    else
        fputs(",\n", r->csv);
}

/* One round's value of a contender, from the sums over its counted batches. */
static void add_sample(struct samples *s, const struct batch *sum) {
    const int i = s->count++;
    s->ms[i] = sum->ms / sum->launches;
    s->cycles[i] = sum->sm_cycles / sum->launches;
    s->clock_mhz[i] = sum->sm_cycles > 0.0 ? sum->sm_cycles / sum->ms * 1e-3 : 0.0;
}

/* Runs every contender twice: the first call loads the kernel, the second one says about how long
 * it takes; once where the loading does not matter. */
static bool estimate_all(struct rotation *r) {
    for (int c = 0; c < r->contender_count; ++c) {
        struct batch batch;
        for (int i = 0; i < 2 && (i == 0 || batch.ms < BURST_LONG_MS * batch.launches); ++i)
            if (!backend_time(&r->contenders[c], r->problems, r->problem_count, 1, &batch))
                return false;
        r->estimate[c] = fmax(batch.ms / batch.launches, 1e-4);
    }
    return true;
}

static bool burst_sample(struct rotation *r, int c, int round) {
    const double estimate = r->estimate[c];
    const bool is_long = estimate >= BURST_LONG_MS;
    int launches = (int)ceil(BURST_WORK_MS / estimate);
    if (launches < BURST_LAUNCHES) launches = is_long ? 1 : BURST_LAUNCHES;
    const struct contender *who = &r->contenders[c];
    struct batch warm_up, batch;
    backend_pause(BURST_PAUSE_S);
    /* On the rotation's last problem, because the batch begins with the first: its operands must
     * not be in the L2. */
    if (!is_long && !backend_time(who, r->problems + r->problem_count - 1, 1, 1, &warm_up))
        return false;
    backend_range_begin(who->name);
    const bool good = backend_time(who, r->problems, r->problem_count, launches, &batch);
    backend_range_end();
    if (!good) return false;
    write_csv(r, c, "burst", round, 0, true, &batch, 0.0, 0);
    add_sample(&r->samples[c], &batch);
    return true;
}

/* A block: load without a break; what falls into the first SETTLE_S is run and thrown away. Asking
 * for the energy is a break, so it is asked for where the counted part begins and where it ends. */
static bool sustained_sample(struct rotation *r, int c, int round) {
    const int launches = (int)fmax(1.0, floor(BATCH_MS / r->estimate[c]));
    struct samples *s = &r->samples[c];
    struct batch sum = {0};
    double elapsed_ms = 0.0, measured_ms = 0.0;
    struct energy_reading start = {0}, end = {0};
    bool energy_known = false;
    backend_range_begin(r->contenders[c].name);
    bool good = true;
    for (int i = 0; good && (measured_ms < 1e3 * MEASURE_S); ++i) {
        const bool counted = elapsed_ms >= 1e3 * SETTLE_S;
        if (counted && measured_ms == 0.0) energy_known = backend_energy(&start);
        struct batch batch;
        good = backend_time(&r->contenders[c], r->problems, r->problem_count, launches, &batch);
        if (!good) break;
        elapsed_ms += batch.ms;
        double power_w = 0.0;
        if (counted) {
            measured_ms += batch.ms;
            sum.launches += batch.launches;
            sum.ms += batch.ms;
            sum.sm_cycles += batch.sm_cycles;
            if (measured_ms >= 1e3 * MEASURE_S) energy_known = energy_known && backend_energy(&end);
            if (end.seconds > start.seconds)
                power_w = (end.joules - start.joules) / (end.seconds - start.seconds);
        }
        write_csv(r, c, "sustained", round, i, counted, &batch, power_w, end.throttle_reasons);
    }
    backend_range_end();
    if (!good) return false;
    add_sample(s, &sum);
    if (energy_known && end.seconds > start.seconds) {
        s->joules += end.joules - start.joules;
        s->seconds += end.seconds - start.seconds;
    }
    return true;
}

static struct speed summary(const struct samples *s, double flops) {
    struct speed speed = {.samples = s->count};
    if (s->count == 0) return speed;
    speed.ms = median(s->ms, s->count);
    speed.tflops = flops / speed.ms * 1e-9;
    speed.clock_mhz = median(s->clock_mhz, s->count);
    speed.cycles = median(s->cycles, s->count);
    speed.spread = quartile_spread(s->ms, s->count);
    if (s->seconds > 0.0) speed.power_w = s->joules / s->seconds;
    return speed;
}

/* All rounds of one mode. */
static bool run_mode(struct rotation *r, int mode, int rounds, struct timing *results) {
    const char *name = mode == TIMING_BURST ? "burst" : "sustained";
    for (int c = 0; c < r->contender_count; ++c) {
        struct samples *s = &r->samples[c];
        s->count = 0;
        s->joules = s->seconds = 0.0;
    }
    for (int round = 0; round < rounds; ++round) {
        if (!r->fixed_order) shuffle_order(r);
        for (int i = 0; i < r->contender_count; ++i) {
            const int c = r->order[i];
            if (r->show)
                progress("timing, %s, round %d of %d: %s", name, round + 1, rounds,
                         r->contenders[c].name);
            const bool good =
                mode == TIMING_BURST ? burst_sample(r, c, round) : sustained_sample(r, c, round);
            if (!good) return false;
        }
    }
    for (int c = 0; c < r->contender_count; ++c) {
        const struct speed speed = summary(&r->samples[c], flops_of(r, c));
        if (mode == TIMING_BURST)
            results[c].burst = speed;
        else
            results[c].sustained = speed;
    }
    return true;
}

bool timing_run(const struct timing_options *options, const struct contender *contenders,
                int contender_count, const struct gemm_problem *problems, int problem_count,
                struct timing *results, FILE *csv, bool show) {
    const int burst_rounds = options->rounds > 0 ? options->rounds : BURST_ROUNDS;
    const int sustained_rounds = options->rounds > 0 ? options->rounds : SUSTAINED_ROUNDS;
    const size_t room = (size_t)(burst_rounds > sustained_rounds ? burst_rounds : sustained_rounds);
    const size_t count = (size_t)contender_count;
    memset(results, 0, sizeof *results * count);
    struct rotation r = {.contenders = contenders,
                         .contender_count = contender_count,
                         .problems = problems,
                         .problem_count = problem_count,
                         .csv = csv,
                         .show = show,
                         .fixed_order = options->fixed_order,
                         .random = options->seed};
    static const char what[] = "the samples";
    r.order = allocate(count, sizeof *r.order, what);
    r.estimate = allocate(count, sizeof *r.estimate, what);
    r.samples = allocate(count, sizeof *r.samples, what);
    double *values = allocate(count * room * 3, sizeof *values, what);
    for (int c = 0; c < contender_count; ++c) {
        double *own = values + (size_t)c * room * 3;
        r.samples[c] =
            (struct samples){.ms = own, .clock_mhz = own + room, .cycles = own + 2 * room};
        r.order[c] = c;
    }
    if (csv && ftell(csv) <= 0) write_csv_header(csv);
    bool good = estimate_all(&r);
    if (good && options->modes & TIMING_BURST)
        good = run_mode(&r, TIMING_BURST, burst_rounds, results);
    if (good && options->modes & TIMING_SUSTAINED)
        good = run_mode(&r, TIMING_SUSTAINED, sustained_rounds, results);
    if (show) progress_clear();
    free(r.order);
    free(r.estimate);
    free(r.samples);
    free(values);
    return good;
}
