/*
 * 14_fused_epilogue: D = gelu(A * B + bias + C), where C is as large as D.
 *
 * The idea: a piece of C is loaded by the TMA into the memory where the same piece of D will be
 * staged. Its first pieces are requested before the tile's main loop, so they arrive under it. When
 * a piece has arrived, each warp reads with ldmatrix what it then overwrites with stmatrix, and the
 * TMA stores it. The thread that has issued the store waits until the TMA has read the piece, and
 * requests the next one of C into the same memory. So C needs no memory and no registers of its
 * own. What it costs: the bytes of C, a barrier for each buffer, and staging memory for three
 * pieces instead of two, because a buffer is now occupied for a load and a store.
 */
#include "activation.h"
#include "fused.h"
/* Of epilogue_store.h: pieces of 64 x 32, and memory for three of them in each consumer. */
#define EPILOGUE_N 32
#define BUFFERS 3
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef STAGES
#define STAGES 5 /* depth of the ring, 2 to 5 */
#endif
#define BN 192 /* columns of a consumer's tile, n of its wgmma */
#define PRODUCER_REGISTERS 40 /* 40 + 2 * 232 <= 3 * 168, those at launch */
#define CONSUMER_REGISTERS 232

enum {
    BM = 128, BK = 64, /* rows of a consumer's tile, and k of a k-tile */
    CONSUMERS = 2,     /* warpgroups, on different tiles */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
    PIECES = BM / EPILOGUE_M * BN / EPILOGUE_N, /* of a tile, 64 rows above the other 64 */
    PIECE_BYTES = EPILOGUE_M * EPILOGUE_N * sizeof(element_t),
};
static_assert(PIECES % (2 * BUFFERS) == 0, "a tile leaves the barriers of C as it finds them");

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    /* [row][column], 64 B swizzle: a piece of C, then the same piece of D */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N];
    element_t bias[CONSUMERS][BN];      /* of the columns of its tile */
    struct pipeline_stage ring[STAGES]; /* released by the four warps of the tile's consumer */
    mbarrier_t c_full[CONSUMERS][BUFFERS]; /* a piece of C has arrived */
    mbarrier_t order[CONSUMERS]; /* [c] phase n: consumer c may begin the main loop of its tile n */
};

/* The main loop on this tile and memory: producer(), issue_k_tile(), release_stage(). */
#include "pingpong.h"

/* Where a piece lies in D: the pieces of 64 x 32 of a tile go down the columns. */
DEVICE int piece_row(struct tile tile, int piece) {
    return tile.m * BM + piece % (BM / EPILOGUE_M) * EPILOGUE_M;
}
DEVICE int piece_column(struct tile tile, int piece) {
    return tile.n * BN + piece / (BM / EPILOGUE_M) * EPILOGUE_N;
}

/* Requests a piece of C into its buffer, which the TMA has read and no thread uses. One thread. */
DEVICE void request_c(struct smem *shared, const struct fused_args *args, struct tile tile,
                      int consumer, int piece) {
    mbarrier_t *full = &shared->c_full[consumer][piece % BUFFERS];
    /* Announces the bytes of the whole piece, which is filled with zeros beyond m and n.
     * mbarrier.arrive.expect_tx */
    mbarrier_arrive_expect_tx(full, PIECE_BYTES);
    tma_load(shared->d[consumer][piece % BUFFERS], &args->map_c, piece_row(tile, piece),
             piece_column(tile, piece), full);
}

/* Puts the biases of a tile's columns into shared memory, two by each thread; beyond n there are
 * none. One warpgroup. */
DEVICE void load_bias(element_t bias[BN], const struct fused_args *args, int first_column) {
    const int pair = threadIdx.x % 128 * 2, column = first_column + pair;
    if (pair >= BN) return;
    uint32_t two = 0;
    if (column + 1 < args->gemm.n)
        two = ld_global_b32(&args->bias[column]);
    else if (column < args->gemm.n) /* what lies behind the last bias is not ours */
        two = ld_global_element(&args->bias[column]).bits;
    st_shared_b32(&bias[pair], two);
}

/* Finishes a piece in place: reads C, adds it and the biases to the accumulators, activates the
 * sums, and writes D where C was. A lane's address is the same for ldmatrix and stmatrix, and so is
 * the order of the values in its registers. A warp reads and writes its own 16 rows alone, so it
 * waits for no other. One warpgroup. */
DEVICE void finish(element_t *staging, float acc[EPILOGUE_N / 2], const element_t *bias) {
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 16, half = threadIdx.x % 32 / 16;
    UNROLL for (int i = 0; i < EPILOGUE_CHUNKS / 2; ++i) {
        const int chunk = (2 * i + half) ^ (row * EPILOGUE_N / 64 % EPILOGUE_CHUNKS);
        element_t *place = &staging[row * EPILOGUE_N + chunk * 8];
        const element_t *columns = &bias[16 * i + threadIdx.x % 4 * 2];
        const uint32_t biases[2] = {ld_shared_b32(columns), ld_shared_b32(&columns[8])};
        uint32_t c[4], d[4];
        ldmatrix_x4(c, place);
        UNROLL for (int r = 0; r < 4; ++r) {
            float *f = &acc[8 * i + 2 * r];
            const uint32_t b = biases[r / 2];
            f[0] += element_to_float(first_of_pair(b)) + element_to_float(first_of_pair(c[r]));
            f[1] += element_to_float(second_of_pair(b)) + element_to_float(second_of_pair(c[r]));
            f[0] = gelu(f[0]);
            f[1] = gelu(f[1]);
            d[r] = pack_elements(f[0], f[1]);
        }
        stmatrix_x4(place, d);
    }
}

/* Finishes and stores a tile, piece by piece. One warpgroup. */
DEVICE void epilogue(struct smem *shared, const struct fused_args *args, struct tile tile,
                     int consumer, float acc[BM / 64][BN / 2]) {
    const bool elected = threadIdx.x % 128 == 0;
    UNROLL for (int piece = 0; piece < PIECES; ++piece) {
        const int row = piece_row(tile, piece), column = piece_column(tile, piece);
        const int i = piece % (BM / EPILOGUE_M), j = piece / (BM / EPILOGUE_M);
        element_t *staging = shared->d[consumer][piece % BUFFERS];
        float *sums = &acc[i][j * EPILOGUE_N / 2];
        /* All bytes of this piece of C have arrived. So the buffer is free, too: C was requested
         * after the TMA had read what was there. mbarrier.try_wait */
        mbarrier_wait(&shared->c_full[consumer][piece % BUFFERS], piece / BUFFERS % 2);
        finish(staging, sums, &shared->bias[consumer][j * EPILOGUE_N]);
        /* What this thread has read and written comes before the TMA's reading of D, and before
         * its writing of the next C. fence.proxy.async */
        fence_proxy_async();
        /* The same holds for every thread before the store is issued. bar.sync */
        named_barrier_sync(1 + consumer, 128);
        if (epilogue_at_edge(&args->gemm, column))
            epilogue_store_elements(&args->gemm, row, column, sums);
        else if (elected) tma_store(&args->gemm.map_d, row, column, staging);
        if (!elected) continue;
        bulk_commit_group();
        if (piece + BUFFERS >= PIECES) continue;
        /* The store has read the buffer, where the next C may be written; the other warps go on.
         * cp.async.bulk.wait_group.read */
        bulk_wait_group_read(0);
        request_c(shared, args, tile, consumer, piece + BUFFERS);
    }
}

/* Multiplies and stores every second tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct fused_args *all, int consumer) {
    const struct gemm_args *args = &all->gemm;
    const bool elected = threadIdx.x % 128 == 0;
    float acc[BM / 64][BN / 2] = {{0}};
    struct pipeline_state state = {0, 0};
    uint32_t order_phase = consumer == 0; /* consumer 0 begins: parity 1 passes at once */
    if (consumer == 1) pipeline_skip(&state, args->tiles_k, STAGES); /* tile 0 is consumer 0's */
    for (int number = blockIdx.x + consumer * gridDim.x; number < args->items;
         number += CONSUMERS * gridDim.x) {
        const struct tile tile = tile_at(number, args->tiles_m, args->tiles_n);
        if (elected) {
            /* All stores of this consumer's last tile have read their buffers.
             * cp.async.bulk.wait_group.read */
            bulk_wait_group_read(0);
            UNROLL for (int piece = 0; piece < BUFFERS; ++piece)
                request_c(shared, all, tile, consumer, piece);
        }
        /* The barrier after the last tile's last piece says that its biases have been read. The
         * next ones arrive while the other consumer multiplies. */
        load_bias(shared->bias[consumer], all, tile.n * BN);
        /* The other consumer has issued the last multiplication of its tile. A consumer that is a
         * round of the ring ahead would take an old phase for its own. mbarrier.try_wait */
        mbarrier_wait(&shared->order[consumer], order_phase);
        order_phase ^= 1;
        struct pipeline_state release = state; /* the next to release */
        /* Prologue: a group that will stay in flight. There is nothing to release yet. */
        issue_k_tile(shared, &state, acc, 0);
        NO_UNROLL for (int k_tile = 1; k_tile < args->tiles_k; ++k_tile) {
            issue_k_tile(shared, &state, acc, k_tile);
            /* The group of k-tile k_tile - 1 is complete: this warp has read its stage.
             * wgmma.wait_group */
            wgmma_wait_group(1);
            release_stage(shared, &release);
        }
        /* The other consumer may begin; its multiplications queue behind these. mbarrier.arrive */
        if (threadIdx.x % 32 == 0) mbarrier_arrive(&shared->order[1 - consumer]);
        /* The accumulators are complete, the last stage read. wgmma.wait_group, mbarrier.arrive */
        wgmma_wait_group(0);
        release_stage(shared, &release);
        /* All threads have written their biases. bar.sync */
        named_barrier_sync(1 + consumer, 128);
        epilogue(shared, all, tile, consumer, acc);
        pipeline_skip(&state, args->tiles_k, STAGES); /* the other consumer's tile */
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (elected) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS_OF(struct fused_args) args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index(), warpgroup = warp / 4;

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, 4);
        for (int i = 0; i < CONSUMERS; ++i) {
            mbarrier_init(&shared->order[i], 4);
            for (int j = 0; j < BUFFERS; ++j) mbarrier_init(&shared->c_full[i][j], 1);
        }
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any other thread uses one. bar.sync */
    __syncthreads();

    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (warp == 0 && elect_one()) producer(shared, &args.gemm);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, warpgroup - 1);
    }
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct fused_args args = fused_args_of(p, BM, BN, BK);
    struct gemm_args *gemm = &args.gemm;
    const enum gemm_type type = ELEMENT_TYPE;
    if (gemm_tensor_map(&gemm->map_a, type, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_b, type, p->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_d, type, p->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                        EPILOGUE_SWIZZLE) ||
        gemm_tensor_map(&args.map_c, type, p->matrix[C].memory, p->m, p->n, p->matrix[C].ld,
                        EPILOGUE_M, EPILOGUE_N, EPILOGUE_SWIZZLE))
        return GEMM_UNSUPPORTED;
    const int sms = gemm_sm_count();
    gemm->items = gemm->tiles_m * gemm->tiles_n;
    return gemm_launch_grid(&GEMM_KERNEL, gemm->items < sms ? gemm->items : sms, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "14_fused_epilogue", .variant = GEMM_VARIANT,
    .technique = "C by the TMA, into the memory where D is staged",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .kind = &fused_kind,
};
