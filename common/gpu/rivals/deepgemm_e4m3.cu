/*
 * deepgemm_e4m3.cu: DeepGEMM's kernel for e4m3 with scales 1 x 128 of A and 128 x 128 of B, bf16
 * out, compiled for the tiles that its selection picks most often among the layers of language
 * models.
 *
 * DeepGEMM compiles a kernel for each n and k when it is first called. Here both are arguments, and
 * for the pairs in RIVAL_SHAPES, which CMake makes of HOPPER_RIVAL_SHAPES, constants. With
 * arguments four of the kernels spill registers, with constants none (compiled, CUDA 13.0).
 */
#include "gpu/rivals/deepgemm.h"
#include "rival_shapes.h"

#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

template <int M, int N, int SHAPE_K>
static constexpr int stages = deepgemm_stages(M, N, SHAPE_K ? SHAPE_K : DEEPGEMM_LONGEST_K, 1);

template <int M, int N, deepgemm_shared S, int SHAPE_N, int SHAPE_K>
static constexpr auto kernel = &deep_gemm::sm90_fp8_gemm_1d2d_impl<
    cute::UMMA::Major::K, 0, SHAPE_N, SHAPE_K, 1, M, N, 128, 128, 128, deepgemm_swizzle_d(N),
    stages<M, N, SHAPE_K>, 128, M <= 64 ? 128 : 256, S == SHARES_NOTHING ? 1 : 2, S == SHARES_A,
    DEEPGEMM_SMS, deep_gemm::GemmType::Normal, cutlass::bfloat16_t,
    deep_gemm::epilogue::transform::EpilogueIdentity>;

#define TILE(m, n, shared, shape_n, shape_k)                                                       \
    {reinterpret_cast<const void *>(kernel<m, n, shared, shape_n, shape_k>), m, n, 128,            \
     stages<m, n, shape_k>, shared, shape_n, shape_k},
#define SHAPE(n, k)                                                                                \
    TILE(256, 128, SHARES_A, n, k)                                                                 \
    TILE(256, 128, SHARES_NOTHING, n, k)                                                           \
    TILE(256, 112, SHARES_A, n, k)                                                                 \
    TILE(128, 192, SHARES_B, n, k)                                                                 \
    TILE(128, 192, SHARES_NOTHING, n, k)                                                           \
    TILE(128, 160, SHARES_NOTHING, n, k)                                                           \
    TILE(128, 128, SHARES_A, n, k)                                                                 \
    TILE(128, 128, SHARES_NOTHING, n, k)                                                           \
    TILE(128, 112, SHARES_NOTHING, n, k)                                                           \
    TILE(128, 80, SHARES_NOTHING, n, k)                                                            \
    TILE(128, 64, SHARES_NOTHING, n, k)                                                            \
    TILE(64, 128, SHARES_NOTHING, n, k)                                                            \
    TILE(64, 112, SHARES_NOTHING, n, k)                                                            \
    TILE(64, 64, SHARES_NOTHING, n, k)                                                             \
    TILE(64, 48, SHARES_NOTHING, n, k)                                                             \
    TILE(64, 32, SHARES_NOTHING, n, k)

extern "C" const struct deepgemm_kernel deepgemm_e4m3[] = {SHAPE(0, 0) RIVAL_SHAPES};
extern "C" const int deepgemm_e4m3_count = sizeof deepgemm_e4m3 / sizeof *deepgemm_e4m3;
