#include "gpu/cublaslt_algorithm.h"

/* Indexed by the numbers of enum cublasLtMatmulTile_t, cublasLtMatmulStages_t (k, stages; 0: as
 * many as fit) and cublasLtClusterShape_t. The extents are in the names, of which CMakeLists.txt
 * makes these tables. */
struct pair {
    short first, second;
};
static const struct pair tiles[] = {
#include "cublaslt_tiles.inc"
};
static const struct pair stages[] = {
#include "cublaslt_stages.inc"
};
static const struct pair clusters[] = {
#include "cublaslt_clusters.inc"
};
#define LOOK_UP(table, index) look_up(table, sizeof table / sizeof *table, index)

static struct pair look_up(const struct pair *table, size_t count, uint32_t index) {
    return index < count ? table[index] : (struct pair){0, 0};
}

/* An attribute of up to 32 bits; 0 if the library does not tell. */
static uint32_t attribute(const cublasLtMatmulAlgo_t *algorithm,
                          cublasLtMatmulAlgoConfigAttributes_t which, size_t bytes) {
    uint32_t value = 0; /* little-endian: the first bytes are the low ones */
    size_t written = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoConfigGetAttribute(algorithm, which, &value, bytes, &written);
    return status == CUBLAS_STATUS_SUCCESS && written == bytes ? value : 0;
}

static const char *reduction_name(uint32_t scheme) {
    switch (scheme) {
    case CUBLASLT_REDUCTION_SCHEME_NONE:
        return "none";
    case CUBLASLT_REDUCTION_SCHEME_INPLACE:
        return "in place";
    case CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE:
        return "compute type";
    case CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE:
        return "output type";
    default:
        return NULL;
    }
}

struct algorithm cublaslt_algorithm(const cublasLtMatmulAlgo_t *algorithm) {
    const struct pair tile =
        LOOK_UP(tiles, attribute(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, sizeof(uint32_t)));
    const struct pair stage =
        LOOK_UP(stages, attribute(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID, sizeof(uint32_t)));
    const struct pair cluster = LOOK_UP(
        clusters, attribute(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, sizeof(uint16_t)));
    const int splits = (int)attribute(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, sizeof(int32_t));
    return (struct algorithm){
        .name = "cublasLt",
        .id = (int)attribute(algorithm, CUBLASLT_ALGO_CONFIG_ID, sizeof(int32_t)),
        .tile_m = tile.second,
        .tile_n = tile.first,
        .tile_k = stage.first,
        .stages = stage.second,
        .cluster_m = cluster.second,
        .cluster_n = cluster.first,
        .splits = splits > 1 ? splits : 1,
        .reduction = reduction_name(
            attribute(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, sizeof(uint32_t)))};
}
