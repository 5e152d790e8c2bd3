/*
 * splitmix64.h: random numbers that a seed determines, the same on every machine.
 */
#ifndef SPLITMIX64_H
#define SPLITMIX64_H

#include <stdint.h>

/* The next 64 bits; `state` begins as the seed. (Steele, Lea, Flood: Fast splittable pseudorandom
 * number generators, OOPSLA 2014.) */
static inline uint64_t splitmix64(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
