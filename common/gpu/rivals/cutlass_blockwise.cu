/*
 * cutlass_blockwise.cu: CUTLASS's kernel for e4m3 with a scale for every block, assembled as in its
 * example 67 (67_hopper_fp8_warp_specialized_gemm_with_groupwise_scaling): scales 1 x 128 of A and
 * 128 x 128 of B, cooperative, clusters of 1 x 2, the stages that fit. Compiled for each tile of
 * the list in CMakeLists.txt; the example's own is 256 x 128:
 *
 *   RIVAL_KERNEL       the name of its record
 *   RIVAL_TILE_M, RIVAL_TILE_N
 *
 * docs/rivals.md says what differs from the example.
 */
#include <cutlass/cutlass.h>

#include <cutlass/detail/blockwise_scale_layout.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>

#include "gpu/rivals/cutlass_launch.h"

enum { CLUSTER_N = 2, TILE_K = 128, ALIGNMENT = 16 /* elements: bytes */, ALIGNMENT_D = 8 };

using element = cutlass::float_e4m3_t;
using output = cutlass::bfloat16_t;
using tile = cute::Shape<cute::Int<RIVAL_TILE_M>, cute::Int<RIVAL_TILE_N>, cute::Int<TILE_K>>;
using cluster = cute::Shape<cute::_1, cute::Int<CLUSTER_N>, cute::_1>;
using row_major = cutlass::layout::RowMajor;
using column_major = cutlass::layout::ColumnMajor;

// A's scales lie along m, those of B along k, as gemm_scales has them.
using cute::GMMA::Major;
using scales = cutlass::detail::Sm90BlockwiseScaleConfig<1, SCALE_BLOCK, SCALE_BLOCK, Major::MN,
                                                         Major::K>;

// There is no C: void.
using epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, tile, cluster,
    cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, row_major, ALIGNMENT_D,
    output, row_major, ALIGNMENT_D,
    cutlass::epilogue::TmaWarpSpecializedCooperative>::CollectiveOp;
using main_loop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, element,
    cute::tuple<row_major, scales::LayoutSFA>, ALIGNMENT, element,
    cute::tuple<column_major, scales::LayoutSFB>, ALIGNMENT, float, tile, cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
        sizeof(typename epilogue::SharedStorage))>,
    cutlass::gemm::KernelTmaWarpSpecializedCooperativeFP8Blockwise>::CollectiveOp;
using kernel =
    cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, main_loop, epilogue>;
using gemm = cutlass::gemm::device::GemmUniversalAdapter<kernel>;

static gemm::Arguments arguments_of(const gemm_problem *p) {
    gemm::Arguments arguments = arguments_of_product<gemm>(p);
    const auto shape = cute::make_shape(p->m, p->n, p->k, 1);
    arguments.mainloop.ptr_SFA = p->scales.a;
    arguments.mainloop.ptr_SFB = p->scales.b;
    // CUTLASS's own layouts, but with the pitches of the scales.
    arguments.mainloop.layout_SFA = cute::make_layout(
        scales::tile_atom_to_shape_SFA(shape).shape(),
        scales::StrideSFA{{cute::_0{}, cute::_1{}}, {cute::_0{}, p->scales.pitch_a}, 0});
    arguments.mainloop.layout_SFB = cute::make_layout(
        scales::tile_atom_to_shape_SFB(shape).shape(),
        scales::StrideSFB{{cute::_0{}, p->scales.pitch_b}, {cute::_0{}, cute::_1{}}, 0});
    return arguments;
}

static bool computes(const gemm_problem *p) { return can_compute<gemm>(arguments_of(p)); }

static gemm_status enqueue(const contender *self, const gemm_problem *p, void *stream) {
    return enqueue_gemm<gemm>(self, arguments_of(p), stream);
}

extern "C" const cutlass_kernel RIVAL_KERNEL = {
    CUTLASS_BLOCKWISE, GEMM_E4M3, RIVAL_TILE_M, RIVAL_TILE_N, TILE_K,
    main_loop::DispatchPolicy::Stages, 1, CLUSTER_N, computes, enqueue};
