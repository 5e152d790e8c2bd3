/* sites.c: names of places, one for each chain of calls. They outlive the module: the simulator
 * remembers them. */
#include "program/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct site {
    struct site *next;
    int line;
    const char *chain;
    char *file;
};

enum { BUCKETS = 1024 };
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

/* Innermost first. NULL: there is no memory for it. */
static char *new_chain(const struct ptx_place *place) {
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    if (!out) return NULL;
    const bool inlined = place->outer;
    for (const char *between = ""; place->outer; place = place->outer, between = ", called by ")
        fprintf(out, "%s%s (%s:%d)", between, place->function, short_name(place->file),
                place->line);
    if (inlined) fprintf(out, ", called at line %d", place->line);
    fclose(out);
    return text;
}

const char *site_file(const struct ptx_module *module, const struct ptx_instruction *instruction,
                      int *line) {
    char *chain = NULL;
    const char *file = module->file;
    *line = instruction->line;
    if (instruction->place) {
        const struct ptx_place *outermost = instruction->place;
        while (outermost->outer)
            outermost = outermost->outer;
        const struct ptx_place *const own = own_place(instruction->place, outermost);
        chain = new_chain(instruction->place);
        file = own->file;
        *line = own->line;
    }
    const char *const name = site_name(file, *line, chain ? chain : "");
    free(chain);
    return name;
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
