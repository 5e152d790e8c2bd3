#include "docs_suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "docs_tables.h"

/* Where cuBLAS is slower by this factor, the mean says more of cuBLAS than of the kernel. */
static const double SLOW = 3;

/* TFLOPS of a stage or a baseline; 0: not measured. */
static double speed(const struct json *value, const char *timing) {
    return value ? json_number(json_member(value, timing), "tflops") : 0;
}

/* Sums of logarithms of the ratios to cuBLAS and to cuBLASLt's best. */
struct mean {
    double cublas, best;
    int shapes;
};

static void add_ratios(struct mean *mean, double to_cublas, double to_best) {
    mean->cublas += log(to_cublas);
    mean->best += log(to_best);
    ++mean->shapes;
}

/* False if the row lacks a number. */
static bool add_row(struct text *out, const struct json *value, const char *timing,
                    struct mean *all, struct mean *usual) {
    const double own = speed(value, timing);
    const double cublas = speed(tables_baseline(value, "cublas"), timing);
    const double best = speed(tables_baseline(value, "cublaslt-best"), timing);
    if (own <= 0 || cublas <= 0 || best <= 0) return false;
    const char *configuration = json_text(value, "selected");
    text_add(out, "| ");
    tables_add_shape(out, json_number(value, "m"), json_number(value, "n"),
                     json_number(value, "k"));
    text_add(out, " | `%s` | %.0f | %.0f | %.0f | %.2f | %.2f |\n",
             *configuration ? configuration : "-", own, cublas, best, own / cublas, own / best);
    add_ratios(all, own / cublas, own / best);
    if (own < SLOW * cublas) add_ratios(usual, own / cublas, own / best);
    return true;
}

static void add_mean(struct text *out, const char *which, const struct mean *mean) {
    text_add(out, "| *geometric mean, %s %d* | | | | | %.3f | %.3f |\n", which, mean->shapes,
             exp(mean->cublas / mean->shapes), exp(mean->best / mean->shapes));
}

/* The table, or nothing if the file is not what it should be. */
static void add_suite(struct text *out, const struct page *page, char *data, const char *file,
                      const char *timing) {
    struct mean all = {0, 0, 0}, usual = {0, 0, 0};
    struct json run = {.kind = JSON_NULL};
    char dtype[16] = "", error[128];
    text_add(out,
             "\n| m×n×k | configuration | 09, TFLOPS (%s) | cuBLAS | cuBLASLt's best | of cuBLAS | "
             "of cuBLASLt's best |\n|---|---|---:|---:|---:|---:|---:|\n",
             timing);
    for (char *line = data, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = 0;
        struct json value;
        if (!*line) continue;
        if (!json_parse(line, &value, error, sizeof error)) {
            fprintf(stderr, "error: %s: %s\n", file, error);
            exit(2);
        }
        if (!*json_text(&value, "stage")) {
            json_free(&run);
            run = value;
            continue;
        }
        if (!add_row(out, &value, timing, &all, &usual))
            complain(page, 0, "%s: a row has no %s of 09, cublas or cublaslt-best", file, timing);
        snprintf(dtype, sizeof dtype, "%s", json_text(&value, "dtype"));
        json_free(&value);
    }
    if (all.shapes) add_mean(out, "all", &all);
    if (usual.shapes && usual.shapes < all.shapes)
        add_mean(out, "without those where cuBLAS takes three times as long,", &usual);
    tables_add_source(out, page, &run, false, dtype, file);
    text_add(out, "\n");
    json_free(&run);
}

void suites_check(const char *root, struct page *page, bool rewrite) {
    for (int line = 0; (line = page_find(page, line, "<!-- suite:")) >= 0; ++line) {
        char prefix[64], timing[16], file[80];
        const int end = page_find(page, line, "<!-- end -->");
        if (end < 0 || !marker_value(page->line[line], "results", prefix, sizeof prefix) ||
            !marker_value(page->line[line], "timing", timing, sizeof timing)) {
            complain(page, line, "a suite needs results=, timing= and <!-- end -->");
            return;
        }
        snprintf(file, sizeof file, "%s.jsonl", prefix);
        struct text path = {0}, out = {0};
        text_add(&path, "%s/docs/results/%s", root, file);
        char *data = json_read_file(path.data);
        if (data)
            add_suite(&out, page, data, file, timing);
        else
            text_add(&out, "\n*Not yet recorded: there is no `docs/results/%s`.*\n\n", file);
        if (!page_replace(page, line + 1, end - line - 1, out.data) && !rewrite)
            complain(page, line, "the table is stale: build the target docs");
        free(data);
        free(path.data);
        free(out.data);
    }
}
