/*
 * rivals_deepgemm.cu: DeepGEMM's contiguous layout, which the kernels of this chapter are timed
 * beside; on the GPU, in a build that names a checkout of DeepGEMM (HOPPER_DEEPGEMM). bf16, and
 * e4m3 with n a multiple of 128.
 *
 * Its groups begin with multiples of 128 rows. So A and its scales are copied to memory with such
 * groups before anything is timed, and D lies in such memory, too.
 */
#include "grouped.h"
#include "backend.h"

#ifndef HOPPER_DEEPGEMM

bool deepgemm_rival(const struct gemm_problem *problems, int count, struct contender *out) {
    (void)problems, (void)count, (void)out;
    return false;
}

#else

#include <algorithm>
#include <stdio.h>
#include <vector>

#include "gpu/baselines.h"
#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"

enum { ALIGNMENT = 128 }; /* rows: each group begins with a multiple of so many */

static struct {
    std::vector<struct gemm_problem> aligned; /* the harness's, but for A, its scales and D */
    int first_row[GROUPS_MOST + 1];           /* of each group in these three */
    char *memory;                             /* theirs; zero between the groups */
    struct contender kernel;                  /* for aligned problems */
} contiguous;

/* Copies the groups' rows of a matrix on the device; pitch and length of a row in bytes. False
 * after a message. */
static bool copy_groups(const struct grouped_problem *of, void *to, const int *to_row,
                        const void *from, const int *from_row, int64_t pitch, int64_t length,
                        void *stream) {
    bool good = true;
    for (int g = 0; g < of->groups && good; ++g) {
        const int rows = of->first_rows[g + 1] - of->first_rows[g];
        good = rows == 0 ||
               cuda_ok(cudaMemcpy2DAsync((char *)to + to_row[g] * pitch, (size_t)pitch,
                                         (const char *)from + from_row[g] * pitch, (size_t)pitch,
                                         (size_t)length, (size_t)rows, cudaMemcpyDeviceToDevice,
                                         (cudaStream_t)stream),
                       "copying the groups' rows");
    }
    return good;
}

static const struct gemm_problem *aligned_problem(const struct gemm_problem *p) {
    size_t copy = 0;
    while (copy < contiguous.aligned.size() - 1 && contiguous.aligned[copy].b != p->b)
        ++copy;
    return &contiguous.aligned[copy];
}

static enum gemm_status enqueue_contiguous(const struct contender *self,
                                           const struct gemm_problem *p, void *stream) {
    (void)self;
    return contiguous.kernel.enqueue(&contiguous.kernel, aligned_problem(p), stream);
}

/* Fills D with NaN, as the harness does with its own before a run, and waits for the end. */
static bool poison(const struct gemm_problem *p) {
    return cuda_ok(cudaMemsetAsync(p->d, 0xff, p->m * p->ldd * 2, gpu_state.stream),
                   "filling D with NaN") &&
           cuda_ok(cudaStreamSynchronize(gpu_state.stream), "filling D with NaN");
}

/* Copies D to where the harness looks. */
static bool finish_contiguous(const struct contender *self, const struct gemm_problem *p) {
    (void)self;
    const struct gemm_problem *const aligned = aligned_problem(p);
    const struct grouped_problem *const of = grouped_of(p);
    return copy_groups(of, p->d, of->first_rows, aligned->d, contiguous.first_row, p->ldd * 2,
                       p->n * 2, gpu_state.stream) &&
           poison(aligned);
}

/* Aligns the groups of a copy of the harness's problem, in this memory. */
static bool align(struct gemm_problem *p, char *memory) {
    const struct grouped_problem *const of = grouped_of(p);
    const int *const from = of->first_rows, *const to = contiguous.first_row;
    const struct gemm_problem old = *p;
    const int element = gemm_type_bytes(gpu_state.type);
    p->m = to[of->groups];
    p->d = (element_t *)memory;
    p->a = p->d + p->m * p->ldd;
    float *const scales = (float *)((char *)p->a + p->m * p->lda * element);
    bool good = copy_groups(of, (void *)p->a, to, old.a, from, p->lda * element, p->k * element,
                            gpu_state.stream);
    if (gpu_state.type != GEMM_E4M3) return good;
    const struct gemm_scales from_a = gemm_scales_of(&old.matrix[GROUPED_SCALES]);
    p->matrix[MATRIX_SCALES_A].memory = scales;
    p->matrix[MATRIX_SCALES_A].ld = p->m;
    p->matrix[MATRIX_SCALES_B] = old.matrix[GROUPED_SCALES + MATRIX_SCALES_B];
    for (int64_t k = 0; k < ceil_div(p->k, SCALE_BLOCK) && good; ++k) /* one scale for each row */
        good = copy_groups(of, scales + k * p->m, to, from_a.a + k * from_a.pitch_a, from,
                           sizeof *scales, sizeof *scales, gpu_state.stream);
    return good;
}

bool deepgemm_rival(const struct gemm_problem *p, int count, struct contender *out) {
    if (gpu_state.type == GEMM_FP16) return false;
    const int *const from = grouped_of(p)->first_rows, groups = grouped_of(p)->groups;
    int *const to = contiguous.first_row;
    if (grouped_rows_of_b(p->n, gpu_state.type) != p->n) {
        fprintf(stderr, "deepgemm-contiguous: n = %d is no multiple of %d\n", p->n, SCALE_BLOCK);
        return false;
    }
    for (int g = 0; g < groups; ++g)
        to[g + 1] = to[g] + ceil_div(from[g + 1] - from[g], ALIGNMENT) * ALIGNMENT;
    std::vector<int> group_of_row(to[groups], -1); /* -1: none, between the groups */
    for (int g = 0; g < groups; ++g)
        std::fill_n(group_of_row.begin() + to[g], from[g + 1] - from[g], g);

    const int64_t row_bytes = p->ldd * 2 + p->lda * gemm_type_bytes(gpu_state.type) +
                              ceil_div(p->k, SCALE_BLOCK) * sizeof(float);
    const size_t each = to[groups] * row_bytes, layout = to[groups] * sizeof(int);
    cudaFree(contiguous.memory);
    contiguous.memory = NULL;
    if (!cuda_ok(cudaMalloc((void **)&contiguous.memory, count * each + layout),
                 "allocating aligned groups") ||
        !cuda_ok(cudaMemset(contiguous.memory, 0, count * each), "clearing aligned groups") ||
        !cuda_ok(cudaMemcpy(contiguous.memory + count * each, group_of_row.data(), layout,
                            cudaMemcpyHostToDevice),
                 "copying the groups of the rows"))
        return false;
    contiguous.aligned.assign(p, p + count);
    for (int i = 0; i < count; ++i)
        if (!align(&contiguous.aligned[i], contiguous.memory + i * each)) return false;
    if (!deepgemm_contiguous_contender(contiguous.aligned.data(), count, groups,
                                       (int *)(contiguous.memory + count * each),
                                       &contiguous.kernel))
        return false;
    for (const struct gemm_problem &aligned : contiguous.aligned)
        if (!poison(&aligned)) return false;
    *out = contiguous.kernel;
    out->name = "deepgemm-contiguous";
    out->enqueue = enqueue_contiguous;
    out->finish = finish_contiguous;
    return true;
}

#endif
