/*
 * text_file.c: files that appear under their name only when they are whole, and text quoted for
 * JSON and XML.
 */
#include "timeline/text_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct text_file *being_written;

static void abandon_at_exit(void) {
    if (being_written) text_file_abandon(being_written);
}

bool text_file_open(struct text_file *text, const char *path) {
    static bool registered;
    if (!registered) registered = atexit(abandon_at_exit) == 0;
    text->file = NULL;
    if (strlen(path) >= sizeof text->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(text->path, sizeof text->path, "%s", path);
    snprintf(text->temporary, sizeof text->temporary, "%s.%ld.tmp", path, (long)getpid());
    text->file = fopen(text->temporary, "wx");
    if (text->file) being_written = text;
    return text->file != NULL;
}

bool text_file_commit(struct text_file *text) {
    /* If an earlier write has failed and this one does not, errno is still the earlier one's. */
    bool good = fflush(text->file) == 0 && !ferror(text->file);
    int error = errno;
    if (fclose(text->file) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && rename(text->temporary, text->path) != 0) {
        good = false;
        error = errno;
    }
    if (!good) unlink(text->temporary);
    text->file = NULL;
    being_written = NULL;
    errno = error;
    return good;
}

void text_file_abandon(struct text_file *text) {
    if (!text->file) return;
    fclose(text->file);
    unlink(text->temporary);
    text->file = NULL;
    being_written = NULL;
}

void write_json_string(FILE *file, const char *text) {
    putc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c; ++c) {
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if (*c < 0x20 || *c == '<')
            fprintf(file, "\\u%04x", *c);
        else
            putc(*c, file);
    }
    putc('"', file);
}

void write_json_number(FILE *file, double value) {
    if (isfinite(value))
        fprintf(file, "%.10g", value);
    else
        fputs("null", file);
}

void write_xml_text(FILE *file, const char *text) {
    for (; *text; ++text) {
        switch (*text) {
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '&':
            fputs("&amp;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        default:
            putc(*text, file);
        }
    }
}
