#include "json_check.h"

#include <ctype.h>
#include <string.h>

/* Each of these moves *at behind what it accepts. */
static bool value(const char **at);

static void blanks(const char **at) { *at += strspn(*at, " \t\r\n"); }

static bool literal(const char **at, const char *word) {
    const size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0) return false;
    *at += length;
    return true;
}

static bool digits(const char **at) {
    const size_t count = strspn(*at, "0123456789");
    *at += count;
    return count > 0;
}

static bool number(const char **at) {
    literal(at, "-");
    if (!literal(at, "0") && !digits(at)) return false;
    if (literal(at, ".") && !digits(at)) return false;
    if (literal(at, "e") || literal(at, "E")) {
        if (!literal(at, "-")) literal(at, "+");
        return digits(at);
    }
    return true;
}

static bool string(const char **at) {
    if (!literal(at, "\"")) return false;
    while (**at != '"') {
        if ((unsigned char)**at < 0x20) return false;
        if (literal(at, "\\")) {
            if (literal(at, "u")) {
                for (int i = 0; i < 4; ++i, ++*at)
                    if (!isxdigit((unsigned char)**at)) return false;
                continue;
            }
            if (!**at || !strchr("\"\\/bfnrt", **at)) return false;
        }
        ++*at;
    }
    ++*at;
    return true;
}

/* Members of an object or elements of an array, up to and with `close`. */
static bool members(const char **at, const char *close, bool keys) {
    blanks(at);
    if (literal(at, close)) return true;
    do {
        if (keys) {
            blanks(at);
            if (!string(at)) return false;
            blanks(at);
            if (!literal(at, ":")) return false;
        }
        if (!value(at)) return false;
    } while (literal(at, ","));
    return literal(at, close);
}

static bool value(const char **at) {
    blanks(at);
    bool good;
    if (literal(at, "{")) good = members(at, "}", true);
    else if (literal(at, "[")) good = members(at, "]", false);
    else if (**at == '"') good = string(at);
    else if (literal(at, "null") || literal(at, "true") || literal(at, "false")) good = true;
    else good = number(at);
    blanks(at);
    return good;
}

bool json_valid(const char *text, const char **error) {
    *error = text;
    return value(error) && **error == '\0';
}
