/* tensor_map.c: CUDA Driver API, "Tensor Map Object Management". */
#include "sim/models/tensor_map.h"

#include <string.h>

#include "runtime/cuda.h"
#include "runtime/session.h"

_Static_assert(sizeof(CUtensorMap) == sizeof(struct tensor_map), "one is encoded as the other");

/* Loads and stores move bytes, whatever they mean; reductions need the type. */
static bool take_type(CUtensorMapDataType type, struct tensor_map_fields *f) {
    static const struct {
        CUtensorMapDataType type;
        int bytes;
        enum gemm_type gemm; /* of a float; else of that size */
        enum tensor_map_whole whole;
    } types[] = {
        {CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, GEMM_E4M3, WHOLE_UNSIGNED},
        {CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, GEMM_FP16, WHOLE_UNSIGNED},
        {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, GEMM_FP32, WHOLE_UNSIGNED},
        {CU_TENSOR_MAP_DATA_TYPE_INT32, 4, GEMM_FP32, WHOLE_SIGNED},
        {CU_TENSOR_MAP_DATA_TYPE_UINT64, 8, GEMM_FP32, WHOLE_UNSIGNED},
        {CU_TENSOR_MAP_DATA_TYPE_INT64, 8, GEMM_FP32, WHOLE_SIGNED},
        {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, GEMM_FP16, WHOLE_NONE},
        {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, GEMM_BF16, WHOLE_NONE},
        {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, GEMM_FP32, WHOLE_NONE},
        {CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 4, GEMM_FP32, WHOLE_NONE},
        {CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, GEMM_FP32, WHOLE_NONE},
        {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, GEMM_FP32, WHOLE_NONE},
        {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, 4, GEMM_FP32, WHOLE_NONE},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
        if (types[i].type != type) continue;
        f->element_bytes = types[i].bytes;
        f->type = types[i].gemm;
        f->whole = types[i].whole;
        return true;
    }
    return false;
}

static CUresult refuse(const char *function, const char *why) {
    session_note("%s fails: %s", function, why);
    return CUDA_ERROR_INVALID_VALUE;
}

/* What both kinds of maps begin with. */
static void take_tensor(struct tensor_map_fields *f, CUtensorMapDataType type, cuuint32_t rank,
                        void *base, const cuuint64_t *extent, const cuuint64_t *pitch,
                        CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                        CUtensorMapFloatOOBfill out_of_bounds) {
    *f = (struct tensor_map_fields){
        .base = base, .rank = (int)rank, .swizzle = (enum gemm_swizzle)swizzle};
    if (!take_type(type, f))
        session_refuse(REFUSED_INCOMPLETE,
                       "a tensor map of this type of elements (%d) is not modelled", (int)type);
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
        session_refuse(REFUSED_INCOMPLETE, "an interleaved tensor map, and a swizzle of 128 bytes "
                                           "in other atoms than 16, are not modelled");
    if (out_of_bounds != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
        session_refuse(REFUSED_INCOMPLETE,
                       "a tensor map that fills with NaN what lies outside is not modelled");
    f->columns = (int64_t)extent[0];
    f->rows = rank > 1 ? (int64_t)extent[1] : 1;
    f->pitch = rank > 1 ? (int64_t)pitch[0] : (f->columns * f->element_bytes + 15) / 16 * 16;
    for (cuuint32_t i = 2; i < rank; ++i) {
        f->outer_pitch[i - 2] = (int64_t)pitch[i - 1];
        f->outer_extent[i - 2] = (uint32_t)extent[i];
    }
}

static CUresult encode(const char *function, CUtensorMap *map, const struct tensor_map_fields *f) {
    struct tensor_map encoded __attribute__((aligned(128)));
    const char *const fault = tensor_map_encode(&encoded, f);
    if (fault) return refuse(function, fault);
    memcpy(map, &encoded, sizeof encoded);
    return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *base, const cuuint64_t *extent, const cuuint64_t *pitch,
                                const cuuint32_t *box, const cuuint32_t *element_stride,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill out_of_bounds) {
    struct tensor_map_fields f;
    (void)promotion;
    session_get();
    if (!map || !extent || !box || rank < 1 || rank > TENSOR_MAP_MAX_RANK)
        return refuse(__func__, "a map has one to five dimensions");
    take_tensor(&f, type, rank, base, extent, pitch, interleave, swizzle, out_of_bounds);
    for (cuuint32_t i = 0; element_stride && i < rank; ++i)
        if (element_stride[i] != 1)
            session_refuse(
                REFUSED_INCOMPLETE,
                "a tensor map that leaves elements out (elementStrides) is not modelled");
    f.box_columns = (int)box[0];
    f.box_rows = rank > 1 ? (int)box[1] : 1;
    for (cuuint32_t i = 2; i < rank; ++i)
        f.outer_box[i - 2] = (uint16_t)box[i];
    return encode(__func__, map, &f);
}

/* The corners have the order of the other arrays: the width first. */
CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                 void *base, const cuuint64_t *extent, const cuuint64_t *pitch,
                                 const int *lower, const int *upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t *element_stride,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion,
                                 CUtensorMapFloatOOBfill out_of_bounds) {
    struct tensor_map_fields f;
    (void)promotion;
    session_get();
    if (!map || !extent || !lower || !upper || rank < 3 || rank > TENSOR_MAP_MAX_RANK)
        return refuse(__func__, "an im2col map has three to five dimensions");
    take_tensor(&f, type, rank, base, extent, pitch, interleave, swizzle, out_of_bounds);
    if (element_stride && element_stride[rank - 1] != 1)
        session_refuse(REFUSED_INCOMPLETE, "a tensor map that leaves images out is not modelled");
    f.im2col = true;
    f.box_columns = (int)channels;
    f.box_rows = (int)pixels;
    for (cuuint32_t i = 0; i < rank - 2; ++i) {
        if (lower[i] != (int16_t)lower[i] || upper[i] != (int16_t)upper[i])
            return refuse(__func__, "a corner of the box of pixels is out of its range");
        f.lower[i] = (int16_t)lower[i];
        f.upper[i] = (int16_t)upper[i];
        f.outer_box[i] = element_stride ? (uint16_t)element_stride[i + 1] : 1;
    }
    return encode(__func__, map, &f);
}
