/*
 * deepgemm_bf16.cu: DeepGEMM's bf16 kernel, compiled for the tiles that its selection picks most
 * often, and for 128 x 256 with A shared, which is fast for many groups; see deepgemm_e4m3.cu.
 */
#include "gpu/rivals/deepgemm.h"

#include <deep_gemm/impls/sm90_bf16_gemm.cuh>

template <int M, int N>
static constexpr int stages =
    deepgemm_stages(M, N, RIVAL_K ? RIVAL_K : DEEPGEMM_LONGEST_K, 0);

template <int M, int N, deepgemm_shared S, deep_gemm::GemmType T = deep_gemm::GemmType::Normal>
static constexpr auto kernel = &deep_gemm::sm90_bf16_gemm_impl<
    cute::UMMA::Major::K, cute::UMMA::Major::K, 0, RIVAL_N, RIVAL_K, 1, M, N, 64, 128, 128,
    deepgemm_swizzle_d(N), stages<M, N>, 128, M <= 64 ? 128 : 256,
    S == SHARES_NOTHING ? 1 : 2, S == SHARES_A, DEEPGEMM_SMS, T, false,
    cutlass::bfloat16_t>;

/* The kernel for groups of rows; NULL: some of its tiles would have rows of two. */
template <int M, int N, deepgemm_shared S> static const void *contiguous() {
    if constexpr (M == DEEPGEMM_ALIGNMENT)
        return reinterpret_cast<const void *>(
            kernel<M, N, S, deep_gemm::GemmType::MGroupedContiguous>);
    return nullptr;
}

#define TILE(m, n, shared)                                                                         \
    {reinterpret_cast<const void *>(kernel<m, n, shared>), contiguous<m, n, shared>(), m, n, 64,   \
     stages<m, n>, shared, RIVAL_N, RIVAL_K}

static const deepgemm_kernel kernels[] = {
    TILE(256, 128, SHARES_A),
    TILE(256, 112, SHARES_A),
    TILE(128, 256, SHARES_B),
    TILE(128, 256, SHARES_NOTHING),
    TILE(128, 256, SHARES_A),
    TILE(128, 240, SHARES_B),
    TILE(128, 224, SHARES_B),
    TILE(128, 192, SHARES_B),
    TILE(128, 192, SHARES_NOTHING),
    TILE(128, 160, SHARES_B),
    TILE(128, 144, SHARES_NOTHING),
    TILE(128, 128, SHARES_NOTHING),
    TILE(128, 96, SHARES_NOTHING),
    TILE(128, 80, SHARES_NOTHING),
    TILE(64, 128, SHARES_NOTHING),
    TILE(64, 96, SHARES_NOTHING),
    TILE(64, 64, SHARES_NOTHING),
    TILE(64, 48, SHARES_NOTHING),
    TILE(64, 32, SHARES_NOTHING),
    TILE(64, 16, SHARES_NOTHING),
    TILE(32, 48, SHARES_NOTHING),
    TILE(32, 16, SHARES_NOTHING),
    TILE(16, 96, SHARES_NOTHING),
    TILE(16, 48, SHARES_NOTHING),
    TILE(16, 16, SHARES_NOTHING),
};

extern "C" const deepgemm_table RIVAL_TABLE = {kernels, sizeof kernels / sizeof *kernels};
