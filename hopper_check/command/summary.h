/*
 * summary.h: what is said at the end. No times: two runs of the same program say the same.
 */
#ifndef COMMAND_SUMMARY_H
#define COMMAND_SUMMARY_H

#include "command/options.h"
#include "command/program_options.h"

struct summary {
    enum exit code;
    char why[2200];    /* a sentence, if the code is none of clean and findings */
    const char *under; /* the run that it is about; NULL: there was only one */
    bool interrupted;
    int page; /* the number of the launch that --report has made one of; 0: of none */
    int runs, launches;
    uint64_t executed, checked;
};

/* Where the options want it. False after a message. */
bool summary_write(const struct summary *summary, const struct program_options *options);
const char *verdict_of(enum exit code);

#endif
