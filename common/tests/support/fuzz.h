/*
 * fuzz.h: the random numbers of the fuzz tests: the same in every run.
 */
#ifndef TESTS_SUPPORT_FUZZ_H
#define TESTS_SUPPORT_FUZZ_H

#include <stdint.h>

#include "splitmix64.h"

static uint64_t fuzz_state = 1;

/* 32 random bits. */
static inline uint32_t fuzz_bits(void) { return (uint32_t)(splitmix64(&fuzz_state) >> 16); }

/* From low to high, both included. */
static inline int fuzz_between(int low, int high) {
    return low + (int)(fuzz_bits() % ((uint32_t)(high - low) + 1));
}

/* True once in so many times. */
static inline int fuzz_once_in(int times) { return fuzz_between(1, times) == 1; }

#endif
