/*
 * cutlass_gemm.cu: one of CUTLASS's warp-specialized persistent kernels for 16-bit operands, as its
 * builders assemble it by default: the stages that fit, clusters of 2 x 1, bands of up to 8 tiles
 * ("max swizzle"). Compiled for each kind and tile of the list in CMakeLists.txt, for both types:
 *
 *   RIVAL_FP16, RIVAL_BF16    the names of its records
 *   RIVAL_KIND                CUTLASS_COOPERATIVE or CUTLASS_PINGPONG
 *   RIVAL_TILE_M, RIVAL_TILE_N
 */
#include <cutlass/cutlass.h>

#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>

#include "gpu/rivals/cutlass_launch.h"

enum { CLUSTER_M = 2, TILE_K = 64, ALIGNMENT = 8 /* elements: 16 bytes */ };

using tile = cute::Shape<cute::Int<RIVAL_TILE_M>, cute::Int<RIVAL_TILE_N>, cute::Int<TILE_K>>;
using cluster = cute::Shape<cute::Int<CLUSTER_M>, cute::_1, cute::_1>;
using row_major = cutlass::layout::RowMajor;
using column_major = cutlass::layout::ColumnMajor;

constexpr bool is_cooperative = RIVAL_KIND == CUTLASS_COOPERATIVE;
using main_loop_schedule =
    cute::conditional_t<is_cooperative, cutlass::gemm::KernelTmaWarpSpecializedCooperative,
                        cutlass::gemm::KernelTmaWarpSpecializedPingpong>;
using epilogue_schedule =
    cute::conditional_t<is_cooperative, cutlass::epilogue::TmaWarpSpecializedCooperative,
                        cutlass::epilogue::TmaWarpSpecialized>;

template <class Element> struct assembled {
    // There is no C: void.
    using epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, tile, cluster,
        cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, row_major, ALIGNMENT,
        Element, row_major, ALIGNMENT, epilogue_schedule>::CollectiveOp;
    using main_loop = typename cutlass::gemm::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, row_major, ALIGNMENT, Element,
        column_major, ALIGNMENT, float, tile, cluster,
        cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
            sizeof(typename epilogue::SharedStorage))>,
        main_loop_schedule>::CollectiveOp;
    using kernel =
        cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, main_loop, epilogue>;
    using gemm = cutlass::gemm::device::GemmUniversalAdapter<kernel>;

    static bool computes(const gemm_problem *p) {
        return can_compute<gemm>(arguments_of_product<gemm>(p));
    }

    static gemm_status enqueue(const contender *self, const gemm_problem *p, void *stream) {
        return enqueue_gemm<gemm>(self, arguments_of_product<gemm>(p), stream);
    }

    static constexpr cutlass_kernel record(gemm_type type) {
        return {RIVAL_KIND, type, RIVAL_TILE_M, RIVAL_TILE_N, TILE_K,
                main_loop::DispatchPolicy::Stages, CLUSTER_M, 1, computes, enqueue};
    }
};

extern "C" const cutlass_kernel RIVAL_FP16 = assembled<cutlass::half_t>::record(GEMM_FP16);
extern "C" const cutlass_kernel RIVAL_BF16 = assembled<cutlass::bfloat16_t>::record(GEMM_BF16);
