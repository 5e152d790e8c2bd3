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

#endif
