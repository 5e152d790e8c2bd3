/*
 * fuzz_command.c: the programs with garbled command lines, absurd sizes, and outputs that cannot be
 * written: whatever they are given, they end by themselves with a documented exit code, one message
 * if something was wrong, and either whole files or none.
 *
 *     fuzz_command DIRECTORY KIND=PROGRAM ...
 *
 * KIND is sim, gpu or tour: which options the program has; DIRECTORY is an empty
 * place for files.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/harness/harness_command.h"
#include "tests/support/fuzz.h"
#include "tools/json/json.h"

enum { CASES = 120, MOST_OPTIONS = 5, SECONDS = 60, ROOM = 16384 };

/* A program's options, each with values that are good and quickly done. */
struct option {
    const char *name;
    const char *values[4];
};
struct kind {
    const char *name;
    const char *always; /* makes the problem small, whatever follows */
    struct option options[20];
    bool talks; /* more lines than the message: what a bad option should have been, what it does */
};

static const struct kind kinds[] = {
    {"sim",
     "--size 16",
     {{"--m", {"1", "33"}},
      {"--n", {"1", "17"}},
      {"--k", {"1", "40"}},
      {"--size", {"8", "24"}},
      {"--dtype", {"fp16", "bf16"}},
      {"--input", {"uniform", "normal", "zeros", "integer"}},
      {"--seed", {"0", "18446744073709551615"}},
      {"--sms", {"1", "1024"}},
      {"--schedule", {"time", "early", "late", "random"}},
      {"--schedule-seed", {"0", "7"}},
      {"--timing", {"none"}},
      {"--trace", {"DIR/trace.json"}},
      {"--explain", {"mbarrier", "mbarrier:0"}},
      {"--json", {""}},
      {"--help", {""}}},
     false},
    {"tour",
     "--size 16",
     {{"--m", {"1", "33"}},
      {"--k", {"1", "40"}},
      {"--dtype", {"fp16", "bf16"}},
      {"--input", {"uniform", "normal", "zeros", "integer"}},
      {"--seed", {"0", "18446744073709551615"}},
      {"--chapters", {"1", "1,2", "1-3"}},
      {"--schedule", {"time", "early", "late", "random"}},
      {"--timing", {"none"}},
      {"--trace", {"DIR/trace.json"}},
      {"--report", {"DIR/page"}},
      {"--json", {""}},
      {"-h", {""}}},
     false},
    {"gpu",
     "--size 16",
     {{"--m", {"1", "33"}},
      {"--n", {"1", "17"}},
      {"--dtype", {"fp16", "bf16"}},
      {"--input", {"uniform", "normal", "zeros", "integer"}},
      {"--timing", {"burst", "none"}},
      {"--iters", {"1", "2"}},
      {"--csv", {"DIR/samples.csv"}},
      {"--json", {""}}},
     false},
    {"compare",
     "--chapters all --shapes 16",
     {{"--timing", {"burst", "none"}},
      {"--iters", {"1", "2"}},
      {"--chapters", {"1", "all"}},
      {"--shapes", {"16", "8x16x24", "1x1x1,3"}},
      {"--baselines", {"none", "libraries", "all"}},
      {"--order", {"random", "listed"}},
      {"--dtype", {"fp16", "bf16"}},
      {"--input", {"uniform", "integer"}},
      {"--seed", {"0", "7"}},
      {"--csv", {"DIR/samples.csv"}}},
     true},
    {"sweep",
     "--chapter 05_tma_mbarrier --triples 1",
     {{"--chapter", {"01_naive", "02_smem_tiled"}},
      {"--seed", {"0", "7"}},
      {"--dtype", {"fp16", "bf16", "both"}},
      {"--sms", {"1", "64"}},
      {"--schedule", {"time", "early", "late", "all"}},
      {"--triples", {"1", "2"}},
      {"--size", {"16x16x16", "1x8x3"}},
      {"--rotate", {"1", "100000000"}},
      {"--largest", {"1", "64"}},
      {"--may-differ", {"01_naive"}}},
     true},
};

/* What may stand in the place of a value. Sizes are small, or too large for any machine. */
static const char *const garbage[] = {"",
                                      "0",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1e3",
                                      "0x10",
                                      "1.5",
                                      "nan",
                                      "2147483647",
                                      "2147483648",
                                      "4294967295",
                                      "4294967296",
                                      "4294967297",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "18446744073709551616",
                                      "99999999999999999999999999999999",
                                      "-9223372036854775809",
                                      "--",
                                      "-",
                                      "--m",
                                      "=",
                                      ",",
                                      "1,",
                                      "-1-",
                                      "3-1",
                                      "0-99999999999",
                                      "16x16",
                                      "99999999999x1x1",
                                      "2000000000x2000000000x2000000000",
                                      "1x1x1x1",
                                      "x",
                                      "mbarrier:",
                                      "mbarrier:99999999999",
                                      "%s%n%n%n",
                                      "$(false)",
                                      "\t",
                                      "\x01\x7f",
                                      "\xff\xfe\xc3",
                                      "all:all",
                                      "1:+trace",
                                      "+trace",
                                      "fp",
                                      "late\t",
                                      "DIR",
                                      "DIR/absent/x",
                                      "/dev/full",
                                      "/dev/null",
                                      "/",
                                      "/proc/x",
                                      "DIR/x/../y",
                                      "../../../../../../../../proc/self/mem"};
enum { GARBAGE = sizeof garbage / sizeof *garbage };

/* Where standard output goes; with what exit codes besides those of a program that can write. */
static const struct {
    const char *redirection;
    bool works;
} outputs[] = {
    {"", true},     {"", true},    {"", true},     {"", true},           {"> /dev/full", false},
    {">&-", false}, {"<&-", true}, {"2>&-", true}, {"< /dev/full", true}};

static const char *directory;
static struct outcome outcome;
static char command[ROOM];
static int good_runs, refusals;

/* ---- command lines ---- */

static void add(const char *text) {
    const size_t used = strlen(command);
    snprintf(command + used, sizeof command - used, "%s", text);
}

/* One word for the shell, which takes it as it is, but for DIR. */
static void add_word(const char *word) {
    char text[ROOM];
    size_t used = 0;
    text[used++] = '\'';
    for (const char *c = word; *c && used + 1100 < sizeof text;) {
        if (!strncmp(c, "DIR", 3)) {
            used += (size_t)snprintf(text + used, 1024, "%s", directory);
            c += 3;
            continue;
        }
        if (*c == '\'') used += (size_t)snprintf(text + used, 8, "'\\'");
        text[used++] = *c++;
    }
    text[used++] = '\'';
    text[used] = '\0';
    add(text);
    add(" ");
}

/* Changes, drops or doubles a few bytes. */
static void garble(char *word, size_t room) {
    for (int changes = fuzz_between(1, 3); changes > 0; --changes) {
        const size_t length = strlen(word);
        if (length == 0 || length + 2 > room) return;
        const size_t at = fuzz_bits() % length;
        switch (fuzz_between(0, 2)) {
        case 0:
            word[at] = (char)fuzz_between(1, 255);
            break;
        case 1:
            memmove(word + at, word + at + 1, length - at);
            break;
        default:
            memmove(word + at + 1, word + at, length - at + 1);
            break;
        }
    }
}

static int count_values(const struct option *option) {
    int count = 0;
    while (count < 4 && option->values[count])
        ++count;
    return count;
}

static void add_option(const struct kind *kind, bool clean) {
    int count = 0;
    while (count < 20 && kind->options[count].name)
        ++count;
    const struct option *const option = &kind->options[fuzz_between(0, count - 1)];
    char name[64], value[4096];
    snprintf(name, sizeof name, "%s", option->name);
    snprintf(value, sizeof value, "%s", option->values[fuzz_between(0, count_values(option) - 1)]);
    const bool flag = !*value;
    if (!clean) switch (fuzz_between(0, 7)) {
        case 0:
            garble(name, sizeof name);
            break;
        case 1:
            garble(value, sizeof value);
            break;
        case 2:
            memset(value, 'a' + fuzz_between(0, 25), sizeof value - 1);
            value[fuzz_between(100, (int)sizeof value - 1)] = '\0';
            break;
        default:
            snprintf(value, sizeof value, "%s", garbage[fuzz_between(0, GARBAGE - 1)]);
        }
    if (flag && clean) {
        add_word(name);
    } else if (fuzz_once_in(4) && kind->name[1] != 'o' && kind->name[1] != 'w') {
        char both[sizeof name + sizeof value];
        snprintf(both, sizeof both, "%s=%s", name, value);
        add_word(both);
    } else {
        add_word(name);
        if (clean || !fuzz_once_in(16)) add_word(value);
    }
}

/* ---- what must hold ---- */

static bool ends_well(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) return false;
    char text[4096];
    size_t length;
    char last = '\0';
    while ((length = fread(text, 1, sizeof text, file)) > 0)
        last = text[length - 1];
    fclose(file);
    return last == '\n' || last == '}' || last == '>';
}

/* Files that a run has left: none after a refusal, never a temporary one, each to its end. */
static void check_files(bool may_leave) {
    static struct outcome listing;
    char list[1024];
    snprintf(list, sizeof list, "cd '%s' && find . -type f", directory);
    run_command(list, &listing);
    for (char *name = strtok(listing.out, "\n"); name; name = strtok(NULL, "\n")) {
        char path[2048];
        snprintf(path, sizeof path, "%s/%s", directory, name);
        expect(!strstr(name, ".tmp"), "a temporary file was left: %s: %s", name, command);
        expect(may_leave, "it left %s: %s", name, command);
        expect(ends_well(path), "%s is cut off: %s", name, command);
    }
    snprintf(list, sizeof list, "rm -rf '%s' && mkdir '%s'", directory, directory);
    run_command(list, &listing);
}

static void check_json(void) {
    for (char *line = strtok(outcome.out, "\n"); line; line = strtok(NULL, "\n")) {
        char error[256];
        struct json value;
        const bool valid = json_parse(line, &value, error, sizeof error);
        expect(valid, "%s: %s: %s", error, line, command);
        if (valid) json_free(&value);
    }
}

static bool has_word(const char *word) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "'%s'", word);
    return strstr(command, quoted) != NULL;
}

static void check(const struct kind *kind, bool output_works, bool error_closed) {
    const int code = outcome.code;
    expect(code == 0 || code == 2 || code == 3, "exit code %d: %s: %s", code, command, outcome.err);
    expect(output_works || code == 2 || code == 3, "exit code %d, and the output was lost: %s",
           code, command);
    if (code && !error_closed) {
        const int lines = count_lines(outcome.err);
        expect(kind->talks ? lines >= 1 : lines == 1, "%d lines of error: %s: %s", lines, command,
               outcome.err);
        expect(!strstr(outcome.err, "rror: AddressSanitizer") &&
                   !strstr(outcome.err, "runtime error"),
               "%s: %s", command, outcome.err);
    }
    if (code && output_works && !kind->talks)
        expect(!*outcome.out, "output and an error: %s", command);
    if (!code && output_works && has_word("--json") && !has_word("--help") && !has_word("-h"))
        check_json();
    ++*(code ? &refusals : &good_runs);
    check_files(code == 0 || !output_works);
}

static void run_case(const struct kind *kind, const char *program, bool clean) {
    const int output = fuzz_between(0, (int)(sizeof outputs / sizeof *outputs) - 1);
    snprintf(command, sizeof command, "timeout %d '%s' %s ", SECONDS, program, kind->always);
    for (int options = fuzz_between(0, MOST_OPTIONS); options > 0; --options)
        add_option(kind, clean || !fuzz_once_in(2));
    add(outputs[output].redirection);
    run_command(command, &outcome);
    check(kind, outputs[output].works, !strcmp(outputs[output].redirection, "2>&-"));
}

/* A reader that goes away, and a file that becomes too large. */
static void check_streams(const struct kind *kind, const char *program) {
    snprintf(command, sizeof command,
             "{ timeout %d '%s' %s; echo $? > '%s/code'; } | true; cat '%s/code'; rm '%s/code'",
             SECONDS, program, kind->always, directory, directory, directory);
    run_command(command, &outcome);
    const int code = atoi(outcome.out);
    expect(isdigit((unsigned char)*outcome.out) && (code == 0 || code == 2),
           "a reader that went away: exit code %s: %s", outcome.out, command);
    expect(!code == !strstr(outcome.err, "standard output: "), "a reader that went away: %s",
           outcome.err);
    check_files(false);
    if (strcmp(kind->name, "sim") != 0 && strcmp(kind->name, "tour") != 0) return;
    snprintf(command, sizeof command,
             "trap '' XFSZ; ulimit -f 2; exec timeout %d '%s' %s --trace '%s/trace.json'", SECONDS,
             program, kind->always, directory);
    run_command(command, &outcome);
    expect(outcome.code == 0 || outcome.code == 2, "a file that is too large: exit code %d: %s",
           outcome.code, outcome.err);
    expect(outcome.code == 0 || count_lines(outcome.err) == 1, "a file that is too large: %s",
           outcome.err);
    check_files(outcome.code == 0);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: fuzz_command DIRECTORY KIND=PROGRAM ...\n");
        return 2;
    }
    directory = argv[1];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", directory, directory);
    run_command(command, &outcome);
    for (int i = 2; i < argc; ++i) {
        const char *const program = strchr(argv[i], '=');
        const struct kind *kind = NULL;
        for (size_t k = 0; program && k < sizeof kinds / sizeof *kinds; ++k)
            if (strlen(kinds[k].name) == (size_t)(program - argv[i]) &&
                !strncmp(kinds[k].name, argv[i], (size_t)(program - argv[i])))
                kind = &kinds[k];
        expect(kind != NULL, "%s: not KIND=PROGRAM", argv[i]);
        if (!kind) continue;
        for (int j = 0; j < CASES; ++j)
            run_case(kind, program + 1, j % 4 == 0);
        check_streams(kind, program + 1);
    }
    expect(good_runs > 0 && refusals > 0, "%d runs were good, %d refused", good_runs, refusals);
    printf("%d runs were good, %d refused\n", good_runs, refusals);
    return expectations_met();
}
