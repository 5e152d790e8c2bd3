/*
 * cutlass_reorder.cu: CUTLASS's own rearrangement of 4-bit weights.
 */
#include "gpu/rivals/cutlass_order.h"

#include "gpu/rivals/cutlass.h"

extern "C" cudaError_t cutlass_reorder(const void *codes, void *reordered, int channels,
                                       int depth) {
    const weight_rows rows = cute::make_layout(cute::make_shape(channels, depth, 1),
                                               cute::make_stride(int64_t(depth), cute::_1{},
                                                                 int64_t(0)));
    cutlass::reorder_tensor(static_cast<const weight *>(codes), rows,
                            static_cast<weight *>(reordered), order_of(channels, depth));
    return cudaGetLastError();
}
