#include "harness/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *program = "gemm", *path = "";
static bool terminal, line_open;

void message_open(const char *argv0) {
    if (argv0 && *argv0) {
        path = argv0;
        const char *slash = strrchr(argv0, '/');
        program = slash ? slash + 1 : argv0;
    }
#ifndef __EMSCRIPTEN__ /* its stderr claims to be one */
    terminal = isatty(STDERR_FILENO);
#endif
}

const char *message_program(void) { return program; }
const char *message_path(void) { return path; }

void complain(const char *format, ...) {
    progress_clear();
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    char begins[128];
    vsnprintf(begins, sizeof begins, format, again);
    va_end(again);
    const size_t length = strlen(program);
    if (strncmp(begins, program, length) != 0 || begins[length] != ':')
        fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

void progress(const char *format, ...) {
    if (!terminal) return;
    va_list arguments;
    va_start(arguments, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, arguments);
    fflush(stderr);
    va_end(arguments);
    line_open = true;
}

void progress_clear(void) {
    if (!line_open) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    line_open = false;
}

bool progress_shown(void) { return terminal; }
