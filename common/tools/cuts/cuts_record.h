/*
 * cuts_record.h: a record of timed cuts (main.c), and how good fit.h's choice among them is.
 */
#ifndef TOOLS_CUTS_CUTS_RECORD_H
#define TOOLS_CUTS_CUTS_RECORD_H

#include <stddef.h>

#include "tools/cuts/cuts.h"

/* A timed cut. */
struct cut_row {
    struct gemm_problem problem; /* without memory */
    struct cut cut;
    double us;
};

/* The rows of a shape follow one another. */
struct cuts_record {
    struct cut_row *row;
    int rows;
    int resident[3]; /* clusters of 1, 2 and 4 CTAs at once; of an H200, if the record has none */
    double mhz;      /* the median; typical, if the record has none */
};

/* Reads a record. False, with the reason in `error`, if it cannot be read. cuts_record_free()
 * follows either way. */
bool cuts_record_read(struct cuts_record *record, const char *path, char *error, size_t size);
void cuts_record_free(struct cuts_record *record);

/* Of one shape: its rows, and of these the one with the smallest prediction and the fastest. */
struct cuts_choice {
    int first, end, chosen, fastest;
};
/* The shape whose rows begin at `first`; `chosen` and `fastest` are rows, too. */
struct cuts_choice cuts_choice(const struct cuts_record *record, int first);
/* By how many percent longer the chosen cut takes than the fastest. */
double cuts_excess(const struct cuts_record *record, const struct cuts_choice *choice);

/* Of all shapes. */
struct cuts_summary {
    int shapes;
    double mean, most, root_mean_square; /* of the excesses, percent */
    int above;                           /* shapes with a larger excess than asked for */
};
struct cuts_summary cuts_summarize(const struct cuts_record *record, double limit);

#endif
