/*
 * parts.h: which tiles a device multiplies, in which order, and where their parts lie. For the
 * kernels that send parts while they multiply, through_tma.cu and kernel.cu, on two devices.
 *
 * The owner of a tile of D is the device that stores it. The other device, its peer, multiplies the
 * same tile over its own slice of k. A *part* is what a consumer of the peer has of the tile: the
 * accumulators of 64 rows, rounded to elements of D. It lies in the order in which the threads hold
 * the accumulators, so that the same thread of the owner's consumer finds its sums in it, and no
 * edge of D matters on the way.
 */
#ifndef TWO_GPUS_PARTS_H
#define TWO_GPUS_PARTS_H

#include "gemm_devices.h"
#include "building_blocks/tile_order.h"
#include "hopper/element.h"

enum {
    DEVICES = 2,
    TILE_PARTS = 2, /* of a tile, one of each consumer */
    CHUNK_SUMS = 8, /* accumulators in 16 bytes */
    PART_CHUNKS = SLICE_N / 2 / CHUNK_SUMS, /* of every thread; a part is [chunk][thread] */
    PART_BYTES = PART_CHUNKS * 128 * 16,
};

/* The tiles of D that a device owns: whole rows of tiles. */
DEVICE int tiles_of(const struct gemm_device_args *args, int owner) {
    return (args->first_m_tile[owner + 1] - args->first_m_tile[owner]) * args->gemm.tiles_n;
}

/* A tile, the device that owns it, and its number among that device's tiles. */
struct work {
    struct tile tile;
    int owner, number;
};

/* This device's work number `number`: the peer's tiles, then its own. */
DEVICE struct work work_at(const struct gemm_device_args *args, int number) {
    const int peer = 1 - args->device, peers = tiles_of(args, peer);
    struct work work = {.owner = number < peers ? peer : args->device,
                        .number = number < peers ? number : number - peers};
    const int first_row = args->first_m_tile[work.owner];
    work.tile = tile_at(work.number, args->first_m_tile[work.owner + 1] - first_row,
                        args->gemm.tiles_n);
    work.tile.m += first_row;
    return work;
}

/* The number of a part among those that the tile's owner receives. The owner's flags have the same
 * order. */
DEVICE int part_index(struct work work, int consumer) {
    return work.number * TILE_PARTS + consumer;
}

/* A word of the sending device, after the flags of the parts that it receives. The owner sets it
 * when this consumer of this CTA of the sender may send parts: there is *credit*. */
DEVICE uint32_t *credit_word(const struct gemm_device_args *args, int sender, int consumer) {
    const int flags = tiles_of(args, sender) * TILE_PARTS;
    return &args->flags[sender][flags + blockIdx.x * TILE_PARTS + consumer];
}

/* Sixteen bytes of a part from accumulators, and back. Any thread. */
DEVICE struct b128 chunk_of(const float acc[CHUNK_SUMS]) {
    struct b128 chunk;
    UNROLL for (int i = 0; i < 4; ++i) chunk.word[i] = pack_elements(acc[2 * i], acc[2 * i + 1]);
    return chunk;
}
DEVICE void add_chunk(float acc[CHUNK_SUMS], struct b128 chunk) {
    UNROLL for (int i = 0; i < 4; ++i) {
        acc[2 * i] += element_to_float(first_of_pair(chunk.word[i]));
        acc[2 * i + 1] += element_to_float(second_of_pair(chunk.word[i]));
    }
}

/* ---- the launch (host thread) ---- */

/* Parts that a device receives, at most: device 1 owns a tile row more if their number is odd. */
static inline int most_parts(const struct gemm_problem *p) {
    const int tile_rows = ceil_div(ceil_div(p->m, SLICE_M), DEVICES);
    return tile_rows * ceil_div(p->n, SLICE_N) * TILE_PARTS;
}

/* A CTA for each tile, and at most one for each SM. CTAs wait for others, of both devices, so all
 * of them have to be resident. */
static inline int resident_grid(const struct gemm_problem *p) {
    const int items = ceil_div(p->m, SLICE_M) * ceil_div(p->n, SLICE_N), sms = gemm_sm_count();
    return items < sms ? items : sms;
}

/* A flag for each part, and the words of credit_word(). */
static inline size_t part_flags(const struct gemm_problem *p) {
    return (size_t)(most_parts(p) + resident_grid(p) * TILE_PARTS);
}

static inline size_t part_workspace(const struct gemm_problem *p) {
    return (size_t)most_parts(p) * PART_BYTES;
}

#endif
