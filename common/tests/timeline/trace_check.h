/*
 * trace_check.h: is this a Chrome trace that Perfetto shows as it was meant?
 */
#ifndef TESTS_TIMELINE_TRACE_CHECK_H
#define TESTS_TIMELINE_TRACE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct trace_summary {
    int processes, tracks, spans;
};

/* Checks a trace's text: JSON of the Trace Event Format; every process and every track with spans
 * has a name; on a track times do not go back and spans do not overlap. False, and the first
 * violation in `error`. */
bool trace_check(const char *text, struct trace_summary *summary, char *error, size_t size);

#endif
