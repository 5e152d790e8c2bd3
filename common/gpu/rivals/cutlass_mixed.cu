/*
 * cutlass_mixed.cu: CUTLASS's kernel for 4-bit weights and e4m3 activations, assembled as in its
 * example 55 (55_hopper_int4_fp8_gemm): cooperative, no cluster, groups of 128 with a table of
 * eight multiples of the scale, weights reordered for the registers. The product is transposed:
 * CUTLASS's M are the channels, its N the rows of A. Compiled for each width of the list in
 * CMakeLists.txt; the example's own is 128:
 *
 *   RIVAL_KERNEL    the name of its record
 *   RIVAL_TILE_M    the width, rows of A
 *
 * Three things differ from the example: D is bf16 instead of fp16, its columns (rows of our D) are
 * multiplied by the scales of A's rows, and there is no C, which leaves more shared memory to the
 * stages.
 */
#include <cutlass/cutlass.h>

#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/epilogue/fusion/sm90_callbacks_tma_warpspecialized.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>

#include "gpu/rivals/cutlass_launch.h"
#include "gpu/rivals/cutlass_order.h"
#include "scaled/scales.h"

enum { CHANNELS = 128, TILE_K = 128, GROUP = 128, OUTPUT_ALIGNMENT = 8, ALIGNMENT = 16 };

using activation = cutlass::float_e4m3_t;
using output = cutlass::bfloat16_t;
using multiples = cutlass::Array<cutlass::float_e4m3_t, 8>;
using tile = cute::Shape<cute::Int<CHANNELS>, cute::Int<RIVAL_TILE_M>, cute::Int<TILE_K>>;
using cluster = cute::Shape<cute::_1, cute::_1, cute::_1>;
using column_major = cutlass::layout::ColumnMajor;

namespace fusion = cutlass::epilogue::fusion;
using row_scales = fusion::Sm90RowBroadcast<0, tile, float>;
using multiplication = fusion::Sm90Compute<cutlass::multiplies, output, float,
                                           cutlass::FloatRoundStyle::round_to_nearest>;
using scaled = fusion::Sm90EVT<multiplication, row_scales, fusion::Sm90AccFetch>;

using epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, tile, cluster,
    cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, column_major,
    OUTPUT_ALIGNMENT, output, column_major, OUTPUT_ALIGNMENT,
    cutlass::epilogue::TmaWarpSpecializedCooperative, scaled>::CollectiveOp;
using main_loop = typename cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, cute::tuple<weight, multiples>,
    weight_order, 2 * ALIGNMENT, activation, column_major, ALIGNMENT, float, tile, cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
        sizeof(typename epilogue::SharedStorage))>,
    cutlass::gemm::KernelTmaWarpSpecializedCooperative>::CollectiveOp;
using kernel =
    cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, main_loop, epilogue>;
using gemm = cutlass::gemm::device::GemmUniversalAdapter<kernel>;

static gemm::Arguments arguments_of(const gemm_problem *p) {
    const cutlass_weights *const weights = cutlass_weights_of(p);
    gemm::Arguments arguments = arguments_for_gpu<gemm>();
    arguments.problem_shape = {p->n, p->m, p->k, 1};
    arguments.mainloop.ptr_A = static_cast<const weight *>(weights->codes);
    arguments.mainloop.dA = order_of(weights->channels, weights->depth);
    arguments.mainloop.ptr_B = reinterpret_cast<const activation *>(p->a);
    arguments.mainloop.dB = {p->lda, {}, 0};
    arguments.mainloop.ptr_S = static_cast<const multiples *>(weights->tables);
    arguments.mainloop.dS = {{}, weights->channels, 0};
    arguments.mainloop.group_size = GROUP;
    arguments.epilogue.thread = {{gemm_scales_of(p->matrix).a}, {}, {}};
    arguments.epilogue.ptr_D = reinterpret_cast<output *>(p->d);
    arguments.epilogue.dD = {{}, p->ldd, 0};
    return arguments;
}

static bool computes(const gemm_problem *p) { return can_compute<gemm>(arguments_of(p)); }

static gemm_status enqueue(const contender *self, const gemm_problem *p, void *stream) {
    return enqueue_gemm<gemm>(self, arguments_of(p), stream);
}

extern "C" const cutlass_kernel RIVAL_KERNEL = {
    CUTLASS_MIXED, GEMM_W4A8, RIVAL_TILE_M, CHANNELS, TILE_K,
    main_loop::DispatchPolicy::Stages, 1, 1, computes, enqueue};
