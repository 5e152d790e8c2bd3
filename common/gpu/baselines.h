/*
 * baselines.h: the contenders that are no chapters.
 */
#ifndef GPU_BASELINES_H
#define GPU_BASELINES_H

#include "backend.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LIBRARY_WORKSPACE = 64 << 20 /* bytes each library gets */ };

/* One whose `state` is for enqueue() alone. */
typedef enum gemm_status enqueue_function(const struct contender *self,
                                          const struct gemm_problem *problem, void *stream);
static inline struct contender contender_of(const char *name, enum contender_result result,
                                            enqueue_function *enqueue, void *state) {
    struct contender made;
    memset(&made, 0, sizeof made);
    made.name = name;
    made.result = result;
    made.enqueue = enqueue;
    made.state = state;
    return made;
}

/* Each writes one contender for these problems, which are copies of one, and returns true; or says
 * why not, false. */
typedef bool make_contender(const struct gemm_problem *problems, int count, struct contender *out);

/* cuBLAS as it comes, but with reductions in fp32; and with those in D's type. */
make_contender cublas_contender, cublas_reduced_contender;
/* The fastest of what cuBLASLt proposes, with reductions in fp32; and with those in D's type. */
make_contender cublaslt_contender, cublaslt_reduced_contender;
/* cuBLASLt for e4m3: with the problem's scales; with one for each operand; and that with fast
 * accumulation. */
make_contender cublaslt_blocks_contender, cublaslt_tensor_contender, cublaslt_fast_contender;
make_contender wgmma_contender, mma_contender;
/* Of w4a8: reads B as the problem has it; its FLOPS are the problem's, in the time of the reading.
 */
make_contender read_contender, read_ahead_contender;
/* In rivals/, each only in a build that names a checkout (HOPPER_DEEPGEMM, HOPPER_CUTLASS). */
make_contender deepgemm_contender;
/* DeepGEMM on groups of rows, which have B's rows g * n to (g + 1) * n and begin with multiples of
 * 128 rows. `group_of_row`, in global memory, has g for each row, -1 for rows of padding. */
bool deepgemm_contiguous_contender(const struct gemm_problem *problems, int count, int groups,
                                   const int *group_of_row, struct contender *out);
make_contender cutlass_cooperative_contender, cutlass_pingpong_contender;
/* Of e4m3 with scales for blocks. */
make_contender cutlass_blockwise_contender;
/* Of w4a8: with the tile of CUTLASS's example 55; with the fastest of several. */
make_contender cutlass_mixed_contender, cutlass_mixed_best_contender;

/* Releases what they hold. */
void cublas_close(void);
void cublaslt_close(void);
void ceiling_close(void);
void deepgemm_close(void);
void cutlass_close(void);

/* Times candidates in rounds, each round in another order. Returns the index of the fastest; -1 if
 * none of them runs. `count` is at most MOST_CANDIDATES. */
enum { MOST_CANDIDATES = 32 };
int fastest_candidate(const struct contender *candidates, int count,
                      const struct gemm_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
