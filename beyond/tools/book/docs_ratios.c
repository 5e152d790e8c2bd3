#include "tools/book/docs_ratios.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/book/docs_tables.h"

enum { MOST = 8, WORD = MARKER_WORD, SHAPES = 256 };

struct shape_row {
    double m, n, k;
    double kernel[MOST], rival[MOST]; /* TFLOPS; 0: not measured */
};

struct ratios {
    char kernel[MOST][WORD], rival[MOST][WORD];
    int kernels, rivals;
    char timing[WORD], file[WORD + 8], dtype[WORD];
    struct shape_row row[SHAPES];
    int rows;
    struct json run; /* the line that says how it was recorded */
};

/* "11" or "11:small" */
static bool is_named(const struct json *value, const char *word) {
    const char *variant = strchr(word, ':');
    return strncmp(json_text(value, "chapter"), word, 2) == 0 &&
           strcmp(json_text(value, "variant"), variant ? variant + 1 : "") == 0;
}

static double speed(const struct json *value, const char *timing) {
    return value ? json_number(json_member(value, timing), "tflops") : 0;
}

/* The row of this result's shape; rows stand in the order of the record. */
static struct shape_row *row_of(struct ratios *r, const struct json *value) {
    const struct shape_row shape = {
        .m = json_number(value, "m"), .n = json_number(value, "n"), .k = json_number(value, "k")};
    for (int i = 0; i < r->rows; ++i)
        if (r->row[i].m == shape.m && r->row[i].n == shape.n && r->row[i].k == shape.k)
            return &r->row[i];
    if (r->rows == SHAPES) return NULL;
    r->row[r->rows] = shape;
    return &r->row[r->rows++];
}

static void add_result(struct ratios *r, const struct json *value) {
    struct shape_row *const row = row_of(r, value);
    if (!row) return;
    for (int i = 0; i < r->kernels; ++i)
        if (is_named(value, r->kernel[i])) row->kernel[i] = speed(value, r->timing);
    for (int i = 0; i < r->rivals; ++i) {
        const struct json *const rival = tables_baseline(value, r->rival[i]);
        if (rival) row->rival[i] = speed(rival, r->timing);
    }
    snprintf(r->dtype, sizeof r->dtype, "%s", json_text(value, "dtype"));
}

/* False if there is no such record. */
static bool read_record(struct ratios *r, const char *root) {
    char name[PLACE], place[PLACE];
    struct text path = {0};
    snprintf(name, sizeof name, "results/%s", r->file);
    text_add(&path, "%s/%s", root, docs_place(root, name, place));
    char *data = json_read_file(path.data), *rest = data;
    const bool found = data != NULL;
    struct json value;
    while (rest && json_next_line(&rest, path.data, &value)) {
        if (*json_text(&value, "chapter")) {
            add_result(r, &value);
            json_free(&value);
        } else {
            json_free(&r->run);
            r->run = value;
        }
    }
    free(path.data);
    free(data);
    return found;
}

static double greatest(const double *values, int count) {
    double most = 0;
    for (int i = 0; i < count; ++i)
        most = values[i] > most ? values[i] : most;
    return most;
}

static void add_speeds(struct text *out, const double *speeds, int count) {
    for (int i = 0; i < count; ++i)
        text_add(out, speeds[i] > 0 ? " %.0f |" : " – |", speeds[i]);
}

static void add_table(struct text *out, const char *root, const struct page *page, int line,
                      const struct ratios *r) {
    double logarithms = 0, lowest = 0;
    text_add(out, "\n| m×n×k, TFLOPS (%s) |", r->timing);
    for (int i = 0; i < r->kernels; ++i)
        text_add(out, " %s |", r->kernel[i]);
    for (int i = 0; i < r->rivals; ++i)
        text_add(out, " %s |", r->rival[i]);
    text_add(out, " ratio |\n|---|");
    for (int i = 0; i <= r->kernels + r->rivals; ++i)
        text_add(out, "---:|");
    text_add(out, "\n");
    for (int i = 0; i < r->rows; ++i) {
        const struct shape_row *const row = &r->row[i];
        const double ratio = greatest(row->kernel, r->kernels) / greatest(row->rival, r->rivals);
        if (!(ratio > 0) || isinf(ratio)) {
            complain(page, line, "%s: a shape has no %s of a kernel or a rival", r->file,
                     r->timing);
            continue;
        }
        text_add(out, "| ");
        tables_add_shape(out, row->m, row->n, row->k, "×");
        text_add(out, " |");
        add_speeds(out, row->kernel, r->kernels);
        add_speeds(out, row->rival, r->rivals);
        text_add(out, " %.2f |\n", ratio);
        logarithms += log(ratio);
        lowest = i == 0 || ratio < lowest ? ratio : lowest;
    }
    text_add(out, "| *geometric mean of %d; the lowest is %.2f* |", r->rows, lowest);
    for (int i = 0; i < r->kernels + r->rivals; ++i)
        text_add(out, " |");
    text_add(out, " %.3f |\n", exp(logarithms / (r->rows ? r->rows : 1)));
    tables_add_source(out, root, page, &r->run, false, r->dtype, r->file);
    text_add(out, "\n");
}

static bool make_ratios(struct text *out, const char *root, const struct page *page, int line) {
    const char *const marker = page->line[line];
    char results[WORD];
    static struct ratios r;
    r = (struct ratios){.run = {.kind = JSON_NULL}};
    r.kernels = marker_words(marker, "kernels", r.kernel, MOST);
    r.rivals = marker_words(marker, "against", r.rival, MOST);
    if (!marker_value(marker, "results", results, sizeof results) ||
        !marker_value(marker, "timing", r.timing, sizeof r.timing) || !r.kernels || !r.rivals) {
        complain(page, line, "ratios need results=, kernels=, against= and timing=");
        return false;
    }
    snprintf(r.file, sizeof r.file, "%s.jsonl", results);
    if (read_record(&r, root))
        add_table(out, root, page, line, &r);
    else
        text_add(out, "\n*Not yet recorded: there is no `docs/results/%s`.*\n\n", r.file);
    json_free(&r.run);
    return true;
}

void ratios_check(const char *root, struct page *page, bool rewrite) {
    page_remake(root, page, rewrite, "<!-- ratios:", "table", make_ratios);
}
