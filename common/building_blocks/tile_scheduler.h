/*
 * tile_scheduler.h: handing output tiles to the CTAs of a persistent kernel, one at a time.
 *
 * A counter in global memory says which tile is next, so a CTA that is ahead takes the next tile
 * instead of drifting further ahead in a fixed stride. One producer thread asks, and passes the
 * number on to the consumers through a small ring in shared memory: the same full and empty
 * barriers as for the data, but filled by an ordinary store instead of the TMA.
 */
#ifndef BUILDING_BLOCKS_TILE_SCHEDULER_H
#define BUILDING_BLOCKS_TILE_SCHEDULER_H

#include "building_blocks/pipeline.h"

#ifndef STATIC_TILES
#define STATIC_TILES 0 /* 1: every CTA takes every gridDim.x-th tile; 0: a counter hands them out */
#endif

enum { TILE_SLOTS = 2, NO_TILE = 0x7fffffff };

struct tile_scheduler {
    struct pipeline_stage slot[TILE_SLOTS]; /* empty: released by the warps that take the tile */
    uint32_t number[TILE_SLOTS];
};

/* Asks for the tile after `number`; the answer takes a trip to the L2, so ask a tile ahead. One
 * thread of each CTA, as often as it computes a tile. */
DEVICE uint32_t tile_scheduler_ask(uint32_t *counter, uint32_t number) {
    return STATIC_TILES ? number : atomic_add_global(counter, 1);
}

/* What was asked for, as a tile's number; the first gridDim.x tiles are taken without asking.
 * The counter is asked once for every tile, so whoever asked last leaves it as it was found.
 * The thread that asked. */
DEVICE uint32_t tile_scheduler_answer(uint32_t *counter, uint32_t asked, uint32_t tiles) {
    if (!STATIC_TILES && asked == tiles - 1) st_global_b32(counter, 0);
    return asked + gridDim.x;
}

/* Passes a tile's number on, or NO_TILE. One thread. */
DEVICE void tile_scheduler_put(struct tile_scheduler *scheduler, struct pipeline_state *state,
                               uint32_t number) {
    /* The slot's last number has been read. mbarrier.try_wait */
    mbarrier_wait(&scheduler->slot[state->index].empty, state->phase);
    st_shared_b32(&scheduler->number[state->index], number);
    /* The number is there. mbarrier.arrive */
    producer_commit(scheduler->slot, *state);
    pipeline_advance(state, TILE_SLOTS);
}

/* Takes the number in the slot that `state` points to. Whole warps; each counts as one arrival. */
DEVICE uint32_t tile_scheduler_get(struct tile_scheduler *scheduler, struct pipeline_state state) {
    /* The number is there. mbarrier.try_wait */
    consumer_wait(scheduler->slot, state);
    const uint32_t number = ld_shared_b32(&scheduler->number[state.index]);
    /* All lanes have read it before one of them says so. bar.warp.sync, mbarrier.arrive */
    __syncwarp();
    if (threadIdx.x % 32 == 0) consumer_release(scheduler->slot, state);
    return number;
}

#define tile_ask(counter, number) VERB_VALUE(tile_scheduler_ask(counter, number))
#define tile_answer(counter, asked, tiles) VERB_VALUE(tile_scheduler_answer(counter, asked, tiles))
#define tile_put(scheduler, state, number) VERB(tile_scheduler_put(scheduler, state, number))
#define tile_get(scheduler, state) VERB_VALUE(tile_scheduler_get(scheduler, state))

#endif
