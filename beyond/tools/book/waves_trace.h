/*
 * waves_trace.h: the part of waves.h that reads traces.
 */
#ifndef TOOLS_BOOK_WAVES_TRACE_H
#define TOOLS_BOOK_WAVES_TRACE_H

#include "tools/book/waves.h"
#include "tools/json/json.h"

/* Reads the one kernel of a trace. False, with the reason in `error`, if there is not one. */
bool waves_read_trace(struct wave *wave, const struct json *trace, char *error, size_t size);

#endif
