#include "tools/book/docs_cuts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/cuts/cuts_record.h"

static bool read_record(struct cuts_record *record, const char *root, const char *file, char *error,
                        size_t size) {
    char path[512];
    snprintf(path, sizeof path, "%s/docs/results/%s", root, file);
    return cuts_record_read(record, path, error, size);
}

/* "fastest NAME" and "without NAME"; else NaN. */
static double number_of_configuration(const struct cuts_record *record, const char *what) {
    const char *name = strchr(what, ' ');
    for (int i = 0; name && i < cuts_configurations(); ++i) {
        if (strcmp(name + 1, cuts_configuration_name(i)) != 0) continue;
        const struct cuts_worth worth = cuts_worth(record, i);
        if (!strncmp(what, "fastest ", 8)) return worth.fastest;
        if (!strncmp(what, "without ", 8)) return worth.without;
    }
    return NAN;
}

static double number_of(const struct cuts_record *record, const char *what) {
    static const char *const prefix[] = {
        [CUTS_FITTED] = "", [CUTS_SELECTION] = "selection ", [CUTS_TUNED] = "tuned "};
    enum cuts_scope scope = CUTS_TUNED;
    while (strncmp(what, prefix[scope], strlen(prefix[scope])) != 0)
        --scope;
    const char *which = what + strlen(prefix[scope]);
    double limit = 0;
    const bool above = sscanf(which, "above %lf", &limit) == 1;
    const struct cuts_summary all = cuts_summarize(record, limit, scope);
    if (above) return all.above;
    if (!strcmp(which, "mean")) return all.mean;
    if (!strcmp(which, "most")) return all.most;
    if (!strcmp(which, "95th")) return all.of_95;
    if (scope != CUTS_FITTED) return NAN;
    if (!strcmp(what, "cuts")) return all.rows;
    if (!strcmp(what, "configurations")) return record->rows - all.rows;
    if (!strcmp(what, "shapes")) return all.shapes;
    return number_of_configuration(record, what);
}

double cuts_number(const char *root, const char *file, const char *what, char *error, size_t size) {
    double number = NAN;
    struct cuts_record record;
    if (read_record(&record, root, file, error, size)) {
        number = number_of(&record, what);
        if (isnan(number)) snprintf(error, size, "regret() has no number '%s'", what);
    }
    cuts_record_free(&record);
    return number;
}

/* ---- the table ---- */

static void add_table(struct text *out, const struct cuts_record *record, const char *file) {
    const struct cuts_summary all = cuts_summarize(record, 0, CUTS_SELECTION);
    const int cuts = cuts_summarize(record, 0, CUTS_FITTED).rows;
    text_add(out, "\n| configuration | timed for | the fastest at | loss without it |\n"
                  "|---|---:|---:|---:|\n");
    for (int i = 0; i < cuts_configurations(); ++i) {
        const struct cuts_worth worth = cuts_worth(record, i);
        text_add(out, "| `%s` | %d | %d | %.2f %% |\n", cuts_configuration_name(i), worth.timed,
                 worth.fastest, worth.without);
    }
    text_add(
        out,
        "\nThe way with the smallest prediction takes %.1f %% longer than the fastest in the mean "
        "over the %d shapes, %.0f %% at the 95th percentile, %.0f %% at most (computed from "
        "[the times of %d cuts and %d configurations](../../docs/results/%s)).\n\n",
        all.mean, all.shapes, all.of_95, all.most, cuts, all.rows - cuts, file);
}

static bool make_table(struct text *out, const char *root, const struct page *page, int line) {
    char file[80], error[600];
    if (!marker_value(page->line[line], "record", file, sizeof file)) {
        complain(page, line, "a table of configurations needs record=");
        return false;
    }
    struct cuts_record record;
    const bool read = read_record(&record, root, file, error, sizeof error);
    if (read)
        add_table(out, &record, file);
    else
        complain(page, line, "%s", error);
    cuts_record_free(&record);
    return read;
}

void cuts_check(const char *root, struct page *page, bool rewrite) {
    page_remake(root, page, rewrite, "<!-- cuts:", "table", make_table);
}
