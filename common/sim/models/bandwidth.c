/* bandwidth.c: intervals of capacity; full ones are skipped over, as in a union-find. */
#include "sim/models/bandwidth.h"

#include <string.h>

void bandwidth_begin(struct bandwidth *b, uint64_t bytes_per_cycle) {
    memset(b, 0, sizeof *b);
    b->capacity = (bytes_per_cycle ? bytes_per_cycle : 1) * BANDWIDTH_INTERVAL;
}

/* Makes slot and interval agree: an interval that has not been used yet is empty. */
static void open_interval(struct bandwidth *b, uint64_t number) {
    const uint64_t i = number % BANDWIDTH_INTERVALS;
    if (b->interval[i].number == number && b->interval[i].skip) return;
    b->interval[i].number = number;
    b->interval[i].skip = number;
    b->interval[i].used = 0;
    if (b->latest < number) b->latest = number;
}

/* The first interval from `number` on that has capacity left. */
static uint64_t first_free(struct bandwidth *b, uint64_t number) {
    for (;;) {
        open_interval(b, number);
        const uint64_t i = number % BANDWIDTH_INTERVALS, skip = b->interval[i].skip;
        if (skip == number) return number;
        open_interval(b, skip);
        b->interval[i].skip = b->interval[skip % BANDWIDTH_INTERVALS].skip;
        number = skip;
    }
}

uint64_t bandwidth_book(struct bandwidth *b, uint64_t time, uint64_t bytes) {
    uint64_t number = time / BANDWIDTH_INTERVAL + 1; /* 0 marks a slot that was never used */
    if (number + BANDWIDTH_INTERVALS / 2 < b->latest) number = b->latest - BANDWIDTH_INTERVALS / 2;
    uint64_t end = time;
    while (bytes) {
        number = first_free(b, number);
        const uint64_t i = number % BANDWIDTH_INTERVALS, left = b->capacity - b->interval[i].used;
        const uint64_t taken = bytes < left ? bytes : left;
        b->interval[i].used += taken;
        bytes -= taken;
        end = (number - 1) * BANDWIDTH_INTERVAL +
              b->interval[i].used * BANDWIDTH_INTERVAL / b->capacity;
        if (b->interval[i].used == b->capacity) b->interval[i].skip = number + 1;
    }
    return end > time ? end : time;
}
