/*
 * error_figure.h: the error of long sums as a figure.
 */
#ifndef TOOLS_INSPECT_ERROR_FIGURE_H
#define TOOLS_INSPECT_ERROR_FIGURE_H

#include <stdbool.h>

#include "tools/inspect/inspect_error.h"

/* Writes an SVG: root mean square errors against k, both on logarithmic axes, a panel for each
 * input. Lines are simulated; circles are measured, by the GPU of that name. `measured` may be
 * NULL. False, with errno, if the file could not be written. */
bool write_error_figure(const char *path, const struct error_table *simulated,
                        const struct error_table *measured, const char *gpu);

#endif
