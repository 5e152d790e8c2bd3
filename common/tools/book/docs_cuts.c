#include "tools/book/docs_cuts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/cuts/cuts_record.h"

double cuts_number(const char *root, const char *file, const char *what, char *error, size_t size) {
    char path[512];
    double limit = 0, number = NAN;
    struct cuts_record record;
    snprintf(path, sizeof path, "%s/docs/results/%s", root, file);
    if (cuts_record_read(&record, path, error, size)) {
        const bool above = sscanf(what, "above %lf", &limit) == 1;
        const struct cuts_summary all = cuts_summarize(&record, limit);
        if (above) number = all.above;
        if (!strcmp(what, "cuts")) number = record.rows;
        if (!strcmp(what, "shapes")) number = all.shapes;
        if (!strcmp(what, "mean")) number = all.mean;
        if (!strcmp(what, "most")) number = all.most;
        if (isnan(number)) snprintf(error, size, "regret() has no number '%s'", what);
    }
    cuts_record_free(&record);
    return number;
}
