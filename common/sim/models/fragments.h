/*
 * fragments.h: which element of a tile a register of a thread holds.
 *
 * PTX ISA: "Register Fragments for wgmma.mma_async.m64nNk16", "m64nNk8" and "m64nNk32". `thread`
 * counts in the warpgroup, 0..127.
 */
#ifndef SIM_MODELS_FRAGMENTS_H
#define SIM_MODELS_FRAGMENTS_H

struct fragment_position {
    int row, column;
};

/* Accumulator `i` (0 .. N/2 - 1) of the 64 x N tile D. Four registers cover 8 columns. */
static inline struct fragment_position fragment_of_d(int thread, int i) {
    const int warp = thread / 32, lane = thread % 32;
    return (struct fragment_position){16 * warp + lane / 4 + 8 * (i / 2 % 2),
                                      8 * (i / 4) + 2 * (lane % 4) + i % 2};
}

/* Half `half` (0: low 16 bits) of A register `i` (0..3) of the 64 x 16 tile A; column counts along
 * k. */
static inline struct fragment_position fragment_of_a(int thread, int i, int half) {
    const int warp = thread / 32, lane = thread % 32;
    return (struct fragment_position){16 * warp + lane / 4 + 8 * (i % 2),
                                      8 * (i / 2) + 2 * (lane % 4) + half};
}

/* Byte `byte` (0: the lowest) of A register `i` of the 64 x 32 tile A, whose elements have 8
 * bits. */
static inline struct fragment_position fragment_of_a8(int thread, int i, int byte) {
    const int warp = thread / 32, lane = thread % 32;
    return (struct fragment_position){16 * warp + lane / 4 + 8 * (i % 2),
                                      16 * (i / 2) + 4 * (lane % 4) + byte};
}

/* A register `i` of the 64 x 8 tile A, whose elements have 32 bits. */
static inline struct fragment_position fragment_of_a32(int thread, int i) {
    const int warp = thread / 32, lane = thread % 32;
    return (struct fragment_position){16 * warp + lane / 4 + 8 * (i % 2), 4 * (i / 2) + lane % 4};
}

#endif
