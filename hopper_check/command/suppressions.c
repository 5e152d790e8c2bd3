/* suppressions.c: reading and matching. */
#include "command/suppressions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/findings.h"

/* "kernel.cu:7" */
static bool same_place(const struct sim_side *side, const char *place) {
    const char *const colon = strrchr(place, ':'), *const path =
                                                       side->file ? source_path(side->file) : "";
    const size_t length = (size_t)(colon - place), size = strlen(path);
    if (atoi(colon + 1) != side->line || length > size) return false;
    const char *const end = path + size - length;
    return !strncmp(end, place, length) && (end == path || end[-1] == '/');
}

static void suppress(const char *rule, char place[2][512], int places) {
    struct finding *f;
    for (int i = 0; (f = findings_get(i)); ++i) {
        if (strcmp(f->rule, rule) != 0 || f->sides != places) continue;
        for (int first = 0; first < places; ++first)
            if (same_place(&f->side[0], place[first]) &&
                (places == 1 || same_place(&f->side[1], place[1 - first])))
                f->suppressed = true;
    }
}

bool suppressions_apply(const char *path) {
    FILE *const in = fopen(path, "r");
    char line[2048], rule[64], place[2][512];
    bool good = in != NULL;
    for (int number = 1; good && fgets(line, sizeof line, in); ++number) {
        line[strcspn(line, "#\n")] = 0;
        const int read = sscanf(line, "%63s %511s %511s", rule, place[0], place[1]);
        if (read < 1) continue;
        good = read > 1 && strchr(place[0], ':') && (read < 3 || strchr(place[1], ':'));
        if (good)
            suppress(rule, place, read - 1);
        else
            fprintf(stderr, "hopper_check: %s:%d: expected RULE FILE:LINE [FILE:LINE]\n", path,
                    number);
    }
    if (in)
        fclose(in);
    else
        fprintf(stderr, "hopper_check: %s cannot be read\n", path);
    return good;
}
