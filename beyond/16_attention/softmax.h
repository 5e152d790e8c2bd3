/*
 * softmax.h: the softmax of a warpgroup's 64 queries, block of keys by block.
 *
 * In wgmma's layout a thread holds two rows of the scores, a quarter of each: s[4 j], s[4 j + 1] of
 * the upper and s[4 j + 2], s[4 j + 3] of the row eight below. The other three quarters are in the
 * lanes of the same quad, so a maximum takes two shuffles. A sum takes none before the end: each
 * thread adds up its own quarter.
 */
#ifndef BEYOND_16_ATTENTION_SOFTMAX_H
#define BEYOND_16_ATTENTION_SOFTMAX_H

#include <float.h>

#include "hopper/element.h"
#include "hopper/special_function.h"
#include "hopper/wgmma.h"
#include "attention_tiles.h"

/* The thread's two rows. */
struct softmax_rows {
    int seen[2]; /* keys that the query sees */
    float max[2];   /* of the scores so far */
    float shift[2]; /* that, scaled and rounded: what the exponentials are relative to */
    float sum[2];   /* of the thread's exponentials so far */
};

/* `first_row`: of the 64. Any thread. */
DEVICE struct softmax_rows softmax_begin(const struct attention_args *args, int first_row) {
    const int row = first_row + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    struct softmax_rows rows;
    UNROLL for (int r = 0; r < 2; ++r) {
        rows.seen[r] = keys_seen(args, row + 8 * r);
        rows.max[r] = -INFINITY;
        rows.shift[r] = -FLT_MAX;
        rows.sum[r] = 0;
    }
    return rows;
}

/* Scores of keys that the query does not see become -infinity. */
DEVICE void softmax_mask(float *s, const struct softmax_rows *rows, int first_key, int keys) {
    UNROLL for (int i = 0; i < keys / 2; ++i) {
        const int key = first_key + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        if (key >= rows->seen[i % 4 / 2]) s[i] = -INFINITY;
    }
}

/* The greatest of the quad's four. A whole warp. */
DEVICE float quad_max(float value) {
    UNROLL for (int bit = 1; bit < 4; bit *= 2) {
        const uint32_t mine = float_to_bits(value);
        const int lane = threadIdx.x % 32;
        value = fmaxf(value, bits_to_float(__shfl_sync(0xffffffffu, mine, lane ^ bit)));
    }
    return value;
}

/* The same for a sum. */
DEVICE float quad_sum(float value) {
    UNROLL for (int bit = 1; bit < 4; bit *= 2) {
        const uint32_t mine = float_to_bits(value);
        const int lane = threadIdx.x % 32;
        value += bits_to_float(__shfl_sync(0xffffffffu, mine, lane ^ bit));
    }
    return value;
}

/* Raises the greatest score so far of row r by those of a block of `keys` keys, a constant. What
 * has been summed up before is to be multiplied by rescale[r], which brings it to the new shift. It
 * is the difference of the two shifts as they were rounded, so it is exactly 1 if the maximum
 * stays. Whole warps. */
DEVICE void softmax_maximum(const float *s, struct softmax_rows *rows, int r, float rescale[2],
                            float scale, int keys) {
    float max = rows->max[r];
    UNROLL for (int j = 0; j < keys / 8; ++j)
        max = fmaxf(max, fmaxf(s[4 * j + 2 * r], s[4 * j + 2 * r + 1]));
    max = quad_max(max);
    /* Without a key so far it is -infinity, and -infinity - -infinity would be no number. */
    const float shift = fmaxf(max * scale, -FLT_MAX);
    rescale[r] = exp2_approx(rows->shift[r] - shift);
    rows->max[r] = max;
    rows->shift[r] = shift;
    rows->sum[r] *= rescale[r];
}

/* Replaces the row's scores by their exponentials relative to the maximum. Any thread. */
DEVICE void softmax_exponentials(float *s, struct softmax_rows *rows, int r, float scale,
                                 int keys) {
    UNROLL for (int j = 0; j < keys / 8; ++j)
        UNROLL for (int i = 4 * j + 2 * r; i < 4 * j + 2 * r + 2; ++i) {
            s[i] = exp2_approx(fmaf(s[i], scale, -rows->shift[r]));
            rows->sum[r] += s[i];
        }
}

/* Both, of both rows. */
DEVICE void softmax_block(float *s, struct softmax_rows *rows, float rescale[2], float scale,
                          int keys) {
    UNROLL for (int r = 0; r < 2; ++r) {
        softmax_maximum(s, rows, r, rescale, scale, keys);
        softmax_exponentials(s, rows, r, scale, keys);
    }
}

/* The exponentials as A of the next product. The layouts of D and A agree: registers 8 s to 8 s + 7
 * of the scores are the keys of step s, and a pair of them is one register of A. */
DEVICE void softmax_pack(uint32_t p[][4], const float *s, int keys) {
    UNROLL for (int i = 0; i < keys / 4; ++i)
        p[i / 4][i % 4] = pack_elements(s[2 * i], s[2 * i + 1]);
}

/* O so far, relative to the new maximum. */
DEVICE void softmax_rescale(float *o, const float rescale[2], int columns) {
    UNROLL for (int i = 0; i < columns / 2; ++i) o[i] *= rescale[i % 4 / 2];
}

/* Divides O by the sums, and stores the logarithm of the sums of the exponentials. Of a query that
 * sees no key O is 0, also where its products were no number. `head`: of all sequences.
 * `first_row`: of the 64. Whole warps. */
DEVICE void softmax_end(float *o, struct softmax_rows *rows, const struct attention_args *args,
                        int head, int first_row, int columns) {
    const float ln_2 = 0.6931471806f;
    float sum[2], inverse[2];
    UNROLL for (int r = 0; r < 2; ++r) {
        const int row = first_row + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4 + 8 * r;
        sum[r] = quad_sum(rows->sum[r]);
        inverse[r] = 1 / sum[r];
        const float log_2 = rows->shift[r] + log2f(sum[r]); /* of no key: -infinity */
        if (threadIdx.x % 4 == 0 && row < args->gemm.m)
            st_global_b32(&args->lse[head * args->lse_pitch + row], float_to_bits(log_2 * ln_2));
    }
    UNROLL for (int i = 0; i < columns / 2; ++i)
        o[i] = sum[i % 4 / 2] == 0 ? 0 : o[i] * inverse[i % 4 / 2];
}

#endif
