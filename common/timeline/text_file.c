/*
 * text_file.c: files that appear under their name only when they are whole, and text quoted for
 * JSON and XML.
 */
#include "timeline/text_file.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

bool output_begin(struct text_file *output, const char *path) {
    if (strlen(path) >= sizeof output->path) {
        fprintf(stderr, "%.60s...: the path is too long\n", path);
        return false;
    }
    snprintf(output->path, sizeof output->path, "%s", path);
    snprintf(output->temporary, sizeof output->temporary, "%s.%ld", path, (long)getpid());
    output->file = fopen(output->temporary, "w");
    if (!output->file)
        fprintf(stderr, "cannot write %s: %s; choose a place that can be written\n", path,
                strerror(errno));
    return output->file != NULL;
}

bool output_end(struct text_file *output) {
    bool good = !ferror(output->file);
    if (fclose(output->file)) good = false;
    if (good && rename(output->temporary, output->path)) good = false;
    if (!good) {
        fprintf(stderr, "cannot write %s: %s\n", output->path, strerror(errno));
        unlink(output->temporary);
    }
    return good;
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
