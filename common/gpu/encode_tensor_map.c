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

#include "services/plan.h"
#include "gemm_types.h"
#include "gpu/cuda_call.h"
#include "services/batch.h"

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

/* What a map describes: the arguments of gemm_tensor_map_3d(), in their order. */
struct description {
    enum gemm_type type;
    const void *base;
    int matrices;   /* 0: there is no third dimension */
    int64_t stride; /* elements from one to the next */
    int64_t rows;
    int columns;
    int64_t ld;
    int box_rows, box_columns;
    enum gemm_swizzle swizzle;
};

static enum gemm_status check_matrix(const struct description *d, int element_bytes) {
    if (!d->base || (uintptr_t)d->base % TMA_ALIGNMENT)
        return refuse("base", (long long)(uintptr_t)d->base,
                      "must be a multiple of 16 and not NULL");
    if (d->rows < 1 || d->rows > INT32_MAX)
        return refuse("rows", d->rows, "must be 1 to 2147483647");
    if (d->columns < 1) return refuse("columns", d->columns, "must be at least 1");
    if (d->ld < d->columns) return refuse("ld", d->ld, "must be at least the number of columns");
    if (d->ld >= PITCH_LIMIT / element_bytes || d->ld * element_bytes % TMA_ALIGNMENT)
        return refuse("ld", d->ld, "a row must be a multiple of 16 bytes and shorter than 2^40");
    if (!d->matrices) return GEMM_OK;
    if (d->stride < 1 || d->stride >= PITCH_LIMIT / element_bytes ||
        d->stride * element_bytes % TMA_ALIGNMENT)
        return refuse("stride", d->stride,
                      "must be positive, a multiple of 16 bytes and less than 2^40");
    return GEMM_OK;
}

static enum gemm_status check_box(const struct description *d, int element_bytes) {
    const int span =
        d->swizzle == SWIZZLE_NONE ? 0 : 16 << d->swizzle; /* bytes that a swizzle permutes */
    const long long box_bytes = (long long)d->box_columns * element_bytes;
    if (d->box_rows < 1 || d->box_rows > BOX_LIMIT)
        return refuse("box_rows", d->box_rows, "must be 1 to 256");
    if (d->box_columns < 1 || d->box_columns > BOX_LIMIT)
        return refuse("box_columns", d->box_columns, "must be 1 to 256");
    if (box_bytes % TMA_ALIGNMENT)
        return refuse("box_columns", d->box_columns,
                      "a row of the box must be a multiple of 16 bytes");
    if (span && box_bytes > span)
        return refuse("box_columns", d->box_columns,
                      "a row of the box must not exceed the swizzle's width");
    return GEMM_OK;
}

typedef __typeof__(cuTensorMapEncodeTiled) encode_function;

/* Calls the driver's encoder with arguments that have been checked. */
static CUresult encode(encode_function *function, CUtensorMap *encoded, const struct description *d,
                       int element_bytes) {
    static const CUtensorMapDataType types[] = {[GEMM_FP16] = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                                [GEMM_BF16] = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                                [GEMM_E4M3] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                                [GEMM_FP32] = CU_TENSOR_MAP_DATA_TYPE_FLOAT32};
    static const CUtensorMapSwizzle swizzles[] = {[SWIZZLE_NONE] = CU_TENSOR_MAP_SWIZZLE_NONE,
                                                  [SWIZZLE_32B] = CU_TENSOR_MAP_SWIZZLE_32B,
                                                  [SWIZZLE_64B] = CU_TENSOR_MAP_SWIZZLE_64B,
                                                  [SWIZZLE_128B] = CU_TENSOR_MAP_SWIZZLE_128B};
    const cuuint64_t extents[3] = {(cuuint64_t)d->columns, (cuuint64_t)d->rows,
                                   (cuuint64_t)d->matrices}; /* fastest first */
    const cuuint64_t pitch[2] = {(cuuint64_t)(d->ld * element_bytes),
                                 (cuuint64_t)(d->stride * element_bytes)};
    const cuuint32_t box[3] = {(cuuint32_t)d->box_columns, (cuuint32_t)d->box_rows, 1};
    const cuuint32_t every[3] = {1, 1, 1};
    /* What a miss brings into the L2. If a box's rows are whole lines of 128 bytes, the next line
     * is the next box's, and welcome: problems of a few microseconds came out 4 % faster. If rows
     * lie across two lines, the lines are dear, and with 256 bytes up to a fifth was lost
     * (measured, H200). */
    const bool whole_lines =
        pitch[0] % 128 == 0 && pitch[1] % 128 == 0 && (uintptr_t)d->base % 128 == 0;
    const CUtensorMapL2promotion promotion =
        whole_lines ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B : CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    return function(encoded, types[d->type], d->matrices ? 3 : 2, (void *)(uintptr_t)d->base,
                    extents, pitch, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzles[d->swizzle],
                    promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE /* zeros */);
}

static enum gemm_status make(struct tensor_map *map, const struct description *d) {
    if ((unsigned)d->type > GEMM_FP32 || d->type == GEMM_W4A8)
        return refuse("type", d->type, "must be GEMM_FP16, GEMM_BF16, GEMM_E4M3 or GEMM_FP32");
    if (d->swizzle < SWIZZLE_NONE || d->swizzle > SWIZZLE_128B)
        return refuse("swizzle", d->swizzle, "is none of enum gemm_swizzle");
    const int element_bytes = gemm_type_bytes(d->type);
    if (check_matrix(d, element_bytes) || check_box(d, element_bytes)) return GEMM_UNSUPPORTED;

    /* The driver's, whatever the device; two threads that look it up at once find the same. */
    static encode_function *_Atomic found;
    if (!found) found = (encode_function *)cuda_driver_function("cuTensorMapEncodeTiled", 12000);
    encode_function *const function = found;
    if (!function) return GEMM_LAUNCH_FAILED;
    CUtensorMap encoded;
    CUresult status = CUDA_ERROR_INVALID_CONTEXT;
    /* The driver may want a context. A thread on device 0 that has asked the runtime for nothing
     * but its device has none yet: then once more with one. */
    for (int attempt = 0; attempt < 2 && status == CUDA_ERROR_INVALID_CONTEXT; ++attempt) {
        if (attempt > 0 && !bind_context()) return GEMM_LAUNCH_FAILED;
        status = encode(function, &encoded, d, element_bytes);
    }
    if (status != CUDA_SUCCESS) {
        fprintf(stderr,
                "gemm_tensor_map: cuTensorMapEncodeTiled: error %d for %lld x %d, ld %lld, box %d "
                "x %d\n",
                (int)status, (long long)d->rows, d->columns, (long long)d->ld, d->box_rows,
                d->box_columns);
        return GEMM_UNSUPPORTED;
    }
    __builtin_memcpy(map, &encoded, sizeof *map);
    return GEMM_OK;
}

enum gemm_status gemm_tensor_map(struct tensor_map *map, enum gemm_type type, const void *base,
                                 int64_t rows, int columns, int64_t ld, int box_rows,
                                 int box_columns, enum gemm_swizzle swizzle) {
    const struct description d = {type,    base, 0,        0,           rows,
                                  columns, ld,   box_rows, box_columns, swizzle};
    return make(map, &d);
}

enum gemm_status gemm_tensor_map_3d(struct tensor_map *map, enum gemm_type type, const void *base,
                                    int matrices, int64_t stride, int64_t rows, int columns,
                                    int64_t ld, int box_rows, int box_columns,
                                    enum gemm_swizzle swizzle) {
    if (matrices < 1) return refuse("matrices", matrices, "must be at least 1");
    if (matrices == 1) stride = ld;
    const struct description d = {type,    base, matrices, stride,      rows,
                                  columns, ld,   box_rows, box_columns, swizzle};
    return make(map, &d);
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
