/*
 * baselines.c: which baselines there are.
 */
#include "gpu/baselines.h"

#include "gpu/gpu_state.h"

/* What a build without the checkouts lacks. */
#ifdef HOPPER_DEEPGEMM
#define DEEPGEMM_NEEDS NULL
#else
#define DEEPGEMM_NEEDS "-DHOPPER_DEEPGEMM=DIR"
#define deepgemm_contender NULL
#endif
#ifdef HOPPER_CUTLASS
#define CUTLASS_NEEDS NULL
#else
#define CUTLASS_NEEDS "-DHOPPER_CUTLASS=DIR"
#define cutlass_cooperative_contender NULL
#define cutlass_pingpong_contender NULL
#define cutlass_blockwise_contender NULL
#define cutlass_mixed_contender NULL
#define cutlass_mixed_best_contender NULL
#endif

enum { FP16 = 1 << GEMM_FP16, BF16 = 1 << GEMM_BF16, E4M3 = 1 << GEMM_E4M3, W4A8 = 1 << GEMM_W4A8 };
/* It runs on GPUs other than Hopper, too. */
enum { ANY_GPU = 1 << 8 };
static const struct {
    struct baseline_name name;
    int types; /* of the operands; and ANY_GPU, or it is for 9.0 alone */
    make_contender *make;
} baselines[] = {
    {{"cublas", "libraries", NULL}, FP16 | BF16 | ANY_GPU, cublas_contender},
    {{"cublaslt-best", "libraries", NULL}, FP16 | BF16 | ANY_GPU, cublaslt_contender},
    {{"cublaslt-blocks", "libraries", NULL}, E4M3, cublaslt_blocks_contender},
    {{"cublaslt-tensor", "libraries", NULL}, E4M3, cublaslt_tensor_contender},
    {{"cublaslt-fast", "libraries", NULL}, E4M3, cublaslt_fast_contender},
    {{"cublas-reduced", "reduced", NULL}, FP16 | BF16 | ANY_GPU, cublas_reduced_contender},
    {{"cublaslt-reduced", "reduced", NULL}, FP16 | BF16 | ANY_GPU, cublaslt_reduced_contender},
    {{"deepgemm", "rivals", DEEPGEMM_NEEDS}, BF16 | E4M3, deepgemm_contender},
    {{"cutlass-cooperative", "rivals", CUTLASS_NEEDS}, FP16 | BF16, cutlass_cooperative_contender},
    {{"cutlass-pingpong", "rivals", CUTLASS_NEEDS}, FP16 | BF16, cutlass_pingpong_contender},
    {{"cutlass-blockwise", "rivals", CUTLASS_NEEDS}, E4M3, cutlass_blockwise_contender},
    {{"cutlass-mixed", "rivals", CUTLASS_NEEDS}, W4A8, cutlass_mixed_contender},
    {{"cutlass-mixed-best", "rivals", CUTLASS_NEEDS}, W4A8, cutlass_mixed_best_contender},
    {{"wgmma-only", "ceilings", NULL}, FP16 | BF16, wgmma_contender},
    {{"mma-only", "ceilings", NULL}, FP16 | BF16 | ANY_GPU, mma_contender},
    {{"read-only", "ceilings", NULL}, W4A8, read_contender},
    {{"read-only-ahead", "ceilings", NULL}, W4A8, read_ahead_contender},
};
enum { BASELINES = sizeof baselines / sizeof *baselines };

const struct baseline_name *backend_baseline_name(int index) {
    return index < BASELINES ? &baselines[index].name : NULL;
}

/* One multiplication outside of any capture: kernels are loaded at their first launch, which a
 * capture may not allow, and what cannot run at all is found here. */
static bool runs(const struct contender *contender, const struct gemm_problem *problem) {
    double cycles;
    return backend_run(contender, problem, &cycles) == RUN_OK;
}

int backend_baselines(const struct gemm_problem *problems, int count, uint32_t wanted,
                      struct contender *out, int room) {
    int made = 0;
    for (int i = 0; i < BASELINES && made < room; ++i) {
        const int types = baselines[i].types;
        if (!(wanted >> i & 1) || !baselines[i].make || !(types >> gpu_state.type & 1) ||
            (!(types & ANY_GPU) && !gpu_state.is_hopper))
            continue;
        if (baselines[i].make(problems, count, &out[made]) && runs(&out[made], problems)) ++made;
    }
    return made;
}
