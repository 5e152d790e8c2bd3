/*
 * cuts.h: ways to compute a problem with chapter 10: cuts for fitted.cu, and the configurations of
 * select.c. What is predicted for each, and which of them are worth timing.
 */
#ifndef TOOLS_CUTS_CUTS_H
#define TOOLS_CUTS_CUTS_H

#include "fit.h" /* chapter 10's, or in fit_cuts the same with variables for constants */
#include "tools/cuts/configurations.h"

/* One way to compute a problem: a cut, or a configuration. */
struct cut {
    int slabs;         /* of the kernel of fitted.cu: 64 rows each; 0: a configuration */
    int configuration; /* its number, if it is one */
    struct fit fit;    /* with the predicted cycles, also of a configuration */
};

/* What predictions depend on besides the problem. */
struct cuts_device {
    int sms;
    struct gemm_rates rates;
    int resident[2][FIT_CLUSTERS]; /* clusters of 1 to 8 CTAs at once: one slab, more */
    struct selection_tile tile[SELECTION_MOST]; /* of each configuration */
};

enum {
    CUTS_MOST = 128, /* that cuts_choose() chooses */
    CUTS_FORMS = 13  /* of clusters */
};
/* The forms of clusters: CTAs that share side rows, and fitted rows; parts of k that a cluster adds
 * up. */
extern const int cuts_forms[CUTS_FORMS][3];
/* The number of a cut's form; CUTS_FORMS if it has none of them. */
int cuts_form(const struct fit *fit);

/* A problem of this size without memory. Rows are padded as the harness pads them: to multiples of
 * 16 bytes. */
struct gemm_problem cuts_problem(int m, int n, int k);

/* Predicts the cycles of a way. */
double cut_cycles(const struct gemm_problem *p, const struct cuts_device *device,
                  const struct cut *cut);

/* The best cut for the kernel of fitted.cu with so many slabs, by fit.h; with `splits` also one
 * into parts of k that need a workspace. */
struct cut cuts_answer(const struct gemm_problem *p, const struct cuts_device *device, int slabs,
                       bool splits);

/* Chooses ways to be timed, at most CUTS_MOST, and writes them with their predictions, the smallest
 * first: what fit.h answers for each kernel, with parts of k and without; those with the smallest
 * predictions, of all and of each kernel, orientation, form of cluster and number of parts; some
 * drawn at random among the others, because the formula may be wrong; and the configurations whose
 * prediction is not much larger than the smallest. Returns how many. The same for the same
 * arguments. */
int cuts_choose(const struct gemm_problem *p, const struct cuts_device *device, struct cut *cuts);

#endif
