/*
 * split_configuration.h: the build-time parameters of split_k.cu, and what follows from them.
 *
 * As in configuration.h, the top CMakeLists.txt compiles the kernel once for each configuration. A
 * parameter that is not given there gets its default here.
 */
#ifndef SPLIT_CONFIGURATION_H
#define SPLIT_CONFIGURATION_H

#include "gemm.h"
#include "building_blocks/cluster_sum.h"
#include "hopper/element.h"

#ifndef BM
#define BM 64 /* the cluster's tile: 64 rows for each consumer warpgroup */
#endif
#ifndef BN
#define BN 128
#endif
#ifndef STAGES
#define STAGES 8 /* depth of the ring */
#endif
#ifndef SPLITS
#define SPLITS 2 /* CTAs of the cluster, parts of the k loop */
#endif
#ifndef DEEP
#define DEEP 0 /* 1: several clusters share a tile and add their sums in the workspace */
#endif
#ifndef BALANCED
#define BALANCED 0 /* 1: tiles have at most BN columns, so many that they fill the device evenly */
#endif

/* Rows of A and of B per load: the TMA takes as long for a row of zeros as for a row of the matrix,
 * and with few rows most rows of a full box would be zeros. Any thread, and the host. */
#define rows_loaded(args) ((args)->m < BM ? (args)->m : BM)
#define columns_loaded(args)                                                                       \
    (BALANCED ? ((args)->n + 8 * (args)->tiles_n - 1) / (8 * (args)->tiles_n) * 8 : BN)

enum {
    BK = 64,
    CONSUMERS = BM / 64,            /* warpgroups */
    THREADS = 128 * CONSUMERS + 32, /* and a warp for the producer: registers are not scarce here */
    LEAST_K_TILES = 4,              /* of a CTA: fewer are not worth a part of their own */
    PATCHES = BM / PATCH_ROWS * (BN / PATCH_COLUMNS), /* what a warp adds up at a time */
};

#endif
