/*
 * docs_page.h: the book's pages as lines that can be checked and replaced.
 *
 * The pages are README.md and every .md in the folders of the chapters, docs/ and docs/results/,
 * and, where part two is, in beyond/docs/ and beyond/docs/results/. A complaint names the page and
 * the line; a program that has complained ends with 1.
 */
#ifndef TOOLS_BOOK_DOCS_PAGE_H
#define TOOLS_BOOK_DOCS_PAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Text that grows. */
struct text {
    char *data;
    size_t length, room;
};
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct page {
    char *path;  /* from the root, such as "06_wgmma/README.md" */
    char **line; /* without newlines */
    int lines;
    bool changed;
};

/* All pages under `root`, sorted by path; count[0] of them. Ends the program if there is none. */
struct page *pages_read(const char *root, int *count);
/* Writes back those that have changed. */
void pages_write(const char *root, const struct page *pages, int count);
void pages_free(struct page *pages, int count);

/* Is this the path of a page in a chapter's folder? Is it the chapter's README? */
bool page_is_in_chapter(const char *path);
bool page_is_chapter(const char *path);
/* Where a file of a house's docs lies, such as "results/ncu.txt": "docs/results/ncu.txt", or, if
 * part two has it, "beyond/docs/results/ncu.txt". Returns place. */
enum { PLACE = 512 };
const char *docs_place(const char *root, const char *file, char place[PLACE]);
/* From the page to a file or folder given from the root: "../docs/results/ncu.txt". Returns
 * link. */
const char *page_link(const struct page *page, const char *place, char link[PLACE]);

/* Puts `with` (lines separated by newlines, "" for none) in the place of `count` lines from `first`
 * on, unless they are the same. True if they were. */
bool page_replace(struct page *page, int first, int count, const char *with);

/* The first line at or after `from` that is not inside a ``` block and begins with `prefix`; -1. */
int page_find(const struct page *page, int from, const char *prefix);
/* The fenced block that begins in line `open`: the line of its closing fence, or -1. */
int page_fence_end(const struct page *page, int open);
/* Lines first .. last - 1, joined with a newline after each. The caller frees it. */
char *page_join(const struct page *page, int first, int last);

/* Makes anew what stands between each line that begins with `marker` and its <!-- end -->. `make`
 * says what that is, for the marker in line `line`; false after a complaint. Complains about what
 * was stale, a `what`, unless `rewrite`. */
typedef bool page_maker(struct text *out, const char *root, const struct page *page, int line);
void page_remake(const char *root, struct page *page, bool rewrite, const char *marker,
                 const char *what, page_maker *make);

/* Makes a kind of block of the page anew; complains about those that were stale unless
 * `rewrite`. */
typedef void page_check(const char *root, struct page *page, bool rewrite);
/* Those that part two adds, up to a NULL; without it there is no such table. */
extern page_check *const more_checks[] __attribute__((weak));

/* The value of key=value in a marker, up to a blank; false if it is not there. */
bool marker_value(const char *marker, const char *key, char *value, size_t size);
enum { MARKER_WORD = 64 }; /* characters of a word, its end included */
/* The words of key=word,word,... in a marker, at most `most`. Returns how many. */
int marker_words(const char *marker, const char *key, char words[][MARKER_WORD], int most);

/* "page:line: text" on stderr. Lines count from 0 here, from 1 there. */
void complain(const struct page *page, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int complaints(void);

/* malloc and friends that do not return NULL. */
void *grow(void *memory, size_t bytes);
char *copy_string(const char *string);

#endif
