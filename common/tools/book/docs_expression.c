#include "tools/book/docs_expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/book/docs_tables.h"
#include "tools/json/json.h"

enum { WORD = 64, CALLS = 32 };

/* A column's number in a kernel's record: number[key], or number[group][key]. */
static const struct {
    const char *name, *group, *key;
    double scale;
} columns[] = {
    {"tflops", "burst", "tflops", 1},
    {"ms", "burst", "ms", 1},
    {"clock", "burst", "clock_mhz", 1},
    {"spread", "burst", "spread", 100},
    {"sustained", "sustained", "tflops", 1},
    {"sustained_clock", "sustained", "clock_mhz", 1},
    {"power", "sustained", "power_w", 1},
    {"cycles", NULL, "cycles", 1},
    {"utilization", NULL, "tensor_core_utilization", 100},
    {"registers", NULL, "registers", 1},
    {"quantization_error", NULL, "quantization_error", 100},
    {"accumulation_error", NULL, "accumulation_error", 100},
    {"rounding_error", NULL, "rounding_error", 100},
    /* Percent of the cuBLAS of the same run. */
    {"cublas", "burst", "tflops", 100},
    {"sustained_cublas", "sustained", "tflops", 100},
};
enum { COLUMNS = sizeof columns / sizeof *columns, TFLOPS = 0 };

/* A call of a column. Calls of a claim are numbered in the order in which they stand. */
struct call {
    int column;
    char kernel[WORD], shape[WORD], record[WORD];
    double value;
};

/* A claim's expression is read twice: first its calls are collected, then it is evaluated. */
struct reading {
    const struct expression_source *source;
    const char *at;
    struct call call[CALLS];
    int calls, next;
    bool collecting;
    char error[256];
};

static void fail(struct reading *r, const char *what, const char *detail) {
    if (!*r->error) snprintf(r->error, sizeof r->error, "%.60s%.180s", what, detail);
}

/* ---- looking up ---- */

static double column_value(int column, const struct json *value, const struct json *cublas) {
    const char *group = columns[column].group, *key = columns[column].key;
    const struct json *from = group ? json_member(value, group) : value;
    double number = columns[column].scale * json_number(from, key);
    if (strstr(columns[column].name, "cublas"))
        number /= cublas ? json_number(json_member(cublas, group), key) : NAN;
    return number > 0 ? number : NAN;
}

/* Answers the calls that name the same record and shape as call `first`, from one run. */
static void answer(struct reading *r, int first) {
    const struct call *like = &r->call[first];
    const size_t name = strcspn(like->record, ":@");
    const char *rest = like->record + name;
    const char *dtype = *rest == ':' ? rest + 1 : r->source->dtype;
    const char *command = *rest == '@' ? rest + 1 : "";
    char file[WORD + 8];
    snprintf(file, sizeof file, "%.*s.jsonl", (int)name, like->record);
    const int lines = tables_load(r->source->root, file);
    for (int run = lines - 1; run >= 0; --run) {
        bool all = tables_is_run(run, command);
        for (int i = first; all && i < r->calls; ++i) {
            struct call *call = &r->call[i];
            if (strcmp(call->record, like->record) || strcmp(call->shape, like->shape)) continue;
            const struct json *cublas;
            const struct json *value = tables_find(call->kernel, call->shape, dtype, run, &cublas);
            call->value = value ? column_value(call->column, value, cublas) : NAN;
            all = !isnan(call->value);
        }
        if (all) return;
    }
    char detail[4 * WORD];
    snprintf(detail, sizeof detail, "%s of %s at %s, with what it is compared with",
             columns[like->column].name, like->kernel, like->shape);
    fail(r, "no run has ", detail);
}

/* The n-th number after `text` in the last line of the file that has it. */
static double cell(struct reading *r, const char *file, const char *text, int n) {
    char name[PLACE], place[PLACE];
    struct text path = {0};
    snprintf(name, sizeof name, "results/%s", file);
    text_add(&path, "%s/%s", r->source->root, docs_place(r->source->root, name, place));
    char *data = json_read_file(path.data);
    const char *last = NULL;
    free(path.data);
    for (const char *at = data; at && (at = strstr(at, text)); at += strlen(text))
        last = at + strlen(text);
    double value = NAN;
    for (int found = 0; last && *last && *last != '\n' && found < n;) {
        char *end;
        if (isdigit((unsigned char)*last)) {
            value = strtod(last, &end);
            last = end;
            ++found;
            if (found < n) value = NAN;
        } else {
            ++last;
        }
    }
    free(data);
    if (isnan(value)) fail(r, "there is no such cell of ", file);
    return value;
}

/* ---- expressions ---- */

static double sum(struct reading *r);

static void skip_blanks(struct reading *r) { r->at += strspn(r->at, " "); }

static bool eat(struct reading *r, char wanted) {
    skip_blanks(r);
    if (*r->at != wanted) return false;
    ++r->at;
    return true;
}

/* The words of a call, up to its closing parenthesis, separated by commas. */
static int arguments(struct reading *r, char word[4][WORD]) {
    const size_t length = strcspn(r->at, ")");
    char text[256];
    int count = 0;
    snprintf(text, sizeof text, "%.*s", (int)length, r->at);
    r->at += length;
    if (!eat(r, ')')) fail(r, "expected a ) after ", text);
    for (char *at = text; at && count < 4; ++count) {
        char *comma = strchr(at, ',');
        if (comma) *comma = 0;
        at += strspn(at, " ");
        snprintf(word[count], WORD, "%s", at);
        at = comma ? comma + 1 : NULL;
    }
    return count;
}

static double add_call(struct reading *r, int column, const char *kernel, const char *shape,
                       const char *record) {
    if (!r->collecting) return r->call[r->next++].value;
    if (r->calls == CALLS) {
        fail(r, "too many numbers in one claim", "");
        return NAN;
    }
    struct call *call = &r->call[r->calls++];
    *call = (struct call){.column = column, .value = NAN};
    snprintf(call->kernel, WORD, "%s", kernel);
    snprintf(call->shape, WORD, "%s", shape);
    snprintf(call->record, WORD, "%s", record);
    return 1;
}

/* column(kernel, shape) or column(kernel, shape, record) */
static double call_column(struct reading *r, int column) {
    char word[4][WORD];
    const int count = arguments(r, word);
    if (count == 2 || count == 3)
        return add_call(r, column, word[0], word[1], count == 3 ? word[2] : r->source->results);
    fail(r, columns[column].name, " needs a kernel and a shape");
    return NAN;
}

/* gain(kernel, other, shape) or gain(kernel, other, shape, record), and loss in the same way */
static double call_gain(struct reading *r, bool gain) {
    char word[4][WORD];
    const int count = arguments(r, word);
    const char *record = count == 4 ? word[3] : r->source->results;
    if (count != 3 && count != 4) {
        fail(r, "gain and loss need two kernels and a shape", "");
        return NAN;
    }
    const double speed = add_call(r, TFLOPS, word[0], word[2], record);
    const double more = 100 * (speed / add_call(r, TFLOPS, word[1], word[2], record) - 1);
    return gain ? more : -more;
}

/* cell(file, text, n): the text may have commas. */
static double call_cell(struct reading *r) {
    char inside[256], *comma, *last;
    const size_t length = strcspn(r->at, ")");
    snprintf(inside, sizeof inside, "%.*s", (int)length, r->at);
    r->at += length;
    comma = strchr(inside, ',');
    last = strrchr(inside, ',');
    if (!eat(r, ')') || !comma || comma == last) {
        fail(r, "expected cell(file, text, n) in ", inside);
        return NAN;
    }
    *comma = *last = 0;
    comma += 1 + strspn(comma + 1, " ");
    return cell(r, inside, comma, atoi(last + 1));
}

static double call_named(struct reading *r, const char *name) {
    for (int column = 0; column < COLUMNS; ++column)
        if (strcmp(name, columns[column].name) == 0) return call_column(r, column);
    if (strcmp(name, "cell") == 0) return call_cell(r);
    if (strcmp(name, "gain") == 0) return call_gain(r, true);
    if (strcmp(name, "loss") == 0) return call_gain(r, false);
    double value = sum(r);
    if (strcmp(name, "abs") == 0) {
        value = fabs(value);
    } else if (strcmp(name, "round") == 0 && eat(r, ',')) {
        const double unit = pow(10, -sum(r));
        value = round(value / unit) * unit;
    } else if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0) {
        while (eat(r, ',')) {
            const double other = sum(r);
            value = (name[1] == 'i') == (other < value) ? other : value;
        }
    } else {
        fail(r, "there is no column or function ", name);
    }
    if (!eat(r, ')')) fail(r, "expected a ) of ", name);
    return value;
}

static double factor(struct reading *r) {
    char name[WORD], *end;
    skip_blanks(r);
    if (eat(r, '-')) return -factor(r);
    if (eat(r, '(')) {
        const double value = sum(r);
        if (!eat(r, ')')) fail(r, "expected a ) before ", r->at);
        return value;
    }
    if (isalpha((unsigned char)*r->at)) {
        const size_t length = strcspn(r->at, "(");
        snprintf(name, sizeof name, "%.*s", (int)length, r->at);
        r->at += length;
        if (eat(r, '(')) return call_named(r, name);
        fail(r, "expected a ( after ", name);
        return NAN;
    }
    const double value = strtod(r->at, &end);
    if (end == r->at) fail(r, "expected a number before ", r->at);
    r->at = end;
    return value;
}

static double product(struct reading *r) {
    double value = factor(r);
    for (;;)
        if (eat(r, '*'))
            value *= factor(r);
        else if (eat(r, '/'))
            value /= factor(r);
        else
            return value;
}

static double sum(struct reading *r) {
    double value = product(r);
    for (;;)
        if (eat(r, '+'))
            value += product(r);
        else if (eat(r, '-'))
            value -= product(r);
        else
            return value;
}

double expression_value(const struct expression_source *source, const char *expression, char *error,
                        size_t size) {
    struct reading *r = grow(NULL, sizeof *r);
    *r = (struct reading){.source = source, .collecting = true, .at = expression};
    sum(r);
    skip_blanks(r);
    if (*r->at) fail(r, "cannot read ", r->at);
    for (int i = 0; i < r->calls && !*r->error; ++i)
        if (isnan(r->call[i].value)) answer(r, i);
    r->collecting = false;
    r->at = expression;
    const double value = *r->error ? NAN : sum(r);
    snprintf(error, size, "%s", r->error);
    free(r);
    return value;
}
