/* summary.c: text to be read and pasted, and JSON. */
#include "command/summary.h"

#include <stdio.h>
#include <string.h>

#include "command/findings.h"
#include "command/results.h"
#include "command/sarif.h"

const char *verdict_of(enum exit code) {
    switch (code) {
    case EXIT_CLEAN:
        return "clean";
    case EXIT_FINDINGS:
        return "findings";
    case EXIT_INCOMPLETE:
        return "incomplete";
    default:
        return "error";
    }
}

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

/* The first run with a finding, made again. */
static void print_replay(FILE *out, const struct program_options *o) {
    int run;
    if (!findings_first(&run)) return;
    fprintf(out, "to see the first again: hopper_check --schedule %s",
            schedule_names[o->plan[run].schedule]);
    if (o->plan[run].schedule == SCHEDULE_RANDOM)
        fprintf(out, " --seed %llu", (unsigned long long)o->plan[run].seed);
    for (char **word = o->program; *word; ++word)
        fprintf(out, " %s", *word);
    fputc('\n', out);
}

static void print(FILE *out, const struct summary *s, const struct program_options *o) {
    const int findings = findings_count();
    findings_print(out, o->print_limit);
    for (int i = 0; results_note(i); ++i)
        fprintf(out, "note: %s\n", results_note(i));
    fprintf(out, "hopper_check: %s", verdict_of(s->code));
    if (s->why[0]) fprintf(out, ": %s", s->why);
    if (s->why[0] && s->under) fprintf(out, ", under %s", s->under);
    fputc('\n', out);
    if (!s->runs) return;
    fprintf(out,
            "checked: %d run%s, %d launch%s, %llu instructions of threads, of which %llu access "
            "memory or synchronize\n",
            s->runs, plural((uint64_t)s->runs), s->launches, s->launches == 1 ? "" : "es",
            (unsigned long long)s->executed, (unsigned long long)s->checked);
    fprintf(out, "findings: %d", findings);
    if (findings > o->print_limit) fprintf(out, ", of which %d are printed", o->print_limit);
    if (findings_suppressed()) fprintf(out, ", and %d suppressed", findings_suppressed());
    fputc('\n', out);
    if (findings) print_replay(out, o);
    if (s->page) fprintf(out, "launch %d, step by step: %s/index.html\n", s->page, o->report);
    if (findings && s->runs < o->runs && !s->interrupted)
        fprintf(out, "%d of %d runs were made; --keep-going makes all\n", s->runs, o->runs);
}

static void print_json(FILE *out, const struct summary *s, const struct program_options *o) {
    fputs("{\n  \"program\": [", out);
    for (char **word = o->program; *word; ++word) {
        fputs(word == o->program ? "" : ", ", out);
        json_string(out, *word);
    }
    fprintf(out, "],\n  \"verdict\": \"%s\",\n  \"why\": ", verdict_of(s->code));
    json_string(out, s->why);
    fprintf(out,
            ",\n  \"runs\": %d,\n  \"launches\": %d,\n  \"instructions\": %llu,\n"
            "  \"checked\": %llu,\n  \"suppressed\": %d,\n  \"notes\": [",
            s->runs, s->launches, (unsigned long long)s->executed, (unsigned long long)s->checked,
            findings_suppressed());
    for (int i = 0; results_note(i); ++i) {
        fputs(i ? ", " : "", out);
        json_string(out, results_note(i));
    }
    fputs("],\n  \"findings\": ", out);
    findings_json(out);
    fputs("\n}\n", out);
}

static void print_sarif(FILE *out, const struct summary *s, const struct program_options *o) {
    (void)o;
    sarif_write(out, s->code == EXIT_CLEAN || s->code == EXIT_FINDINGS ? NULL : s->why);
}

static bool to_file(const char *path, const struct summary *s, const struct program_options *o,
                    void (*write)(FILE *out, const struct summary *s,
                                  const struct program_options *o)) {
    FILE *const out = fopen(path, "w");
    if (out) write(out, s, o);
    if (out && !ferror(out) && fclose(out) == 0) return true;
    fprintf(stderr, "hopper_check: %s cannot be written\n", path);
    return false;
}

bool summary_write(const struct summary *s, const struct program_options *o) {
    if (o->json && !to_file(o->json, s, o, print_json)) return false;
    if (o->sarif && !to_file(o->sarif, s, o, print_sarif)) return false;
    if (o->log_file) return to_file(o->log_file, s, o, print);
    print(stdout, s, o);
    return true;
}
