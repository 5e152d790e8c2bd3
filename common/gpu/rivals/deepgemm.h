/*
 * deepgemm.h: DeepGEMM's kernels as they were compiled, a table for each object file: of one type
 * of the operands, with n and k as arguments, or with one pair of them as constants.
 */
#ifndef GPU_RIVALS_DEEPGEMM_H
#define GPU_RIVALS_DEEPGEMM_H

#include <stdint.h>

/* Made by CMake: DEEPGEMM_BF16_TABLES and DEEPGEMM_E4M3_TABLES, an X(name) for each table. */
#include "deepgemm_tables.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DEEPGEMM_SMS = 132,          /* a constant in the kernels: CTAs of the grid */
    DEEPGEMM_SMEM = 227 * 1024,  /* bytes that a CTA may have */
    DEEPGEMM_BARRIERS = 16 * 16, /* bytes of it set aside for mbarriers: 16 stages at most */
    DEEPGEMM_ALIGNMENT = 128,    /* its contiguous groups have a multiple of so many rows */
    DEEPGEMM_LONGEST_K = 32768,  /* for which kernels with any k have room for B's scales */
};

/* Which operand the two CTAs of a cluster share; without a cluster, none. */
enum deepgemm_shared { SHARES_NOTHING, SHARES_A, SHARES_B };

struct deepgemm_kernel {
    const void *function, *contiguous; /* the latter for groups of rows; NULL: there is none */
    int tile_m, tile_n, tile_k, stages;
    enum deepgemm_shared shared;
    int n, k; /* constants in the kernel; 0: for all */
};

struct deepgemm_table {
    const struct deepgemm_kernel *kernels; /* [count] */
    int count;
};

#define X(name) extern const struct deepgemm_table name;
DEEPGEMM_BF16_TABLES
DEEPGEMM_E4M3_TABLES
#undef X

/* ---- what a kernel's shared memory holds, in bytes; DeepGEMM's own reckoning ---- */

#ifdef __cplusplus
#define DEEPGEMM_RECKONED static constexpr int
#else
#define DEEPGEMM_RECKONED static inline int
#endif

DEEPGEMM_RECKONED deepgemm_round_up(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/* Tile of D, mbarriers and, of e4m3, the scales of B for all of k: of one block of columns, or of
 * two where a tile may lie in two. */
DEEPGEMM_RECKONED deepgemm_fixed_bytes(int tile_m, int tile_n, int k, int is_e4m3) {
    return deepgemm_round_up(tile_m * tile_n * 2, 1024) + DEEPGEMM_BARRIERS +
           (is_e4m3 ? deepgemm_round_up((k + 127) / 128 * 4 * (128 % tile_n ? 2 : 1), 8) : 0);
}

/* 128 bytes of each row of A and B and, of e4m3, the scales of A. */
DEEPGEMM_RECKONED deepgemm_stage_bytes(int tile_m, int tile_n, int is_e4m3) {
    return (tile_m + tile_n) * 128 + (is_e4m3 ? deepgemm_round_up(tile_m * 4, 128) : 0);
}

DEEPGEMM_RECKONED deepgemm_at_most(int value, int most) { return value < most ? value : most; }

/* As many as fit beside the scales for this k, 16 at most. */
DEEPGEMM_RECKONED deepgemm_stages(int tile_m, int tile_n, int k, int is_e4m3) {
    return deepgemm_at_most((DEEPGEMM_SMEM - deepgemm_fixed_bytes(tile_m, tile_n, k, is_e4m3)) /
                                deepgemm_stage_bytes(tile_m, tile_n, is_e4m3),
                            16);
}

/* The width in bytes of the swizzle of D's staging buffer: the widest that divides a row. */
DEEPGEMM_RECKONED deepgemm_swizzle_d(int tile_n) {
    return tile_n % 64 == 0 ? 128 : tile_n % 32 == 0 ? 64 : 32;
}

#ifdef __cplusplus
}
#endif
#endif
