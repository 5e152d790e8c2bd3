/*
 * harness_fake.h: kernels for the harness's own tests: host functions, one right and many broken.
 *
 * They are the variants of one chapter, so that a test names one with --variant. fake_backend runs
 * them on host memory.
 */
#ifndef TESTS_HARNESS_HARNESS_FAKE_H
#define TESTS_HARNESS_HARNESS_FAKE_H

#include "gemm.h"

/* A defect of a fake kernel. */
enum defect {
    DEFECT_NONE,
    DEFECT_TRUNCATING, /* none: adds as the Tensor Core does, cutting off */
    DEFECT_UNWRITTEN_TILE,
    DEFECT_NAN_OUTPUT,
    DEFECT_PAST_LAST_COLUMN,
    DEFECT_GUARD_BEFORE,
    DEFECT_GUARD_AFTER,
    DEFECT_K_TAIL_UNMASKED,
    DEFECT_K_TAIL_DROPPED,
    DEFECT_SWAPPED,
    DEFECT_ONLY_ZEROS,
    DEFECT_ONLY_SQUARE,
    DEFECT_ONE_ELEMENT,
    DEFECT_ONE_ULP,
    DEFECT_HIDDEN_ELEMENT,
    DEFECT_TIMED_WRONG,
    DEFECT_TIMED_SILENT,
    DEFECT_TRANSPOSED,
    DEFECT_WRONG_TYPE,
    DEFECT_FP16_SUM,
    DEFECT_INFINITE,
    DEFECT_COUNTER,
    DEFECT_LAUNCH_FAILS,
    DEFECT_HAZARD,
    DEFECT_CUT_OUTPUT,
    /* of e4m3 and w4a8 alone; without scales, none */
    DEFECT_OTHER_BLOCK,   /* A's scales of the block of k before; of w4a8, B's */
    DEFECT_OTHER_ROW,     /* A's scales of the row above */
    DEFECT_OTHER_COLUMNS, /* B's scales of the block of columns before; of w4a8, the column */
    DEFECT_UNSCALED,
    DEFECT_FIRST_SCALES,  /* of each operand, for all */
    DEFECT_TENSOR_SCALES, /* none: the same, and says so; its sums are never promoted */
    DEFECT_ROUNDED_SUMS,  /* adds four parts of k, rounded to D's type; a library may */
    DEFECT_E4M3_WEIGHTS,  /* rounds weights times their scales to e4m3; a library may */
    DEFECT_PITCH_OF_A,    /* for B, too */
    DEFECTS
};

extern const char *const defect_names[DEFECTS];

/* D = A * B on the host, with the defect. */
enum gemm_status fake_gemm(const struct gemm_problem *problem, enum gemm_type type,
                           enum defect defect);
/* What ran last. */
extern enum defect fake_last_defect;

#endif
