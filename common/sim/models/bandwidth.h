/*
 * bandwidth.h: a resource that moves so many bytes per cycle, booked by many, not always in the
 * order of time.
 *
 * A request that is booked ahead of time must not keep earlier ones waiting, so capacity is kept in
 * short intervals of time, and a request takes what is left from its own time on.
 */
#ifndef SIM_MODELS_BANDWIDTH_H
#define SIM_MODELS_BANDWIDTH_H

#include <stdint.h>

enum { BANDWIDTH_INTERVAL = 32 /* cycles */, BANDWIDTH_INTERVALS = 1 << 12 };

struct bandwidth {
    uint64_t capacity; /* bytes in an interval */
    uint64_t latest;   /* the interval farthest ahead so far; what lies 65,536
                          cycles behind it is forgotten */
    struct {
        uint64_t number; /* of the interval that stands here */
        uint64_t skip;   /* full: look in this interval next; else its own number */
        uint64_t used;   /* bytes */
    } interval[BANDWIDTH_INTERVALS];
};

void bandwidth_begin(struct bandwidth *bandwidth, uint64_t bytes_per_cycle);
/* Books bytes from `time` on. Returns the cycle at which the last one has moved. */
uint64_t bandwidth_book(struct bandwidth *bandwidth, uint64_t time, uint64_t bytes);

#endif
