/*
 * docs_verdicts.c: runs the broken kernels that the book quotes.
 *
 *   <!-- verdict: 05_tma_mbarrier --size 256 --schedule late -->
 *   ```diff
 *   -            fence_proxy_async();
 *   ```
 *   ```text
 *   hazard: ...
 *   ```
 *
 * makes the edit in a copy of 05_tma_mbarrier/kernel.cu (or of file=PATH, in the marker; or, with
 * header=common/hopper/NAME, of that header, which the kernel then includes), compiles the kernel
 * for the simulator, runs it with the options, and holds the second block against what it said: the
 * kinds of hazard, the file, and the exit code; --check has to find the mistake, too. Words such as
 * -DWAIT=0 go to the compiler. Lines of an edit begin with '-', '+' or ' ' as in diff -u; "@@"
 * separates edits. The old lines must occur exactly once in the file. With --write, the second
 * block becomes what was said.
 *
 * Whatever follows COMPILER is handed on to it: the libraries, and the options of the reader's
 * build.
 *
 * docs_verdicts [--write] [--only PAGE] ROOT WORK COMPILER ARGUMENT...
 * Exit code: 0 all verdicts hold, 1 one does not, 2 something could not be read or written.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/book/docs_page.h"
#include "tools/json/json.h"

enum { SHOWN = 10, COLUMNS = 96, SECONDS = 120 };

struct setting {
    const char *root, *work, *compiler;
    char *arguments;
};

static void write_text(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    const bool written = out && fputs(text, out) >= 0;
    if (!out || fclose(out) || !written) {
        fprintf(stderr, "error: cannot write %s: %s\n", path, strerror(errno));
        exit(2);
    }
}

/* Makes the directories that `path` names behind its first `from` characters. */
static void make_directories(char *path, size_t from) {
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
}

/* ---- the edit ---- */

/* Replaces `old`, which must occur exactly once. */
static bool replace_once(char **source, const char *old, const char *new) {
    char *at = strstr(*source, old);
    if (!*old || !at || strstr(at + 1, old)) return false;
    struct text out = {0};
    text_add(&out, "%.*s%s%s", (int)(at - *source), *source, new, at + strlen(old));
    free(*source);
    *source = out.data;
    return true;
}

/* Applies the edits of the diff in lines first .. last - 1. */
static bool apply(const struct page *page, int first, int last, char **source) {
    struct text old = {0}, new = {0};
    bool good = true;
    text_add(&old, "\n");
    text_add(&new, "\n");
    for (int i = first; i <= last && good; ++i) {
        const char *line = i < last ? page->line[i] : "@@";
        if (line[0] == '@') {
            good = replace_once(source, old.data, new.data);
            old.length = new.length = 1;
            old.data[1] = new.data[1] = 0;
            continue;
        }
        if (line[0] != '+') text_add(&old, "%s\n", *line ? line + 1 : "");
        if (line[0] != '-') text_add(&new, "%s\n", *line ? line + 1 : "");
    }
    free(old.data);
    free(new.data);
    return good;
}

/* ---- running it ---- */

/* Runs a shell command; its output goes to `log`. Its exit code, or 128 and more for a signal. */
static int shell(const char *command) {
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* The program's name, as the reader's has it. */
static const char *name_of(const char *chapter) {
    const char *slash = strrchr(chapter, '/');
    return slash ? slash + 1 : chapter;
}

static bool build(const struct setting *set, const char *chapter, const char *file,
                  const char *macros) {
    struct text command = {0};
    text_add(&command,
             "cd '%s' && %s -std=gnu11 -DGEMM_KERNEL=docs_kernel -DGEMM_BF16_ELEMENTS=1 "
             "-DTRACE=0 %s -Icommon -I'%s/common' -I'%s/common/hopper' -I'%s/%s' -x c '%s' "
             "registry.c -x none -o program/%s %s >build.log 2>&1",
             set->work, set->compiler, macros, set->root, set->root, set->root, chapter, file,
             name_of(chapter), set->arguments);
    const bool good = shell(command.data) == 0;
    free(command.data);
    return good;
}

/* Adds a line, wrapped; what a deadlock says about CTA 0 stands for the other CTAs. */
static void add_shown_line(struct text *out, const char *line) {
    int cta;
    if (sscanf(line, "    CTA %d", &cta) == 1 && cta != 0) return;
    const int indent = (int)strspn(line, " ") + 4;
    for (size_t left = strlen(line), width = COLUMNS; left > width; width = COLUMNS - indent) {
        size_t cut = width;
        while (cut > 20 && line[cut] != ' ')
            --cut;
        if (line[cut] != ' ') break;
        text_add(out, "%.*s\n%*s", (int)cut, line, indent, "");
        line += cut + 1;
        left -= cut + 1;
    }
    text_add(out, "%s\n", line);
}

/* What the program said, without the hazards behind the first, and its exit code. */
static char *verdict(const struct setting *set, const char *chapter, const char *options) {
    struct text command = {0}, out = {0};
    text_add(&command, "cd '%s' && timeout %d program/%s %s >out.log 2>run.log", set->work, SECONDS,
             name_of(chapter), options);
    const int code = shell(command.data);
    free(command.data);
    struct text path = {0};
    text_add(&path, "%s/run.log", set->work);
    char *log = json_read_file(path.data);
    free(path.data);
    int hazards = 0, shown = 0;
    text_add(&out, "%s", "");
    for (char *line = strtok(log ? log : "", "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "hazard", 6) == 0) ++hazards;
        const bool first = hazards == 1 || (hazards == 0 && code != 0);
        if (first && shown++ < SHOWN) add_shown_line(&out, line);
    }
    text_add(&out, "exit code %d\n", code);
    free(log);
    return out.data;
}

/* Does --check find it, too? */
static bool check_finds(const struct setting *set, const char *chapter) {
    struct text command = {0};
    text_add(&command, "cd '%s' && timeout %d program/%s --check >check.log 2>&1", set->work,
             SECONDS, name_of(chapter));
    const int code = shell(command.data);
    free(command.data);
    return code == 1 || code == 4;
}

/* ---- holding it against the page ---- */

/* What has to stay the same: the first line's kind and file without its numbers, and the exit
 * code. */
static void essence(const char *text, char *out, size_t size) {
    char kind[128] = "", file[128] = "";
    const char *code = strstr(text, "exit code ");
    if (sscanf(text, "hazard: %100[^:]: %100[^:]:", kind, file) < 2) *kind = *file = 0;
    snprintf(out, size, "%s %s %s", kind, file, code ? code : "no exit code");
}

static void check(const struct setting *set, struct page *page, int line, bool rewrite) {
    const int diff = line + 1, diff_end = page_fence_end(page, diff);
    const int said = diff_end + 1, said_end = diff_end < 0 ? -1 : page_fence_end(page, said);
    if (said_end < 0) {
        complain(page, line, "a verdict needs a ```diff and a ```text block behind it");
        return;
    }
    char chapter[128] = "", file[256], header[256];
    struct text macros = {0}, options = {0}, path = {0};
    text_add(&macros, "%s", "");
    text_add(&options, "%s", "");
    char *marker = copy_string(page->line[line]);
    if (!marker_value(marker, "file", file, sizeof file)) *file = 0;
    if (!marker_value(marker, "header", header, sizeof header)) *header = 0;
    char *word = strtok(marker + strlen("<!-- verdict:"), " ");
    for (; word && strcmp(word, "-->"); word = strtok(NULL, " ")) {
        if (!*chapter)
            snprintf(chapter, sizeof chapter, "%s", word);
        else if (strncmp(word, "-D", 2) == 0)
            text_add(&macros, "%s ", word);
        else if (strncmp(word, "file=", 5) && strncmp(word, "header=", 7))
            text_add(&options, "%s ", word);
    }
    free(marker);
    if (!*file) snprintf(file, sizeof file, "%s/kernel.cu", chapter);

    const char *edited = *header ? header : file;
    text_add(&path, "%s/%s", set->root, edited);
    char *source = json_read_file(path.data);
    if (!source || !apply(page, diff + 1, diff_end, &source)) {
        complain(page, line,
                 source ? "the edit does not fit exactly one place of %s" : "there is no file %s",
                 edited);
    } else {
        const char *compiled = *header ? set->root : ".";
        path.length = 0;
        text_add(&path, "%s/%s", set->work, edited);
        make_directories(path.data, strlen(set->work) + 1);
        write_text(path.data, source);
        path.length = 0;
        text_add(&path, "%s/%s", compiled, file);
        if (!build(set, chapter, path.data, macros.data)) {
            complain(page, line, "the edited kernel does not compile: see %s/build.log", set->work);
        } else {
            char *now = verdict(set, chapter, options.data),
                 *then = page_join(page, said + 1, said_end);
            char essence_now[300], essence_then[300];
            essence(now, essence_now, sizeof essence_now);
            essence(then, essence_then, sizeof essence_then);
            if (rewrite)
                page_replace(page, said + 1, said_end - said - 1, now);
            else if (strcmp(essence_now, essence_then))
                complain(page, line, "the verdict has changed:\n%s", now);
            if (!strstr(now, "exit code 0") && !check_finds(set, chapter))
                complain(page, line, "--check does not find it: see %s/check.log", set->work);
            free(now);
            free(then);
        }
        path.length = 0;
        text_add(&path, "%s/%s", set->work, edited);
        unlink(path.data);
    }
    free(source);
    free(path.data);
    free(macros.data);
    free(options.data);
}

int main(int argc, char **argv) {
    bool rewrite = false;
    const char *only = NULL;
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; ++i)
        if (strcmp(argv[i], "--write") == 0)
            rewrite = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
    if (argc - i < 3) {
        fputs("usage: docs_verdicts [--write] [--only PAGE] ROOT WORK COMPILER ARGUMENT...\n",
              stderr);
        return 2;
    }
    struct setting set = {argv[i], argv[i + 1], argv[i + 2], NULL};
    struct text arguments = {0}, registry = {0};
    for (i += 3; i < argc; ++i)
        text_add(&arguments, "%s ", argv[i]);
    set.arguments = arguments.data;
    mkdir(set.work, 0777);
    text_add(&registry, "%s/program", set.work);
    mkdir(registry.data, 0777);
    registry.length = 0;
    text_add(&registry, "%s/registry.c", set.work);
    write_text(registry.data, "#include \"harness/registry.h\"\n"
                              "extern const struct gemm_kernel docs_kernel;\n"
                              "const struct kernel_entry kernel_registry[] = {\n"
                              "    {{&docs_kernel, &docs_kernel, &docs_kernel, &docs_kernel},\n"
                              "     1, true, NULL}};\n"
                              "const struct kernel_entry kernel_trace_registry[] = {\n"
                              "    {{&docs_kernel, &docs_kernel, &docs_kernel, &docs_kernel},\n"
                              "     1, true, NULL}};\n"
                              "const int kernel_registry_count = 1;\n"
                              "const bool program_is_tour = false;\n");
    int count, verdicts = 0;
    struct page *pages = pages_read(set.root, &count);
    for (int p = 0; p < count; ++p) {
        if (only && strncmp(pages[p].path, only, strlen(only))) continue;
        for (int line = 0; (line = page_find(&pages[p], line, "<!-- verdict:")) >= 0; ++line) {
            check(&set, &pages[p], line, rewrite);
            ++verdicts;
        }
    }
    if (rewrite) pages_write(set.root, pages, count);
    printf("%d verdicts, %d complaints\n", verdicts, complaints());
    pages_free(pages, count);
    free(arguments.data);
    free(registry.data);
    return complaints() ? 1 : 0;
}
