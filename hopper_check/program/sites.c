/* sites.c: names of places, one for each chain of calls. They outlive the module: the simulator
 * remembers them. */
#include "program/sites.h"

#include <stdio.h>
#include <string.h>

struct site {
    struct site *next;
    int line;
    const char *chain;
    char *file;
};

enum { BUCKETS = 1024, CHAIN = 1000 };
static struct site *sites[BUCKETS];
static struct arena arena;

/* The file and the directory it is in. */
static const char *short_name(const char *path) {
    const char *shown = path, *slash = NULL;
    for (const char *c = path; *c; ++c) {
        if (*c != '/') continue;
        if (slash) shown = slash + 1;
        slash = c;
    }
    return shown;
}

/* The innermost place in the file that the kernel itself stands in. */
static const struct ptx_place *own_place(const struct ptx_place *place,
                                         const struct ptx_place *outermost) {
    while (strcmp(place->file, outermost->file) != 0)
        place = place->outer;
    return place;
}

/* Innermost first. */
static void write_chain(const struct ptx_place *place, char text[CHAIN]) {
    size_t used = 0;
    text[0] = 0;
    for (; place->outer; place = place->outer) {
        const int length =
            snprintf(text + used, CHAIN - used, "%s%s (%s:%d)", used ? ", called by " : "",
                     place->function, short_name(place->file), place->line);
        if (length < 0 || (size_t)length >= CHAIN - used) {
            text[used] = 0; /* the innermost calls say the most */
            return;
        }
        used += (size_t)length;
    }
    if (used) snprintf(text + used, CHAIN - used, ", called at line %d", place->line);
}

const char *site_file(const struct ptx_module *module, const struct ptx_instruction *instruction,
                      int *line) {
    char chain[CHAIN] = "";
    const char *file = module->file;
    *line = instruction->line;
    if (instruction->place) {
        const struct ptx_place *outermost = instruction->place;
        while (outermost->outer)
            outermost = outermost->outer;
        const struct ptx_place *const own = own_place(instruction->place, outermost);
        write_chain(instruction->place, chain);
        file = own->file;
        *line = own->line;
    }
    return site_name(file, *line, chain);
}

const char *site_name(const char *file, int line, const char *chain) {
    unsigned hash = (unsigned)line;
    for (const char *c = chain; *c; ++c)
        hash = hash * 31 + (unsigned char)*c;
    struct site **const bucket = &sites[hash % BUCKETS];
    for (struct site *site = *bucket; site; site = site->next)
        if (site->line == line && !strcmp(site->chain, chain) && !strcmp(site->file, file))
            return site->file;
    struct site *const site = arena_alloc(&arena, sizeof *site);
    *site = (struct site){.next = *bucket,
                          .line = line,
                          .chain = arena_text(&arena, chain, strlen(chain)),
                          .file = arena_text(&arena, file, strlen(file))};
    *bucket = site;
    return site->file;
}

const char *site_chain(const char *file) {
    for (int i = 0; i < BUCKETS; ++i)
        for (const struct site *site = sites[i]; site; site = site->next)
            if (site->file == file) return *site->chain ? site->chain : NULL;
    return NULL;
}
