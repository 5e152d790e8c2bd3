#include "tools/cuts/cuts_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024, NAME = 32 };

/* ---- reading ---- */

/* A shape and a cut: "m n k slabs width sharing_side sharing_fitted splits transposed us", and
 * perhaps the clock. Where `splits` is "12/4", 4 of the 12 parts are those of a cluster. */
static bool read_cut(const char *line, struct cut_row *row, double *mhz) {
    int transposed, rest = 0;
    struct cut cut = {.fit = {.splits_in_cluster = 1}};
    struct fit *fit = &cut.fit;
    if (sscanf(line, "%*d %*d %*d %d %d %d %d %d%n", &cut.slabs, &fit->width, &fit->sharing_side,
               &fit->sharing_fitted, &fit->splits, &rest) < 5)
        return false;
    int in_cluster = 0; /* its end */
    if (sscanf(line + rest, "/%d%n", &fit->splits_in_cluster, &in_cluster) == 1) rest += in_cluster;
    if (sscanf(line + rest, " %d %lf %lf", &transposed, &row->us, mhz) < 2) return false;
    if (cut.slabs < 1 || cut.slabs > 4 || fit->splits < 1) return false;
    if (transposed != 0 && transposed != 1) return false;
    if (cuts_form(fit) == CUTS_FORMS || fit->splits % fit->splits_in_cluster) return false;
    if (fit->width < 8 || fit->width % 8 || fit->width > FIT_WIDEST(cut.slabs)) return false;
    fit->transposed = transposed;
    row->cut = cut;
    return true;
}

/* A shape and a configuration: "m n k NAME us", and perhaps the clock. The header has the names. A
 * name that select.c's table lacks has the number -1. */
static bool read_configuration(const char *line, const char *names, struct cut_row *row,
                               double *mhz) {
    char name[NAME], listed[NAME + 2];
    if (sscanf(line, "%*d %*d %*d %31[a-z0-9_] %lf %lf", name, &row->us, mhz) < 2) return false;
    snprintf(listed, sizeof listed, " %s ", name);
    if (!strstr(names, listed)) return false;
    row->cut = (struct cut){.configuration = selection_find(name)};
    return true;
}

static bool read_row(const char *line, const char *names, struct cut_row *row, double *mhz) {
    int m, n, k, letter = 0;
    *mhz = 0;
    if (sscanf(line, "%d %d %d %n", &m, &n, &k, &letter) != 3 || m < 1 || n < 1 || k < 1 || !letter)
        return false;
    row->problem = cuts_problem(m, n, k);
    if (!(line[letter] >= 'a' && line[letter] <= 'z' ? read_configuration(line, names, row, mhz)
                                                     : read_cut(line, row, mhz)))
        return false;
    return row->us > 0;
}

static bool same_shape(const struct cut_row *a, const struct cut_row *b) {
    return a->problem.m == b->problem.m && a->problem.n == b->problem.n &&
           a->problem.k == b->problem.k;
}

/* Puts a row after the last one of its shape. */
static void insert(struct cuts_record *record, const struct cut_row *row) {
    if (record->rows % 256 == 0) {
        record->row = realloc(record->row, (size_t)(record->rows + 256) * sizeof *record->row);
        if (!record->row) abort();
    }
    int at = record->rows;
    while (at > 0 && !same_shape(&record->row[at - 1], row))
        --at;
    if (at == 0) at = record->rows;
    memmove(&record->row[at + 1], &record->row[at],
            (size_t)(record->rows - at) * sizeof *record->row);
    record->row[at] = *row;
    ++record->rows;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What is known while the lines are read. */
struct reading {
    struct cuts_record *record;
    double clock[LINE]; /* of the first rows */
    int clocks;
    bool microseconds, resident;
    char names[LINE]; /* of configurations, between spaces */
};

/* Reads what main.c prints before the rows: what the device has room for, and the columns. */
static void read_comment(struct reading *r, const char *line) {
    struct cuts_device *device = &r->record->device;
    struct cuts_device found = *device;
    int(*resident)[FIT_CLUSTERS] = found.resident;
    char name[NAME];
    struct selection_tile tile;
    r->microseconds |= strstr(line, " transposed us") != NULL;
    if (sscanf(line,
               "# %d SMs; resident clusters of 1, 2, 4 and 8 CTAs: %d %d %d %d with one slab, "
               "%d %d %d %d with more",
               &found.sms, &resident[0][0], &resident[0][1], &resident[0][3], &resident[0][7],
               &resident[1][0], &resident[1][1], &resident[1][3], &resident[1][7]) == 9) {
        *device = found;
        r->resident = true;
    }
    found = *device;
    if (sscanf(line,
               "# resident clusters of 3, 5, 6 and 7 CTAs: %d %d %d %d with one slab, "
               "%d %d %d %d with more",
               &resident[0][2], &resident[0][4], &resident[0][5], &resident[0][6], &resident[1][2],
               &resident[1][4], &resident[1][5], &resident[1][6]) == 8)
        *device = found;
    /* A record without the next line is of an H200, or of this. */
    if (strstr(line, "\"gpu\": \"NVIDIA H100")) device->rates = (struct gemm_rates){0.682, 0.844};
    found = *device;
    if (sscanf(line, "# rates of an H200: memory %lf, L2 %lf", &found.rates.memory,
               &found.rates.l2) == 2)
        *device = found;
    if (sscanf(line,
               "# configuration %31[a-z0-9_]: tiles of %d x %d x %d, clusters of %d, %d at once",
               name, &tile.m, &tile.n, &tile.k, &tile.cluster, &tile.resident) != 6)
        return;
    const size_t length = strlen(r->names);
    snprintf(r->names + length, sizeof r->names - length, " %s ", name);
    if (selection_find(name) >= 0) device->tile[selection_find(name)] = tile;
}

/* One line. False if it is neither a comment nor a row. */
static bool read_line(struct reading *r, const char *line) {
    struct cut_row row;
    double mhz;
    if (*line == '#') {
        read_comment(r, line);
        return true;
    }
    if (!read_row(line, r->names, &row, &mhz)) return false;
    if (row.cut.configuration >= 0) insert(r->record, &row);
    if (mhz > 0 && r->clocks < LINE) r->clock[r->clocks++] = mhz;
    return true;
}

bool cuts_record_read(struct cuts_record *record, const char *path, char *error, size_t size) {
    char line[LINE];
    struct reading r = {.record = record};
    int number = 0;
    bool good = true;
    *record = (struct cuts_record){.mhz = 1850, .device.rates = {1, 1}};
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(error, size, "%s cannot be read", path);
        return false;
    }
    while (good && fgets(line, sizeof line, file)) {
        good = read_line(&r, line);
        ++number;
    }
    fclose(file);
    if (!good)
        snprintf(error, size, "%s:%d is neither a comment nor a timed cut", path, number);
    else if (!r.resident)
        snprintf(error, size, "%s does not say how many clusters are resident", path);
    else if (!record->rows || !r.microseconds)
        snprintf(error, size, "%s has no cuts timed in us", path);
    if (r.clocks) {
        qsort(r.clock, (size_t)r.clocks, sizeof *r.clock, by_value);
        record->mhz = r.clock[r.clocks / 2];
    }
    return good && r.resident && record->rows && r.microseconds;
}

void cuts_record_free(struct cuts_record *record) {
    free(record->row);
    *record = (struct cuts_record){0};
}

/* ---- choices ---- */

/* Kernels have numbers: fitted.cu's without sums in the workspace and with them, one behind the
 * other, and configurations. */
enum { FITTED = 2 * CUTS_KERNELS, KERNELS = FITTED + SELECTION_MOST };
static int kernel_of(const struct cut *cut) {
    if (cut->slabs == 0) return FITTED + cut->configuration;
    return 2 * (cut->slabs - 1) + (cut->fit.splits > cut->fit.splits_in_cluster);
}

/* Of the shape with these rows. */
static int tuned_row(const struct cuts_record *record, int first, int end) {
    const struct cut_row *row = record->row;
    double least[KERNELS];
    int best[KERNELS], tuned = -1;
    for (int kernel = 0; kernel < KERNELS; ++kernel)
        least[kernel] = INFINITY;
    for (int i = first; i < end; ++i) {
        const double cycles = cut_cycles(&row[i].problem, &record->device, &row[i].cut);
        const int kernel = kernel_of(&row[i].cut);
        if (cycles >= least[kernel]) continue;
        least[kernel] = cycles;
        best[kernel] = i;
    }
    /* As in select.c: a kernel whose best cut has no sums in the workspace is ranked in this form
     * alone. */
    for (int kernel = 0; kernel < FITTED; kernel += 2)
        if (least[kernel] <= least[kernel + 1]) least[kernel + 1] = INFINITY;
    for (int rank = 0; rank < CUTS_RANKED; ++rank) {
        int next = 0;
        for (int kernel = 1; kernel < KERNELS; ++kernel)
            if (least[kernel] < least[next]) next = kernel;
        if (isinf(least[next])) break;
        least[next] = INFINITY;
        if (tuned < 0 || row[best[next]].us < row[tuned].us) tuned = best[next];
    }
    return tuned;
}

struct cuts_choice cuts_choice(const struct cuts_record *record, int first, enum cuts_scope scope) {
    const struct cut_row *row = record->row;
    struct cuts_choice choice = {first, first, -1, -1};
    double least = INFINITY;
    for (int i = first; i < record->rows && same_shape(&row[i], &row[first]); ++i) {
        choice.end = i + 1;
        if (scope == CUTS_FITTED && row[i].cut.slabs == 0) continue;
        const double cycles = cut_cycles(&row[i].problem, &record->device, &row[i].cut);
        if (cycles < least || choice.chosen < 0) {
            least = cycles;
            choice.chosen = i;
        }
        if (choice.fastest < 0 || row[i].us < row[choice.fastest].us) choice.fastest = i;
    }
    if (scope == CUTS_TUNED) choice.chosen = tuned_row(record, first, choice.end);
    return choice;
}

double cuts_excess(const struct cuts_record *record, const struct cuts_choice *choice) {
    return 100 * (record->row[choice->chosen].us / record->row[choice->fastest].us - 1);
}

struct cuts_summary cuts_summarize(const struct cuts_record *record, double limit,
                                   enum cuts_scope scope) {
    struct cuts_summary all = {0};
    double squares = 0, *excess = calloc((size_t)record->rows + 1, sizeof *excess);
    if (!excess) abort();
    for (int first = 0; first < record->rows;) {
        const struct cuts_choice choice = cuts_choice(record, first, scope);
        first = choice.end;
        if (choice.chosen < 0) continue;
        const double own = cuts_excess(record, &choice);
        excess[all.shapes++] = own;
        all.mean += own;
        squares += own * own;
        all.most = fmax(all.most, own);
        all.above += own > limit;
    }
    for (int i = 0; i < record->rows; ++i)
        all.rows += scope == CUTS_SELECTION || record->row[i].cut.slabs > 0;
    if (all.shapes) {
        all.mean /= all.shapes;
        all.root_mean_square = sqrt(squares / all.shapes);
        qsort(excess, (size_t)all.shapes, sizeof *excess, by_value);
        all.of_95 = excess[(all.shapes * 95 + 99) / 100 - 1];
    }
    free(excess);
    return all;
}
