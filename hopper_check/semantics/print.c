/* print.c: printf's conversions, one at a time. */
#include "semantics/print.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SPECIFICATION = 32 };

static uint64_t take(const unsigned char *values, size_t *at, size_t bytes) {
    uint64_t value = 0;
    *at = (*at + bytes - 1) / bytes * bytes;
    memcpy(&value, values + *at, bytes);
    *at += bytes;
    return value;
}

/* "%-8.3": flags, width and precision, with the length that the host's types need. */
static void print_one(FILE *out, const char *flags, int length, char conversion, uint64_t value,
                      bool wide) {
    char text[SPECIFICATION];
    double real;
    memcpy(&real, &value, sizeof real);
    if (strchr("di", conversion)) {
        snprintf(text, sizeof text, "%.*s" PRId64, length, flags);
        fprintf(out, text, wide ? (int64_t)value : (int64_t)(int32_t)value);
    } else if (strchr("uxXo", conversion)) {
        snprintf(text, sizeof text, "%.*sll%c", length, flags, conversion);
        fprintf(out, text, (unsigned long long)value);
    } else if (conversion == 'c') {
        fputc((int)value, out);
    } else if (conversion == 's') {
        fputs((const char *)(uintptr_t)value, out);
    } else if (conversion == 'p') {
        fprintf(out, "0x%" PRIx64, value);
    } else {
        snprintf(text, sizeof text, "%.*s%c", length, flags, conversion);
        fprintf(out, text, real);
    }
}

int print_values(const char *format, const unsigned char *values, FILE *out) {
    size_t at = 0;
    int count = 0;
    for (const char *c = format; *c; ++c) {
        if (*c != '%' || c[1] == '%') {
            if (out) fputc(*c, out);
            c += *c == '%';
            continue;
        }
        const char *const flags = c;
        c += 1 + strspn(c + 1, "-+ #0123456789.");
        const int length = (int)(c - flags);
        const size_t sizes = strspn(c, "hlLzjt");
        const bool wide = sizes && strchr("lzjt", *c);
        c += sizes;
        if (!*c || length > SPECIFICATION - 8 || !strchr("diuxXocspfFeEgGaA", *c)) break;
        const size_t bytes = strchr("diuxXoc", *c) && !wide ? 4 : 8;
        const uint64_t value = take(values, &at, bytes);
        if (out) print_one(out, flags, length, *c, value, wide);
        ++count;
    }
    return count;
}
