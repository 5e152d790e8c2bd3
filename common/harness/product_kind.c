/*
 * product_kind.c: D = A * B, the kind of every kernel whose record names no other.
 */
#include "harness/problem_kind.h"

bool product_reference(const struct kind_problem *p, struct reference *reference) {
    return reference_make(reference, p->operands);
}

const struct problem_kind product_kind = {.formula = "D = A * B",
                                          .reference = product_reference,
                                          .baselines = backend_baselines,
                                          .library = "cublas"};
