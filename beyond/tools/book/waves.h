/*
 * waves.h: when the Tensor Core of each SM multiplies, in one run of one kernel.
 *
 * It is read from a trace (--trace) or from a record, which has less: of each SM the stretches in
 * which it multiplies. A record is text that waves_print() writes. Its numbers of idle time are for
 * readers; they are worked out again from the rest.
 */
#ifndef TOOLS_BOOK_WAVES_H
#define TOOLS_BOOK_WAVES_H

#include <stdio.h>

#include "timeline/model.h"

enum { WAVES_FEW_SMS = 16 /* with more, pauses of less than a k-tile do not show */ };

/* One SM. */
struct lane {
    int sm, process, thread; /* in the trace */
    struct track track;
    int64_t busy, last;
};

struct wave {
    char name[160]; /* "10_stream_k coop256" */
    int m, n, k;
    bool measured;
    int64_t period, end; /* of a k-tile; of the kernel */
    struct lane lane[TRACE_MOST_SMS];
    int lanes;
};

/* Reads what a file has: one kernel of a trace, or all of a record. Returns how many, at most
 * `room`; 0, with the reason in `error`, if the file is neither. waves_free() follows. */
int waves_read(struct wave *waves, int room, const char *path, char *error, size_t size);
void waves_free(struct wave *waves, int count);

/* Shares of the SMs' time in percent: idle after an SM's last multiplication, and in all. */
double waves_idle_at_the_end(const struct wave *wave);
double waves_idle_in_all(const struct wave *wave);

/* Writes a kernel as a record has it. */
void waves_print(FILE *file, const struct wave *wave);

#endif
