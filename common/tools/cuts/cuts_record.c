#include "tools/cuts/cuts_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024 };

/* ---- reading ---- */

/* A row: "m n k slabs width cluster splits transposed us", and perhaps the clock. */
static bool read_row(const char *line, struct cut_row *row, double *mhz) {
    int m, n, k, transposed;
    struct cut cut = {0};
    *mhz = 0;
    const int found =
        sscanf(line, "%d %d %d %d %d %d %d %d %lf %lf", &m, &n, &k, &cut.slabs, &cut.fit.width,
               &cut.fit.cluster, &cut.fit.splits, &transposed, &row->us, mhz);
    if (found < 9 || m < 1 || n < 1 || k < 1 || cut.slabs < 1 || cut.slabs > 4) return false;
    const int cluster = cut.fit.cluster, width = cut.fit.width;
    if (width < 8 || width % 8 || width > FIT_WIDEST(cut.slabs) || cut.fit.splits < 1) return false;
    if ((cluster != 1 && cluster != 2 && cluster != 4) || !(row->us > 0)) return false;
    cut.fit.transposed = transposed != 0;
    row->problem = cuts_problem(m, n, k);
    row->cut = cut;
    return true;
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

/* One line. False if it is neither a comment nor a row. */
static bool read_line(struct cuts_record *record, const char *line, double *clock, int *clocks,
                      bool *microseconds) {
    int *resident = record->resident;
    struct cut_row row;
    double mhz;
    if (*line == '#') {
        sscanf(line, "# resident clusters of 1, 2 and 4 CTAs: %d %d %d", &resident[0], &resident[1],
               &resident[2]);
        *microseconds |= strstr(line, " transposed us") != NULL;
        return true;
    }
    if (!read_row(line, &row, &mhz)) return false;
    insert(record, &row);
    if (mhz > 0 && *clocks < LINE) clock[(*clocks)++] = mhz;
    return true;
}

bool cuts_record_read(struct cuts_record *record, const char *path, char *error, size_t size) {
    char line[LINE];
    double clock[LINE]; /* of the first rows */
    int clocks = 0, number = 0;
    bool good = true, microseconds = false;
    *record = (struct cuts_record){.resident = {132, 66, 30}, .mhz = 1850};
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(error, size, "%s cannot be read", path);
        return false;
    }
    while (good && fgets(line, sizeof line, file)) {
        good = read_line(record, line, clock, &clocks, &microseconds);
        ++number;
    }
    fclose(file);
    if (!good)
        snprintf(error, size, "%s:%d is neither a comment nor a timed cut", path, number);
    else if (!record->rows || !microseconds)
        snprintf(error, size, "%s has no cuts timed in us", path);
    if (clocks) {
        qsort(clock, (size_t)clocks, sizeof *clock, by_value);
        record->mhz = clock[clocks / 2];
    }
    return good && record->rows && microseconds;
}

void cuts_record_free(struct cuts_record *record) {
    free(record->row);
    *record = (struct cuts_record){0};
}

/* ---- choices ---- */

struct cuts_choice cuts_choice(const struct cuts_record *record, int first) {
    const struct cut_row *row = record->row;
    struct cuts_choice choice = {first, first, first, first};
    double least = INFINITY;
    for (int i = first; i < record->rows && same_shape(&row[i], &row[first]); ++i) {
        const double cycles = cut_cycles(&row[i].problem, record->resident, &row[i].cut);
        if (cycles < least) {
            least = cycles;
            choice.chosen = i;
        }
        if (row[i].us < row[choice.fastest].us) choice.fastest = i;
        choice.end = i + 1;
    }
    return choice;
}

double cuts_excess(const struct cuts_record *record, const struct cuts_choice *choice) {
    return 100 * (record->row[choice->chosen].us / record->row[choice->fastest].us - 1);
}

struct cuts_summary cuts_summarize(const struct cuts_record *record, double limit) {
    struct cuts_summary all = {0};
    double squares = 0;
    for (int first = 0; first < record->rows;) {
        const struct cuts_choice choice = cuts_choice(record, first);
        const double excess = cuts_excess(record, &choice);
        ++all.shapes;
        all.mean += excess;
        squares += excess * excess;
        if (excess > all.most) all.most = excess;
        all.above += excess > limit;
        first = choice.end;
    }
    if (all.shapes) {
        all.mean /= all.shapes;
        all.root_mean_square = sqrt(squares / all.shapes);
    }
    return all;
}
