#include "tools/book/docs_page.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/json/json.h"

static int complaint_count;

void complain(const struct page *page, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: ", page->path, line + 1);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    ++complaint_count;
}

int complaints(void) { return complaint_count; }

void *grow(void *memory, size_t bytes) {
    void *grown = realloc(memory, bytes ? bytes : 1);
    if (!grown) {
        fputs("error: out of memory\n", stderr);
        exit(2);
    }
    return grown;
}

char *copy_string(const char *string) {
    const size_t size = strlen(string) + 1;
    return memcpy(grow(NULL, size), string, size);
}

void text_add(struct text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int needed = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (text->length + needed + 1 > text->room) {
        text->room = 2 * (text->length + needed + 1);
        text->data = grow(text->data, text->room);
    }
    vsnprintf(text->data + text->length, needed + 1, format, arguments);
    text->length += needed;
    va_end(arguments);
}

/* ---- lines ---- */

static int split(char *data, char ***line) {
    int count = 0;
    *line = NULL;
    for (char *at = data; *at;) {
        char *end = strchr(at, '\n');
        if (end) *end = 0;
        *line = grow(*line, (count + 1) * sizeof **line);
        (*line)[count++] = copy_string(at);
        if (!end) break;
        at = end + 1;
    }
    return count;
}

char *page_join(const struct page *page, int first, int last) {
    struct text text = {0};
    text_add(&text, "%s", "");
    for (int i = first; i < last; ++i)
        text_add(&text, "%s\n", page->line[i]);
    return text.data;
}

bool page_replace(struct page *page, int first, int count, const char *with) {
    char *old = page_join(page, first, first + count);
    const bool same = strcmp(old, with) == 0;
    free(old);
    if (same) return true;
    char **line, *copy = copy_string(with);
    const int added = split(copy, &line), behind = page->lines - first - count;
    free(copy);
    for (int i = 0; i < count; ++i)
        free(page->line[first + i]);
    const int most = added > count ? added : count;
    page->line = grow(page->line, (first + most + behind) * sizeof *page->line);
    memmove(page->line + first + added, page->line + first + count, behind * sizeof *page->line);
    if (added) memcpy(page->line + first, line, added * sizeof *line);
    free(line);
    page->lines = first + added + behind;
    page->changed = true;
    return false;
}

static bool is_fence(const char *line) { return strncmp(line, "```", 3) == 0; }

int page_fence_end(const struct page *page, int open) {
    if (open >= page->lines || !is_fence(page->line[open])) return -1;
    for (int i = open + 1; i < page->lines; ++i)
        if (is_fence(page->line[i])) return i;
    return -1;
}

int page_find(const struct page *page, int from, const char *prefix) {
    bool fenced = false;
    for (int i = 0; i < page->lines; ++i) {
        if (is_fence(page->line[i])) fenced = !fenced;
        if (i >= from && !fenced && strncmp(page->line[i], prefix, strlen(prefix)) == 0) return i;
    }
    return -1;
}

void page_remake(const char *root, struct page *page, bool rewrite, const char *marker,
                 const char *what, page_maker *make) {
    for (int line = 0; (line = page_find(page, line, marker)) >= 0; ++line) {
        const int end = page_find(page, line, "<!-- end -->");
        const int next = page_find(page, line + 1, marker);
        struct text out = {0};
        if (end < 0 || (next >= 0 && next < end)) {
            complain(page, line, "the %s has no <!-- end -->", what);
            return;
        }
        if (make(&out, root, page, line) &&
            !page_replace(page, line + 1, end - line - 1, out.data) && !rewrite)
            complain(page, line, "the %s is stale: build the target docs", what);
        free(out.data);
    }
}

bool marker_value(const char *marker, const char *key, char *value, size_t size) {
    char pattern[64];
    snprintf(pattern, sizeof pattern, " %s=", key);
    const char *at = strstr(marker, pattern);
    if (!at) return false;
    at += strlen(pattern);
    const size_t length = strcspn(at, " ");
    snprintf(value, size, "%.*s", (int)length, at);
    return true;
}

int marker_words(const char *marker, const char *key, char words[][MARKER_WORD], int most) {
    char value[512];
    int count = 0;
    if (!marker_value(marker, key, value, sizeof value)) return 0;
    for (char *word = strtok(value, ","); word && count < most; word = strtok(NULL, ","))
        snprintf(words[count++], MARKER_WORD, "%s", word);
    return count;
}

/* ---- files ---- */

static char *path_of(const char *root, const char *path) {
    struct text text = {0};
    text_add(&text, "%s/%s", root, path);
    return text.data;
}

static bool is_folder_of_chapter(const char *name) {
    return isdigit((unsigned char)name[0]) && isdigit((unsigned char)name[1]) && name[2] == '_';
}

bool page_is_in_chapter(const char *path) {
    return is_folder_of_chapter(strncmp(path, "beyond/", 7) == 0 ? path + 7 : path);
}

bool page_is_chapter(const char *path) {
    const char *name = strrchr(path, '/');
    return page_is_in_chapter(path) && name && strcmp(name, "/README.md") == 0;
}

const char *docs_place(const char *root, const char *file, char place[PLACE]) {
    struct stat unused;
    snprintf(place, PLACE, "beyond/docs/%s", file);
    char *full = path_of(root, place);
    const bool beyond = stat(full, &unused) == 0;
    free(full);
    if (!beyond) snprintf(place, PLACE, "docs/%s", file);
    return place;
}

const char *page_link(const struct page *page, const char *place, char link[PLACE]) {
    size_t shared = 0;
    for (size_t i = 0; page->path[i] && page->path[i] == place[i]; ++i)
        if (page->path[i] == '/') shared = i + 1;
    size_t at = 0;
    *link = 0;
    for (const char *c = page->path + shared; (c = strchr(c, '/')) && at + 4 < PLACE; ++c)
        at += (size_t)snprintf(link + at, PLACE - at, "../");
    snprintf(link + at, PLACE - at, "%s", place + shared);
    return link;
}

static void add_page(struct page **pages, int *count, const char *root, const char *path) {
    char *full = path_of(root, path), *data = json_read_file(full);
    free(full);
    if (!data) return;
    *pages = grow(*pages, (*count + 1) * sizeof **pages);
    struct page *page = &(*pages)[(*count)++];
    *page = (struct page){.path = copy_string(path)};
    page->lines = split(data, &page->line);
    free(data);
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const struct page *)a)->path, ((const struct page *)b)->path);
}

/* The pages of a folder; with `chapters` those of the chapters' folders in it. */
static void add_directory(struct page **pages, int *count, const char *root, const char *name,
                          bool chapters) {
    char *full = path_of(root, name);
    DIR *directory = opendir(full);
    free(full);
    if (!directory) return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        const size_t length = strlen(entry->d_name);
        struct text path = {0};
        if (chapters && is_folder_of_chapter(entry->d_name)) {
            text_add(&path, "%s%s%s", strcmp(name, ".") ? name : "", strcmp(name, ".") ? "/" : "",
                     entry->d_name);
            add_directory(pages, count, root, path.data, false);
        } else if (!chapters && length > 3 && strcmp(entry->d_name + length - 3, ".md") == 0) {
            text_add(&path, "%s/%s", name, entry->d_name);
            add_page(pages, count, root, path.data);
        }
        free(path.data);
    }
    closedir(directory);
}

struct page *pages_read(const char *root, int *count) {
    struct page *pages = NULL;
    *count = 0;
    add_page(&pages, count, root, "README.md");
    add_directory(&pages, count, root, ".", true);
    add_directory(&pages, count, root, "beyond", true);
    add_directory(&pages, count, root, "docs", false);
    add_directory(&pages, count, root, "docs/results", false);
    add_directory(&pages, count, root, "beyond/docs", false);
    add_directory(&pages, count, root, "beyond/docs/results", false);
    if (*count == 0) {
        fprintf(stderr, "error: no pages under %s\n", root);
        exit(2);
    }
    qsort(pages, *count, sizeof *pages, by_path);
    return pages;
}

void pages_write(const char *root, const struct page *pages, int count) {
    for (int i = 0; i < count; ++i) {
        if (!pages[i].changed) continue;
        char *full = path_of(root, pages[i].path), *text = page_join(&pages[i], 0, pages[i].lines);
        FILE *out = fopen(full, "w");
        const bool written = out && fputs(text, out) >= 0;
        if (!out || fclose(out) || !written) {
            fprintf(stderr, "error: cannot write %s: %s\n", full, strerror(errno));
            exit(2);
        }
        printf("rewritten: %s\n", pages[i].path);
        free(text);
        free(full);
    }
}

void pages_free(struct page *pages, int count) {
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < pages[i].lines; ++j)
            free(pages[i].line[j]);
        free(pages[i].line);
        free(pages[i].path);
    }
    free(pages);
}
