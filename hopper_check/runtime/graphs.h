/*
 * graphs.h: graphs that are captured from streams. What a captured stream is given becomes a node
 * in place of being done; a launch of the graph does the nodes in the order of the host's calls.
 */
#ifndef RUNTIME_GRAPHS_H
#define RUNTIME_GRAPHS_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/launching.h"

struct rows { /* of a copy, or of a fill with a byte; from NULL: a fill */
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, width, height;
    enum cudaMemcpyKind kind;
    uint32_t value;
};

/* Is this stream captured? Then these take its work, whose parameters are copied. */
bool capture_of(const void *stream);
cudaError_t capture_launch(const struct request *request, const void *packed, size_t bytes);
cudaError_t capture_rows(const void *stream, const struct rows *rows);
cudaError_t capture_call(const void *stream, cudaHostFn_t function, void *data);

/* An event that a captured stream has recorded; 0: outside of a capture. */
uint64_t capture_record(const void *stream);
/* The stream waits for that event, and is captured, too. */
cudaError_t capture_wait(const void *stream, uint64_t recorded);

#endif
