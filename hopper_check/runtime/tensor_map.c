/* tensor_map.c: CUDA Driver API, "Tensor Map Object Management". */
#include "sim/models/tensor_map.h"

#include <string.h>

#include "runtime/cuda.h"
#include "runtime/session.h"

_Static_assert(sizeof(CUtensorMap) == sizeof(struct tensor_map), "one is encoded as the other");

/* Loads and stores move bytes, whatever they mean; additions need the type. */
static bool type_of(CUtensorMapDataType type, int *bytes, enum gemm_type *out) {
    static const struct {
        CUtensorMapDataType type;
        int bytes;
        enum gemm_type gemm;
    } types[] = {
        {CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, GEMM_E4M3},
        {CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, GEMM_FP16},
        {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, GEMM_FP32},
        {CU_TENSOR_MAP_DATA_TYPE_INT32, 4, GEMM_FP32},
        {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, GEMM_FP16},
        {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, GEMM_BF16},
        {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, GEMM_FP32},
        {CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 4, GEMM_FP32},
        {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, GEMM_FP32},
        {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, 4, GEMM_FP32},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
        if (types[i].type != type) continue;
        *bytes = types[i].bytes;
        *out = types[i].gemm;
        return true;
    }
    return false;
}

static CUresult refuse(const char *why) {
    session_note("cuTensorMapEncodeTiled fails: %s", why);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *base, const cuuint64_t *extent, const cuuint64_t *pitch,
                                const cuuint32_t *box, const cuuint32_t *element_stride,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill out_of_bounds) {
    struct tensor_map_fields f = {.base = base, .rank = (int)rank};
    struct tensor_map encoded __attribute__((aligned(128)));
    (void)promotion;
    session_get();
    if (!map || !extent || !box || rank < 1 || rank > TENSOR_MAP_MAX_RANK)
        return refuse("a map has one to five dimensions");
    if (!type_of(type, &f.element_bytes, &f.type))
        session_refuse(REFUSED_INCOMPLETE,
                       "a tensor map of this type of elements (%d) is not modelled", (int)type);
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
        session_refuse(REFUSED_INCOMPLETE, "an interleaved tensor map, and a swizzle of 128 bytes "
                                           "in other atoms than 16, are not modelled");
    if (out_of_bounds != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
        session_refuse(REFUSED_INCOMPLETE,
                       "a tensor map that fills with NaN what lies outside is not modelled");
    for (cuuint32_t i = 0; element_stride && i < rank; ++i)
        if (element_stride[i] != 1)
            session_refuse(
                REFUSED_INCOMPLETE,
                "a tensor map that leaves elements out (elementStrides) is not modelled");
    f.swizzle = (enum gemm_swizzle)swizzle;
    f.columns = (int64_t)extent[0];
    f.box_columns = (int)box[0];
    f.rows = rank > 1 ? (int64_t)extent[1] : 1;
    f.box_rows = rank > 1 ? (int)box[1] : 1;
    f.pitch = rank > 1 ? (int64_t)pitch[0] : (f.columns * f.element_bytes + 15) / 16 * 16;
    for (cuuint32_t i = 2; i < rank; ++i) {
        f.outer_pitch[i - 2] = (int64_t)pitch[i - 1];
        f.outer_extent[i - 2] = (uint32_t)extent[i];
        f.outer_box[i - 2] = (uint16_t)box[i];
    }
    const char *const fault = tensor_map_encode(&encoded, &f);
    if (fault) return refuse(fault);
    memcpy(map, &encoded, sizeof encoded);
    return CUDA_SUCCESS;
}
