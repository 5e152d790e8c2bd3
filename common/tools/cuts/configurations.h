/*
 * configurations.h: the configurations of chapter 10's select.c: names, kernels, predictions.
 */
#ifndef TOOLS_CUTS_CONFIGURATIONS_H
#define TOOLS_CUTS_CONFIGURATIONS_H

#include "gemm_selection.h"

enum { SELECTION_MOST = 32 /* configurations */ };

/* What a configuration's prediction depends on besides select.c's table. */
struct selection_tile {
    int m, n, k, cluster;
    int resident; /* clusters at once; 0: the device cannot run it */
};

int selection_count(void);
const char *selection_name(int configuration);
/* The number of this name, or -1. */
int selection_find(const char *name);
/* The kernel for bf16. Without a launch function: the program is linked without this kernel. */
const struct gemm_kernel *selection_kernel(int configuration);
/* What select.c predicts for it; infinite if the configuration is not for this problem. */
double selection_cycles(int configuration, const struct selection_tile *tile, int sms,
                        struct gemm_rates rates, const struct gemm_problem *p);

#endif
