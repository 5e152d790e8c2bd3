/*
 * parallel.h: the harness's own work on all CPU cores: making inputs, the reference, verification.
 */
#ifndef HARNESS_PARALLEL_H
#define HARNESS_PARALLEL_H

#include <stdint.h>

/* One of the ranges that together are 0 .. count - 1. Runs in any thread, at the same time as
 * others. */
typedef void parallel_part(void *context, int64_t begin, int64_t end);

/* Calls `part` for ranges that cover 0 .. count - 1, and returns when all have ended.
 * `nanoseconds`: about what one core needs for everything; what is not worth a second core is done
 * in the calling thread. Called by one thread at a time, never by a part. */
void parallel_ranges(int64_t count, double nanoseconds, parallel_part *part, void *context);

#endif
