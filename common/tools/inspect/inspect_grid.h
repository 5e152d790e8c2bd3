/*
 * inspect_grid.h: a table of labelled cells, as text and as an SVG, for the figures of the inspect
 * tool.
 */
#ifndef TOOLS_INSPECT_INSPECT_GRID_H
#define TOOLS_INSPECT_INSPECT_GRID_H

#include <stdbool.h>
#include <stdio.h>

enum { GRID_LABEL = 24 };

struct grid_cell {
    char label[GRID_LABEL];
    int color; /* 0..7, or -1: none */
};

struct grid {
    const char *title;
    const char *column_title, *row_title;
    int rows, columns;
    char (*row_label)[GRID_LABEL];    /* [rows] */
    char (*column_label)[GRID_LABEL]; /* [columns] */
    struct grid_cell *cell;           /* [rows][columns] */
};

/* An empty grid; exits with a message if memory runs out. */
struct grid grid_new(const char *title, const char *row_title, const char *column_title, int rows,
                     int columns);
void grid_free(struct grid *g);
static inline struct grid_cell *grid_at(struct grid *g, int row, int column) {
    return g->cell + row * g->columns + column;
}
void grid_print(const struct grid *g, FILE *out);
/* Readable on light and dark pages. False if writing failed. */
bool grid_svg(const struct grid *g, FILE *out);

#endif
