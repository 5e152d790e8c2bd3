#include "tools/book/docs_grid.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/book/docs_expression.h"

enum { CELLS = 16, FIELDS = 9, ROOM = 1024 };

struct cell {
    char text[ROOM];
    size_t number; /* where its first number stands */
    double value;  /* of its last expression; NaN: it has none */
};

struct grid {
    const struct page *page;
    int line; /* of the marker, for complaints */
    struct expression_source source;
    char bold[ROOM]; /* "min 2-3", or "" */
    int columns;
    bool good;
};

static char *trimmed(char *text) {
    text += strspn(text, " ");
    for (size_t length = strlen(text); length && text[length - 1] == ' ';)
        text[--length] = 0;
    return text;
}

/* ---- numbers ---- */

static void add_number(char *out, size_t size, double value, const char *how) {
    const int decimals = value == 0 ? 0 : atoi(*how == '+' ? how + 1 : how); /* 0 is 0 */
    const bool commas = strchr(how, ',');
    const double unit = decimals < 0 ? pow(10, -decimals) : 1;
    char plain[64];
    snprintf(plain, sizeof plain, "%.*f", decimals > 0 ? decimals : 0,
             fabs(round(value / unit * (decimals > 0 ? pow(10, decimals) : 1)) * unit /
                  (decimals > 0 ? pow(10, decimals) : 1)));
    const int whole = (int)strcspn(plain, ".");
    size_t at = strlen(out);
    if (value < 0 && strspn(plain, "0.") < strlen(plain))
        at += (size_t)snprintf(out + at, size - at, "−");
    else if (*how == '+')
        at += (size_t)snprintf(out + at, size - at, "+");
    for (int i = 0; plain[i] && at + 2 < size; ++i) {
        if (commas && i && i < whole && (whole - i) % 3 == 0) out[at++] = ',';
        out[at++] = plain[i];
    }
    out[at] = 0;
}

/* What stands in a cell of the marker, with the row's fields and the values of expressions. */
static void make_cell(struct grid *g, const char *from, char fields[][ROOM], int count,
                      struct cell *cell) {
    char text[ROOM] = "";
    size_t at = 0;
    for (; *from && at + 1 < ROOM; ++from) {
        const int field =
            from[0] == '{' && isdigit((unsigned char)from[1]) && from[2] == '}' ? from[1] - '0' : 0;
        if (field && field <= count) {
            at += (size_t)snprintf(text + at, ROOM - at, "%s", fields[field - 1]);
            if (at >= ROOM) at = ROOM - 1;
            from += 2;
        } else {
            text[at++] = *from;
            text[at] = 0;
        }
    }
    *cell = (struct cell){.value = NAN};
    for (char *c = text, *end; *c; c = end) {
        char *const open = strstr(c, "{{");
        end = open ? open : c + strlen(c);
        const size_t length = strlen(cell->text);
        snprintf(cell->text + length, ROOM - length, "%.*s", (int)(end - c), c);
        if (!open) break;
        char *const close = strstr(open, "}}");
        char error[256];
        if (!close) {
            complain(g->page, g->line, "a cell without }}: %s", open);
            g->good = false;
            return;
        }
        *close = 0;
        char *const bar = strrchr(open, '|');
        if (bar) *bar = 0;
        if (isnan(cell->value)) cell->number = strlen(cell->text);
        cell->value = expression_value(&g->source, open + 2, error, sizeof error);
        if (*error || !bar) {
            complain(g->page, g->line, "the cell '%s': %s", open, *error ? error : "| decimals");
            g->good = false;
        }
        add_number(cell->text, ROOM, cell->value, bar ? bar + 1 + strspn(bar + 1, " ") : "0");
        end = close + 2;
    }
    memmove(cell->text, trimmed(cell->text), strlen(trimmed(cell->text)) + 1);
}

/* ---- rows ---- */

/* The cells of "| a | b |"; an expression may have a bar. */
static int split_cells(const char *line, char cells[][ROOM]) {
    int count = 0, depth = 0;
    const char *begin = line + strspn(line, " ") + 1;
    for (const char *c = begin; *c && count < CELLS; ++c) {
        const bool opens = !strncmp(c, "{{", 2), closes = !strncmp(c, "}}", 2);
        if (opens || closes) {
            depth += opens ? 1 : -1;
            ++c; /* of "{{{1}" and "{1}}}", too, the first two */
            continue;
        }
        if (*c != '|' || depth > 0) continue;
        snprintf(cells[count], ROOM, "%.*s", (int)(c - begin), begin);
        memmove(cells[count], trimmed(cells[count]), strlen(trimmed(cells[count])) + 1);
        ++count;
        begin = c + 1;
    }
    return count;
}

/* "**" around the cells that the marker's line `bold:` means. */
static void embolden(const struct grid *g, struct cell *cells, int count) {
    char rule[ROOM];
    int first = 0, last = 0;
    if (sscanf(g->bold, "%63s %d-%d", rule, &first, &last) != 3) return;
    double best = NAN;
    for (int i = first - 1; i < last && i < count; ++i)
        if (!isnan(cells[i].value) &&
            (isnan(best) || (rule[1] == 'i' ? cells[i].value < best : cells[i].value > best)))
            best = cells[i].value;
    char shown[ROOM] = "";
    for (int i = first - 1; i < last && i < count; ++i)
        if (cells[i].value == best)
            snprintf(shown, sizeof shown, "%s", cells[i].text + cells[i].number);
    for (int i = first - 1; i < last && i < count; ++i) {
        const bool meant = rule[0] == '>'
                               ? cells[i].value >= atof(rule + 2)
                               : *shown && strcmp(cells[i].text + cells[i].number, shown) == 0;
        if (!meant || isnan(cells[i].value)) continue;
        char text[ROOM];
        snprintf(text, sizeof text, "%.*s**%.900s**", (int)cells[i].number, cells[i].text,
                 cells[i].text + cells[i].number);
        snprintf(cells[i].text, ROOM, "%s", text);
    }
}

static void add_row(struct text *out, struct grid *g, const char *template, char fields[][ROOM],
                    int count) {
    static char from[CELLS][ROOM];
    static struct cell cells[CELLS];
    const int columns = split_cells(template, from);
    if (columns != g->columns) {
        complain(g->page, g->line, "%d cells in a row, not %d: %s", columns, g->columns, template);
        g->good = false;
    }
    for (int i = 0; i < columns; ++i)
        make_cell(g, from[i], fields, count, &cells[i]);
    embolden(g, cells, columns);
    text_add(out, "|");
    for (int i = 0; i < columns; ++i)
        text_add(out, *cells[i].text ? " %s |" : "%s |", cells[i].text);
    text_add(out, "\n");
}

static int split_fields(const char *line, char fields[][ROOM]) {
    int count = 0;
    char text[ROOM];
    snprintf(text, sizeof text, "%s", line);
    for (char *field = strtok(text, ";"); field && count < FIELDS; field = strtok(NULL, ";"))
        snprintf(fields[count++], ROOM, "%s", trimmed(field));
    return count;
}

/* ---- pages ---- */

static bool make_grid(struct text *out, const char *root, const struct page *page, int line) {
    static char fields[FIELDS][ROOM], cells[CELLS][ROOM];
    char results[MARKER_WORD] = "", dtype[MARKER_WORD] = "bf16";
    marker_value(page->line[line], "results", results, sizeof results);
    marker_value(page->line[line], "dtype", dtype, sizeof dtype);
    struct grid g = {page, line, {root, results, dtype}, "", 0, true};
    const char *heading[3] = {NULL};
    int last = line, headings = 0;
    while (last < page->lines && !strstr(page->line[last], "-->"))
        ++last;
    for (int i = line + 1; i <= last && i < page->lines; ++i) {
        const char *text = page->line[i];
        if (*text == '|' && headings < 3) heading[headings++] = text;
        if (!strncmp(text, "bold: ", 6)) snprintf(g.bold, sizeof g.bold, "%s", text + 6);
        text_add(out, "%s\n", text);
    }
    if (headings < 2 || last == line || last == page->lines) {
        complain(page, line, "a grid has a heading, a line |---| and rows, a line each");
        return false;
    }
    text_add(out, "\n%s\n%s\n", heading[0], heading[1]);
    g.columns = split_cells(heading[1], cells);
    for (int i = line + 1; i < last; ++i) {
        const char *text = page->line[i];
        if (!strncmp(text, "- ", 2) && heading[2])
            add_row(out, &g, heading[2], fields, split_fields(text + 2, fields));
        else if (!strncmp(text, "+ |", 3))
            add_row(out, &g, text + 2, fields, 0);
        else if (*text != '|' && strncmp(text, "bold: ", 6)) {
            complain(page, i, "no row of a grid: %s", text);
            g.good = false;
        }
    }
    text_add(out, "\n");
    return g.good;
}

void grids_check(const char *root, struct page *page, bool rewrite) {
    page_remake(root, page, rewrite, "<!-- grid:", "table", make_grid);
}
