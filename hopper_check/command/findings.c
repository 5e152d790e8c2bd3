/* findings.c: gathering the simulator's reports. */
#include "command/findings.h"

#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "command/terms.h"
#include "program/sites.h"
#include "sim/core/hazards.h"

struct finding {
    const char *rule;
    struct sim_side side[2];
    int sides;
    char *text;         /* of the first report */
    unsigned schedules; /* bits */
    int reports;
};

enum { MOST_FINDINGS = 256 };
static struct finding finding[MOST_FINDINGS];
static int count;
static enum sim_schedule schedule;
static bool incomplete;

static bool same_side(const struct sim_side *a, const struct sim_side *b) {
    return a->file == b->file && a->line == b->line;
}

static void note(const struct sim_hazard *hazard) {
    if (!strcmp(hazard->kind, "not-modelled")) incomplete = true;
    for (int i = 0; i < count; ++i) {
        struct finding *const f = &finding[i];
        if (strcmp(f->rule, hazard->kind) != 0 || f->sides != hazard->sides ||
            !same_side(&f->side[0], &hazard->side[0]) ||
            (f->sides > 1 && !same_side(&f->side[1], &hazard->side[1])))
            continue;
        f->schedules |= 1u << schedule;
        ++f->reports;
        return;
    }
    if (count == MOST_FINDINGS) return;
    const size_t size = strlen(hazard->text) + 1;
    struct finding *const f = &finding[count++];
    *f = (struct finding){.rule = hazard->kind,
                          .side = {hazard->side[0], hazard->side[1]},
                          .sides = hazard->sides,
                          .text = malloc(size),
                          .schedules = 1u << schedule,
                          .reports = 1};
    if (f->text) memcpy(f->text, hazard->text, size);
}

void findings_begin(void) {
    backend_hold_reports();
    sim_hazard_hook = note;
}

void findings_schedule(enum sim_schedule now) { schedule = now; }
int findings_count(void) { return count; }
bool findings_incomplete(void) { return incomplete; }

/* ---- text ---- */

static void print_chain(FILE *out, const struct sim_side *side, const char *which) {
    const char *const chain = side->file ? site_chain(side->file) : NULL;
    if (chain)
        fprintf(out, "    %s, %s:%d: in %s\n", which, source_name(side->file), side->line, chain);
}

static void print_schedules(FILE *out, unsigned schedules) {
    const char *before = "";
    for (int i = 0; i < SIM_SCHEDULES; ++i) {
        if (!(schedules >> i & 1)) continue;
        fprintf(out, "%s%s", before, schedule_names[i]);
        before = ", ";
    }
}

/* Where the rule stands, and what a stranger calls the cure. */
static void print_terms(FILE *out, const struct finding *f) {
    const char *const section = terms_section(f->rule);
    const struct term *t;
    if (section) fprintf(out, "    rule: %s\n", section);
    for (int i = 0; f->text && (t = terms_in(f->text, i)); ++i)
        fprintf(out, "    %s() is %s%s%s\n", t->wrapper, t->ptx, t->cuda ? ", cuda::ptx::" : "",
                t->cuda ? t->cuda : "");
}

void findings_print(FILE *out) {
    for (int i = 0; i < count; ++i) {
        const struct finding *const f = &finding[i];
        fprintf(out, "%s\n", f->text ? f->text : f->rule);
        print_chain(out, &f->side[0], "here");
        if (f->sides > 1) print_chain(out, &f->side[1], "there");
        print_terms(out, f);
        fprintf(out, "    found under: ");
        print_schedules(out, f->schedules);
        fputs("\n", out);
    }
}

/* ---- JSON ---- */

void json_string(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; ++text) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", out);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}

static void json_place(FILE *out, const struct sim_side *side) {
    const char *const file = side->file ? side->file : "", *const chain = site_chain(file);
    fprintf(out, "{\"file\": ");
    json_string(out, source_path(file));
    fprintf(out, ", \"line\": %d, \"cta\": %d, \"thread\": %d, \"what\": ", side->line, side->cta,
            side->thread);
    json_string(out, side->what);
    fprintf(out, ", \"chain\": ");
    json_string(out, chain ? chain : "");
    fputc('}', out);
}

void findings_json(FILE *out) {
    fputc('[', out);
    for (int i = 0; i < count; ++i) {
        const struct finding *const f = &finding[i];
        fprintf(out, "%s\n    {\"rule\": ", i ? "," : "");
        json_string(out, f->rule);
        if (terms_section(f->rule)) {
            fprintf(out, ", \"section\": ");
            json_string(out, terms_section(f->rule));
        }
        fprintf(out, ", \"text\": ");
        json_string(out, f->text ? f->text : "");
        fprintf(out, ", \"reports\": %d, \"schedules\": \"", f->reports);
        print_schedules(out, f->schedules);
        fprintf(out, "\", \"places\": [");
        for (int side = 0; side < f->sides; ++side) {
            fputs(side ? ", " : "", out);
            json_place(out, &f->side[side]);
        }
        fputs("]}", out);
    }
    fputs(count ? "\n  ]" : "]", out);
}
