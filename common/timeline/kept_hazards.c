/*
 * kept_hazards.c: keeping the mistakes that a run has shown, and writing them for the page, with
 * the lines of the source that they name.
 */
#include "timeline/kept_hazards.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/text_file.h"
#include "timeline/tracks.h"

struct kept_side {
    int64_t cycle;
    char what[64], place[160], source[160]; /* source: the line's text; empty: not readable */
    int line, cta, thread;
};

struct kept_hazard {
    char *kind, *text;
    int sides;
    struct kept_side side[2];
};

static char *copy_of(const char *text) {
    const size_t size = strlen(text) + 1;
    return memcpy(timeline_zeroed(size, 1), text, size);
}

/* The line's text without the blanks around it. The file may have gone since it was compiled. */
static void read_line(const char *path, int line, char *text, size_t size) {
    FILE *const file = path && line > 0 ? fopen(path, "r") : NULL;
    char buffer[512];
    *text = '\0';
    if (!file) return;
    while (line > 0 && fgets(buffer, sizeof buffer, file))
        if (strchr(buffer, '\n')) --line;
    fclose(file);
    if (line > 0) return;
    const char *const begin = buffer + strspn(buffer, " \t");
    snprintf(text, size, "%.*s", (int)strcspn(begin, "\r\n"), begin);
}

void timeline_hazard(struct timeline *timeline, const struct timeline_hazard *hazard) {
    timeline_grow((void **)&timeline->hazard, timeline->hazards, &timeline->hazard_capacity,
                  sizeof *timeline->hazard);
    struct kept_hazard *const kept = &timeline->hazard[timeline->hazards++];
    *kept = (struct kept_hazard){
        .kind = copy_of(hazard->kind), .text = copy_of(hazard->text), .sides = hazard->sides};
    for (int i = 0; i < hazard->sides; ++i) {
        const struct hazard_side *const from = &hazard->side[i];
        struct kept_side *const to = &kept->side[i];
        *to = (struct kept_side){
            .cycle = from->cycle, .line = from->line, .cta = from->cta, .thread = from->thread};
        snprintf(to->what, sizeof to->what, "%s", from->what);
        snprintf(to->place, sizeof to->place, "%s:%d", from->place, from->line);
        read_line(from->path, from->line, to->source, sizeof to->source);
    }
}

bool hazards_concern(const struct timeline *timeline, int cta) {
    for (int i = 0; i < timeline->hazards; ++i)
        for (int j = 0; j < timeline->hazard[i].sides; ++j)
            if (timeline->hazard[i].side[j].cta == cta) return true;
    return false;
}

static void write_string(FILE *file, const char *name, const char *text) {
    fprintf(file, "\"%s\":", name);
    write_json_string(file, text);
    putc(',', file);
}

void hazards_write(FILE *file, const struct timeline *timeline) {
    putc('[', file);
    for (int i = 0; i < timeline->hazards; ++i) {
        const struct kept_hazard *const hazard = &timeline->hazard[i];
        fputs(i ? ",\n{" : "{", file);
        write_string(file, "kind", hazard->kind);
        write_string(file, "text", hazard->text);
        fputs("\"sides\":[", file);
        for (int j = 0; j < hazard->sides; ++j) {
            const struct kept_side *const side = &hazard->side[j];
            fputs(j ? ",{" : "{", file);
            write_string(file, "what", side->what);
            write_string(file, "place", side->place);
            write_string(file, "source", side->source);
            fprintf(file, "\"line\":%d,\"cta\":%d,\"thread\":%d,\"time\":%lld}", side->line,
                    side->cta, side->thread, (long long)side->cycle);
        }
        fputs("]}", file);
    }
    putc(']', file);
}

void hazards_free(struct timeline *timeline) {
    for (int i = 0; i < timeline->hazards; ++i) {
        free(timeline->hazard[i].kind);
        free(timeline->hazard[i].text);
    }
    free(timeline->hazard);
}
