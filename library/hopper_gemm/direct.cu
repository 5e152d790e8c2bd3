/*
 * hopper_gemm, direct.cu: next to no work, and few rows: from global memory to registers.
 *
 * The idea: where a kernel takes two or three microseconds, its ring is what takes time: barriers
 * are initialized, loads go through the TMA, and one k-tile comes after the other. Here each warp
 * has every WARPS-th step of 32 columns of k. A lane loads 16 bytes of a row straight into
 * registers, which are the fragments of two mma.sync, and has FLIGHT steps under way. The warps'
 * sums are added up through shared memory, after the kernel's only barrier. What it costs: every
 * tile reads its rows itself, and tiles are small. What it hides: all trips to memory but one, if
 * the warps have at most FLIGHT steps each.
 *
 * The *side* operand gives the 16 or 32 rows of a tile, the *fitted* operand its columns; if the
 * side is B, the product is D transposed.
 */
#include "direct.h"
#include "gemm.h"
#include "hopper/element.h"
#include "hopper/mma.h"
#include "hopper/thread.h"

#ifndef BM
#define BM 16 /* side rows of a tile: of the 16 x 16 operand of mma.sync */
#endif
#ifndef BN
#define BN 8 /* fitted rows of a tile: of the 8 x 16 operand */
#endif
#ifndef FLIGHT
#define FLIGHT 6 /* steps of a warp whose loads are under way */
#endif

enum {
    BLOCKS_M = BM / 16, BLOCKS_N = BN / 8, /* of a tile: 16 x 8 each, an mma.sync's */
    BLOCKS = BLOCKS_M * BLOCKS_N,
    /* Sums that a warp adds up separately: an mma.sync waits for the one before with the same. */
    CHAINS = BLOCKS < 4 ? 2 : 1,
    CHUNK = 8, /* elements: 16 bytes, which one lane loads at once */
    STEP = DIRECT_STEP,
    MOST_WARPS = DIRECT_MOST_WARPS,
};

/* A warp's sums in shared memory. */
struct sums {
    struct b128 block[BLOCKS][32]; /* [block][lane], in mma.sync's order */
};

/* The next chunk of each of a lane's rows. */
struct chunks {
    const element_t *side[2 * BLOCKS_M]; /* of row 8 i + g, where g = lane / 4 */
    const element_t *fitted[BLOCKS_N];   /* of row 8 j + g */
    int left;                            /* columns from there on, none if not positive */
};

/* What a lane holds of a step: of each row, chunk lane % 4 of the 32 columns. */
struct step {
    struct b128 side[2 * BLOCKS_M];
    struct b128 fitted[BLOCKS_N];
};

/* The chunks of this lane in the warp's first step. A row beyond an operand's last one is replaced
 * by the last one: the tile's rows there are not stored, and no other bytes are loaded. Any
 * thread. */
DEVICE struct chunks first_chunks(const struct gemm_args *args, bool transposed, int first_side,
                                  int first_fitted) {
    const int lane = threadIdx.x % 32, column = threadIdx.x / 32 * STEP + lane % 4 * CHUNK;
    const int last_side = (transposed ? args->n : args->m) - 1;
    const int last_fitted = (transposed ? args->m : args->n) - 1;
    const int64_t ld_side = transposed ? args->ldb : args->lda;
    const int64_t ld_fitted = transposed ? args->lda : args->ldb;
    const element_t *side = (transposed ? args->b : args->a) + column;
    const element_t *fitted = (transposed ? args->a : args->b) + column;
    struct chunks chunks;
    UNROLL for (int i = 0; i < 2 * BLOCKS_M; ++i) {
        const int row = first_side + 8 * i + lane / 4;
        chunks.side[i] = side + (row < last_side ? row : last_side) * ld_side;
    }
    UNROLL for (int j = 0; j < BLOCKS_N; ++j) {
        const int row = first_fitted + 8 * j + lane / 4;
        chunks.fitted[j] = fitted + (row < last_fitted ? row : last_fitted) * ld_fitted;
    }
    chunks.left = args->k - column;
    return chunks;
}

/* Starts loading a step, and goes on by `stride` columns. A chunk beyond the last column is zero.
 * The four lanes of a row load 64 consecutive bytes. A warp. */
DEVICE void load_step(struct step *step, struct chunks *chunks, int stride) {
    const struct b128 zeros = {{0}};
    UNROLL for (int i = 0; i < 2 * BLOCKS_M; ++i) {
        step->side[i] = chunks->left > 0 ? ld_global_b128(chunks->side[i]) : zeros;
        chunks->side[i] += stride;
    }
    UNROLL for (int j = 0; j < BLOCKS_N; ++j) {
        step->fitted[j] = chunks->left > 0 ? ld_global_b128(chunks->fitted[j]) : zeros;
        chunks->fitted[j] += stride;
    }
    chunks->left -= stride;
}

/* Clears what a step's chunks hold beyond their first `valid` elements: the padding of a row may be
 * NaN, and NaN times zero is NaN. Any thread. */
DEVICE void clear_padding(struct step *step, int valid) {
    UNROLL for (int word = 0; word < 4; ++word) {
        const int left = valid - 2 * word; /* elements of this word and beyond */
        const uint32_t kept = left > 1 ? 0xffffffffu : left == 1 ? 0xffffu : 0;
        UNROLL for (int i = 0; i < 2 * BLOCKS_M; ++i) step->side[i].word[word] &= kept;
        UNROLL for (int j = 0; j < BLOCKS_N; ++j) step->fitted[j].word[word] &= kept;
    }
}

/* acc += side * fitted on a tile, 32 deep. The instruction pairs the k-th column of one operand
 * with the k-th of the other, whichever columns of the matrices these are. So a lane's eight
 * consecutive elements may serve as the four of two instructions. A warp. */
DEVICE void multiply(float acc[CHAINS][BLOCKS][4], const struct step *step) {
    UNROLL for (int half = 0; half < 2; ++half)
        UNROLL for (int i = 0; i < BLOCKS_M; ++i) {
            const uint32_t *upper = &step->side[2 * i].word[2 * half];
            const uint32_t *lower = &step->side[2 * i + 1].word[2 * half];
            const uint32_t side[4] = {upper[0], lower[0], upper[1], lower[1]};
            UNROLL for (int j = 0; j < BLOCKS_N; ++j)
                mma_m16n8k16(acc[half % CHAINS][i * BLOCKS_N + j], side,
                             &step->fitted[j].word[2 * half]);
        }
}

/* The warp's share of the tile's product: steps warp, warp + warps, and so on. A warp. */
DEVICE void main_loop(const struct gemm_args *args, struct chunks *chunks, int warp, int warps,
                      float acc[CHAINS][BLOCKS][4]) {
    struct step step[FLIGHT];
    const int stride = warps * STEP;
    int k = warp * STEP;
    UNROLL for (int i = 0; i < FLIGHT; ++i) load_step(&step[i], chunks, stride);
    NO_UNROLL for (;;)
        UNROLL for (int i = 0; i < FLIGHT; ++i) {
            if (k >= args->k) return;
            if (args->k % CHUNK) clear_padding(&step[i], chunks->left + FLIGHT * stride);
            multiply(acc, &step[i]);
            load_step(&step[i], chunks, stride);
            k += stride;
        }
}

/* Leaves the warp's sums in shared memory. A warp. */
DEVICE void leave_sums(struct sums *sums, float acc[CHAINS][BLOCKS][4]) {
    UNROLL for (int i = 0; i < BLOCKS; ++i) {
        struct b128 chunk;
        if (CHAINS == 2) UNROLL for (int j = 0; j < 4; ++j) acc[0][i][j] += acc[CHAINS - 1][i][j];
        memcpy(&chunk, acc[0][i], sizeof chunk);
        st_shared_b128(&sums->block[i][threadIdx.x % 32], chunk);
    }
}

/* Adds up the sums of a block in the order of the warps, `most` at the most, a constant. All of
 * them are loaded before the first is used. A warp. */
DEVICE void add_warps(const struct sums *sums, int block, int warps, int most, float sum[4]) {
    const struct b128 zeros = {{0}};
    struct b128 chunk[MOST_WARPS];
    UNROLL for (int warp = 0; warp < most; ++warp)
        chunk[warp] =
            warp < warps ? ld_shared_b128(&sums[warp].block[block][threadIdx.x % 32]) : zeros;
    memcpy(sum, &chunk[0], sizeof chunk[0]);
    UNROLL for (int warp = 1; warp < most; ++warp) {
        float addend[4];
        memcpy(addend, &chunk[warp], sizeof addend);
        UNROLL for (int i = 0; i < 4; ++i) sum[i] += addend[i];
    }
}

/* Stores a block's 16 x 8 elements of D or of D transposed, without those beyond m and n. Lanes of
 * a quad have neighbouring columns of D, or lanes of different quads; the L2 puts what a warp
 * stores in a row together. A warp. */
DEVICE void store_block(const struct gemm_args *args, bool transposed, int first_side,
                        int first_fitted, const float sum[4]) {
    const int lane = threadIdx.x % 32;
    UNROLL for (int half = 0; half < 2; ++half) {
        const int side = first_side + half * 8 + lane / 4, fitted = first_fitted + lane % 4 * 2;
        const uint32_t pair = pack_elements(sum[2 * half], sum[2 * half + 1]);
        if (transposed) {
            element_t *d = &args->d[fitted * args->ldd + side];
            if (side < args->n && fitted < args->m) st_global_element(d, first_of_pair(pair));
            if (side < args->n && fitted + 1 < args->m)
                st_global_element(&d[args->ldd], second_of_pair(pair));
        } else {
            element_t *d = &args->d[side * args->ldd + fitted];
            if (side < args->m && fitted + 1 < args->n) st_global_b32(d, pair);
            else if (side < args->m && fitted < args->n) st_global_element(d, first_of_pair(pair));
        }
    }
}

/* The kernel's parameter. */
struct direct_args {
    struct gemm_args gemm;
    bool transposed; /* the product is D transposed */
};

/* What each thread of a CTA does. `most`: warps, a constant; the CTA may have fewer. */
DEVICE void work_on_tile(struct sums *sums, const struct direct_args *args, int most) {
    /* Neighbours have the same side rows, which the L2 reads once. Mostly the first loads do not
     * wait for a division. */
    const int tiles_fitted = args->gemm.tiles_n;
    const int tile_side = tiles_fitted == 1 ? blockIdx.x : blockIdx.x / tiles_fitted;
    const int first_side = tile_side * BM;
    const int first_fitted = ((int)blockIdx.x - tile_side * tiles_fitted) * BN;
    const int warp = warp_index(), warps = blockDim.x / 32;
    struct chunks chunks = first_chunks(&args->gemm, args->transposed, first_side, first_fitted);
    float acc[CHAINS][BLOCKS][4] = {{{0}}};
    main_loop(&args->gemm, &chunks, warp, warps, acc);
    leave_sums(&sums[warp], acc);
    /* The sums of all warps are in shared memory before one warp adds them up. bar.sync */
    __syncthreads();
    NO_UNROLL for (int block = warp; block < BLOCKS; block += warps) {
        float sum[4];
        add_warps(sums, block, warps, most, sum);
        store_block(&args->gemm, args->transposed, first_side + block / BLOCKS_N * 16,
                    first_fitted + block % BLOCKS_N * 8, sum);
    }
}

/* A kernel for CTAs of at most so many warps, of which so many CTAs have registers on an SM. */
#define KERNELS(f) f(2, 8) f(4, 4) f(8, 2) f(16, 1)
#define KERNEL_OF_WARPS(warps, ctas)                                                               \
    struct smem_##warps {                                                                          \
        struct sums sums[warps];                                                                   \
    };                                                                                             \
    KERNEL(warps * 32, ctas) kernel_##warps(KERNEL_ARGS_OF(struct direct_args) args) {             \
        SHARED_MEMORY(struct smem_##warps);                                                        \
        work_on_tile(shared->sums, &args, warps);                                                  \
    }
KERNELS(KERNEL_OF_WARPS)

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    const struct direct_cut cut = direct_cut_of(p, BM, BN, gemm_sm_count());
    const int room = direct_room(cut.warps); /* for warps */
    struct direct_args args;
    memset(&args, 0, sizeof args);
    args.gemm = gemm_args_of(p, BM, BN, STEP);
    args.gemm.tiles_m = cut.tiles_side;
    args.gemm.tiles_n = cut.tiles_fitted;
    args.transposed = cut.transposed;
    const int tiles = cut.tiles_side * cut.tiles_fitted;
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, tiles, stream);
#define TAKE(warps, ctas)                                                                          \
    if (room == warps) launch.kernel = (const void *)kernel_##warps;
    KERNELS(TAKE)
    launch.threads = cut.warps * 32;
    launch.smem_bytes = room * sizeof(struct sums);
    return gemm_launch_kernel(&launch, &args);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "hopper_gemm", .variant = GEMM_VARIANT,
    .technique = "fragments straight from global memory; the warps split k",
    .tile_m = BM, .tile_n = BN, .tile_k = STEP, .stages = 0, .threads = MOST_WARPS * 32,
    .cluster = 1, .smem_bytes = sizeof(struct smem_16),
    .function = (const void *)kernel_16, .launch = launch, .workspace_bytes = NULL,
};
