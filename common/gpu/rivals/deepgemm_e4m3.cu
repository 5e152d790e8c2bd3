/*
 * deepgemm_e4m3.cu: DeepGEMM's kernel for e4m3 with scales 1 x 128 of A and 128 x 128 of B, bf16
 * out, compiled for the tiles that its selection picks most often among the layers of language
 * models, and for 128 x 192 with A shared, which is fast for many groups.
 *
 * DeepGEMM compiles a kernel for each n and k when it is first called. Here both are arguments in
 * one object file, and constants in one for each pair of HOPPER_RIVAL_SHAPES. With arguments four
 * of the kernels spill registers, and two of those for groups; with constants none does (compiled,
 * CUDA 13.0).
 *
 *   RIVAL_TABLE         the name of the table of these kernels
 *   RIVAL_N, RIVAL_K    both constants, or 0
 */
#include "gpu/rivals/deepgemm.h"

#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

template <int M, int N>
static constexpr int stages =
    deepgemm_stages(M, N, RIVAL_K ? RIVAL_K : DEEPGEMM_LONGEST_K, 1);

template <int M, int N, deepgemm_shared S, deep_gemm::GemmType T = deep_gemm::GemmType::Normal>
static constexpr auto kernel = &deep_gemm::sm90_fp8_gemm_1d2d_impl<
    cute::UMMA::Major::K, 0, RIVAL_N, RIVAL_K, 1, M, N, 128, 128, 128, deepgemm_swizzle_d(N),
    stages<M, N>, 128, M <= 64 ? 128 : 256, S == SHARES_NOTHING ? 1 : 2, S == SHARES_A,
    DEEPGEMM_SMS, T, cutlass::bfloat16_t,
    deep_gemm::epilogue::transform::EpilogueIdentity>;

/* The kernel for groups of rows; NULL: some of its tiles would have rows of two. */
template <int M, int N, deepgemm_shared S> static const void *contiguous() {
    if constexpr (M == DEEPGEMM_ALIGNMENT)
        return reinterpret_cast<const void *>(
            kernel<M, N, S, deep_gemm::GemmType::MGroupedContiguous>);
    return nullptr;
}

#define TILE(m, n, shared)                                                                         \
    {reinterpret_cast<const void *>(kernel<m, n, shared>), contiguous<m, n, shared>(), m, n, 128,  \
     stages<m, n>, shared, RIVAL_N, RIVAL_K}

static const deepgemm_kernel kernels[] = {
    TILE(256, 128, SHARES_A),
    TILE(256, 128, SHARES_NOTHING),
    TILE(256, 112, SHARES_A),
    TILE(128, 192, SHARES_B),
    TILE(128, 192, SHARES_NOTHING),
    TILE(128, 192, SHARES_A),
    TILE(128, 160, SHARES_NOTHING),
    TILE(128, 128, SHARES_A),
    TILE(128, 128, SHARES_NOTHING),
    TILE(128, 112, SHARES_NOTHING),
    TILE(128, 80, SHARES_NOTHING),
    TILE(128, 64, SHARES_NOTHING),
    TILE(64, 128, SHARES_NOTHING),
    TILE(64, 112, SHARES_NOTHING),
    TILE(64, 64, SHARES_NOTHING),
    TILE(64, 48, SHARES_NOTHING),
    TILE(64, 32, SHARES_NOTHING),
};

extern "C" const deepgemm_table RIVAL_TABLE = {kernels, sizeof kernels / sizeof *kernels};
