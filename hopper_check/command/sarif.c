/* sarif.c: one result for each finding, its second place related to the first. */
#include "command/sarif.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "command/findings.h"
#include "command/terms.h"

/* How long the path of the repository is that has the file; 0: none has. (.git is a file in a
 * worktree.) */
static size_t repository(const char *path) {
    char git[PATH_MAX];
    for (size_t length = strlen(path); length > 0; --length) {
        if (path[length] != '/') continue;
        const int size = snprintf(git, sizeof git, "%.*s/.git", (int)length, path);
        if (size < (int)sizeof git && access(git, F_OK) == 0) return length;
    }
    return 0;
}

/* Code hosts take paths that are relative to the repository: the file's, or else where the command
 * was called. */
static const char *relative(const char *path) {
    char here[PATH_MAX];
    size_t length = *path == '/' ? repository(path) : 0;
    if (length) return path + length + 1;
    length = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (length && !strncmp(path, here, length) && path[length] == '/') return path + length + 1;
    return path;
}

static void write_place(FILE *out, const struct sim_side *side) {
    fputs("\"physicalLocation\": {\"artifactLocation\": {\"uri\": ", out);
    json_string(out, relative(side->file ? source_path(side->file) : ""));
    fprintf(out, "}, \"region\": {\"startLine\": %d}}", side->line > 0 ? side->line : 1);
}

/* A link in the message shows the related place. */
static void write_message(FILE *out, const struct finding *f) {
    char text[4096];
    snprintf(text, sizeof text, "%s%s", f->text ? f->text : f->rule,
             f->sides > 1 ? "\nThe other access: [there](1)." : "");
    fputs("\"message\": {\"text\": ", out);
    json_string(out, text);
    fputc('}', out);
}

static void write_result(FILE *out, const struct finding *f) {
    fputs("{\"ruleId\": ", out);
    json_string(out, f->rule);
    fputs(", \"level\": \"error\", ", out);
    write_message(out, f);
    fputs(", \"locations\": [{", out);
    write_place(out, &f->side[0]);
    fputs("}]", out);
    if (f->sides > 1) {
        fputs(", \"relatedLocations\": [{\"id\": 1, \"message\": {\"text\": ", out);
        json_string(out, f->side[1].what[0] ? f->side[1].what : "the other access");
        fputs("}, ", out);
        write_place(out, &f->side[1]);
        fputs("}]", out);
    }
    fputc('}', out);
}

static bool is_first_of_rule(int i) {
    for (int j = 0; j < i; ++j)
        if (!findings_get(j)->suppressed && !strcmp(findings_get(j)->rule, findings_get(i)->rule))
            return false;
    return true;
}

static void write_rules(FILE *out) {
    const char *before = "";
    const struct finding *f;
    for (int i = 0; (f = findings_get(i)); ++i) {
        if (f->suppressed || !is_first_of_rule(i)) continue;
        const char *const section = terms_section(f->rule);
        fprintf(out, "%s\n          {\"id\": ", before);
        json_string(out, f->rule);
        fputs(", \"shortDescription\": {\"text\": ", out);
        json_string(out, section ? section : f->rule);
        fputs("}}", out);
        before = ",";
    }
}

void sarif_write(FILE *out, const char *why) {
    const char *before = "";
    const struct finding *f;
    fputs("{\n"
          "  \"version\": \"2.1.0\",\n"
          "  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
          "  \"runs\": [\n"
          "    {\n"
          "      \"tool\": {\"driver\": {\"name\": \"hopper_check\", \"rules\": [",
          out);
    write_rules(out);
    fprintf(out, "]}},\n      \"invocations\": [{\"executionSuccessful\": %s",
            why ? "false" : "true");
    if (why) {
        fputs(", \"toolExecutionNotifications\": [{\"level\": \"error\", \"message\": {\"text\": ",
              out);
        json_string(out, why);
        fputs("}}]", out);
    }
    fputs("}],\n      \"results\": [", out);
    for (int i = 0; (f = findings_get(i)); ++i) {
        if (f->suppressed) continue;
        fprintf(out, "%s\n        ", before);
        write_result(out, f);
        before = ",";
    }
    fputs("]\n    }\n  ]\n}\n", out);
}
