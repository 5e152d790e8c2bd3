/* findings.c: gathering the simulator's reports. */
#include "command/findings.h"

#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "command/terms.h"
#include "program/sites.h"

enum { MOST_FINDINGS = 256 };
static struct finding finding[MOST_FINDINGS];
static int count;
static const char *run_name[MOST_RUNS];
static int runs;
static bool incomplete;

static bool same_side(const struct sim_side *a, const struct sim_side *b) {
    return a->file == b->file && a->line == b->line;
}

void findings_add(const struct sim_hazard *hazard, const char *launch, int number) {
    const uint64_t run = UINT64_C(1) << (runs - 1);
    if (!strcmp(hazard->kind, "not-modelled")) incomplete = true;
    for (int i = 0; i < count; ++i) {
        struct finding *const f = &finding[i];
        if (strcmp(f->rule, hazard->kind) != 0 || f->sides != hazard->sides ||
            !same_side(&f->side[0], &hazard->side[0]) ||
            (f->sides > 1 && !same_side(&f->side[1], &hazard->side[1])))
            continue;
        f->runs |= run;
        ++f->reports;
        return;
    }
    if (count == MOST_FINDINGS) return;
    const size_t size = strlen(hazard->text) + 1;
    struct finding *const f = &finding[count++];
    *f = (struct finding){.rule = source_keep(hazard->kind),
                          .side = {hazard->side[0], hazard->side[1]},
                          .sides = hazard->sides,
                          .text = malloc(size),
                          .launch = launch ? source_keep(launch) : NULL,
                          .launch_number = number,
                          .runs = run,
                          .reports = 1};
    if (f->text) memcpy(f->text, hazard->text, size);
}

static void note(const struct sim_hazard *hazard) { findings_add(hazard, NULL, 0); }

void findings_begin(void) {
    backend_hold_reports();
    sim_hazard_hook = note;
}

void findings_run(const char *name) {
    if (runs < MOST_RUNS) run_name[runs++] = source_keep(name);
}

const struct finding *findings_first(int *run) {
    for (int i = 0; i < count; ++i)
        if (!finding[i].suppressed) {
            *run = __builtin_ctzll(finding[i].runs);
            return &finding[i];
        }
    return NULL;
}

struct finding *findings_get(int i) {
    return i < count ? &finding[i] : NULL;
}

int findings_suppressed(void) {
    int suppressed = 0;
    for (int i = 0; i < count; ++i)
        suppressed += finding[i].suppressed;
    return suppressed;
}

int findings_count(void) { return count - findings_suppressed(); }

bool findings_incomplete(void) { return incomplete; }

/* ---- text ---- */

static void print_chain(FILE *out, const struct sim_side *side, const char *which) {
    const char *const chain = side->file ? site_chain(side->file) : NULL;
    if (chain)
        fprintf(out, "    %s, %s:%d: in %s\n", which, source_name(side->file), side->line, chain);
}

static void print_runs(FILE *out, uint64_t in) {
    const char *before = "";
    for (int i = 0; i < runs; ++i) {
        if (!(in >> i & 1)) continue;
        fprintf(out, "%s%s", before, run_name[i]);
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

void findings_print(FILE *out, int most) {
    for (int i = 0; i < count && most > 0; ++i) {
        const struct finding *const f = &finding[i];
        if (f->suppressed) continue;
        --most;
        fprintf(out, "%s\n", f->text ? f->text : f->rule);
        print_chain(out, &f->side[0], "here");
        if (f->sides > 1) print_chain(out, &f->side[1], "there");
        print_terms(out, f);
        if (f->launch) fprintf(out, "    in %s\n", f->launch);
        fprintf(out, "    found under: ");
        print_runs(out, f->runs);
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
    const char *before = "";
    fputc('[', out);
    for (int i = 0; i < count; ++i) {
        const struct finding *const f = &finding[i];
        if (f->suppressed) continue;
        fprintf(out, "%s\n    {\"rule\": ", before);
        before = ",";
        json_string(out, f->rule);
        if (terms_section(f->rule)) {
            fprintf(out, ", \"section\": ");
            json_string(out, terms_section(f->rule));
        }
        fprintf(out, ", \"text\": ");
        json_string(out, f->text ? f->text : "");
        fprintf(out, ", \"reports\": %d, \"schedules\": \"", f->reports);
        print_runs(out, f->runs);
        fprintf(out, "\", \"places\": [");
        for (int side = 0; side < f->sides; ++side) {
            fputs(side ? ", " : "", out);
            json_place(out, &f->side[side]);
        }
        fputs("]}", out);
    }
    fputs(*before ? "\n  ]" : "]", out);
}
