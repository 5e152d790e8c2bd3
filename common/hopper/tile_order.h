/*
 * tile_order.h: in which order output tiles are computed.
 *
 * The CTAs that run at the same time should share operands, so that the L2 cache serves all but
 * the first of them: a nearly square patch of tiles needs the fewest different rows of A and B.
 * Tiles are numbered down a band of TILE_BAND tile rows, then along it. What that is worth:
 * docs/choosing-a-schedule.md.
 */
#ifndef HOPPER_TILE_ORDER_H
#define HOPPER_TILE_ORDER_H

#include "thread.h"

#ifndef TILE_BAND
#define TILE_BAND 12
#endif

struct tile {
    int m, n; /* tile row and tile column of D */
};

/* The tile with this number, 0 <= number < tiles_m * tiles_n. Any thread. */
DEVICE struct tile tile_at(int number, int tiles_m, int tiles_n) {
    const int band = number / (TILE_BAND * tiles_n); /* bands above this one are full */
    const int in_band = number - band * TILE_BAND * tiles_n;
    const int rows_left = tiles_m - band * TILE_BAND;
    const int rows = rows_left < TILE_BAND ? rows_left : TILE_BAND;
    struct tile tile;
    tile.m = band * TILE_BAND + in_band % rows;
    tile.n = in_band / rows;
    return tile;
}

#endif
