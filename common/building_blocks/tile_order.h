/*
 * tile_order.h: the order in which output tiles are computed.
 *
 * The CTAs that run at the same time should share operands, so that the L2 cache serves all
 * requests but the first. A nearly square patch of tiles needs the fewest different rows of A and
 * B. Tiles are numbered down a group of RASTER_GROUP tile rows, then along the group. Its gain:
 * docs/choosing-a-schedule.md.
 */
#ifndef BUILDING_BLOCKS_TILE_ORDER_H
#define BUILDING_BLOCKS_TILE_ORDER_H

#include "building_blocks/divisor.h"
#include "hopper/thread.h"

#ifndef RASTER_GROUP
#define RASTER_GROUP 12
#endif

/* What a recorder does when a thread looks up a tile (timeline/recorder.h). */
#ifndef ON_TILE
#define ON_TILE(number)
#endif

struct tile {
    int m, n; /* tile row and tile column of D */
};

/* The tile with this number, 0 <= number < tiles_m * tiles_n. Any thread. */
DEVICE struct tile tile_at(int number, int tiles_m, int tiles_n) {
    ON_TILE(number);
    const int group = number / (RASTER_GROUP * tiles_n); /* groups above this one are full */
    const int in_group = number - group * RASTER_GROUP * tiles_n;
    const int rows_left = tiles_m - group * RASTER_GROUP;
    const int rows = rows_left < RASTER_GROUP ? rows_left : RASTER_GROUP;
    struct tile tile;
    tile.m = group * RASTER_GROUP + in_group % rows;
    tile.n = in_group / rows;
    return tile;
}

/* This order with its divisors, in a kernel's parameter. */
struct tile_order {
    int last_group;                 /* of tile rows */
    struct divisor last_rows, rows; /* of the last group, and of the ones before */
    struct divisor group;           /* tiles of a group before the last */
};

/* The order of so many tiles, for tile_in_order(). Host thread. */
static inline struct tile_order tile_order_of(int tiles_m, int tiles_n) {
    struct tile_order order;
    order.last_group = (tiles_m - 1) / RASTER_GROUP;
    order.group = divisor_of((uint32_t)RASTER_GROUP * (uint32_t)tiles_n);
    order.rows = divisor_of(RASTER_GROUP);
    order.last_rows = divisor_of((uint32_t)(tiles_m - order.last_group * RASTER_GROUP));
    return order;
}

/* The same tile as tile_at() gives. For a kernel whose CTAs compute a tile each, and have nothing
 * to do before they know which. Any thread. */
DEVICE struct tile tile_in_order(int number, struct tile_order order) {
    ON_TILE(number);
    uint32_t group = 0, in_group = (uint32_t)number;
    struct divisor rows = order.last_rows;
    if (order.last_group > 0) {
        group = divided_by(in_group, order.group);
        in_group -= group * order.group.number;
        if ((int)group < order.last_group) rows = order.rows;
    }
    const uint32_t column = divided_by(in_group, rows);
    const struct tile tile = {(int)(group * RASTER_GROUP + in_group - column * rows.number),
                              (int)column};
    return tile;
}

#endif
