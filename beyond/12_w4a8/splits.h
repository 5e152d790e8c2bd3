/*
 * splits.h: how many CTAs share the k loop of a tile.
 */
#ifndef W4A8_SPLITS_H
#define W4A8_SPLITS_H

#include <stdint.h>

enum {
    MOST_SPLITS = 8,  /* CTAs of a cluster */
    LEAST_K_TILES = 4 /* of a CTA: with fewer, the exchange costs more than it gains */
};

/* As many as there is room for at once; a power of two. Host. */
static inline int splits_for(int64_t tiles, int tiles_k, int sms, int ctas_per_sm) {
    int splits = 1;
    while (splits < MOST_SPLITS && 2 * splits <= sms &&
           tiles * 2 * splits <= (int64_t)sms * ctas_per_sm &&
           tiles_k >= 2 * splits * LEAST_K_TILES)
        splits *= 2;
    return splits;
}

#endif
