/* inspect_grid.c: the two forms of a grid. */
#include "tools/inspect/inspect_grid.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/svg_canvas.h"

static void *cleared(size_t count, size_t size) {
    void *const memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "error: inspect: out of memory\n");
        exit(1);
    }
    return memory;
}

struct grid grid_new(const char *title, const char *row_title, const char *column_title, int rows,
                     int columns) {
    struct grid g = {.title = title,
                     .row_title = row_title,
                     .column_title = column_title,
                     .rows = rows,
                     .columns = columns};
    g.row_label = cleared((size_t)rows, GRID_LABEL);
    g.column_label = cleared((size_t)columns, GRID_LABEL);
    g.cell = cleared((size_t)rows * (size_t)columns, sizeof *g.cell);
    for (int i = 0; i < rows * columns; ++i)
        g.cell[i].color = -1;
    return g;
}

void grid_free(struct grid *g) {
    free(g->row_label);
    free(g->column_label);
    free(g->cell);
}

void grid_print(const struct grid *g, FILE *out) {
    int first = (int)strlen(g->row_title), width = 0;
    for (int r = 0; r < g->rows; ++r) {
        const int length = (int)strlen(g->row_label[r]);
        if (length > first) first = length;
    }
    for (int i = 0; i < g->rows * g->columns; ++i) {
        const int length = (int)strlen(g->cell[i].label);
        if (length > width) width = length;
    }
    for (int c = 0; c < g->columns; ++c) {
        const int length = (int)strlen(g->column_label[c]);
        if (length > width) width = length;
    }
    fprintf(out, "%s\n\n%*s  %s\n%*s ", g->title, first, "", g->column_title, first, g->row_title);
    for (int c = 0; c < g->columns; ++c)
        fprintf(out, " %*s", width, g->column_label[c]);
    fputc('\n', out);
    for (int r = 0; r < g->rows; ++r) {
        fprintf(out, "%*s ", first, g->row_label[r]);
        for (int c = 0; c < g->columns; ++c)
            fprintf(out, " %*s", width, g->cell[r * g->columns + c].label);
        fputc('\n', out);
    }
}

/* Of the figures' style. */
static const char *const colors[] = {"load",      "wait", "mma",   "store",
                                     "multicast", "fma",  "issue", "epilogue"};

enum { CELL_HEIGHT = 24, TOP = 66, MARGIN = 12 };

bool grid_svg(const struct grid *g, FILE *out) {
    const double width = (double)(SVG_RIGHT - SVG_LABELS) / g->columns;
    char subtitle[96];
    snprintf(subtitle, sizeof subtitle, "rows: %s; columns: %s", g->row_title, g->column_title);
    svg_begin(out, TOP + g->rows * CELL_HEIGHT + MARGIN, g->title, subtitle);
    for (int c = 0; c < g->columns; ++c)
        svg_text(out, SVG_LABELS + (c + 0.5) * width, TOP - 6, "tick", "middle",
                 g->column_label[c]);
    for (int r = 0; r < g->rows; ++r) {
        const int y = TOP + r * CELL_HEIGHT;
        svg_text(out, SVG_LABELS - 8, y + 16, "label", "end", g->row_label[r]);
        for (int c = 0; c < g->columns; ++c) {
            const struct grid_cell *const at = &g->cell[r * g->columns + c];
            const double x = SVG_LABELS + c * width;
            fprintf(out,
                    "<rect class=\"grid %s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
                    "height=\"%d\"/>\n",
                    at->color < 0 ? "lane" : colors[at->color % 8], x, y, width, CELL_HEIGHT);
            if (at->label[0])
                svg_text(out, x + width / 2, y + 16, at->color < 0 ? "label" : "in", "middle",
                         at->label);
        }
    }
    svg_end(out);
    return !ferror(out);
}
