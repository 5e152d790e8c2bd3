/*
 * json.c: reads JSON (RFC 8259), for tests of what writes it.
 */
#include "tools/json/json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

struct reader {
    const char *start, *at;
    const char *problem;
    int depth;
};

static bool fail(struct reader *r, const char *problem) {
    if (!r->problem) r->problem = problem;
    return false;
}

static void skip(struct reader *r) {
    while (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')
        ++r->at;
}

static bool read_string(struct reader *r, char **out) {
    if (*r->at != '"') return fail(r, "a string is expected");
    const char *end = ++r->at;
    while (*end && *end != '"')
        end += end[0] == '\\' && end[1] ? 2 : 1;
    char *text = *out = malloc((size_t)(end - r->at) + 1);
    if (!text) return fail(r, "no memory");
    for (; *r->at && *r->at != '"'; ++r->at) {
        if ((unsigned char)*r->at < 0x20)
            return *text = 0, fail(r, "a control character in a string");
        if (*r->at != '\\') {
            *text++ = *r->at;
            continue;
        }
        static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
        const char *letter = *++r->at ? strchr(letters, *r->at) : NULL;
        if (letter) {
            *text++ = meanings[letter - letters];
        } else if (*r->at == 'u') {
            unsigned code = 0;
            for (int i = 0; i < 4; ++i) {
                if (!isxdigit((unsigned char)r->at[1]))
                    return *text = 0, fail(r, "\\u takes four digits");
                char digit[2] = {*++r->at, 0};
                code = code * 16 + (unsigned)strtol(digit, NULL, 16);
            }
            *text++ = code < 128 ? (char)code : '?'; /* enough to compare what we write */
        } else {
            return *text = 0, fail(r, "an unknown escape in a string");
        }
    }
    *text = 0;
    if (*r->at != '"') return fail(r, "a string does not end");
    ++r->at;
    return true;
}

static bool read_number(struct reader *r, double *out) {
    const char *at = r->at;
    if (*at == '-') ++at;
    if (*at == '0')
        ++at;
    else if (isdigit((unsigned char)*at))
        while (isdigit((unsigned char)*at))
            ++at;
    else
        return fail(r, "a value is expected");
    if (*at == '.') {
        if (!isdigit((unsigned char)*++at)) return fail(r, "digits are missing after the point");
        while (isdigit((unsigned char)*at))
            ++at;
    }
    if (*at == 'e' || *at == 'E') {
        if (*++at == '+' || *at == '-') ++at;
        if (!isdigit((unsigned char)*at)) return fail(r, "digits are missing in an exponent");
        while (isdigit((unsigned char)*at))
            ++at;
    }
    *out = strtod(r->at, NULL);
    r->at = at;
    return true;
}

static bool read_value(struct reader *r, struct json *out);

/* Items of an array, or members of an object. */
static bool read_items(struct reader *r, struct json *out, char close) {
    size_t capacity = 0;
    ++r->at;
    skip(r);
    if (*r->at == close) return ++r->at, true;
    for (;;) {
        if (out->count == capacity) {
            capacity = capacity ? 2 * capacity : 8;
            out->item = realloc(out->item, capacity * sizeof *out->item);
            out->key = realloc(out->key, capacity * sizeof *out->key);
            if (!out->item || !out->key) abort();
        }
        struct json *item = &out->item[out->count];
        memset(item, 0, sizeof *item);
        out->key[out->count++] = NULL;
        skip(r);
        if (close == '}') {
            if (!read_string(r, &out->key[out->count - 1])) return false;
            skip(r);
            if (*r->at++ != ':') return fail(r, "a colon is expected");
        }
        if (!read_value(r, item)) return false;
        skip(r);
        if (*r->at == close) return ++r->at, true;
        if (*r->at++ != ',') return --r->at, fail(r, "a comma or the end is expected");
    }
}

static bool read_value(struct reader *r, struct json *out) {
    skip(r);
    if (*r->at == '{' || *r->at == '[') {
        out->kind = *r->at == '{' ? JSON_OBJECT : JSON_ARRAY;
        if (++r->depth > DEPTH_MAX) return fail(r, "nested too deeply");
        const bool good = read_items(r, out, *r->at == '{' ? '}' : ']');
        --r->depth;
        return good;
    }
    if (*r->at == '"') return out->kind = JSON_STRING, read_string(r, &out->text);
    static const char *const words[] = {"null", "false", "true"};
    for (int i = 0; i < 3; ++i) {
        if (strncmp(r->at, words[i], strlen(words[i]))) continue;
        out->kind = i;
        r->at += strlen(words[i]);
        return true;
    }
    out->kind = JSON_NUMBER;
    return read_number(r, &out->number);
}

bool json_parse(const char *text, struct json *out, char *error, size_t size) {
    struct reader reader = {.start = text, .at = text};
    memset(out, 0, sizeof *out);
    bool good = read_value(&reader, out);
    skip(&reader);
    if (good && *reader.at) good = fail(&reader, "something follows the value");
    if (!good) {
        snprintf(error, size, "byte %td: %s", reader.at - reader.start, reader.problem);
        json_free(out);
    }
    return good;
}

void json_free(struct json *value) {
    for (size_t i = 0; i < value->count; ++i) {
        json_free(&value->item[i]);
        free(value->key[i]);
    }
    free(value->item);
    free(value->key);
    free(value->text);
    memset(value, 0, sizeof *value);
}

const struct json *json_member(const struct json *object, const char *key) {
    if (!object || object->kind != JSON_OBJECT) return NULL;
    for (size_t i = 0; i < object->count; ++i)
        if (strcmp(object->key[i], key) == 0) return &object->item[i];
    return NULL;
}

const char *json_text(const struct json *object, const char *key) {
    const struct json *member = object ? json_member(object, key) : NULL;
    return member && member->kind == JSON_STRING ? member->text : "";
}

double json_number(const struct json *object, const char *key) {
    const struct json *member = object ? json_member(object, key) : NULL;
    return member && member->kind == JSON_NUMBER ? member->number : 0;
}

bool json_next_line(char **lines, const char *file, struct json *value) {
    char error[128];
    char *line = *lines + strspn(*lines, "\n"), *end = line + strcspn(line, "\n");
    *lines = *end ? end + 1 : end;
    *end = 0;
    if (*line && !json_parse(line, value, error, sizeof error)) {
        fprintf(stderr, "error: %s: %s\n", file, error);
        exit(2);
    }
    return *line != 0;
}

char *json_read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = NULL;
    size_t size = 0, capacity = 0;
    do {
        capacity = capacity ? 2 * capacity : 1 << 16;
        text = realloc(text, capacity);
        if (!text) abort();
        size += fread(text + size, 1, capacity - 1 - size, file);
    } while (size == capacity - 1);
    text[size] = 0;
    fclose(file);
    return text;
}
