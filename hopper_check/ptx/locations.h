/*
 * locations.h: the `.loc` directives of a module. What they refer to, the `.file` directives and
 * the names in the section .debug_str, comes at the module's end.
 */
#ifndef PTX_LOCATIONS_H
#define PTX_LOCATIONS_H

#include "ptx/module.h"

enum { PLACE_BUCKETS = 4096 };

struct location;

struct locations {
    struct location *bucket[PLACE_BUCKETS];
    const char **file; /* by number; NULL: not declared */
    int files;
    struct info_string {
        const char *label, *text;
    } * string;
    int strings;
};

struct position {
    int file, line, column;
};

/* Inlined code names the function and the position of its call, which is that of the latest `.loc`
 * there. `function`: the label of its name; NULL: not inlined. */
const struct ptx_place *locations_add(struct locations *locations, struct arena *arena,
                                      struct position at, const char *function,
                                      struct position call);
void locations_file(struct locations *locations, struct arena *arena, int number, const char *name);
void locations_string(struct locations *locations, struct arena *arena, const char *label,
                      const char *text);
/* Gives all places their files and functions. */
void locations_resolve(struct locations *locations);

#endif
