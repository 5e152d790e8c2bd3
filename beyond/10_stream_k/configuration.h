/*
 * configuration.h: the build-time parameters of kernel.cu and stream_k.cu, and what follows
 * from them.
 *
 * The top CMakeLists.txt compiles a kernel once for each configuration. Some of them are in
 * select.c's table; the others are there for comparison. A parameter that is not given there gets
 * its default here.
 */
#ifndef CONFIGURATION_H
#define CONFIGURATION_H

#include <assert.h>

#include "gemm.h"
#include "building_blocks/epilogue_store.h"
#include "hopper/element.h"

#ifndef BM
#define BM 128 /* rows of the CTA's tile */
#endif
#ifndef BN
#define BN 256 /* columns of the CTA's tile */
#endif
#ifndef STAGES
#define STAGES 4 /* depth of the ring */
#endif
#ifndef CLUSTER
#define CLUSTER 2 /* CTAs of a cluster, one above the other */
#endif
#ifndef BOX
#define BOX (BN / CLUSTER) /* columns of B per load; the cluster's CTAs take turns */
#endif
#ifndef PINGPONG
#define PINGPONG 0 /* 1: each consumer has a tile of its own; 0: each has half the rows of one */
#endif
#ifndef RASTER_GROUP
#define RASTER_GROUP (16 / CLUSTER) /* of tile_order.h; in clusters */
#endif

/* Registers per thread after the exchange: 40 + 2 * 232 <= 3 * 168, those at launch. */
#define PRODUCER_REGISTERS 40
#define CONSUMER_REGISTERS 232

enum {
    BK = 64,
    CONSUMERS = 2, /* warpgroups */
    THREADS = 128 * (1 + CONSUMERS),
    ROWS = PINGPONG ? BM : BM / CONSUMERS, /* of a consumer */
    RELEASES = CLUSTER * 4 * (PINGPONG ? 1 : CONSUMERS), /* warps that read a stage */
    /* Is a tile stored under the next one's main loop? Half as many registers again as those of the
     * accumulators have to be free, and with ping-pong the other consumer multiplies meanwhile. */
    PACKED = !PINGPONG && ROWS * BN <= 64 * 256,
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
};
static_assert(ROWS / EPILOGUE_M * (BN / EPILOGUE_N) % BUFFERS == 0, "buffers take turns in tiles");
static_assert(BN % BOX == 0 && BOX % 8 == 0, "a box of B is whole patterns of the swizzle");

#endif
