#include "tools/book/docs_tables.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/json/json.h"

enum { RECORDS = 4096, WORDS = 32, WORD = MARKER_WORD };

static struct record {
    char *file;
    struct json value;
    int run;   /* the record that says how this one was made; -1: none */
    bool used; /* in the table that is being made */
} records[RECORDS];
static int record_count;

/* ---- reading ---- */

/* A result's chapter: "06_wgmma"; "" if the record is no result. Records made before a chapter was
 * called one have the key "stage". */
static const char *record_chapter(const struct json *value) {
    const char *chapter = json_text(value, "chapter");
    return *chapter ? chapter : json_text(value, "stage");
}

static bool is_result(const struct json *value) { return *record_chapter(value) != 0; }

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_records(const char *root, const char *file) {
    char name[PLACE], place[PLACE];
    struct text path = {0};
    snprintf(name, sizeof name, "results/%s", file);
    text_add(&path, "%s/%s", root, docs_place(root, name, place));
    char *data = json_read_file(path.data), *rest = data;
    struct json value;
    int run = -1;
    while (rest && record_count < RECORDS && json_next_line(&rest, path.data, &value)) {
        if (!is_result(&value)) run = record_count;
        records[record_count++] =
            (struct record){.file = copy_string(file), .value = value, .run = run};
    }
    free(data);
    free(path.data);
}

/* The files <prefix>*.jsonl of a folder. */
static void add_names(const char *root, const char *folder, const char *prefix, char ***names,
                      int *count) {
    struct text path = {0};
    text_add(&path, "%s/%s", root, folder);
    DIR *directory = opendir(path.data);
    free(path.data);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        const size_t length = strlen(entry->d_name);
        if (strncmp(entry->d_name, prefix, strlen(prefix)) || length < 6 ||
            strcmp(entry->d_name + length - 6, ".jsonl"))
            continue;
        *names = grow(*names, (size_t)(*count + 1) * sizeof **names);
        (*names)[(*count)++] = copy_string(entry->d_name);
    }
    if (directory) closedir(directory);
}

/* Reads docs/results/<prefix>*.jsonl in the order of their names. */
static void load(const char *root, const char *prefix) {
    static char *loaded = NULL;
    for (int i = 0; i < record_count; ++i)
        records[i].used = false;
    if (loaded && strcmp(loaded, prefix) == 0) return;
    free(loaded);
    loaded = copy_string(prefix);
    for (int i = 0; i < record_count; ++i) {
        json_free(&records[i].value);
        free(records[i].file);
    }
    record_count = 0;
    char **names = NULL;
    int count = 0;
    add_names(root, "docs/results", prefix, &names, &count);
    add_names(root, "beyond/docs/results", prefix, &names, &count);
    if (count) qsort(names, count, sizeof *names, by_name);
    for (int i = 0; i < count; ++i) {
        read_records(root, names[i]);
        free(names[i]);
    }
    free(names);
}

/* ---- looking up ---- */

struct shape {
    double m, n, k;
};

static struct shape shape_of(const char *word) {
    struct shape shape = {0, 0, 0};
    if (sscanf(word, "%lfx%lfx%lf", &shape.m, &shape.n, &shape.k) < 3) shape.n = shape.k = shape.m;
    return shape;
}

static bool fits(const struct json *value, struct shape shape, const char *dtype) {
    return is_result(value) && json_number(value, "m") == shape.m &&
           json_number(value, "n") == shape.n && json_number(value, "k") == shape.k &&
           strcmp(json_text(value, "dtype"), dtype) == 0;
}

/* "06" or "06:wait0" */
static bool is_named(const struct json *value, const char *word) {
    const char *variant = strchr(word, ':');
    return strncmp(record_chapter(value), word, 2) == 0 &&
           strcmp(json_text(value, "variant"), variant ? variant + 1 : "") == 0;
}

const struct json *tables_baseline(const struct json *value, const char *name) {
    const struct json *list = json_member(value, "baselines");
    for (size_t i = 0; list && list->kind == JSON_ARRAY && i < list->count; ++i)
        if (strcmp(json_text(&list->item[i], "name"), name) == 0) return &list->item[i];
    return NULL;
}

struct found {
    const struct json *value;  /* the kernel's record, or the baseline's */
    const struct json *cublas; /* of the same run, or NULL */
    const struct json *traced; /* the kernel with the recorder in it, of the same run, or NULL */
    const struct json *before; /* the step that it builds on, of the same run, or NULL */
};

static bool is_chapter_number(const char *word) {
    return isdigit((unsigned char)word[0]) && isdigit((unsigned char)word[1]);
}

/* What a run has of a kernel or library at this shape; of several the last. */
static struct found find_in_run(const char *word, struct shape shape, const char *dtype, int run,
                                int *index) {
    struct found found = {NULL, NULL, NULL, NULL};
    char traced[WORD + 8];
    int recorder = -1;
    snprintf(traced, sizeof traced, "%s%s+trace", word, strchr(word, ':') ? "" : ":");
    for (int i = 0; i < record_count; ++i) {
        const struct json *value = &records[i].value;
        if ((run >= 0 && records[i].run != run) || !fits(value, shape, dtype)) continue;
        if (is_named(value, traced)) recorder = i;
        const struct json *wanted = is_chapter_number(word) ? (is_named(value, word) ? value : NULL)
                                                            : tables_baseline(value, word);
        if (!wanted) continue;
        found.value = wanted;
        found.cublas = tables_baseline(value, "cublas");
        *index = i;
    }
    if (found.value && recorder >= 0 && records[recorder].run == records[*index].run)
        found.traced = &records[recorder].value;
    return found;
}

int tables_load(const char *root, const char *file) {
    load(root, file);
    return record_count;
}

bool tables_is_run(int line, const char *command) {
    const struct json *run = &records[line].value;
    return !is_result(run) && strstr(json_text(run, "command"), command);
}

const struct json *tables_find(const char *kernel, const char *shape, const char *dtype, int run,
                               const struct json **cublas) {
    int index;
    const struct found found = find_in_run(kernel, shape_of(shape), dtype, run, &index);
    *cublas = found.cublas;
    return found.value;
}

/* The same from this run, or where it has none from the last that has. */
static struct found find(const char *word, struct shape shape, const char *dtype, int run) {
    int index = -1;
    struct found found = find_in_run(word, shape, dtype, run, &index);
    if (!found.value && run >= 0) found = find_in_run(word, shape, dtype, -1, &index);
    if (index >= 0) records[index].used = true;
    return found;
}

/* ---- columns ---- */

enum column {
    BURST,
    CUBLAS,
    SUSTAINED,
    SUSTAINED_CUBLAS,
    UTILIZATION,
    CLOCK,
    POWER,
    SPREAD,
    CYCLES,
    REGISTERS,
    SMEM,
    TRACED,
    GAIN,
    COLUMNS
};
static const struct {
    const char *name, *heading;
} columns[COLUMNS] = {
    [BURST] = {"burst", "TFLOPS (burst)"},
    [CUBLAS] = {"cublas", "of cuBLAS"},
    [SUSTAINED] = {"sustained", "TFLOPS (sustained)"},
    [SUSTAINED_CUBLAS] = {"sustained_cublas", "of cuBLAS (sustained)"},
    [UTILIZATION] = {"utilization", "Tensor Core"},
    [CLOCK] = {"clock", "SM clock, MHz (burst)"},
    [POWER] = {"power", "W (sustained)"},
    [SPREAD] = {"spread", "spread"},
    [CYCLES] = {"cycles", "cycles"},
    [REGISTERS] = {"registers", "registers"},
    [SMEM] = {"smem", "shared memory, KB"},
    [TRACED] = {"traced", "longer with the recorder"},
    [GAIN] = {"gain", "over the step before"},
};

static void add_number(struct text *out, double value, const char *unit) {
    const int digits = value >= 100 || *unit == '%' || value == (int)value ? 0
                       : value >= 10                                       ? 1
                                                                           : 2;
    text_add(out, "%.*f%s", digits, value, unit);
}

static void add_share(struct text *out, double part, double whole) {
    if (part > 0 && whole > 0)
        text_add(out, "%.*f %%", 100 * part / whole < 10 ? 1 : 0, 100 * part / whole);
    else
        text_add(out, "–");
}

static void add_cell(struct text *out, enum column column, struct found found) {
    const struct json *value = found.value, *cublas = found.cublas;
    const struct json *burst = value ? json_member(value, "burst") : NULL;
    const struct json *sustained = value ? json_member(value, "sustained") : NULL;
    double number = 0;
    const char *unit = "";
    switch (column) {
    case CUBLAS:
        add_share(out, json_number(burst, "tflops"),
                  json_number(cublas ? json_member(cublas, "burst") : NULL, "tflops"));
        return;
    case SUSTAINED_CUBLAS:
        add_share(out, json_number(sustained, "tflops"),
                  json_number(cublas ? json_member(cublas, "sustained") : NULL, "tflops"));
        return;
    case UTILIZATION:
        add_share(out, json_number(value, "tensor_core_utilization"), 1);
        return;
    case TRACED:
        number = json_number(found.traced ? json_member(found.traced, "burst") : NULL, "ms");
        if (number > 0 && json_number(burst, "ms") > 0)
            text_add(out, "%+.1f %%", 100 * (number / json_number(burst, "ms") - 1));
        else
            text_add(out, "–");
        return;
    case GAIN: {
        const struct json *then = found.before ? json_member(found.before, "burst") : NULL;
        const double factor = json_number(burst, "tflops") / json_number(then, "tflops");
        if (!then || !(json_number(burst, "tflops") > 0) || !(json_number(then, "tflops") > 0))
            text_add(out, "–");
        else
            text_add(out, factor < 10 ? "%.2f×" : "%.0f×", factor);
        return;
    }
    case SPREAD:
        number = json_number(burst, "spread");
        if (number > 0)
            text_add(out, "%.1f %%", 100 * number);
        else
            text_add(out, "–");
        return;
    case BURST:
        number = json_number(burst, "tflops");
        break;
    case SUSTAINED:
        number = json_number(sustained, "tflops");
        break;
    case CLOCK:
        number = (int)(json_number(burst, "clock_mhz") + 0.5);
        break;
    case POWER:
        number = (int)(json_number(sustained, "power_w") + 0.5);
        break;
    case CYCLES:
        number = json_number(value, "cycles");
        break;
    case REGISTERS:
        number = json_number(value, "registers");
        break;
    default:
        number = json_number(value, "smem_bytes") / 1024;
    }
    if (number > 0)
        add_number(out, number, unit);
    else
        text_add(out, "–");
}

/* ---- the table ---- */

struct spec {
    char kernels[WORDS][WORD], shapes[WORDS][WORD];
    int column[WORDS];
    int kernel_count, shape_count, column_count;
    char dtype[WORD];
    bool link;                 /* steps link to their chapters and say what they add */
    char section[WORDS][WORD]; /* "#where-it-is" in the chapter's README, or "" */
    char from[WORDS][WORD];    /* the step that it builds on, or "": the one in the row above */
};

/* The technique in the record of kernel.cu or of the variant's own file, and the chapter's
 * directory, both "" if there is none. */
static void chapter_of(const char *root, const char *word, char *directory, char *technique,
                       size_t size) {
    *directory = *technique = 0;
    static const char *const parts[] = {"", "beyond/"};
    struct text path = {0};
    for (int part = 0; part < 2; ++part) {
        text_add(&path, "%s/%s", root, parts[part]);
        DIR *folder = opendir(path.data);
        for (struct dirent *entry; folder && (entry = readdir(folder));)
            if (strncmp(entry->d_name, word, 2) == 0 && entry->d_name[2] == '_')
                snprintf(directory, size, "%s%.100s", parts[part], entry->d_name);
        if (folder) closedir(folder);
        free(path.data);
        path = (struct text){0};
    }
    const char *variant = strchr(word, ':');
    text_add(&path, "%s/%s/%s.cu", root, directory, variant ? variant + 1 : "kernel");
    char *source = *directory ? json_read_file(path.data) : NULL;
    const char *at = source ? strstr(source, ".technique = \"") : NULL;
    if (at) {
        at += strlen(".technique = \"");
        snprintf(technique, size, "%.*s", (int)strcspn(at, "\""), at);
    }
    free(source);
    free(path.data);
}

void tables_add_shape(struct text *out, double m, double n, double k, const char *times) {
    if (m == n && n == k)
        text_add(out, "%.0f³", m);
    else
        text_add(out, "%.0f%s%.0f%s%.0f", m, times, n, times, k);
}

static void add_heading(struct text *out, const struct spec *spec) {
    text_add(out, "|%s", spec->link ? " chapter | what it adds |" : " |");
    for (int s = 0; s < spec->shape_count; ++s)
        for (int c = 0; c < spec->column_count; ++c) {
            const struct shape shape = shape_of(spec->shapes[s]);
            text_add(out, " ");
            /* A column is as wide as the longest word of its heading, so the lengths are words,
             * each with its × behind a no-break space. */
            tables_add_shape(out, shape.m, shape.n, shape.k, "\u00a0× ");
            text_add(out, ": %s |", columns[spec->column[c]].heading);
        }
    text_add(out, "\n|%s", spec->link ? "---|---|" : "---|");
    for (int i = 0; i < spec->shape_count * spec->column_count; ++i)
        text_add(out, "---:|");
    text_add(out, "\n");
}

static bool has_cell(enum column column, struct found found) {
    static const char empty[] = "–";
    struct text cell = {0};
    add_cell(&cell, column, found);
    const bool filled = cell.data && strcmp(cell.data, empty) != 0;
    free(cell.data);
    return filled;
}

/* Numbers of different runs should not stand side by side: the run that fills most of a shape's
 * cells; of equal ones the last. -1: none. */
static int best_run(const struct spec *spec, struct shape shape) {
    int best = -1, most = 0;
    for (int run = 0; run < record_count; ++run) {
        int cells = 0, index;
        if (is_result(&records[run].value)) continue;
        for (int i = 0; i < spec->kernel_count; ++i) {
            const struct found found =
                find_in_run(spec->kernels[i], shape, spec->dtype, run, &index);
            for (int c = 0; c < spec->column_count && found.value; ++c)
                cells += has_cell((enum column)spec->column[c], found);
        }
        if (cells == 0 || cells < most) continue;
        most = cells;
        best = run;
    }
    return best;
}

static bool is_recorded(const char *word, const struct spec *spec) {
    int index;
    for (int s = 0; s < spec->shape_count; ++s)
        if (find_in_run(word, shape_of(spec->shapes[s]), spec->dtype, -1, &index).value)
            return true;
    return false;
}

static void add_rows(struct text *out, const char *root, const struct page *page,
                     const struct spec *spec) {
    int run[WORDS];
    for (int s = 0; s < spec->shape_count; ++s)
        run[s] = best_run(spec, shape_of(spec->shapes[s]));
    for (int i = 0; i < spec->kernel_count; ++i) {
        const char *word = spec->kernels[i];
        char directory[128], technique[128], link[PLACE];
        chapter_of(root, word, directory, technique, sizeof directory);
        if (!is_chapter_number(word)) snprintf(directory, sizeof directory, "%s", word);
        const char *variant = is_chapter_number(word) ? strchr(word, ':') : NULL;
        if (spec->link && is_chapter_number(word))
            text_add(out, "| [%s%s%s](%s/README.md%s) | %s |", directory, variant ? ", " : "",
                     variant ? variant + 1 : "", page_link(page, directory, link), spec->section[i],
                     technique);
        else
            text_add(out, "| %s%s%s |%s", directory, variant ? ", " : "",
                     variant ? variant + 1 : "", spec->link ? " |" : "");
        for (int s = 0; s < spec->shape_count; ++s) {
            const struct shape shape = shape_of(spec->shapes[s]);
            struct found found = find(word, shape, spec->dtype, run[s]);
            const char *from = *spec->from[i] ? spec->from[i] : i > 0 ? spec->kernels[i - 1] : "";
            int index;
            if (is_chapter_number(word) && *from)
                found.before = find_in_run(from, shape, spec->dtype, run[s], &index).value;
            for (int c = 0; c < spec->column_count; ++c) {
                text_add(out, " ");
                add_cell(out, spec->column[c], found);
                text_add(out, " |");
            }
        }
        text_add(out, "\n");
    }
}

static void add_word(struct text *out, const char *separator, const char *word) {
    if (*word) text_add(out, "%s%s", separator, word);
}

void tables_add_source(struct text *out, const char *root, const struct page *page,
                       const struct json *run, bool simulated, const char *dtype,
                       const char *file) {
    char name[PLACE], place[PLACE], link[PLACE];
    snprintf(name, sizeof name, "results/%s", file);
    page_link(page, docs_place(root, name, place), link);
    text_add(out, "\n%s: ", simulated ? "Simulated, not measured" : "Measured");
    text_add(out, "%s", json_text(run, "gpu"));
    add_word(out, ", driver ", json_text(run, "driver"));
    add_word(out, ", CUDA ", json_text(run, "toolkit"));
    add_word(out, ", power limit ", json_text(run, "power_limit"));
    add_word(out, ", ", json_text(run, "date"));
    text_add(out, ", %s; `%s` ([record](%s)).\n", dtype, json_text(run, "command"), link);
}

/* A line for each run that the table has numbers of. */
static void add_sources(struct text *out, const char *root, const struct page *page,
                        const char *dtype) {
    for (int i = 0; i < record_count; ++i) {
        if (is_result(&records[i].value)) continue;
        bool simulated = false, used = false;
        for (int j = i + 1; j < record_count && is_result(&records[j].value); ++j) {
            simulated |= strcmp(json_text(&records[j].value, "backend"), "sim") == 0;
            used |= records[j].used;
        }
        if (used)
            tables_add_source(out, root, page, &records[i].value, simulated, dtype,
                              records[i].file);
    }
}

static bool read_spec(const struct page *page, int line, struct spec *spec) {
    const char *marker = page->line[line];
    char names[WORDS][WORD], link[WORD];
    *spec = (struct spec){.dtype = "bf16"};
    spec->kernel_count = marker_words(marker, "kernels", spec->kernels, WORDS);
    for (int i = 0; i < spec->kernel_count; ++i) {
        char *section = strchr(spec->kernels[i], '#');
        if (section) {
            snprintf(spec->section[i], sizeof spec->section[i], "%s", section);
            *section = 0;
        }
        char *from = strchr(spec->kernels[i], '<');
        if (from) {
            snprintf(spec->from[i], sizeof spec->from[i], "%s", from + 1);
            *from = 0;
        }
    }
    spec->shape_count = marker_words(marker, "shapes", spec->shapes, WORDS);
    spec->column_count = marker_words(marker, "columns", names, WORDS);
    marker_value(marker, "dtype", spec->dtype, sizeof spec->dtype);
    spec->link = marker_value(marker, "link", link, sizeof link);
    if (!spec->kernel_count || !spec->shape_count || !spec->column_count) {
        complain(page, line, "a table needs results=, kernels=, shapes= and columns=");
        return false;
    }
    for (int i = 0; i < spec->column_count; ++i) {
        int c = 0;
        while (c < COLUMNS && strcmp(names[i], columns[c].name))
            ++c;
        if (c == COLUMNS) {
            complain(page, line, "there is no column '%s'", names[i]);
            return false;
        }
        spec->column[i] = c;
    }
    return true;
}

static bool make_table(struct text *out, const char *root, const struct page *page, int line) {
    char prefix[WORD];
    struct spec spec;
    if (!marker_value(page->line[line], "results", prefix, sizeof prefix)) *prefix = 0;
    if (!read_spec(page, line, &spec)) return false;
    load(root, prefix);
    text_add(out, "\n");
    if (record_count) {
        add_heading(out, &spec);
        for (int i = 0; i < spec.kernel_count; ++i)
            if (!is_recorded(spec.kernels[i], &spec))
                complain(page, line, "docs/results/%s*.jsonl have no '%s' at these shapes", prefix,
                         spec.kernels[i]);
        add_rows(out, root, page, &spec);
        add_sources(out, root, page, spec.dtype);
        text_add(out, "\n");
        return true;
    }
    if (spec.link) {
        add_heading(out, &spec);
        add_rows(out, root, page, &spec);
        text_add(out, "\n");
    }
    text_add(out, "*Not yet recorded: there is no `docs/results/%s*.jsonl`.*\n\n", prefix);
    return true;
}

void tables_check(const char *root, struct page *page, bool rewrite) {
    page_remake(root, page, rewrite, "<!-- table:", "table", make_table);
}
