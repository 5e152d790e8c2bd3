/* results.c: lines of fields, with tabs between them. */
#include "command/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/findings.h"
#include "program/sites.h"

enum { MOST_NOTES = 32, MOST_FIELDS = 16 };
static char *note[MOST_NOTES];
static int notes;

const char *results_note(int i) { return i < notes ? note[i] : NULL; }

static char *copy(const char *text) {
    const size_t size = strlen(text) + 1;
    char *const kept = malloc(size);
    return kept ? memcpy(kept, text, size) : NULL;
}

static void add_note(const char *text) {
    for (int i = 0; i < notes; ++i)
        if (note[i] && !strcmp(note[i], text)) return;
    if (notes < MOST_NOTES) note[notes++] = copy(text);
}

/* In place: a tab ends a field, and \n, \t and \\ are what they stand for. */
static int split(char *line, char *field[MOST_FIELDS]) {
    int fields = 0;
    char *to = line;
    line[strcspn(line, "\n")] = 0;
    field[fields++] = line;
    for (const char *from = line; *from; ++from) {
        if (*from == '\t') {
            *to++ = 0;
            if (fields == MOST_FIELDS) return fields;
            field[fields++] = to;
        } else if (*from == '\\' && from[1]) {
            ++from;
            *to++ = *from == 'n' ? '\n' : *from == 't' ? '\t' : *from;
        } else {
            *to++ = *from;
        }
    }
    *to = 0;
    return fields;
}

/* finding RULE TEXT, and for each side PATH CHAIN WHAT LINE CTA THREAD. */
static void add_finding(char **field, int fields, const struct results *r) {
    enum { FIRST = 3, FIELDS_OF_SIDE = 6 };
    struct sim_hazard hazard = {.kind = field[1], .text = field[2]};
    char launch[512] = "";
    for (int at = FIRST; at + FIELDS_OF_SIDE <= fields && hazard.sides < 2; at += FIELDS_OF_SIDE) {
        struct sim_side *const side = &hazard.side[hazard.sides++];
        side->line = atoi(field[at + 3]);
        side->cta = atoi(field[at + 4]);
        side->thread = atoi(field[at + 5]);
        side->file = site_name(field[at], side->line, field[at + 1]);
        side->cycle = SIDE_UNKNOWN;
        snprintf(side->what, sizeof side->what, "%s", field[at + 2]);
    }
    const char *const where = r->under_way ? "" : "the host's code, after ";
    if (r->number > 0)
        snprintf(launch, sizeof launch, "%slaunch %d, of %s", where, r->number,
                 r->kernel ? r->kernel : "?");
    else
        snprintf(launch, sizeof launch, "the host's code, before any launch");
    findings_add(&hazard, launch, r->under_way ? r->number : 0);
}

static void begin_launch(char **field, const struct launch_filter *filter, struct results *r) {
    const bool named = !filter->kernel || strstr(field[2], filter->kernel);
    r->under_way = true;
    r->so_far = 0;
    r->number = atoi(field[1]);
    r->named += named;
    r->counts = named && r->named > filter->skip &&
                (filter->count < 0 || r->named <= filter->skip + filter->count);
    free(r->kernel);
    r->kernel = copy(field[2]);
}

static void take(char **field, int fields, const struct launch_filter *filter, struct results *r) {
    if (!strcmp(field[0], "loaded")) r->loaded = true;
    if (!strcmp(field[0], "note") && fields > 1) add_note(field[1]);
    const bool counts = r->counts || !r->under_way;
    if (!strcmp(field[0], "finding") && fields > 2 && counts) add_finding(field, fields, r);
    if (!strcmp(field[0], "launch") && fields > 2) begin_launch(field, filter, r);
    if (!strcmp(field[0], "runs") && fields > 1) r->so_far = strtoull(field[1], NULL, 10);
    if (!strcmp(field[0], "ended") && fields > 2) r->under_way = false;
    if (!strcmp(field[0], "ended") && fields > 2 && r->counts) {
        ++r->launches;
        r->executed += strtoull(field[1], NULL, 10);
        r->checked += strtoull(field[2], NULL, 10);
    }
    if (!strcmp(field[0], "refused") && fields > 2 && !r->why) {
        r->refused = atoi(field[1]);
        r->why = copy(field[2]);
    }
}

void results_read(const char *path, const struct launch_filter *filter, struct results *r) {
    FILE *const in = fopen(path, "r");
    char *line = NULL, *field[MOST_FIELDS];
    size_t room = 0;
    *r = (struct results){.loaded = false};
    while (in && getline(&line, &room, in) > 0)
        take(field, split(line, field), filter, r);
    free(line);
    if (in) fclose(in);
}
