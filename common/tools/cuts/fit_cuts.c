/*
 * fit_cuts.c: what the formulas of fit.h and select.c are worth, by a record of timed cuts and
 * configurations.
 *
 *     build/sim/fit_cuts docs/results/h200-cuts.txt
 *     build/sim/fit_cuts docs/results/h200-cuts.txt --worst 10
 *     build/sim/fit_cuts docs/results/h200-cuts.txt --fit 1 --rounds 20000
 *
 * For each shape of the record, the timed cut with the smallest prediction is compared with the
 * fastest. The same is done for cuts and configurations together. Of each configuration: at how
 * many shapes it is the fastest, and what the best choices lose without it. And what the fastest
 * of several kernels loses, those with the smallest predictions.
 *
 * --worst N names the N shapes with the largest differences. --fit SEED searches for
 * better constants, at random from those of cost.h on, and prints them. Before that it fits every
 * second shape alone, from constants that are far from cost.h's, and prints what that is worth
 * for the other shapes, which had no part in it.
 *
 * The predictions are the chapter's own code. The build makes a copy of cost.h with variables in
 * place of the constants that are fitted (fit_variables.awk).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "splitmix64.h"
#include "tools/cuts/cuts_record.h"

enum { SCATTER = 8 /* steps away from cost.h's constants */ };
enum { LIMIT = 10 /* percent, beyond which a choice is counted */ };
enum { CHANGED = FIT_RATES + 1 /* and the launch */ };

/* Of the search: a launch costs cycles that fit.h leaves out. */
static int launch_cycles = 3400;

static int usage(void) {
    fprintf(stderr, "usage: fit_cuts RECORD [--worst N] [--fit SEED [--rounds N]]\n");
    return 2;
}

/* A whole number from 1 on, and nothing else. */
static bool read_whole(const char *text, int *value) {
    char *end;
    const long whole = strtol(text, &end, 10);
    *value = (int)whole;
    return end != text && !*end && whole >= 1 && whole <= 1000000000;
}

static void print_summary(const char *what, const struct cuts_record *record) {
    const struct cuts_summary all = cuts_summarize(record, LIMIT, CUTS_FITTED);
    printf("%s%d cuts of %d shapes; the cut with the smallest prediction takes %.1f %% longer than "
           "the fastest, in the mean; more than %d %% at %d shapes, %.0f %% at most\n",
           what, all.rows, all.shapes, all.mean, LIMIT, all.above, all.most);
}

/* The whole selection, and what each configuration is worth to it. */
static void print_selection(const struct cuts_record *record) {
    const struct cuts_summary all = cuts_summarize(record, LIMIT, CUTS_SELECTION);
    printf("with %d configurations: the choice takes %.1f %% longer than the fastest way, in the "
           "mean over %d shapes; %.0f %% at the 95th percentile, %.0f %% at most\n",
           all.rows - cuts_summarize(record, LIMIT, CUTS_FITTED).rows, all.mean, all.shapes,
           all.of_95, all.most);
    const struct cuts_summary tuned = cuts_summarize(record, LIMIT, CUTS_TUNED);
    printf("the fastest of the %d kernels with the smallest predictions: %.1f %%; %.0f %% at the "
           "95th percentile, %.0f %% at most\n",
           CUTS_RANKED, tuned.mean, tuned.of_95, tuned.most);
    for (int i = 0; i < cuts_configurations(); ++i) {
        const struct cuts_worth worth = cuts_worth(record, i);
        printf("  %-14s timed for %3d shapes, the fastest at %3d; without it the best choice takes "
               "%.2f %% longer\n",
               cuts_configuration_name(i), worth.timed, worth.fastest, worth.without);
    }
}

/* ---- the worst choices ---- */

static void print_cut(const char *what, const struct cuts_record *record, int row) {
    const struct cut_row *r = &record->row[row];
    const struct fit *fit = &r->cut.fit;
    printf("  %s %7.2f us, predicted %7.2f: ", what, r->us,
           cut_cycles(&r->problem, &record->device, &r->cut) / record->mhz);
    if (r->cut.slabs)
        printf("%s%d slabs, width %d, clusters of %d x %d, %d parts, %d of a cluster\n",
               fit->transposed ? "transposed, " : "", r->cut.slabs, fit->width, fit->sharing_side,
               fit->sharing_fitted, fit->splits, fit->splits_in_cluster);
    else
        printf("%s\n", selection_name(r->cut.configuration));
}

struct worst {
    double excess;
    struct cuts_choice choice;
};

static int by_excess(const void *a, const void *b) {
    const struct worst *x = a, *y = b;
    return (x->excess < y->excess) - (x->excess > y->excess);
}

static void print_worst(const struct cuts_record *record, int wanted) {
    struct worst *worst = calloc((size_t)record->rows, sizeof *worst);
    int shapes = 0;
    if (!worst) abort();
    for (int first = 0; first < record->rows; first = worst[shapes++].choice.end) {
        worst[shapes].choice = cuts_choice(record, first, CUTS_SELECTION);
        worst[shapes].excess = cuts_excess(record, &worst[shapes].choice);
    }
    qsort(worst, (size_t)shapes, sizeof *worst, by_excess);
    for (int i = 0; i < shapes && i < wanted; ++i) {
        const struct gemm_problem *p = &record->row[worst[i].choice.first].problem;
        printf("%d x %d x %d: %.1f %%\n", p->m, p->n, p->k, worst[i].excess);
        print_cut("chosen ", record, worst[i].choice.chosen);
        print_cut("fastest", record, worst[i].choice.fastest);
    }
    free(worst);
}

/* ---- the search ---- */

/* What the search makes small, in percent: the excesses, of which large ones count more, and a
 * little of the error of the predictions themselves, which select.c compares with others. */
static double loss(const struct cuts_record *record) {
    const struct cuts_summary all = cuts_summarize(record, LIMIT, CUTS_FITTED);
    double squares = 0;
    for (int i = 0; i < record->rows; ++i) {
        const struct cut_row *r = &record->row[i];
        if (r->cut.slabs == 0) continue;
        const double cycles = cut_cycles(&r->problem, &record->device, &r->cut) + launch_cycles;
        const double error = log(cycles / (r->us * record->mhz));
        squares += error * error;
    }
    return all.mean + 0.6 * all.root_mean_square + 8 * sqrt(squares / all.rows);
}

/* The i-th number that the search may change. */
static int *changed(int i) { return i == FIT_RATES ? &launch_cycles : fit_rates[i].value; }

/* Between 0 and 1. */
static double uniform(uint64_t *random) {
    return (double)(splitmix64(random) >> 11) / 9007199254740992.0;
}

/* Another value, by about a fifth, and by one at least. */
static int step(int value, uint64_t *random) {
    const double normal = uniform(random) + uniform(random) + uniform(random) - 1.5;
    const int next = (int)lround(value * exp(0.4 * normal));
    if (next != value) return next;
    return normal < 0 && value > 1 ? value - 1 : value + 1;
}

/* Changes one number or two at a time, and keeps what is not worse. */
static void search(const struct cuts_record *record, uint64_t *random, int rounds) {
    double least = loss(record);
    for (int round = 0; round < rounds; ++round) {
        int *number[2], before[2];
        const int count = 1 + (splitmix64(random) % 3 == 0);
        for (int i = 0; i < count; ++i) {
            number[i] = changed((int)(splitmix64(random) % CHANGED));
            before[i] = *number[i];
            *number[i] = step(before[i], random);
        }
        const double next = loss(record);
        if (next <= least) {
            least = next;
            continue;
        }
        for (int i = count - 1; i >= 0; --i)
            *number[i] = before[i];
    }
}

/* The rows of every second shape, beginning with shape `from`. They belong to the record. */
static struct cuts_record half_of(const struct cuts_record *record, int from) {
    struct cuts_record half = *record;
    half.row = calloc((size_t)record->rows, sizeof *half.row);
    if (!half.row) abort();
    half.rows = 0;
    for (int first = 0, shape = 0; first < record->rows; ++shape) {
        const int end = cuts_choice(record, first, CUTS_SELECTION).end;
        for (int i = first; i < end; ++i)
            if (shape % 2 == from) half.row[half.rows++] = record->row[i];
        first = end;
    }
    return half;
}

static void fit(const struct cuts_record *record, uint64_t seed, int rounds) {
    int original[CHANGED];
    struct cuts_record seen = half_of(record, 0), unseen = half_of(record, 1);
    for (int i = 0; i < CHANGED; ++i)
        original[i] = i < FIT_RATES ? *fit_rates[i].value : launch_cycles;
    print_summary("cost.h, the other half: ", &unseen);
    /* Not from cost.h's constants, to which all shapes have contributed. */
    for (int i = 0; i < CHANGED; ++i)
        for (int j = 0; j < SCATTER; ++j)
            *changed(i) = step(*changed(i), &seed);
    search(&seen, &seed, rounds);
    print_summary("fitted to half, that half: ", &seen);
    print_summary("fitted to half, the other half: ", &unseen);
    for (int i = 0; i < CHANGED; ++i)
        *(i < FIT_RATES ? fit_rates[i].value : &launch_cycles) = original[i];
    search(record, &seed, rounds);
    print_summary("fitted to all: ", record);
    for (int i = 0; i < FIT_RATES; ++i)
        printf("    %s = %d,\n", fit_rates[i].name, *fit_rates[i].value);
    printf("a launch: %d cycles\n", launch_cycles);
    cuts_record_free(&seen);
    cuts_record_free(&unseen);
}

int main(int argc, char **argv) {
    struct cuts_record record;
    char error[512];
    int worst = 0, seed = 0, rounds = 10000;
    if (argc < 2 || argc % 2) return usage();
    for (int i = 2; i < argc; i += 2) {
        bool good = false;
        if (!strcmp(argv[i], "--worst")) good = read_whole(argv[i + 1], &worst);
        if (!strcmp(argv[i], "--fit")) good = read_whole(argv[i + 1], &seed);
        if (!strcmp(argv[i], "--rounds")) good = read_whole(argv[i + 1], &rounds);
        if (!good) return usage();
    }
    const bool good = cuts_record_read(&record, argv[1], error, sizeof error);
    if (good) {
        print_summary("", &record);
        print_selection(&record);
        print_worst(&record, worst);
        if (seed) fit(&record, (uint64_t)seed, rounds);
    } else {
        fprintf(stderr, "fit_cuts: %s; record.sh cuts makes such a record\n", error);
    }
    cuts_record_free(&record);
    return good ? 0 : 2;
}
