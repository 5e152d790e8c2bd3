#include "tools/book/drawn_record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/book/docs_tables.h"

static int whole(const struct json *object, const char *key) {
    return (int)json_number(object, key);
}

static struct drawn_row row_of(const struct json *value) {
    const struct json *best = tables_baseline(value, "cublaslt-best");
    const struct json *algorithm = json_member(best, "algo");
    struct drawn_row row = {
        .size = {.m = whole(value, "m"), .n = whole(value, "n"), .k = whole(value, "k")},
        .ratio = json_number(json_member(value, "burst"), "tflops") /
                 json_number(json_member(best, "burst"), "tflops"),
        .tile_m = whole(algorithm, "tile_m"),
        .tile_n = whole(algorithm, "tile_n"),
        .cluster_m = whole(algorithm, "cluster_m"),
        .cluster_n = whole(algorithm, "cluster_n"),
        .splits = whole(algorithm, "splits"),
    };
    row.aligned = row.size.n % 8 == 0 && row.size.k % 8 == 0;
    snprintf(row.selected, sizeof row.selected, "%s", json_text(value, "selected"));
    return row;
}

static bool same_size(struct problem_size a, struct problem_size b) {
    return a.m == b.m && a.n == b.n && a.k == b.k;
}

/* Goes on to the row's shape among the seed's; those before it have no row. Why the row cannot
 * follow; NULL if it can. */
static const char *mistake(struct drawn_record *record, const struct drawn_row *row) {
    if (record->drawn == DRAWN_SHAPES) return "has more rows than shapes are drawn";
    while (!same_size(row->size, drawn_shape(record->seed, record->drawn)))
        if (++record->drawn == DRAWN_SHAPES)
            return "has a row that is none of the seed's next shapes";
    ++record->drawn;
    if (!(row->ratio > 0) || isinf(row->ratio))
        return "has a row without burst of the kernel or cublaslt-best";
    return NULL;
}

static void add_run(struct drawn_record *record, struct json run) {
    json_free(&record->run);
    record->run = run;
    const char *seed = strstr(json_text(&run, "command"), "--drawn ");
    record->seed = seed ? strtoull(seed + strlen("--drawn "), NULL, 10) : 0;
}

bool drawn_read(struct drawn_record *record, const char *root, const struct page *page, int line,
                const char *file, const char *variant) {
    *record = (struct drawn_record){.run = {.kind = JSON_NULL}};
    char name[PLACE], place[PLACE];
    struct text path = {0};
    snprintf(name, sizeof name, "results/%s", file);
    text_add(&path, "%s/%s", root, docs_place(root, name, place));
    char *data = json_read_file(path.data), *rest = data;
    const bool found = data != NULL;
    const char *wrong = NULL;
    struct json value;
    while (!wrong && rest && json_next_line(&rest, path.data, &value)) {
        if (!*json_text(&value, "chapter")) {
            add_run(record, value);
            continue;
        }
        if (!strcmp(json_text(&value, "variant"), variant)) {
            const struct drawn_row row = row_of(&value);
            wrong = mistake(record, &row);
            if (!wrong) record->row[record->rows++] = row;
        }
        snprintf(record->dtype, sizeof record->dtype, "%s", json_text(&value, "dtype"));
        json_free(&value);
    }
    if (wrong) complain(page, line, "%s %s", file, wrong);
    free(path.data);
    free(data);
    return found;
}

void drawn_free(struct drawn_record *record) { json_free(&record->run); }

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct drawn_group drawn_group(const struct drawn_record *record, bool aligned, bool unaligned) {
    struct drawn_group group = {.count = 0};
    double ratio[DRAWN_SHAPES], logarithms = 0;
    for (int i = 0; i < record->rows; ++i) {
        const struct drawn_row *row = &record->row[i];
        if (row->aligned ? !aligned : !unaligned) continue;
        if (!group.lowest || row->ratio < group.lowest->ratio) group.lowest = row;
        logarithms += log(row->ratio);
        ratio[group.count++] = row->ratio;
    }
    if (!group.count) return group;
    qsort(ratio, (size_t)group.count, sizeof *ratio, by_value);
    group.mean = exp(logarithms / group.count);
    group.percentile = ratio[(group.count + 19) / 20 - 1];
    return group;
}
