#include "docs_suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

/* Where cuBLAS is slower by this factor, the mean says more of cuBLAS than of the kernel. */
static const double SLOW = 3;

static const char *string_of(const struct json *object, const char *key) {
    const struct json *member = json_member(object, key);
    return member && member->kind == JSON_STRING ? member->text : "";
}

static double number_of(const struct json *object, const char *key) {
    const struct json *member = object ? json_member(object, key) : NULL;
    return member && member->kind == JSON_NUMBER ? member->number : 0;
}

/* TFLOPS of a stage or a baseline; 0: not measured. */
static double speed(const struct json *value, const char *timing) {
    return value ? number_of(json_member(value, timing), "tflops") : 0;
}

static double baseline_speed(const struct json *value, const char *name, const char *timing) {
    const struct json *list = json_member(value, "baselines");
    for (size_t i = 0; list && list->kind == JSON_ARRAY && i < list->count; ++i)
        if (strcmp(string_of(&list->item[i], "name"), name) == 0)
            return speed(&list->item[i], timing);
    return 0;
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

static void add_shape(struct text *out, const struct json *value) {
    const double m = number_of(value, "m"), n = number_of(value, "n"), k = number_of(value, "k");
    if (m == n && n == k)
        text_add(out, "| %.0f³ ", m);
    else
        text_add(out, "| %.0f×%.0f×%.0f ", m, n, k);
}

/* False if the row lacks a number. */
static bool add_row(struct text *out, const struct json *value, const char *timing,
                    struct mean *all, struct mean *usual) {
    const double own = speed(value, timing), cublas = baseline_speed(value, "cublas", timing),
                 best = baseline_speed(value, "cublaslt-best", timing);
    if (own <= 0 || cublas <= 0 || best <= 0) return false;
    const char *configuration = string_of(value, "selected");
    add_shape(out, value);
    text_add(out, "| `%s` | %.0f | %.0f | %.0f | %.2f | %.2f |\n",
             *configuration ? configuration : "-", own, cublas, best, own / cublas, own / best);
    add_ratios(all, own / cublas, own / best);
    if (own < SLOW * cublas) add_ratios(usual, own / cublas, own / best);
    return true;
}

static void add_mean(struct text *out, const char *which, const struct mean *mean) {
    text_add(out, "| *geometric mean, %s %d* | | | | | %.3f | %.3f |\n", which, mean->shapes,
             exp(mean->cublas / mean->shapes), exp(mean->best / mean->shapes));
}

static void add_source(struct text *out, const struct page *page, const struct json *run,
                       const char *dtype, const char *file) {
    text_add(out,
             "\nMeasured: %s, driver %s, CUDA %s, power limit %s, %s, %s; `%s` "
             "([record](%sdocs/results/%s)).\n\n",
             string_of(run, "gpu"), string_of(run, "driver"), string_of(run, "toolkit"),
             string_of(run, "power_limit"), string_of(run, "date"), dtype,
             string_of(run, "command"), strchr(page->path, '/') ? "../" : "", file);
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
        if (!*string_of(&value, "stage")) {
            json_free(&run);
            run = value;
            continue;
        }
        if (!add_row(out, &value, timing, &all, &usual))
            complain(page, 0, "%s: a row has no %s of 09, cublas or cublaslt-best", file, timing);
        snprintf(dtype, sizeof dtype, "%s", string_of(&value, "dtype"));
        json_free(&value);
    }
    if (all.shapes) add_mean(out, "all", &all);
    if (usual.shapes && usual.shapes < all.shapes)
        add_mean(out, "without those where cuBLAS takes three times as long,", &usual);
    add_source(out, page, &run, dtype, file);
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
