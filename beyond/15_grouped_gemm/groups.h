/*
 * groups.h: which tile of which group a CTA computes: a persistent scheduler over many problems.
 *
 * The tiles of all groups have one sequence of numbers, group by group. How many tiles a group has
 * depends on its rows, which are data. A thread that asks for larger and larger numbers walks
 * through the groups once, a load for each.
 */
#ifndef BEYOND_15_GROUPED_GEMM_GROUPS_H
#define BEYOND_15_GROUPED_GEMM_GROUPS_H

#include "building_blocks/group_store.h"
#include "building_blocks/tile_order.h"
#include "hopper/thread.h"
#include "grouped.h"

/* What the kernels' parameters have besides gemm_args. */
struct grouping {
    const uint32_t *first_rows; /* [groups + 1]; word 0 is not read */
    int groups;
    int rows; /* of A and D */
};

/* The group that the last tile was of. */
struct group {
    int number;
    int first_row, rows;   /* of A and D */
    int first_tile, tiles; /* in the sequence */
};

static const struct group BEFORE_GROUPS = {-1, 0, 0, 0, 0};

/* The row behind the group's last one. It is data: a row in front of the group's first, or behind
 * the last of D, would be no part of it, and the TMA would write there. */
static inline
#ifdef __CUDACC__
    __device__ __host__
#endif
    int group_end(int word, int first_row, int rows) {
    return word < first_row ? first_row : word < rows ? word : rows;
}

/* Goes on to the group of this tile; false if there are not so many tiles. Any thread. */
DEVICE bool find_group(struct group *group, const struct grouping *grouping, int tile,
                       int tile_rows, int tiles_n) {
    while (tile >= group->first_tile + group->tiles) {
        group->first_tile += group->tiles;
        group->first_row += group->rows;
        if (++group->number == grouping->groups) return false;
        group->rows = group_end((int)ld_global_b32(&grouping->first_rows[group->number + 1]),
                                group->first_row, grouping->rows) -
                      group->first_row;
        group->tiles = (group->rows + tile_rows - 1) / tile_rows * tiles_n;
    }
    return true;
}

/* The tile with this number, which is one of the group's. Any thread. */
DEVICE struct tile tile_of_group(const struct group *group, int number, int tile_rows,
                                 int tiles_n) {
    return tile_at(number - group->first_tile, (group->rows + tile_rows - 1) / tile_rows, tiles_n);
}

/* The tile of the group goes to a matrix whose row `map_row` is the group's first. Any thread. */
DEVICE struct group_output output_of_tile(const struct gemm_args *args, const struct group *group,
                                          struct tile tile, int tile_rows, int tile_columns,
                                          const struct tensor_map *map, int map_row,
                                          bool map_clips) {
    const int row = tile.m * tile_rows;
    struct group_output to;
    to.map = map;
    to.map_row = map_row + row;
    to.rows = group->rows - row;
    to.d = args->d + (int64_t)(group->first_row + row) * args->ldd;
    to.map_clips = map_clips;
    to.n = args->n;
    to.column = tile.n * tile_columns;
    to.ldd = args->ldd;
    return to;
}

/* Host thread. */
static inline struct grouping grouping_of(const struct gemm_problem *p) {
    const struct grouping grouping = {(const uint32_t *)p->matrix[FIRST_ROWS].memory,
                                      grouped_of(p)->groups, p->m};
    return grouping;
}

#endif
