/*
 * cutlass_order.h: the order of 4-bit weights in memory, as CUTLASS's example 55 chooses it by
 * default: the weights that a thread of an e4m3 wgmma holds lie side by side.
 */
#ifndef GPU_RIVALS_CUTLASS_ORDER_H
#define GPU_RIVALS_CUTLASS_ORDER_H

#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/util/mixed_dtype_utils.hpp>

using weight = cutlass::int4b_t;
using weight_atom = decltype(cutlass::compute_memory_reordering_atom<cutlass::float_e4m3_t>());
using weight_rows =
    cute::Layout<cute::Shape<int, int, int>, cute::Stride<int64_t, cute::_1, int64_t>>;
using weight_order = decltype(cute::tile_to_shape(weight_atom{}, weight_rows{}));

static inline weight_order order_of(int channels, int depth) {
    return cute::tile_to_shape(weight_atom{}, cute::make_shape(channels, depth, 1));
}

#endif
