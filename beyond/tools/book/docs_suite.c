#include "tools/book/docs_suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/book/docs_tables.h"

/* Where cuBLAS is slower by this factor, the mean says more of cuBLAS than of the kernel. */
static const double SLOW = 3;

/* TFLOPS of a kernel or a baseline; 0: not measured. */
static double speed(const struct json *value, const char *timing) {
    return value ? json_number(json_member(value, timing), "tflops") : 0;
}

/* Sums of logarithms of the ratios to cuBLAS and to cuBLASLt's best. */
struct mean {
    double cublas, best;
    int shapes;
};

/* What a record says. */
struct suite {
    struct text rows;       /* of the table */
    struct mean all, usual; /* usual: without the shapes where cuBLAS is slow */
    double lowest;          /* ratio to cuBLAS */
    struct text lowest_shape;
    struct json run; /* the line that says how it was recorded */
    char dtype[16];
};

static void add_ratios(struct mean *mean, double to_cublas, double to_best) {
    mean->cublas += log(to_cublas);
    mean->best += log(to_best);
    ++mean->shapes;
}

static void add_shape(struct text *out, const struct json *value) {
    tables_add_shape(out, json_number(value, "m"), json_number(value, "n"), json_number(value, "k"),
                     "×");
}

/* False if the row lacks a number. */
static bool add_row(struct suite *suite, const struct json *value, const char *timing) {
    const double own = speed(value, timing);
    const double cublas = speed(tables_baseline(value, "cublas"), timing);
    const double best = speed(tables_baseline(value, "cublaslt-best"), timing);
    if (own <= 0 || cublas <= 0 || best <= 0) return false;
    const char *configuration = json_text(value, "selected");
    text_add(&suite->rows, "| ");
    add_shape(&suite->rows, value);
    text_add(&suite->rows, " | `%s` | %.0f | %.0f | %.0f | %.2f | %.2f |\n",
             *configuration ? configuration : "-", own, cublas, best, own / cublas, own / best);
    if (!suite->all.shapes || own / cublas < suite->lowest) {
        suite->lowest = own / cublas;
        suite->lowest_shape.length = 0;
        add_shape(&suite->lowest_shape, value);
    }
    add_ratios(&suite->all, own / cublas, own / best);
    if (own < SLOW * cublas) add_ratios(&suite->usual, own / cublas, own / best);
    snprintf(suite->dtype, sizeof suite->dtype, "%s", json_text(value, "dtype"));
    return true;
}

/* Reads a variant's rows in docs/results/<file>, or with "" those of the chapter's own kernel;
 * false if there is none. Either way suite_free() follows. */
static bool suite_read(struct suite *suite, const char *root, const struct page *page,
                       const char *file, const char *timing, const char *variant) {
    *suite = (struct suite){.run = {.kind = JSON_NULL}};
    char name[PLACE], place[PLACE];
    struct text path = {0};
    snprintf(name, sizeof name, "results/%s", file);
    text_add(&path, "%s/%s", root, docs_place(root, name, place));
    char *data = json_read_file(path.data), *rest = data;
    const bool found = data != NULL;
    struct json value;
    while (rest && json_next_line(&rest, path.data, &value)) {
        if (!*json_text(&value, "chapter") && !*json_text(&value, "stage")) { /* the old key */
            json_free(&suite->run);
            suite->run = value;
            continue;
        }
        if (!strcmp(json_text(&value, "variant"), variant) && !add_row(suite, &value, timing))
            complain(page, 0, "%s: a row has no %s of 10, cublas or cublaslt-best", file, timing);
        json_free(&value);
    }
    free(path.data);
    free(data);
    return found;
}

static void suite_free(struct suite *suite) {
    json_free(&suite->run);
    free(suite->rows.data);
    free(suite->lowest_shape.data);
}

static double geometric(double sum_of_logarithms, const struct mean *mean) {
    return exp(sum_of_logarithms / mean->shapes);
}

/* ---- a table of all shapes ---- */

static void add_mean(struct text *out, const char *which, const struct mean *mean) {
    text_add(out, "| *geometric mean, %s %d* | | | | | %.3f | %.3f |\n", which, mean->shapes,
             geometric(mean->cublas, mean), geometric(mean->best, mean));
}

static void add_suite(struct text *out, const char *root, const struct page *page,
                      const struct suite *suite, const char *file, const char *timing) {
    text_add(out,
             "\n| m×n×k | configuration | 10, TFLOPS (%s) | cuBLAS | cuBLASLt's best | of cuBLAS | "
             "of cuBLASLt's best |\n|---|---|---:|---:|---:|---:|---:|\n%s",
             timing, suite->rows.data ? suite->rows.data : "");
    if (suite->all.shapes) add_mean(out, "all", &suite->all);
    if (suite->usual.shapes && suite->usual.shapes < suite->all.shapes)
        add_mean(out, "without those where cuBLAS takes three times as long as 10,", &suite->usual);
    tables_add_source(out, root, page, &suite->run, false, suite->dtype, file);
    text_add(out, "\n");
}

static bool make_suite(struct text *out, const char *root, const struct page *page, int line) {
    char prefix[64], timing[16], file[80];
    if (!marker_value(page->line[line], "results", prefix, sizeof prefix) ||
        !marker_value(page->line[line], "timing", timing, sizeof timing)) {
        complain(page, line, "a suite needs results= and timing=");
        return false;
    }
    snprintf(file, sizeof file, "%s.jsonl", prefix);
    struct suite suite;
    if (suite_read(&suite, root, page, file, timing, ""))
        add_suite(out, root, page, &suite, file, timing);
    else
        text_add(out, "\n*Not yet recorded: there is no `docs/results/%s`.*\n\n", file);
    suite_free(&suite);
    return true;
}

/* ---- the means alone ---- */

static void add_mean_cells(struct text *out, const struct mean *mean) {
    if (mean->shapes)
        text_add(out, " %d | %.3f | %.3f |", mean->shapes, geometric(mean->cublas, mean),
                 geometric(mean->best, mean));
    else
        text_add(out, " 0 | – | – |");
}

static bool make_means(struct text *out, const char *root, const struct page *page, int line) {
    char results[256];
    if (!marker_value(page->line[line], "results", results, sizeof results)) {
        complain(page, line, "means of suites need results=NAME:TIMING,...");
        return false;
    }
    text_add(out,
             "\n| suite | shapes | of cuBLAS | of cuBLASLt's best | shapes¹ | of cuBLAS¹ | of "
             "cuBLASLt's best¹ | lowest of cuBLAS |\n|---|---:|---:|---:|---:|---:|---:|---|\n");
    for (char *word = strtok(results, ","), *next; word; word = next) {
        next = strtok(NULL, ",");
        char *timing = strchr(word, ':'), file[300];
        if (!timing) {
            complain(page, line, "'%s' is not NAME:TIMING or NAME:TIMING:VARIANT", word);
            return false;
        }
        *timing++ = 0;
        char *variant = strchr(timing, ':');
        if (variant) *variant++ = 0;
        snprintf(file, sizeof file, "%s.jsonl", word);
        struct suite suite;
        suite_read(&suite, root, page, file, timing, variant ? variant : "");
        if (suite.all.shapes) {
            text_add(out, "| %s, %s%s%s |", suite.dtype, timing, variant ? ", " : "",
                     variant ? variant : "");
            add_mean_cells(out, &suite.all);
            add_mean_cells(out, &suite.usual);
            text_add(out, " %.2f, %s |\n", suite.lowest, suite.lowest_shape.data);
        } else {
            text_add(out, "| *not yet recorded: `%s`* | | | | | | | |\n", file);
        }
        suite_free(&suite);
    }
    text_add(out, "\n¹ without those where cuBLAS takes three times as long as 10\n\n");
    return true;
}

void suites_check(const char *root, struct page *page, bool rewrite) {
    page_remake(root, page, rewrite, "<!-- suite:", "table", make_suite);
    page_remake(root, page, rewrite, "<!-- suite-means:", "table", make_means);
}
