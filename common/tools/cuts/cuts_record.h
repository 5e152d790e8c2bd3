/*
 * cuts_record.h: a record of timed cuts and configurations (main.c), and how good the choices of
 * fit.h and select.c among them are.
 */
#ifndef TOOLS_CUTS_CUTS_RECORD_H
#define TOOLS_CUTS_CUTS_RECORD_H

#include <stddef.h>

#include "tools/cuts/cuts.h"

/* A timed cut, or a timed configuration. */
struct cut_row {
    struct gemm_problem problem; /* without memory */
    struct cut cut;
    double us;
};

/* The rows of a shape follow one another. */
struct cuts_record {
    struct cut_row *row;
    int rows;
    struct cuts_device device;
    double mhz; /* the median; typical, if the record has none */
};

/* Reads a record. False, with the reason in `error`, if it cannot be read. cuts_record_free()
 * follows either way. Rows of configurations that select.c no longer has are left out. */
bool cuts_record_read(struct cuts_record *record, const char *path, char *error, size_t size);
void cuts_record_free(struct cuts_record *record);

/* Which rows of a record count, and which of them is chosen. */
enum cuts_scope {
    CUTS_FITTED,    /* those of fitted.cu; the smallest prediction */
    CUTS_SELECTION, /* these and the configurations; the smallest prediction */
    CUTS_TUNED      /* the same; the fastest of CUTS_RANKED kernels, of each of which the row with
                     * the smallest prediction counts: those whose smallest are the smallest */
};
enum { CUTS_RANKED = 8 /* as many as compare's :tuned times */ };

/* Of one shape: its rows, and of these the chosen one and the fastest. */
struct cuts_choice {
    int first, end, chosen, fastest; /* the last two are -1 if no row counts */
};
/* The shape whose rows begin at `first`; `chosen` and `fastest` are rows, too. */
struct cuts_choice cuts_choice(const struct cuts_record *record, int first, enum cuts_scope scope);
/* By how many percent longer the chosen way takes than the fastest. */
double cuts_excess(const struct cuts_record *record, const struct cuts_choice *choice);

/* Of all shapes. */
struct cuts_summary {
    int rows, shapes;
    double mean, most, root_mean_square; /* of the excesses, percent */
    double of_95;                        /* 95 % of the shapes have no larger one */
    int above;                           /* shapes with a larger excess than asked for */
};
struct cuts_summary cuts_summarize(const struct cuts_record *record, double limit,
                                   enum cuts_scope scope);

/* ---- what a configuration is worth ---- */

/* The configurations of the selection are numbered: first the four kernels of fitted.cu, for 1 to 4
 * slabs, then those of select.c's table. */
enum { CUTS_KERNELS = 4 };
int cuts_configurations(void);
const char *cuts_configuration_name(int number);

struct cuts_worth {
    int timed;      /* shapes for which it was */
    int fastest;    /* shapes at which it is the fastest */
    double without; /* by how many percent the fastest takes longer without it, in the mean over
                     * all shapes */
};
struct cuts_worth cuts_worth(const struct cuts_record *record, int number);

#endif
