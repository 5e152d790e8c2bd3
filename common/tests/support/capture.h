/*
 * capture.h: what a part of a test writes to stderr, as a string.
 */
#ifndef TESTS_SUPPORT_CAPTURE_H
#define TESTS_SUPPORT_CAPTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct capture {
    FILE *file;
    int stderr_before;
};

/* From here on, stderr is captured. Exits if there is no temporary file. */
static inline struct capture capture_begin(void) {
    struct capture capture = {.file = tmpfile()};
    if (!capture.file) {
        perror("tmpfile");
        exit(1);
    }
    fflush(stderr);
    capture.stderr_before = dup(2);
    dup2(fileno(capture.file), 2);
    return capture;
}

/* From here on, stderr is what it was before. Returns what was captured, to be freed. */
static inline char *capture_end(struct capture capture) {
    fflush(stderr);
    dup2(capture.stderr_before, 2);
    close(capture.stderr_before);
    const long size = ftell(capture.file);
    char *const text = calloc(1, (size_t)size + 1);
    rewind(capture.file);
    if (!text || fread(text, 1, (size_t)size, capture.file) != (size_t)size) exit(1);
    fclose(capture.file);
    return text;
}

#endif
