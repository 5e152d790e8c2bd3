/*
 * source_names.c: lines of shared headers, together with the kernel that has called them.
 *
 * Wherever the simulator keeps a file and a line, the line is the kernel's inside a verb, and the
 * file is a text of this table, which says the header's line, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"

struct made_name {
    const char *file, *caller;
    int line;
    char text[160]; /* begins with MADE, which no file's name does */
};

enum { MADE_NAMES = 1 << 11, MADE = '\1' };
static struct made_name made_names[MADE_NAMES]; /* open addressing */

const char *sim_called_from(const char *file, int line, const char *caller) {
    const unsigned hash =
        (unsigned)line * 40503u ^ (unsigned)((uintptr_t)file >> 3 ^ (uintptr_t)caller >> 5);
    for (unsigned probe = 0; probe < MADE_NAMES / 2; ++probe) {
        struct made_name *const name = &made_names[(hash + probe) % MADE_NAMES];
        if (name->file == file && name->line == line && name->caller == caller) return name->text;
        if (name->file) continue;
        name->file = file;
        name->line = line;
        name->caller = caller;
        const int used = snprintf(name->text, sizeof name->text, "%c%s:%d called from ", MADE,
                                  source_name(file), line);
        snprintf(name->text + used, sizeof name->text - (size_t)used, "%s", source_name(caller));
        return name->text;
    }
    return caller; /* hundreds of kernels in one program: the header's line is left out */
}

const char *source_path(const char *file) {
    for (int i = 0; file && *file == MADE && i < MADE_NAMES; ++i)
        if (made_names[i].text == file) return source_path(made_names[i].caller);
    return file;
}

/* ---- names that outlive what they name ---- */

struct kept {
    struct kept *next;
    char text[];
};

const char *source_keep(const char *text) {
    static struct kept *list;
    for (const struct kept *known = list; known; known = known->next)
        if (!strcmp(known->text, text)) return known->text;
    const size_t size = strlen(text) + 1;
    struct kept *const kept = host_zeroed(1, sizeof *kept + size, "the name of a barrier");
    memcpy(kept->text, text, size);
    kept->next = list;
    list = kept;
    return kept->text;
}

const char *source_name(const char *file) {
    if (!file) return "?";
    if (*file == MADE) return file + 1;
    const char *shown = file, *slash = NULL;
    for (const char *c = file; *c; ++c) {
        if (*c != '/') continue;
        if (slash) shown = slash + 1;
        slash = c;
    }
    return shown; /* the file and the directory it is in */
}
