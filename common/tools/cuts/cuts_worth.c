#include <string.h>

#include "tools/cuts/cuts_record.h"

int cuts_configurations(void) { return CUTS_KERNELS + selection_count(); }

const char *cuts_configuration_name(int number) {
    static const char *const kernels[CUTS_KERNELS] = {"fitted1", "fitted2", "fitted3", "fitted4"};
    return number < CUTS_KERNELS ? kernels[number] : selection_name(number - CUTS_KERNELS);
}

static int configuration_of(const struct cut *cut) {
    return cut->slabs ? cut->slabs - 1 : CUTS_KERNELS + cut->configuration;
}

struct cuts_worth cuts_worth(const struct cuts_record *record, int number) {
    struct cuts_worth worth = {0};
    int shapes = 0;
    for (int first = 0, end; first < record->rows; first = end) {
        double own = INFINITY, others = INFINITY; /* the least times */
        end = cuts_choice(record, first, CUTS_SELECTION).end;
        for (int i = first; i < end; ++i) {
            double *least = configuration_of(&record->row[i].cut) == number ? &own : &others;
            *least = fmin(*least, record->row[i].us);
        }
        worth.timed += isfinite(own);
        worth.fastest += own < others;
        /* A shape that has no other way says nothing about its loss. */
        if (!isfinite(others)) continue;
        if (own < others) worth.without += 100 * (others / own - 1);
        ++shapes;
    }
    if (shapes) worth.without /= shapes;
    return worth;
}
