/*
 * library_products.h: the products that library.c computes, their inputs, and what must come out.
 *
 * Operands are whole numbers from -3 to 3, so that all sums are exact in fp32 and there is one
 * right result, rounded once. Whatever a call must not use or write is NaN.
 */
#ifndef TESTS_GPU_LIBRARY_PRODUCTS_H
#define TESTS_GPU_LIBRARY_PRODUCTS_H

#include <stdbool.h>
#include <stdint.h>

#include "hopper_gemm.h"
#include "tests/gpu/runtime.h"

/* `deep`: hopper_gemm_workspace() has to ask for some. */
struct shape {
    int m, n, k;
    int lda, ldb, ldd;
    int off; /* bytes that the matrices begin after a multiple of 256 */
    bool deep;
};

enum {
    TYPES = 2,
    SHAPES = 4,
    SETS = 2, /* of inputs */
    INPUTS = TYPES * SHAPES,
    PRODUCTS = 2 * INPUTS /* by hopper_gemm(), then by plans */
};

/* A product on a device. */
struct product {
    int index; /* (planned * TYPES + type) * SHAPES + shape */
    uint16_t *a, *b, *d;
    void *workspace; /* NULL: the library asks for none */
    size_t workspace_bytes;
    struct hopper_gemm_plan *plan, *frugal; /* the second may use no workspace; NULL: no plans */
};

struct gpu {
    int device;
    cudaStream_t stream[TYPES];
    struct product product[PRODUCTS];
};

/* The first shape is what a device and a type are first called with. */
extern const struct shape shapes[SHAPES];
static inline const struct shape *shape_of(int index) { return &shapes[index % SHAPES]; }
static inline int type_of(int index) { return index / SHAPES % TYPES; }

/* Lines printed, and those with something wrong. */
extern int checks, wrong_checks;

uint16_t *matrix_on_device(int off, int rows, int ld);
/* k x k, with NaN in the padding of its rows. */
uint16_t *unit_on_device(int type, int k, int ld);
void wait_for(cudaStream_t stream);
size_t bytes_of(int rows, int ld);

/* Makes all inputs and what they give, in page-locked memory. */
void make_inputs(void);

/* Enqueues the copying of a set of inputs, and NaN wherever something will be written. */
void load(const struct product *p, int set, cudaStream_t stream);

/* Enqueues a product by the plan of `by` on the matrices of p; without a plan, by hopper_gemm().
 * Returns its status. */
int multiply_by(const struct product *by, const struct product *p, bool workspace,
                cudaStream_t stream);
int multiply(const struct product *p, bool workspace, cudaStream_t stream);

/* Waits for the stream, compares D with what the set gives, and prints the check's line. */
void check(const struct gpu *gpu, const struct product *p, int set, cudaStream_t stream, int status,
           const char *what);

/* Prints the line of a check of something else. */
void state(const struct gpu *gpu, int index, bool right, const char *what);

#endif
