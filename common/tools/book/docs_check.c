/*
 * docs_check.c: holds the book to its sources. docs_check [--write | --lengths] ROOT
 *
 * Tables are those of the recorded runs (docs_tables.h), and so are the numbers in prose that a
 * marker holds to a record (docs_numbers.h). A fenced block behind
 *     <!-- excerpt: 05_tma_mbarrier/kernel.cu -->
 * stands in that file, line by line, apart from the marks of the timeline's recorder. Links to
 * files and headings lead somewhere. Every chapter has the same sections. With --write, tables are
 * made anew, and an excerpt whose first and last line still exist becomes what is between them now.
 * With --lengths, nothing is checked: the length of each chapter is printed.
 * Exit code: 0 all is well, 1 complaints on stderr, 2 something could not be read or written.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/book/docs_figures.h"
#include "tools/book/docs_grid.h"
#include "tools/book/docs_numbers.h"
#include "tools/book/docs_page.h"
#include "tools/book/docs_tables.h"
#include "tools/json/json.h"

/* ---- sections ---- */

static const char *const sections[] = {
    "## Where we are",           "## The idea",  "## Prediction",     "## The code", "## Measured",
    "## What breaks without it", "## Exercises", "## Further reading"};
enum { SECTIONS = sizeof sections / sizeof *sections };

static void check_sections(const struct page *page) {
    int line = 0;
    for (int i = 0; i < SECTIONS; ++i) {
        const int found = page_find(page, line, "## ");
        if (found < 0 || strcmp(page->line[found], sections[i])) {
            complain(page, found < 0 ? page->lines - 1 : found, "expected the section '%s'",
                     sections[i] + 3);
            return;
        }
        line = found + 1;
    }
    const int more = page_find(page, line, "## ");
    if (more >= 0) complain(page, more, "a section that the other chapters do not have");
}

/* ---- length ---- */

/* A reader's pace, in seconds if not said otherwise, if every line is read once. Prose goes at
 * about the slowest of Carver's rates (Reading Rate, 1990), at which one reads to remember: 138
 * words a minute, after 200 for learning. */
enum {
    PROSE_WORDS = 140, /* a minute, cells of tables included */
    CODE_LINE = 6,     /* excerpts and edits */
    OTHER_LINE = 4,    /* reports, and indented lines: diagrams, commands */
    FIGURE = 30,
};

/* The words of a line, without the addresses of its links. */
static int count_words(const char *line) {
    int words = 0;
    bool inside = false;
    for (const char *c = line; *c; ++c) {
        if (strncmp(c, "](", 2) == 0) c += strcspn(c, ")");
        if (!*c) break;
        const bool part = inside ? !isspace((unsigned char)*c) : isalnum((unsigned char)*c) != 0;
        words += part && !inside;
        inside = part;
    }
    return words;
}

/* How long the page takes to read. words[0]: its words of prose. */
static int reading_seconds(const struct page *page, int *words) {
    int code = 0, other = 0, figures = 0;
    *words = 0;
    for (int i = 0; i < page->lines; ++i) {
        const char *line = page->line[i];
        if (strncmp(line, "```", 3) == 0) {
            const int end = page_fence_end(page, i);
            if (end < 0) break;
            *(strcmp(line, "```text") ? &code : &other) += end - i - 1;
            i = end;
        } else if (strncmp(line, "![", 2) == 0) {
            ++figures;
        } else if (strncmp(line, "    ", 4) == 0) {
            ++other;
        } else if (strncmp(line + strspn(line, " >"), "<!--", 4) == 0) {
            while (i + 1 < page->lines && !strstr(page->line[i], "-->"))
                ++i;
        } else if (strncmp(line, "Measured: ", 10)) {
            *words += count_words(line);
        }
    }
    return *words * 60 / PROSE_WORDS + code * CODE_LINE + other * OTHER_LINE + figures * FIGURE;
}

static int is_kernel(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name);
    return length > 3 && strcmp(entry->d_name + length - 3, ".cu") == 0;
}

/* ", kernel.cu 193 lines" for each kernel of the chapter. */
static void print_kernels(const char *root, const char *chapter) {
    struct text folder = {0};
    text_add(&folder, "%s/%s", root, chapter);
    struct dirent **kernel;
    const int kernels = scandir(folder.data, &kernel, is_kernel, alphasort);
    for (int i = 0; i < kernels; ++i) {
        struct text path = {0};
        text_add(&path, "%s/%s", folder.data, kernel[i]->d_name);
        char *data = json_read_file(path.data);
        int lines = 0;
        for (const char *c = data; c && *c; ++c)
            lines += *c == '\n';
        printf(", %s %d lines", kernel[i]->d_name, lines);
        free(data);
        free(path.data);
        free(kernel[i]);
    }
    if (kernels >= 0) free(kernel);
    free(folder.data);
}

static void print_lengths(const char *root, const struct page *pages, int count) {
    for (int i = 0; i < count; ++i) {
        if (!page_is_chapter(pages[i].path)) continue;
        char chapter[256];
        snprintf(chapter, sizeof chapter, "%.*s",
                 (int)(strlen(pages[i].path) - strlen("/README.md")), pages[i].path);
        int words;
        const int seconds = reading_seconds(&pages[i], &words);
        printf("%s: %d words, README.md %d lines", chapter, words, pages[i].lines);
        print_kernels(root, chapter);
        printf(", %.1f minutes\n", seconds / 60.0);
    }
}

/* ---- excerpts ---- */

/* Is this a line of the recorder, which excerpts leave out? */
static bool is_mark(const char *line) {
    return strstr(line, "trace_mark(") || strstr(line, "trace_open(") ||
           strstr(line, "trace_close(");
}

/* The file as a page without the recorder's lines. */
static bool read_source(const char *root, const char *path, struct page *source) {
    struct text full = {0};
    text_add(&full, "%s/%s", root, path);
    char *data = json_read_file(full.data);
    free(full.data);
    if (!data) return false;
    *source = (struct page){.path = copy_string(path)};
    page_replace(source, 0, 0, data);
    free(data);
    int kept = 0;
    for (int i = 0; i < source->lines; ++i)
        if (is_mark(source->line[i]))
            free(source->line[i]);
        else
            source->line[kept++] = source->line[i];
    source->lines = kept;
    return true;
}

static int find_lines(const struct page *source, char *const *line, int count) {
    for (int i = 0; i + count <= source->lines; ++i) {
        int j = 0;
        while (j < count && strcmp(source->line[i + j], line[j]) == 0)
            ++j;
        if (j == count) return i;
    }
    return -1;
}

/* The range of the source that begins with `first`, ends with `last` and comes nearest to `count`
 * lines; false if there is none. */
static bool find_range(const struct page *source, const char *first, const char *last, int count,
                       int *from, int *to) {
    int best = -1;
    for (int i = 0; i < source->lines; ++i) {
        if (strcmp(source->line[i], first)) continue;
        for (int j = i; j < source->lines; ++j) {
            if (strcmp(source->line[j], last)) continue;
            const int off = abs(j - i + 1 - count);
            if (best >= 0 && off >= best) continue;
            best = off;
            *from = i;
            *to = j + 1;
        }
    }
    return best >= 0;
}

static void check_excerpt(const char *root, struct page *page, int line, bool rewrite) {
    char path[256] = "";
    struct page source;
    sscanf(page->line[line], "<!-- excerpt: %255s -->", path);
    const int end = page_fence_end(page, line + 1), first = line + 2;
    if (end < first + 1) {
        complain(page, line, "no fenced block follows the excerpt's marker");
        return;
    }
    if (!read_source(root, path, &source)) {
        complain(page, line, "there is no file '%s' to take an excerpt from", path);
        return;
    }
    if (find_lines(&source, &page->line[first], end - first) < 0) {
        int from, to;
        if (!find_range(&source, page->line[first], page->line[end - 1], end - first, &from, &to)) {
            complain(page, line, "this excerpt is not in %s, nor are its first and last line",
                     path);
        } else if (rewrite) {
            char *text = page_join(&source, from, to);
            page_replace(page, first, end - first, text);
            free(text);
        } else {
            complain(page, line, "this excerpt is not in %s: build the target docs", path);
        }
    }
    source.changed = false;
    for (int i = 0; i < source.lines; ++i)
        free(source.line[i]);
    free(source.line);
    free(source.path);
}

static void check_excerpts(const char *root, struct page *page, bool rewrite) {
    for (int line = 0; (line = page_find(page, line, "<!-- excerpt:")) >= 0; ++line)
        check_excerpt(root, page, line, rewrite);
}

/* ---- links ---- */

/* A heading's anchor as GitHub makes it: lower case, blanks to hyphens, other marks dropped. */
static void make_anchor(const char *heading, char *anchor, size_t size) {
    size_t length = 0;
    heading += strspn(heading, "# ");
    for (const char *c = heading; *c && length + 1 < size; ++c) {
        const unsigned char u = (unsigned char)*c;
        if (isalnum(u) || u == '_' || u == '-' || u >= 0x80)
            anchor[length++] = (char)tolower(u);
        else if (u == ' ')
            anchor[length++] = '-';
    }
    anchor[length] = 0;
}

static bool has_anchor(const struct page *page, const char *anchor) {
    char made[256];
    for (int i = 0; (i = page_find(page, i, "#")) >= 0; ++i) {
        make_anchor(page->line[i], made, sizeof made);
        if (strcmp(made, anchor) == 0) return true;
    }
    return false;
}

/* Takes "a/b/../c" apart to "a/c". */
static void resolve(const char *page, const char *target, char *path, size_t size) {
    struct text joined = {0};
    const char *slash = strrchr(page, '/');
    text_add(&joined, "%.*s%s", slash ? (int)(slash + 1 - page) : 0, page, target);
    size_t length = 0;
    for (char *part = strtok(joined.data, "/"); part; part = strtok(NULL, "/")) {
        if (strcmp(part, ".") == 0) continue;
        path[length] = 0;
        if (strcmp(part, "..") == 0) {
            char *last = strrchr(path, '/');
            length = last ? (size_t)(last - path) : 0;
            continue;
        }
        length += (size_t)snprintf(path + length, size - length, "%s%s", length ? "/" : "", part);
    }
    path[length] = 0;
    free(joined.data);
}

/* Is part two there? Links into it are skipped where it is not. */
static bool has_beyond(const char *root) {
    struct text path = {0};
    struct stat unused;
    text_add(&path, "%s/beyond", root);
    const bool there = stat(path.data, &unused) == 0;
    free(path.data);
    return there;
}

static void check_link(const char *root, const struct page *pages, int count, int at, int line,
                       const char *target) {
    if (strstr(target, "://") || strncmp(target, "mailto:", 7) == 0) return;
    char path[512], file[512];
    snprintf(file, sizeof file, "%.*s", (int)strcspn(target, "#"), target);
    const char *anchor = strchr(target, '#');
    if (*file)
        resolve(pages[at].path, file, path, sizeof path);
    else
        snprintf(path, sizeof path, "%s", pages[at].path);
    struct text full = {0};
    struct stat unused;
    text_add(&full, "%s/%s", root, path);
    const bool exists = stat(full.data, &unused) == 0;
    free(full.data);
    if (strncmp(path, "beyond/", 7) == 0 && !has_beyond(root)) return;
    if (!exists) {
        complain(&pages[at], line, "the link leads nowhere: %s", target);
        return;
    }
    if (!anchor) return;
    for (int i = 0; i < count; ++i)
        if (strcmp(pages[i].path, path) == 0 && has_anchor(&pages[i], anchor + 1)) return;
    complain(&pages[at], line, "there is no such heading: %s", target);
}

/* All [text](target) of a line outside `code`. */
static void check_line(const char *root, const struct page *pages, int count, int at, int line) {
    bool code = false;
    for (const char *c = pages[at].line[line]; *c; ++c) {
        if (*c == '`') code = !code;
        if (code || c[0] != ']' || c[1] != '(') continue;
        char target[512];
        snprintf(target, sizeof target, "%.*s", (int)strcspn(c + 2, ") "), c + 2);
        check_link(root, pages, count, at, line, target);
    }
}

static void check_links(const char *root, const struct page *pages, int count, int at) {
    for (int line = 0; (line = page_find(&pages[at], line, "")) >= 0; ++line)
        check_line(root, pages, count, at, line);
}

int main(int argc, char **argv) {
    const bool rewrite = argc == 3 && strcmp(argv[1], "--write") == 0;
    const bool lengths = argc == 3 && strcmp(argv[1], "--lengths") == 0;
    if (argc != 2 + (rewrite || lengths)) {
        fputs("usage: docs_check [--write | --lengths] ROOT\n", stderr);
        return 2;
    }
    const char *root = argv[argc - 1];
    int count, numbers = 0;
    struct page *pages = pages_read(root, &count);
    if (lengths) {
        print_lengths(root, pages, count);
        pages_free(pages, count);
        return 0;
    }
    for (int i = 0; i < count; ++i) {
        if (page_is_chapter(pages[i].path)) check_sections(&pages[i]);
        check_excerpts(root, &pages[i], rewrite);
        tables_check(root, &pages[i], rewrite);
        grids_check(root, &pages[i], rewrite);
        for (page_check *const *check = more_checks; check && *check; ++check)
            (*check)(root, &pages[i], rewrite);
        figures_check(root, &pages[i], rewrite);
        numbers += numbers_check(root, &pages[i]);
    }
    for (int i = 0; i < count; ++i)
        check_links(root, pages, count, i);
    if (rewrite) pages_write(root, pages, count);
    if (!complaints()) printf("%d pages, %d numbers in their prose\n", count, numbers);
    pages_free(pages, count);
    return complaints() ? 1 : 0;
}
