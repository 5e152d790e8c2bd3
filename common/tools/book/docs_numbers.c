#include "tools/book/docs_numbers.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/book/docs_expression.h"
#include "tools/json/json.h"

enum { WORD = 64, CLAIMS = 64 };

/* ---- claims ---- */

/* The paragraph's lines in one, without the marks of a quotation. */
static char *paragraph(const struct page *page, int first, int *end) {
    struct text text = {0};
    text_add(&text, " ");
    for (*end = first; *end < page->lines; ++*end) {
        const char *line = page->line[*end] + strspn(page->line[*end], " >");
        if (!*line) break;
        text_add(&text, "%s ", line);
    }
    return text.data;
}

/* How often the paragraph has this text, where no digit continues it on either side. */
static int occurrences(const char *paragraph, const char *text) {
    int count = 0;
    const size_t length = strlen(text);
    for (const char *at = paragraph; (at = strstr(at, text)); at += length) {
        const char before = at[-1], *after = at + length;
        const bool left = isdigit((unsigned char)before) || before == '.' || before == ',';
        const bool right = isdigit((unsigned char)*after) ||
                           ((*after == '.' || *after == ',') && isdigit((unsigned char)after[1]));
        count += !left && !right;
    }
    return count;
}

/* The number that the text begins with, and the unit to which it is rounded. */
static bool number_of(const char *text, double *number, double *unit) {
    char digits[WORD];
    int count = 0, decimals = -1;
    for (; isdigit((unsigned char)*text) || *text == ',' || *text == '.'; ++text) {
        if (*text == ',' || count + 1 == WORD) continue;
        if (*text == '.' || decimals >= 0) ++decimals;
        digits[count++] = *text;
    }
    digits[count] = 0;
    *number = strtod(digits, NULL);
    *unit = decimals > 0 ? pow(10, -decimals) : 1;
    const bool percent = strncmp(text, " %", 2) == 0;
    for (int i = count - 1; decimals < 0 && !percent && count >= 3 && i >= 2 && digits[i] == '0';
         --i)
        *unit *= 10;
    return count > 0;
}

static void check_claim(const struct page *page, int line, const char *text, const char *relation,
                        const struct expression_source *source) {
    double number, unit;
    char error[256];
    const double value =
        expression_value(source, relation + (*relation == '=' ? 1 : 2), error, sizeof error);
    if (!number_of(text, &number, &unit)) snprintf(error, sizeof error, "it is no number");
    const bool holds = *relation == '='   ? fabs(value - number) <= 0.5 * unit * (1 + 1e-6)
                       : *relation == '>' ? number >= value
                                          : number <= value;
    if (*error)
        complain(page, line, "the number '%s': %s", text, error);
    else if (!holds)
        complain(page, line, "the text has '%s', the record %.6g", text, value);
}

/* The relation of a claim: the first "=", ">=" or "<=" that a blank follows. NULL: none. */
static char *find_relation(char *claim) {
    char *at = strstr(claim, "= ");
    return at && at > claim && (at[-1] == '>' || at[-1] == '<') ? at - 1 : at;
}

/* The claim that begins in line `*i`, with the lines that continue it. Sets `*i` to the last. */
static char *read_claim(const struct page *page, int *i, int last) {
    struct text claim = {0};
    for (bool more = true; more; ++*i) {
        text_add(&claim, "%s ", page->line[*i] + strspn(page->line[*i], " >"));
        more = *i < last && !find_relation(page->line[*i + 1]);
    }
    --*i;
    char *end = strstr(claim.data, "-->");
    if (end) *end = 0;
    return claim.data;
}

/* The claims of the marker in lines `first` to `last`, about what follows it. */
static int check_marker(const char *root, const struct page *page, int first, int last) {
    char results[WORD] = "", dtype[WORD] = "bf16", said[CLAIMS][WORD];
    int claims = 0, end;
    marker_value(page->line[first], "results", results, sizeof results);
    marker_value(page->line[first], "dtype", dtype, sizeof dtype);
    const struct expression_source source = {root, results, dtype};
    char *about = paragraph(page, last + 1, &end);
    for (int i = first + 1; i <= last; ++i) {
        const int line = i;
        char *claim = read_claim(page, &i, last), *relation = find_relation(claim);
        if (!relation || claims == CLAIMS) {
            complain(page, line, "a claim is a number, a relation and an expression");
            free(claim);
            continue;
        }
        char *text = said[claims++];
        snprintf(text, WORD, "%.*s", (int)(relation - claim), claim);
        for (size_t length = strlen(text); length && text[length - 1] == ' ';)
            text[--length] = 0;
        check_claim(page, line, text, relation, &source);
        free(claim);
        int same = 0;
        for (int j = 0; j < claims; ++j)
            same += strcmp(said[j], text) == 0;
        if (occurrences(about, text) < same)
            complain(page, line, "what follows the marker does not have '%s'%s", text,
                     same > 1 ? " so often" : "");
    }
    free(about);
    if (!claims) complain(page, first, "a marker without a claim");
    return claims;
}

/* ---- pages ---- */

static bool is_marker(const char *line, const char *rest) {
    static const char marker[] = "<!-- numbers:";
    line += strspn(line, " >");
    if (strncmp(line, marker, strlen(marker))) return false;
    line += strlen(marker);
    return strncmp(line + strspn(line, " "), rest, strlen(rest)) == 0;
}

/* Does this paragraph have measured numbers in it? A figure has not, and the line under a table is
 * made with it. */
static bool needs_marker(const char *text) {
    static const char *const made[] = {" Measured: ", " Simulated, not measured: ", " ![", " <!--"};
    for (size_t i = 0; i < sizeof made / sizeof *made; ++i)
        if (strncmp(text, made[i], strlen(made[i])) == 0) return false;
    bool measured = false, digit = false;
    for (const char *c = text; *c; ++c) {
        if (strncmp(c, "](", 2) == 0) c += strcspn(c, ")"); /* not the address of a link */
        if (!*c) break;
        measured |= strncmp(c, "measured", 8) == 0;
        digit |= isdigit((unsigned char)*c) != 0;
    }
    return measured && digit;
}

int numbers_check(const char *root, const struct page *page) {
    int claims = 0;
    bool all = false, fenced = false;
    for (int i = 0; i < page->lines; ++i)
        all |= is_marker(page->line[i], "all -->");
    for (int i = 0; i < page->lines;) {
        const char *line = page->line[i];
        if (strncmp(line, "```", 3) == 0) fenced = !fenced;
        if (fenced || !line[strspn(line, " >")] || strncmp(line, "    ", 4) == 0 || *line == '#' ||
            *line == '`' || is_marker(line, "all -->")) {
            ++i;
            continue;
        }
        const bool held = is_marker(line, "");
        int last = i, end;
        while (held && last + 1 < page->lines && !strstr(page->line[last], "-->"))
            ++last;
        if (held && !is_marker(line, "none: ")) {
            claims += check_marker(root, page, i, last);
            if (last + 1 < page->lines && page->line[last + 1][0] == '|')
                complain(page, i, "numbers over a table are stated twice: make it a grid");
        }
        char *text = paragraph(page, held ? last + 1 : i, &end);
        if (all && !held && needs_marker(text))
            complain(page, i,
                     "numbers that nothing holds to a record; docs_numbers.h has the marker");
        free(text);
        i = end > i ? end : i + 1;
    }
    return claims;
}
