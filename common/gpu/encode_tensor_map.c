/*
 * encode_tensor_map.c: describing a matrix to the TMA.
 *
 * CUDA Driver API: "Tensor Map Object Management" (cuTensorMapEncodeTiled,
 * cuTensorMapReplaceAddress). The driver answers a
 * wrong argument with "invalid value" and no more, so the arguments are checked here first, each by
 * its name.
 */
#include <assert.h>
#include <cuda.h>
#include <stdio.h>

#include "gemm_plan.h"
#include "gemm_types.h"
#include "gpu/cuda_call.h"

static_assert(sizeof(struct tensor_map) == sizeof(CUtensorMap), "gemm.h declares it opaque");

enum { BOX_LIMIT = 256, TMA_ALIGNMENT = 16 /* bytes, of base, pitch and the box's rows */ };
#define PITCH_LIMIT (INT64_C(1) << 40) /* bytes */

/* Reports the argument at fault. */
static enum gemm_status refuse(const char *argument, long long value, const char *rule) {
    fprintf(stderr, "gemm_tensor_map: %s = %lld: %s\n", argument, value, rule);
    return GEMM_UNSUPPORTED;
}

/* Gives the calling thread the context of its device. False after a message. CUDA Runtime API:
 * cudaSetDevice. */
static bool bind_context(void) {
    int device = 0;
    return cuda_ok(cudaGetDevice(&device), "asking for the device") &&
           cuda_ok(cudaSetDevice(device), "making the device the thread's");
}

enum gemm_status gemm_tensor_map(struct tensor_map *map, enum gemm_type type, const void *base,
                                 int64_t rows, int columns, int64_t ld, int box_rows,
                                 int box_columns, enum gemm_swizzle swizzle) {
    if ((unsigned)type > GEMM_FP32 || type == GEMM_W4A8)
        return refuse("type", type, "must be GEMM_FP16, GEMM_BF16, GEMM_E4M3 or GEMM_FP32");
    if (swizzle < SWIZZLE_NONE || swizzle > SWIZZLE_128B)
        return refuse("swizzle", swizzle, "is none of enum gemm_swizzle");
    const int element_bytes = gemm_type_bytes(type);
    const int span =
        swizzle == SWIZZLE_NONE ? 0 : 16 << swizzle; /* bytes that a swizzle permutes */
    const long long box_bytes = (long long)box_columns * element_bytes;
    if (!base || (uintptr_t)base % TMA_ALIGNMENT)
        return refuse("base", (long long)(uintptr_t)base, "must be a multiple of 16 and not NULL");
    if (rows < 1 || rows > INT32_MAX) return refuse("rows", rows, "must be 1 to 2147483647");
    if (columns < 1) return refuse("columns", columns, "must be at least 1");
    if (ld < columns) return refuse("ld", ld, "must be at least the number of columns");
    if (ld >= PITCH_LIMIT / element_bytes || ld * element_bytes % TMA_ALIGNMENT)
        return refuse("ld", ld, "a row must be a multiple of 16 bytes and shorter than 2^40");
    if (box_rows < 1 || box_rows > BOX_LIMIT)
        return refuse("box_rows", box_rows, "must be 1 to 256");
    if (box_columns < 1 || box_columns > BOX_LIMIT)
        return refuse("box_columns", box_columns, "must be 1 to 256");
    if (box_bytes % TMA_ALIGNMENT)
        return refuse("box_columns", box_columns,
                      "a row of the box must be a multiple of 16 bytes");
    if (span && box_bytes > span)
        return refuse("box_columns", box_columns,
                      "a row of the box must not exceed the swizzle's width");

    /* The driver's, whatever the device; two threads that look it up at once find the same. */
    typedef __typeof__(cuTensorMapEncodeTiled) encode_function;
    static encode_function *_Atomic found;
    if (!found) found = (encode_function *)cuda_driver_function("cuTensorMapEncodeTiled", 12000);
    encode_function *const encode = found;
    if (!encode) return GEMM_LAUNCH_FAILED;
    static const CUtensorMapDataType types[] = {[GEMM_FP16] = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                                [GEMM_BF16] = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                                [GEMM_E4M3] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                                [GEMM_FP32] = CU_TENSOR_MAP_DATA_TYPE_FLOAT32};
    static const CUtensorMapSwizzle swizzles[] = {[SWIZZLE_NONE] = CU_TENSOR_MAP_SWIZZLE_NONE,
                                                  [SWIZZLE_32B] = CU_TENSOR_MAP_SWIZZLE_32B,
                                                  [SWIZZLE_64B] = CU_TENSOR_MAP_SWIZZLE_64B,
                                                  [SWIZZLE_128B] = CU_TENSOR_MAP_SWIZZLE_128B};
    const cuuint64_t extents[2] = {(cuuint64_t)columns, (cuuint64_t)rows}; /* fastest first */
    const cuuint64_t pitch[1] = {(cuuint64_t)(ld * element_bytes)};
    const cuuint32_t box[2] = {(cuuint32_t)box_columns, (cuuint32_t)box_rows};
    const cuuint32_t every[2] = {1, 1};
    /* What a miss brings into the L2. If a box's rows are whole lines of 128 bytes, the next line
     * is the next box's, and welcome: problems of a few microseconds came out 4 % faster. If rows
     * lie across two lines, the lines are dear, and with 256 bytes up to a fifth was lost
     * (measured, H200). */
    const bool whole_lines = pitch[0] % 128 == 0 && (uintptr_t)base % 128 == 0;
    const CUtensorMapL2promotion promotion =
        whole_lines ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B : CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    CUtensorMap encoded;
    CUresult status = CUDA_ERROR_INVALID_CONTEXT;
    /* The driver may want a context. A thread on device 0 that has asked the runtime for nothing
     * but its device has none yet: then once more with one. */
    for (int attempt = 0; attempt < 2 && status == CUDA_ERROR_INVALID_CONTEXT; ++attempt) {
        if (attempt > 0 && !bind_context()) return GEMM_LAUNCH_FAILED;
        status = encode(&encoded, types[type], 2, (void *)base, extents, pitch, box, every,
                        CU_TENSOR_MAP_INTERLEAVE_NONE, swizzles[swizzle], promotion,
                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE /* zeros */);
    }
    if (status != CUDA_SUCCESS) {
        fprintf(stderr,
                "gemm_tensor_map: cuTensorMapEncodeTiled: error %d for %lld x %d, ld %lld, box %d "
                "x %d\n",
                (int)status, (long long)rows, columns, (long long)ld, box_rows, box_columns);
        return GEMM_UNSUPPORTED;
    }
    __builtin_memcpy(map, &encoded, sizeof *map);
    return GEMM_OK;
}

enum gemm_status gemm_tensor_map_move(struct tensor_map *map, const void *base) {
    if (!base || (uintptr_t)base % TMA_ALIGNMENT)
        return refuse("base", (long long)(uintptr_t)base, "must be a multiple of 16 and not NULL");
    typedef __typeof__(cuTensorMapReplaceAddress) replace_function;
    static replace_function *_Atomic found;
    if (!found)
        found = (replace_function *)cuda_driver_function("cuTensorMapReplaceAddress", 12000);
    replace_function *const replace = found;
    if (!replace) return GEMM_LAUNCH_FAILED;
    CUtensorMap moved;
    __builtin_memcpy(&moved, map, sizeof moved);
    CUresult status = CUDA_ERROR_INVALID_CONTEXT;
    for (int attempt = 0; attempt < 2 && status == CUDA_ERROR_INVALID_CONTEXT; ++attempt) {
        if (attempt > 0 && !bind_context()) return GEMM_LAUNCH_FAILED; /* as above */
        status = replace(&moved, (void *)base);
    }
    if (status != CUDA_SUCCESS) {
        fprintf(stderr, "gemm_tensor_map_move: cuTensorMapReplaceAddress: error %d\n", (int)status);
        return GEMM_UNSUPPORTED;
    }
    __builtin_memcpy(map, &moved, sizeof *map);
    return GEMM_OK;
}
