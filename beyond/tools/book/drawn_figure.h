/*
 * drawn_figure.h: a dot for each drawn shape, its ratio to cuBLASLt's best over its FLOP.
 */
#ifndef TOOLS_BOOK_DRAWN_FIGURE_H
#define TOOLS_BOOK_DRAWN_FIGURE_H

#include <stdio.h>

#include "tools/book/drawn_record.h"

/* Writes an SVG with two panels: triangles are shapes whose n or k is not a multiple of 8, circles
 * are the others. The record must have a row. */
void drawn_figure(FILE *file, const struct drawn_record *record);

#endif
