/* inspect_grid.c: the two forms of a grid. */
#include "tools/inspect/inspect_grid.h"

#include <stdlib.h>
#include <string.h>

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

/* Hues far enough apart that neighbours differ also for the color blind; the labels carry the
 * meaning anyway. */
static const char *const palette[] = {"#8ecae6", "#ffb703", "#a7c957", "#f4a6c0",
                                      "#b8a4e3", "#f2cc8f", "#90be9d", "#e0afa0"};

enum { CELL_HEIGHT = 24, MARGIN = 12, HEADER = 58, CHARACTER = 8 };

static void text(FILE *out, int x, int y, const char *anchor, const char *label) {
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, label);
}

bool grid_svg(const struct grid *g, FILE *out) {
    size_t characters = 4, label_characters = strlen(g->row_title);
    for (int i = 0; i < g->rows * g->columns; ++i)
        if (strlen(g->cell[i].label) > characters) characters = strlen(g->cell[i].label);
    for (int c = 0; c < g->columns; ++c)
        if (strlen(g->column_label[c]) > characters) characters = strlen(g->column_label[c]);
    for (int r = 0; r < g->rows; ++r)
        if (strlen(g->row_label[r]) > label_characters) label_characters = strlen(g->row_label[r]);
    const int cell = (int)characters * CHARACTER + 8;
    const int left = MARGIN + (int)label_characters * CHARACTER + 8;
    const int title = MARGIN * 2 + (int)strlen(g->title) * CHARACTER;
    const int table = left + g->columns * cell + MARGIN;
    const int width = title > table ? title : table;
    const int height = HEADER + g->rows * CELL_HEIGHT + MARGIN;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" font-family=\"monospace\" font-size=\"13\">\n<title>%s</title>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n<g fill=\"#1b1b1b\">\n",
            width, height, width, height, g->title);
    text(out, MARGIN, 18, "start", g->title);
    text(out, left, 36, "start", g->column_title);
    text(out, left - 8, HEADER - 5, "end", g->row_title);
    for (int c = 0; c < g->columns; ++c)
        text(out, left + c * cell + cell / 2, HEADER - 5, "middle", g->column_label[c]);
    for (int r = 0; r < g->rows; ++r) {
        const int y = HEADER + r * CELL_HEIGHT;
        text(out, left - 8, y + 17, "end", g->row_label[r]);
        for (int c = 0; c < g->columns; ++c) {
            const struct grid_cell *const at = &g->cell[r * g->columns + c];
            fprintf(out,
                    "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" "
                    "stroke=\"#1b1b1b\" stroke-width=\"0.6\"/>\n",
                    left + c * cell, y, cell, CELL_HEIGHT,
                    at->color < 0 ? "#ffffff" : palette[at->color % 8]);
            if (at->label[0]) text(out, left + c * cell + cell / 2, y + 17, "middle", at->label);
        }
    }
    fprintf(out, "</g>\n</svg>\n");
    return !ferror(out);
}
