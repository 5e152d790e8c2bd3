/*
 * timeline_check.c: checks trace files: timeline_check FILE...
 *
 * Exit code 0: all are good; 1: one is not, and why; 2: usage.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/timeline/trace_check.h"
#include "tools/json/json.h"

int main(int argc, char **argv) {
    int bad = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: timeline_check FILE...\n");
        return 2;
    }
    for (int i = 1; i < argc; ++i) {
        char *text = json_read_file(argv[i]), error[200];
        struct trace_summary summary;
        if (!text) {
            fprintf(stderr, "%s cannot be read\n", argv[i]);
            return 2;
        }
        const bool good = trace_check(text, &summary, error, sizeof error);
        if (good)
            printf("%s: %d processes, %d tracks, %d spans\n", argv[i], summary.processes,
                   summary.tracks, summary.spans);
        else
            fprintf(stderr, "%s: %s\n", argv[i], error);
        bad |= !good;
        free(text);
    }
    return bad;
}
