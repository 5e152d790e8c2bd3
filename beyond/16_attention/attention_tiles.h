/*
 * attention_tiles.h: which queries of which head a CTA computes, and which keys these see. The
 * heads of all sequences are numbered through: a batch has more heads, and nothing else.
 *
 * With a causal mask the last queries see the most keys, so tiles of a head take different times. A
 * CTA takes two of them together, one from each end: the pairs of a head see about as many keys.
 * What is left of the difference is evened out by taking every second round from right to left.
 * Some heads take turns, and the others wait until these are done, so the L2 serves the CTAs that
 * read the same keys and values.
 */
#ifndef BEYOND_16_ATTENTION_ATTENTION_TILES_H
#define BEYOND_16_ATTENTION_ATTENTION_TILES_H

#define RASTER_GROUP 4 /* of tile_order.h: heads; K and V of one are 8 MB at 16384 keys of 128 */
#include "building_blocks/tile_order.h"
#include "attention.h"
#include "services/batch.h"

struct attention_tile {
    int head;      /* of all sequences */
    int first_row; /* of the sequence's queries */
    int blocks;    /* of keys, those that some query sees; at least 1 */
};

/* The tile's sequence, and its head of that sequence. Any thread. */
DEVICE int sequence_of(const struct attention_args *args, const struct attention_tile *tile) {
    return tile->head / args->heads;
}
DEVICE int head_of(const struct attention_args *args, const struct attention_tile *tile) {
    return tile->head % args->heads;
}

/* How many keys a query sees. Any thread. */
DEVICE int keys_seen(const struct attention_args *args, int row) {
    if (row >= args->gemm.n - 1 - args->beyond) return args->gemm.n; /* row + beyond has 32 bits */
    const int seen = row + args->beyond + 1; /* with a causal mask and fewer keys it may be < 0 */
    return seen < 0 ? 0 : seen;
}

/* Number *step of a CTA's tiles; counts that up. False if there is none. If a head has an odd
 * number of tiles, the longest is alone: its pair lies behind the last query, and nothing of it is
 * stored. Any thread. */
DEVICE bool next_tile(const struct attention_args *args, int *step, int tile_rows, int block_keys,
                      struct attention_tile *tile) {
    const int tiles = args->gemm.tiles_m, pairs = args->pairs;
    const int round = *step >> pairs, second = *step & pairs;
    const int item = round * gridDim.x + (round % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
    if (item >= args->gemm.items) return false;
    ++*step;
    const struct tile at = tile_at(item, args->all_heads, (tiles + pairs) >> pairs);
    int place = second ? at.n - tiles % 2 : tiles - 1 - at.n; /* among the head's tiles */
    if (place < 0) place = tiles;
    tile->head = at.m;
    tile->first_row = place * tile_rows;
    const int end = tile->first_row + tile_rows;
    const int keys = keys_seen(args, (end < args->gemm.m ? end : args->gemm.m) - 1);
    tile->blocks = place < tiles && keys > block_keys ? (keys + block_keys - 1) / block_keys : 1;
    return true;
}

/* The parameter of a kernel of this d. Host thread. */
static inline enum gemm_status attention_args_of(struct attention_args *args,
                                                 const struct gemm_problem *p, int d,
                                                 int tile_rows, int block_keys) {
    const struct attention_problem *const of = attention_of(p);
    if (p->k != d) return GEMM_UNSUPPORTED; /* the harness has said so */
    const enum gemm_type type = ELEMENT_TYPE;
    const struct gemm_matrix *v = &p->matrix[VALUES], *lse = &p->matrix[LSE];
    const struct attention_strides *strides = &of->strides;
    const int columns = of->heads * d, kv_columns = of->kv_heads * d;
    memset(args, 0, sizeof *args);
    args->gemm = gemm_args_of(p, tile_rows, block_keys, d);
    const int tiles = args->gemm.tiles_m, all_heads = of->batch * of->heads;
    args->pairs = of->causal && tiles > 2 && tiles * all_heads > gemm_sm_count();
    args->gemm.items = ceil_div(tiles, 1 + args->pairs) * all_heads;
    args->lse = (float *)lse->memory;
    args->lse_pitch = lse->ld;
    args->heads = of->heads;
    args->sharing = of->heads / of->kv_heads;
    args->all_heads = all_heads;
    args->beyond = of->causal ? p->n - p->m : p->n;
    args->scale = of->scale;
    if (gemm_tensor_map_3d(&args->gemm.map_a, type, p->a, of->batch, strides->q, p->m, columns,
                           p->lda, tile_rows, 64, SWIZZLE_128B) ||
        gemm_tensor_map_3d(&args->gemm.map_b, type, p->b, of->batch, strides->k, p->n, kv_columns,
                           p->ldb, block_keys, 64, SWIZZLE_128B) ||
        gemm_tensor_map_3d(&args->map_v, type, v->memory, of->batch, strides->v, p->n, kv_columns,
                           v->ld, block_keys, 64, SWIZZLE_128B) ||
        gemm_tensor_map_3d(&args->gemm.map_d, type, p->d, of->batch, strides->o, p->m, columns,
                           p->ldd, 64, 64, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    return GEMM_OK;
}

#endif
