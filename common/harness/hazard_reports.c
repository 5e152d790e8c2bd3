#include "harness/hazard_reports.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backend.h"

#define BOOK_PAGE "docs/debugging.md" /* has an anchor for each kind */

/* ---- lines as wide as the terminal ---- */

enum { NO_TERMINAL = 100, LEAST_COLUMNS = 40, HANGING = 4 };

static int columns(void) {
    const char *const said = getenv("COLUMNS");
    const int number = said ? atoi(said) : 0;
    struct winsize window;
    if (number >= LEAST_COLUMNS) return number;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= LEAST_COLUMNS)
        return window.ws_col;
    return NO_TERMINAL;
}

/* One line; what does not fit follows, indented by four more. A longer word stays whole. */
static void say_wrapped(const char *line, int length, int width) {
    int indent = 0, least = 0;
    while (indent < length && line[indent] == ' ')
        ++indent;
    for (;;) {
        int cut = width - least;
        if (length <= cut) break;
        while (cut > 0 && line[cut] != ' ')
            --cut;
        if (cut <= (least ? 0 : indent))
            for (cut = width - least; cut < length && line[cut] != ' ';)
                ++cut;
        if (cut >= length) break;
        fprintf(stderr, "%*s%.*s\n", least, "", cut, line);
        line += cut + 1;
        length -= cut + 1;
        least = indent + HANGING;
    }
    fprintf(stderr, "%*s%.*s\n", least, "", length, line);
}

/* ---- where to read on ---- */

/* The kind of a report, "hazard: KIND: ..."; 0: it has none. Returns its length. */
static int kind_of(const char *report, const char **kind) {
    static const char begin[] = "hazard: ";
    if (strncmp(report, begin, sizeof begin - 1) != 0) return 0;
    *kind = report + sizeof begin - 1;
    return (int)strcspn(*kind, ":");
}

static bool said_before(int index, const char *kind, int length) {
    const char *other;
    for (int i = 0; i < index; ++i)
        if (kind_of(backend_report(i), &other) == length &&
            strncmp(kind, other, (size_t)length) == 0)
            return true;
    return false;
}

void say_reports(void) {
    const int width = columns();
    const char *report, *kind;
    fflush(stdout);
#ifndef __EMSCRIPTEN__ /* its streams claim to be one */
    if (backend_report(0) && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO)) fputc('\n', stderr);
#endif
    for (int i = 0; (report = backend_report(i)); ++i)
        for (const char *line = report; line; line = strchr(line, '\n')) {
            if (*line == '\n') ++line;
            say_wrapped(line, (int)strcspn(line, "\n"), width);
        }
    for (int i = 0; (report = backend_report(i)); ++i) {
        const int length = kind_of(report, &kind);
        if (length > 0 && !said_before(i, kind, length))
            fprintf(stderr, "more about %.*s: %s#%.*s\n", length, kind, BOOK_PAGE, length, kind);
    }
}

/* The whole path of a directory, also of one that is still to be made. */
static bool whole_path(const char *directory, char path[PATH_MAX]) {
    char parent[PATH_MAX];
    if (realpath(directory, path)) return true;
    snprintf(parent, sizeof parent, "%s%s", *directory == '/' ? "" : "./", directory);
    size_t length = strlen(parent);
    while (length > 1 && parent[length - 1] == '/')
        parent[--length] = '\0';
    char *const slash = strrchr(parent, '/');
    if (slash == parent) return false;
    *slash = '\0';
    if (!realpath(parent, path)) return false;
    length = strlen(path);
    return (size_t)snprintf(path + length, PATH_MAX - length, "/%s", slash + 1) < PATH_MAX - length;
}

const char *docs_from(const char *directory, char *text, size_t size) {
    static const char below[] = "/common/harness/hazard_reports.c", file[] = __FILE__;
    char root[PATH_MAX], from[PATH_MAX], book[PATH_MAX];
    const size_t length = strlen(file), tail = sizeof below - 1;
    if (length <= tail || strcmp(file + length - tail, below) != 0) return NULL;
    snprintf(book, sizeof book, "%.*s/docs", (int)(length - tail), file);
    if (!realpath(book, root) || !whole_path(directory, from)) return NULL;
    size_t same = 0; /* up to here the two are the same, and a directory's name ends */
    for (size_t i = 0; root[i] == from[i] || (!from[i] && root[i] == '/'); ++i) {
        if (root[i] == '/' || !root[i]) same = i;
        if (!root[i] || !from[i]) break;
    }
    size_t used = 0;
    *text = '\0';
    for (const char *c = from + same; *c && used + 4 < size; ++c)
        if (*c == '/') used += (size_t)snprintf(text + used, size - used, "../");
    snprintf(text + used, size - used, "%s", root[same] ? root + same + 1 : ".");
    return text;
}
