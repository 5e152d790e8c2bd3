/*
 * 16_attention: a consumer's own multiplications run under its softmax, too: overlap within a
 * warpgroup.
 *
 * The idea: pingpong.cu waits for both products before it takes the exponentials, which need only
 * the scores. Here the scores are a group of their own, issued first: the softmax begins when they
 * are there, and the last block's product still runs. Two consumers need no turns; three hand over
 * when their scores are there. What it costs: P needs registers besides the scores, because the
 * Tensor Core still reads it, and O is rescaled when that product is complete, between two rows.
 */
#include "gemm.h"
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "softmax.h"

#ifndef HEAD
#define HEAD 128 /* d, the elements of a query, 64 or 128 */
#endif
#define STAGES 2 /* depth of the rings of keys and of values */
#if HEAD == 128
#define BN 160      /* keys of a block */
#define CONSUMERS 2 /* warpgroups, each with 64 queries of the tile */
#define PRODUCER_REGISTERS 24 /* 24 + 2 * 240 <= 3 * 168, those at launch */
#define CONSUMER_REGISTERS 240
#else
#define BN 128
#define CONSUMERS 3
#define PRODUCER_REGISTERS 32 /* 32 + 3 * 160 <= 4 * 128 */
#define CONSUMER_REGISTERS 160
#endif
#define TURNS (CONSUMERS > 2) /* at the scores */

enum {
    BM = 64 * CONSUMERS, /* the CTA's tile: queries of a head */
    PANELS = HEAD / 64,  /* of 64 columns, 128 bytes, the width of the swizzle */
    THREADS = 128 * (1 + CONSUMERS),
    Q_BYTES = BM * HEAD * sizeof(element_t), /* what the TMA delivers for a tile */
    BLOCK_BYTES = BN * HEAD * sizeof(element_t), /* and for a block of keys, or of values */
};

struct smem {
    element_t q[PANELS][BM * 64];            /* [panel][query][column], 128 B swizzle */
    element_t k[STAGES][PANELS][BN * 64];    /* [stage][panel][key][column], 128 B swizzle */
    element_t v[STAGES][PANELS][BN * 64];    /* the same */
    element_t o[CONSUMERS][PANELS][64 * 64]; /* the same, 64 queries */
    struct pipeline_stage q_ring[1], k_ring[STAGES], v_ring[STAGES]; /* released by all consumers */
    mbarrier_t order[CONSUMERS]; /* [c] phase n: consumer c may issue its products number n */
};

/* A warpgroup's next places in the rings. */
struct places {
    struct pipeline_state q, k, v;
};

/* Issues s = q * k^T: 64 queries x BN keys x 16 at a time. Both are K-major. Rows are 128 bytes;
 * eight of them make the swizzle's 1024-byte pattern, hence the stride. A warpgroup. */
DEVICE void multiply_keys(float s[BN / 2], const element_t *q, const element_t *k) {
    const uint64_t q_tile = wgmma_descriptor(shared_address(q), 0, 1024, SWIZZLE_128B);
    const uint64_t k_tile = wgmma_descriptor(shared_address(k), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < HEAD / 16; ++step) {
        const uint64_t along_d = step % 4 * 16 * sizeof(element_t) >> 4;
        const uint64_t q_panel = step / 4 * BM * 64 * sizeof(element_t) >> 4;
        const uint64_t k_panel = step / 4 * BN * 64 * sizeof(element_t) >> 4;
        wgmma_m64nNk16(BN, s, q_tile + q_panel + along_d, k_tile + k_panel + along_d, step > 0);
    }
}

/* Issues o += p * v: 64 queries x HEAD columns x 16 keys at a time. V is MN-major: a row is a key,
 * a step of the product. So the start moves by rows, and the next panel is the leading dimension.
 * A warpgroup. */
DEVICE void multiply_values(float o[HEAD / 2], const uint32_t p[BN / 16][4], const element_t *v) {
    const uint64_t v_tile =
        wgmma_descriptor(shared_address(v), BN * 64 * sizeof(element_t), 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BN / 16; ++step) {
        const uint64_t down = step * 16 * 64 * sizeof(element_t) >> 4;
        wgmma_m64nNk16_rs_mn_major(HEAD, o, p[step], v_tile + down, true);
    }
}

/* Loads the queries of tile after tile. One thread. */
DEVICE void load_queries(struct smem *shared, const struct attention_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first acquire passes at once */
    struct attention_tile tile;
    for (int step = 0; next_tile(args, &step, BM, BN, &tile);) {
        /* The last tile's queries have been read; then announces the bytes. mbarrier.try_wait,
         * .arrive.expect_tx */
        producer_acquire(shared->q_ring, state, Q_BYTES);
        UNROLL for (int panel = 0; panel < PANELS; ++panel)
            tma_load_3d(shared->q[panel], &args->gemm.map_a, sequence_of(args, &tile),
                        tile.first_row, head_of(args, &tile) * HEAD + panel * 64,
                        &shared->q_ring[0].full);
        pipeline_advance(&state, 1);
    }
}

/* Fills a ring with the keys, or the values, that tile after tile needs, the last block first. One
 * thread. */
DEVICE void load_blocks(struct pipeline_stage *ring, element_t memory[STAGES][PANELS][BN * 64],
                        const struct tensor_map *map, const struct attention_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    struct attention_tile tile;
    for (int step = 0; next_tile(args, &step, BM, BN, &tile);) {
        const int sequence = sequence_of(args, &tile), head = head_of(args, &tile) / args->sharing;
        NO_UNROLL for (int block = tile.blocks - 1; block >= 0; --block) {
            /* All consumer warps have read the stage; then announces the bytes.
             * mbarrier.try_wait, .arrive.expect_tx */
            producer_acquire(ring, state, BLOCK_BYTES);
            UNROLL for (int panel = 0; panel < PANELS; ++panel)
                tma_load_3d(memory[state.index][panel], map, sequence, block * BN,
                            head * HEAD + panel * 64, &ring[state.index].full);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* Releases a stage, which this warp has read. One arrival per warp. mbarrier.arrive */
DEVICE void release(struct pipeline_stage *ring, struct pipeline_state *state, int stages) {
    if (threadIdx.x % 32 == 0) consumer_release(ring, *state);
    pipeline_advance(state, stages);
}

/* Divides the sums, and stores 64 rows of O and of LSE. The last store from this memory may still
 * be under way. One warpgroup. */
DEVICE void store(struct smem *shared, const struct attention_args *args,
                  const struct attention_tile *tile, struct softmax_rows *rows,
                  float o[HEAD / 2], int consumer) {
    const bool elected = threadIdx.x % 128 == 0;
    const int first_row = tile->first_row + consumer * 64;
    softmax_end(o, rows, args, tile->head, first_row, HEAD);
    /* The last tile's stores have read the memory. cp.async.bulk.wait_group.read */
    if (elected) bulk_wait_group_read(0);
    /* The other threads must not overwrite it before that wait. bar.sync */
    named_barrier_sync(1 + consumer, 128);
    UNROLL for (int panel = 0; panel < PANELS; ++panel)
        epilogue_stage_elements(shared->o[consumer][panel], &o[panel * 32]);
    /* What this thread has written comes before the TMA's reading of it. fence.proxy.async */
    fence_proxy_async();
    /* The same holds for every thread before the stores are issued. bar.sync */
    named_barrier_sync(1 + consumer, 128);
    if (elected) {
        UNROLL for (int panel = 0; panel < PANELS; ++panel)
            tma_store_3d(&args->gemm.map_d, sequence_of(args, tile), first_row,
                         head_of(args, tile) * HEAD + panel * 64, shared->o[consumer][panel]);
        bulk_commit_group();
    }
}

/* Multiplies the first block, and takes its exponentials. One warpgroup. */
DEVICE void begin(struct smem *shared, const struct attention_args *args, struct places *places,
                  float s[BN / 2], uint32_t p[BN / 16][4], struct softmax_rows *rows, int block,
                  int consumer) {
    float rescale[2];
    /* All bytes of the keys have arrived. mbarrier.try_wait */
    consumer_wait(shared->k_ring, places->k);
    /* Ordinary accesses to registers come before the multiplications that use them. wgmma.fence */
    wgmma_fence();
    multiply_keys(s, &shared->q[0][consumer * 64 * 64], shared->k[places->k.index][0]);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    /* The scores are complete, the keys have been read. wgmma.wait_group, mbarrier.arrive */
    wgmma_wait_group(0);
    wgmma_use_registers(s, BN / 2);
    release(shared->k_ring, &places->k, STAGES);
    softmax_mask(s, rows, block * BN, BN);
    softmax_block(s, rows, rescale, args->scale, BN);
    softmax_pack(p, s, BN);
}

/* Multiplies a block of keys, and under its softmax the values of the block before. One
 * warpgroup. */
DEVICE void next_block(struct smem *shared, const struct attention_args *args,
                       struct places *places, float s[BN / 2], uint32_t p[BN / 16][4],
                       float o[HEAD / 2], struct softmax_rows *rows, int block, bool masked,
                       uint32_t *order_phase, int consumer) {
    float rescale[2];
    /* The consumer before has its scores. mbarrier.try_wait */
    if (TURNS) mbarrier_wait(&shared->order[consumer], *order_phase);
    *order_phase ^= 1;
    /* All bytes of the values have arrived. mbarrier.try_wait */
    consumer_wait(shared->v_ring, places->v);
    /* What was done to O and P, and with the scores, comes before the multiplications.
     * wgmma.fence */
    wgmma_fence();
    multiply_keys(s, &shared->q[0][consumer * 64 * 64], shared->k[places->k.index][0]);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    multiply_values(o, p, shared->v[places->v.index][0]);
    /* And these another. wgmma.commit_group */
    wgmma_commit_group();
    /* The scores are complete, the keys have been read. wgmma.wait_group, mbarrier.arrive */
    wgmma_wait_group(1);
    wgmma_use_registers(s, BN / 2);
    release(shared->k_ring, &places->k, STAGES);
    /* The next consumer's turn; one arrival per warp. mbarrier.arrive */
    if (TURNS && threadIdx.x % 32 == 0) mbarrier_arrive(&shared->order[(consumer + 1) % CONSUMERS]);
    if (masked) softmax_mask(s, rows, block * BN, BN);
    UNROLL for (int r = 0; r < 2; ++r)
        softmax_maximum(s, rows, r, rescale, args->scale, BN);
    softmax_exponentials(s, rows, 0, args->scale, BN); /* and under them row 1's maximum */
    /* All bytes of the next keys have arrived. This wait is a loop, and that PINS THE ORDER: within
     * a basic block ptxas moves wgmma_wait_group(0) up to the maxima. mbarrier.try_wait */
    if (block > 0) consumer_wait(shared->k_ring, places->k);
    /* O and P are free again, the values have been read. wgmma.wait_group, mbarrier.arrive */
    wgmma_wait_group(0);
    wgmma_use_registers(o, HEAD / 2);
    wgmma_use_fragments(p[0], BN / 4);
    release(shared->v_ring, &places->v, STAGES);
    softmax_exponentials(s, rows, 1, args->scale, BN); /* and under them what follows */
    softmax_rescale(o, rescale, HEAD);
    softmax_pack(p, s, BN);
}

/* Multiplies the last exponentials with their values. One warpgroup. */
DEVICE void finish(struct smem *shared, struct places *places, float o[HEAD / 2],
                   uint32_t p[BN / 16][4]) {
    /* All bytes of the values have arrived. mbarrier.try_wait */
    consumer_wait(shared->v_ring, places->v);
    /* Ordinary accesses to registers come before the multiplications that use them. wgmma.fence */
    wgmma_fence();
    multiply_values(o, p, shared->v[places->v.index][0]);
    /* wgmma.commit_group */
    wgmma_commit_group();
    /* O is complete, the values have been read. wgmma.wait_group, mbarrier.arrive */
    wgmma_wait_group(0);
    wgmma_use_registers(o, HEAD / 2);
    wgmma_use_fragments(p[0], BN / 4);
    release(shared->v_ring, &places->v, STAGES);
}

/* Computes 64 queries of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct attention_args *args, int consumer) {
    float s[BN / 2], o[HEAD / 2];
    uint32_t p[BN / 16][4];
    struct places places = {{0, 0}, {0, 0}, {0, 0}};
    uint32_t order_phase = consumer == 0; /* consumer 0 begins: parity 1 passes at once */
    struct attention_tile tile;
    for (int step = 0; next_tile(args, &step, BM, BN, &tile);) {
        const int first_row = tile.first_row + consumer * 64;
        struct softmax_rows rows = softmax_begin(args, first_row);
        /* Blocks that all 64 queries see as a whole need no mask. They come last. */
        const int whole = keys_seen(args, first_row) / BN;
        UNROLL for (int i = 0; i < HEAD / 2; ++i) o[i] = 0;
        /* The tile's queries have arrived. mbarrier.try_wait */
        consumer_wait(shared->q_ring, places.q);
        int block = tile.blocks - 1;
        begin(shared, args, &places, s, p, &rows, block, consumer);
        if (block > 0) consumer_wait(shared->k_ring, places.k);
        NO_UNROLL for (--block; block >= whole; --block)
            next_block(shared, args, &places, s, p, o, &rows, block, true, &order_phase, consumer);
        NO_UNROLL for (; block >= 0; --block)
            next_block(shared, args, &places, s, p, o, &rows, block, false, &order_phase, consumer);
        /* This warp has read the queries. mbarrier.arrive */
        release(shared->q_ring, &places.q, 1);
        finish(shared, &places, o, p);
        store(shared, args, &tile, &rows, o, consumer);
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (threadIdx.x % 128 == 0) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS_OF(struct attention_args) args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index(), warpgroup = warp / 4;

    if (threadIdx.x == 0) {
        pipeline_init(shared->q_ring, 1, CONSUMERS * 4);
        pipeline_init(shared->k_ring, STAGES, CONSUMERS * 4);
        pipeline_init(shared->v_ring, STAGES, CONSUMERS * 4);
        for (int i = 0; TURNS && i < CONSUMERS; ++i) mbarrier_init(&shared->order[i], 4);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any other thread uses one. bar.sync */
    __syncthreads();

    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        const bool elected = elect_one();
        if (warp == 0 && elected) load_blocks(shared->k_ring, shared->k, &args.gemm.map_b, &args);
        if (warp == 1 && elected) load_blocks(shared->v_ring, shared->v, &args.map_v, &args);
        if (warp == 2 && elected) load_queries(shared, &args);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, warpgroup - 1);
    }
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct attention_args args;
    const enum gemm_status status = attention_args_of(&args, p, HEAD, BM, BN);
    if (status != GEMM_OK) return status;
    const int sms = gemm_sm_count(), items = args.gemm.items;
    return gemm_launch_grid(&GEMM_KERNEL, items < sms ? items : sms, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "16_attention", .variant = GEMM_VARIANT,
    .technique = "a consumer's own products under its softmax, too",
    .tile_m = BM, .tile_n = HEAD, .tile_k = BN, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .kind = HEAD == 64 ? &attention_64_kind : &attention_128_kind, .loop = GEMM_ALONG_N,
    .boundaries = {{"--heads", RASTER_GROUP}},
};
