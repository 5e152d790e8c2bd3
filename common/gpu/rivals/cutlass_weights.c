/*
 * cutlass_weights.c: the weights of w4a8 as CUTLASS's mixed-input kernels read them, a copy for
 * each copy of the problem.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpu/baselines.h"
#include "gpu/cuda_call.h"
#include "gpu/rivals/cutlass.h"
#include "gpu/rivals/cutlass_codes.h"

static struct {
    const struct gemm_problem *problems; /* [copies] */
    int copies;
    struct cutlass_weights *weights; /* [copies] */
} made;

const struct cutlass_weights *cutlass_weights_of(const struct gemm_problem *p) {
    int copy = 0;
    if (!made.weights) return NULL;
    while (copy < made.copies - 1 && made.problems[copy].b != p->b)
        ++copy;
    return &made.weights[copy];
}

static bool allocate(void **memory, size_t bytes) {
    return cuda_ok(cudaMalloc(memory, bytes), "CUTLASS: allocating weights");
}

/* Gives every copy its weights, from `codes` and `tables` on the host. */
static bool distribute(const uint8_t *codes, size_t code_bytes, const uint8_t *tables,
                       size_t table_bytes) {
    void *plain = NULL;
    bool good =
        allocate(&plain, code_bytes) &&
        cuda_ok(cudaMemcpy(plain, codes, code_bytes, cudaMemcpyHostToDevice), "CUTLASS: weights");
    for (int i = 0; i < made.copies && good; ++i) {
        struct cutlass_weights *const w = &made.weights[i];
        good = allocate(&w->codes, code_bytes) && allocate(&w->tables, table_bytes) &&
               cuda_ok(cutlass_reorder(plain, w->codes, w->channels, w->depth),
                       "CUTLASS: reordering weights") &&
               cuda_ok(cudaMemcpy(w->tables, tables, table_bytes, cudaMemcpyHostToDevice),
                       "CUTLASS: tables of scales");
    }
    if (plain) cudaFree(plain);
    return good;
}

bool cutlass_make_weights(const struct gemm_problem *problems, int count) {
    cutlass_close();
    const int channels = ceil_div(problems->n, CUTLASS_CHANNELS) * CUTLASS_CHANNELS;
    const int depth = ceil_div(problems->k, CUTLASS_DEPTH) * CUTLASS_DEPTH;
    const size_t bytes = w4_bytes(problems->n, problems->k);
    const size_t code_bytes = (size_t)channels * (size_t)depth / 2;
    const size_t table_bytes =
        (size_t)channels * (size_t)ceil_div(problems->k, W4_BLOCK) * CUTLASS_MULTIPLES;
    uint8_t *const blocks = malloc(bytes), *const codes = calloc(code_bytes, 1);
    uint8_t *const tables = calloc(table_bytes, 1);
    made.weights = calloc((size_t)count, sizeof *made.weights);
    if (!blocks || !codes || !tables || !made.weights) abort();
    made.problems = problems;
    made.copies = count;
    for (int i = 0; i < count; ++i)
        made.weights[i] = (struct cutlass_weights){.channels = channels, .depth = depth};
    bool good = cuda_ok(cudaMemcpy(blocks, problems->b, bytes, cudaMemcpyDeviceToHost),
                        "CUTLASS: reading weights");
    if (good) {
        cutlass_convert(blocks, problems->n, problems->k, codes, depth, tables, channels);
        good = distribute(codes, code_bytes, tables, table_bytes);
    }
    free(blocks);
    free(codes);
    free(tables);
    if (!good) cutlass_close();
    return good;
}

void cutlass_close(void) {
    for (int i = 0; i < made.copies; ++i) {
        if (made.weights[i].codes) cudaFree(made.weights[i].codes);
        if (made.weights[i].tables) cudaFree(made.weights[i].tables);
    }
    free(made.weights);
    made.weights = NULL;
    made.copies = 0;
}
