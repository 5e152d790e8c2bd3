/*
 * fuzz.h: the random numbers of the fuzz tests: the same in every run.
 */
#ifndef TESTS_SUPPORT_FUZZ_H
#define TESTS_SUPPORT_FUZZ_H

#include <stdint.h>

static uint64_t fuzz_state = 1;

/* 32 random bits. (splitmix64) */
static inline uint32_t fuzz_bits(void) {
    uint64_t z = fuzz_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 16);
}

/* From low to high, both included. */
static inline int fuzz_between(int low, int high) {
    return low + (int)(fuzz_bits() % ((uint32_t)(high - low) + 1));
}

/* True once in so many times. */
static inline int fuzz_once_in(int times) { return fuzz_between(1, times) == 1; }

#endif
