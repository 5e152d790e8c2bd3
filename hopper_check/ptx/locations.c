/* locations.c: PTX ISA, "Debugging Directives": .loc, .file, .section. */
#include "ptx/locations.h"

#include <string.h>

#include "ptx/demangle.h"

struct location {
    struct ptx_place place; /* first */
    int file;
    const char *function; /* the label of its name */
    uint64_t use;         /* counts up: the latest of a position is what a call means */
    struct location *next;
};

static unsigned bucket_of(struct position at) {
    return ((unsigned)at.line * 40503u ^ (unsigned)at.column * 2654435761u ^ (unsigned)at.file) %
           PLACE_BUCKETS;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static bool is_at(const struct location *location, struct position at) {
    return location->file == at.file && location->place.line == at.line &&
           location->place.column == at.column;
}

static const struct location *latest_at(const struct locations *locations, struct position at) {
    const struct location *latest = NULL;
    for (const struct location *l = locations->bucket[bucket_of(at)]; l; l = l->next)
        if (is_at(l, at) && (!latest || latest->use < l->use)) latest = l;
    return latest;
}

const struct ptx_place *locations_add(struct locations *locations, struct arena *arena,
                                      struct position at, const char *function,
                                      struct position call) {
    static uint64_t uses;
    const struct ptx_place *outer = NULL;
    if (function) {
        const struct location *const known = latest_at(locations, call);
        outer = known ? &known->place
                      : locations_add(locations, arena, call, NULL, (struct position){0});
    }
    struct location **const bucket = &locations->bucket[bucket_of(at)];
    struct location *l = *bucket;
    while (l && (!is_at(l, at) || l->place.outer != outer || !same_text(l->function, function)))
        l = l->next;
    if (!l) {
        l = arena_alloc(arena, sizeof *l);
        l->place = (struct ptx_place){.line = at.line, .column = at.column, .outer = outer};
        l->file = at.file;
        l->function = function;
        l->next = *bucket;
        *bucket = l;
    }
    l->use = ++uses;
    return &l->place;
}

void locations_file(struct locations *locations, struct arena *arena, int number,
                    const char *name) {
    while (locations->files <= number)
        *ARENA_PUSH(arena, locations->file, locations->files) = NULL;
    locations->file[number] = name;
}

void locations_string(struct locations *locations, struct arena *arena, const char *label,
                      const char *text) {
    *ARENA_PUSH(arena, locations->string, locations->strings) =
        (struct info_string){label, demangle(arena, text)};
}

static const char *text_of(const struct locations *locations, const char *label) {
    for (int i = 0; label && i < locations->strings; ++i)
        if (!strcmp(locations->string[i].label, label)) return locations->string[i].text;
    return label;
}

void locations_resolve(struct locations *locations) {
    for (int i = 0; i < PLACE_BUCKETS; ++i)
        for (struct location *l = locations->bucket[i]; l; l = l->next) {
            const bool known = l->file < locations->files && locations->file[l->file];
            l->place.file = known ? locations->file[l->file] : "?";
            l->place.function = text_of(locations, l->function);
        }
}
