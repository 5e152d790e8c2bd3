/*
 * duration.c: how long a simulation takes, so that nobody waits for hours without having been told.
 */
#include <stdlib.h>

#include "backend.h"

/* Nanoseconds of a processor for a product, by chapter, as measured at 1024^3, of chapter 01 at
 * 256^3. 01 calls the simulator for every element; 02 to 05 do for every fragment. */
static double nanoseconds(int chapter) {
    if (chapter == 1) return 70;
    return chapter <= 5 ? 3.5 : 2;
}

double backend_expected_seconds(const struct gemm_kernel *kernel, int m, int n, int k) {
    return 1e-9 * nanoseconds(atoi(kernel->name)) * m * n * k;
}
