/*
 * cublaslt_algorithm.h: what cuBLASLt tells of an algorithm.
 */
#ifndef GPU_CUBLASLT_ALGORITHM_H
#define GPU_CUBLASLT_ALGORITHM_H

#include <cublasLt.h>

#include "backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tile and cluster are those of our D: the library's are of its transpose. What the library does
 * not tell, or this toolkit's header does not name, is 0. Host thread. cuBLAS Library:
 * cublasLtMatmulAlgoConfigGetAttribute. */
struct algorithm cublaslt_algorithm(const cublasLtMatmulAlgo_t *algorithm);

#ifdef __cplusplus
}
#endif
#endif
