/*
 * cuts.h: ways to cut a problem for chapter 10's fitted.cu: what fit.h predicts for each, and which
 * of them are worth timing.
 */
#ifndef TOOLS_CUTS_CUTS_H
#define TOOLS_CUTS_CUTS_H

#include "fit.h" /* chapter 10's, or in fit_cuts the same with variables for constants */

/* One way to cut a problem. */
struct cut {
    int slabs;      /* of the kernel: 64 rows each */
    struct fit fit; /* with the predicted cycles */
};

enum { CUTS_MOST = 64 /* that cuts_choose() chooses */ };

/* A problem of this size without memory. Rows are padded as the harness pads them: to multiples of
 * 16 bytes. */
struct gemm_problem cuts_problem(int m, int n, int k);

/* Predicts the cycles of a cut. `resident`: clusters of 1, 2 and 4 CTAs at once. */
double cut_cycles(const struct gemm_problem *p, const int resident[3], const struct cut *cut);

/* Chooses cuts to be timed, at most CUTS_MOST, and writes them with their predictions, the smallest
 * first: what fit.h answers for each kernel, with parts of k and without; those with the smallest
 * predictions, of all and of each kernel, orientation, cluster and number of parts; and some drawn
 * at random among the others, because the formula may be wrong. Returns how many. The same for the
 * same arguments. */
int cuts_choose(const struct gemm_problem *p, const int resident[3], struct cut *cuts);

#endif
