/*
 * batch.h: matrices of the same extents, of which a kernel computes all in one launch (chapter 16).
 */
#ifndef SERVICES_BATCH_H
#define SERVICES_BATCH_H

#include "gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor map of `matrices` row-major matrices, as gemm_tensor_map() has it for one of them.
 * Matrix i begins i * `stride` elements behind `base`: a positive multiple of 16 bytes, less than
 * 2^40 bytes; of a single matrix it is not used. The map has three dimensions, for tma_load_3d()
 * and tma_store_3d(): a box is part of one matrix, and its rows beyond that are not those of the
 * next one. Host thread. */
enum gemm_status gemm_tensor_map_3d(struct tensor_map *map, enum gemm_type type, const void *base,
                                    int matrices, int64_t stride, int64_t rows, int columns,
                                    int64_t ld, int box_rows, int box_columns,
                                    enum gemm_swizzle swizzle);

#ifdef __cplusplus
}
#endif
#endif
