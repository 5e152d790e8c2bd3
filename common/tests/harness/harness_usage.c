/*
 * harness_usage.c: what a user may type. Bad input is answered by one clear line on stderr and exit
 * code 2, before anything was written. Good options verify in any order. An output that cannot be
 * written is an error, and no cut or temporary file is left.
 *
 *     harness_usage GPU SIM TOUR CHAPTER DIRECTORY
 *
 * GPU, SIM and TOUR are made of the fake kernels, CHAPTER is one in the simulator; DIRECTORY is an
 * empty place for files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/harness_command.h"
#include "tests/support/fuzz.h"
#include "tools/json/json.h"

struct usage {
    int program;
    const char *arguments;
    int code;
    const char *says; /* on stderr, which must be one line */
};

enum { GPU, SIM, TOUR /* a simulator's */, CHAPTER, PROGRAMS };

#define SMALL "--size 16 "
enum { ORDERS = 40 };                             /* of good options, tried with each program */
enum { LEAST_BLOCKS = 2, MOST_BLOCKS = 1 << 16 }; /* of the largest file, 512 or 1024 bytes each */

static const struct usage usages[] = {
    {SIM, "--nonsense", 2, "unknown option '--nonsense'"},
    {SIM, "nonsense", 2, "unknown option 'nonsense'; --help"},
    {SIM, "256", 2, "unknown option '256'; --help"},
    {SIM, "--szie 16", 2, "unknown option '--szie'; did you mean --size? --help"},
    {SIM, "-size=16", 2, "unknown option '-size=16'; did you mean --size?"},
    {SIM, "-k 16", 2, "unknown option '-k'; did you mean --k?"},
    {SIM, "--shedule late", 2, "did you mean --schedule?"},
    {SIM, "--jsno", 2, "did you mean --json?"},
    {SIM, "--x 16", 2, "unknown option '--x'; --help"},
    {SIM, "--m 0", 2, "--m: '0' is not a whole number from 1 to"},
    {SIM, "--m=", 2, "--m: ''"},
    {SIM, "--size 2000000001", 2,
     "--size: '2000000001' is not a whole number from 1 to 2000000000"},
    {SIM, "--size 2000000000", 3, "GB of host memory, and "},
    {SIM, "--size 10000000", 3, "GB of host memory, and "},
    {SIM, "--m 2000000000 --k 2000000000", 3, "GB of host memory, and "},
    {SIM, "--m 2000000 --n 8 --k 2000000", 3, "GB of host memory, and "},
    {GPU, "--m 2000000 --n 8 --k 2000000", 3, "memory"},
    {SIM, "--input ones", 2,
     "--input: 'ones' is not known; choose uniform, normal, integer, zeros or outliers"},
    {SIM, "--input integer --m 1 --n 1 --k 16777217", 2, "--input: integer needs --k"},
    {SIM, "--dtype fp32", 2, "--dtype: 'fp32' is not known; choose fp16, bf16, e4m3 or w4a8"},
    {CHAPTER, "--dtype fp8", 2, "--dtype: 'fp8' is not known; choose fp16 or bf16"},
    {CHAPTER, "--dtype e4m3", 2,
     "--dtype: this kernel is not compiled for e4m3; choose fp16 or bf16"},
    {SIM, "--dtype FP16", 2, "--dtype"},
    {SIM, "--sms 1025", 2, "--sms: '1025'"},
    {SIM, "--timing burst", 2, "--timing: the simulator has cycles"},
    {SIM, "--csv x.csv", 2, "--csv: the simulator takes no times"},
    {GPU, "--pitches far", 2, "--pitches: 'far' is not known; choose least or drawn"},
    {GPU, "--sms 4", 2, "--sms: only the simulator's programs"},
    {GPU, "--schedule late", 2, "--schedule: only the simulator's programs"},
    {GPU, "--schedule-seed 1", 2, "--schedule-seed: only the simulator's programs"},
    {GPU, "--csv x.csv --timing none", 2, "--csv: with --timing none"},
    {GPU, "--csv DIR/absent/x.csv", 2, "--csv: cannot write"},
    {GPU, "--csv ''", 2, "--csv: the name is empty"},
    {GPU, "--csv /dev/full", 2, "--csv: '/dev/full' is not a regular file"},
    {SIM, "--trace DIR", 2, "--trace: "},
    {SIM, "--variant none-such", 2,
     "--variant: there is no 'none-such' here; choose from: truncating"},
    {SIM, "--chapters 1", 2, "--chapters: only the tour"},
    {SIM, "--report /proc", 2, "--report: cannot write into"},
    {SIM, "--explain barriers", 2, "--explain: 'barriers' is not known; choose mbarrier"},
    {SIM, "--explain mbarrier:", 2, "--explain: 'mbarrier:'"},
    {SIM, "--explain mbarrier:-1", 2, "--explain: 'mbarrier:-1'"},
    {SIM, "--explain mbarrier --json", 2, "--explain: prints text"},
    {SIM, SMALL "--explain mbarrier:2", 2, "choose mbarrier:0 to mbarrier:1"},
    {GPU, "--explain mbarrier", 2, "--explain: only the simulator's programs"},
    {GPU, "--hazards all", 2, "--hazards: only the simulator's programs"},
    {GPU, "--check", 2, "--check: only the simulator's programs"},
    {TOUR, "--check", 2, "--check: checks one kernel; run the program of its chapter"},
    {SIM, "--check --m 8", 2, "--check: chooses its own runs, so --m has no meaning"},
    {SIM, "--schedule=late --check", 2, "so --schedule=late has no meaning"},
    {SIM, "--json --check", 2, "so --json has no meaning"},
    {SIM, "--check --variant none-such", 2, "--variant: there is no 'none-such' here"},
    {SIM, "--check > /dev/full", 2, "standard output"},
    {TOUR, "--explain mbarrier", 2, "--explain: the tour has many kernels"},
    {TOUR, "--variant truncating", 2, "--variant: the tour runs"},
    {TOUR, "--chapters 12", 2, "--chapters: there is no chapter 12"},
    {TOUR, "--chapters 0", 2, "--chapters: there is no chapter 0"},
    {TOUR, "--chapters 4-99999999999", 2, "--chapters: there is no chapter 5"},
    {TOUR, "--chapters 2-1", 2, "--chapters: '2-1' is not a list"},
    {TOUR, "--chapters 1,", 2, "--chapters: '1,' is not a list"},
    {TOUR, "--chapters 1-", 2, "--chapters: '1-' is not a list"},
    {TOUR, SMALL "--chapters 11 --dtype bf16", 3,
     "11_eleventh is left out: it is not compiled for bf16"},
    {TOUR, SMALL "--chapters 13", 3, "13_thirteenth is left out: it needs 2 GPUs"},
    {TOUR, "--report /proc", 2, "--report: cannot write into"},
    {TOUR, "--report DIR/new --m 0", 2, "--m: '0'"},
    {SIM, SMALL "> /dev/full", 2, "standard output"},
    {SIM, SMALL "--json > /dev/full", 2, "standard output"},
    {SIM, SMALL ">&-", 2, "standard output is closed"},
    {GPU, SMALL "> /dev/full", 2, "standard output"},
    {GPU, SMALL ">&-", 2, "standard output is closed"},
    {TOUR, SMALL "> /dev/full", 2, "standard output"},
    {TOUR, SMALL "--json > /dev/full", 2, "standard output"},
    {TOUR, SMALL ">&-", 2, "standard output is closed"},
    {CHAPTER, SMALL "> /dev/full", 2, "standard output"},
    {SIM, "--help > /dev/full", 2, "standard output"},
    /* good ones */
    {SIM, SMALL "<&- 2>&-", 0, NULL},
    {SIM, SMALL "--explain mbarrier:1", 0, NULL},
    {TOUR, SMALL "--chapters 10", 0, NULL},
    {TOUR, SMALL "--chapters 11 --dtype fp16", 0, NULL},
};

/* Values that are refused. */
static const char *const bad_counts[] = {
    "",  "0", "-1", "+12", " 12", "12x", "1e3", "1.5", "0x10", "2147483648", "99999999999999999999",
    NULL};
static const char *const bad_seeds[] = {"", "-1", "1e3", "1.5", "x", "18446744073709551616", NULL};
static const char *const bad_hazards[] = {"", "0", "257", "any", "ALL", "all ", NULL};
static const char *const bad_words[] = {"", "never", "all", NULL};
static const char *const bad_files[] = {"", "DIR/absent/deeper", NULL};

/* An option, the programs that have it, and good values, of which any go together. */
static const struct option {
    const char *name;
    int programs; /* a bit each */
    const char *const *bad;
    const char *good[4];
} options[] = {
#define SIMULATED (1 << SIM | 1 << TOUR | 1 << CHAPTER)
#define ALL (SIMULATED | 1 << GPU)
    {"--size", ALL, bad_counts, {"8", "24"}}, /* first: always given */
    {"--m", ALL, bad_counts, {"1", "33"}},
    {"--n", ALL, bad_counts, {"1", "17"}},
    {"--k", ALL, bad_counts, {"1", "40"}},
    {"--dtype", ALL, bad_words, {"fp16", "bf16"}},
    {"--input", ALL, bad_words, {"uniform", "normal", "zeros", "integer"}},
    {"--seed", ALL, bad_seeds, {"0", "18446744073709551615"}},
    {"--sms", SIMULATED, bad_counts, {"1", "1024"}},
    {"--schedule", SIMULATED, bad_words, {"time", "early", "late", "random"}},
    {"--schedule-seed", SIMULATED, bad_seeds, {"0", "18446744073709551615"}},
    {"--hazards", SIMULATED, bad_hazards, {"1", "256", "all"}},
    {"--timing", SIMULATED, bad_words, {"none"}},
    {"--timing", 1 << GPU, bad_words, {"burst", "sustained", "both"}},
    {"--iters", 1 << GPU, bad_counts, {"1", "2"}},
    {"--csv", 1 << GPU, bad_files, {"DIR/samples.csv"}},
    {"--chapters", 1 << TOUR, bad_words, {"1", "1,2", "1-3"}},
    {"--trace", SIMULATED, bad_files, {"DIR/trace.json"}},
    {"--trace-sms", SIMULATED, bad_counts, {"1", "264"}},
    {"--report", SIMULATED, bad_files, {"DIR/page"}},
    {"--json", ALL, NULL, {NULL}},
};
enum { OPTIONS = sizeof options / sizeof *options };

static const char *programs[PROGRAMS];
static const char *directory;
static struct outcome outcome;

/* Runs a program; DIR in the arguments becomes the directory. */
static void run(int program, const char *arguments) {
    char command[2048];
    size_t used = (size_t)snprintf(command, sizeof command, "'%s' ", programs[program]);
    for (const char *c = arguments; *c && used + 1 < sizeof command;) {
        if (strncmp(c, "DIR", 3) == 0) {
            used += (size_t)snprintf(command + used, sizeof command - used, "%s", directory);
            c += 3;
        } else {
            command[used++] = *c++;
            command[used] = '\0';
        }
    }
    run_command(command, &outcome);
}

static bool directory_is_empty(void) {
    char command[1024];
    static struct outcome listing;
    snprintf(command, sizeof command, "ls -A '%s'", directory);
    run_command(command, &listing);
    return listing.code == 0 && !*listing.out;
}

static bool exists(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

static void check_usage(const struct usage *u) {
    run(u->program, u->arguments);
    expect(outcome.code == u->code, "%s: exit code %d, expected %d: %s", u->arguments, outcome.code,
           u->code, outcome.err);
    if (u->says) {
        expect(strstr(outcome.err, u->says) != NULL, "%s: stderr does not say '%s': %s",
               u->arguments, u->says, outcome.err);
        expect(count_lines(outcome.err) == 1, "%s: stderr is not one line: %s", u->arguments,
               outcome.err);
        expect(!*outcome.out, "%s: wrote to stdout: %s", u->arguments, outcome.out);
    }
    expect(directory_is_empty(), "%s: left something behind", u->arguments);
}

/* Every line is JSON, with these fields, and says null where nothing is known. lines < 0: any. */
static void check_json(int program, const char *arguments, int lines, const char *const *fields) {
    run(program, arguments);
    expect(outcome.code == 0, "%s: exit code %d: %s", arguments, outcome.code, outcome.err);
    expect(lines < 0 || count_lines(outcome.out) == lines, "%s: %d lines, expected %d", arguments,
           count_lines(outcome.out), lines);
    for (char *line = strtok(outcome.out, "\n"); line; line = strtok(NULL, "\n")) {
        char error[256];
        struct json value;
        const bool valid = json_parse(line, &value, error, sizeof error);
        expect(valid, "%s: %s: %s", arguments, error, line);
        if (valid) json_free(&value);
        for (const char *const *field = fields; *field; ++field)
            expect(strstr(line, *field) != NULL, "%s: no %s in %s", arguments, *field, line);
        expect(!strstr(line, "nan") && !strstr(line, "inf"), "%s: %s", arguments, line);
    }
}

static void check_outputs(void) {
    static const char *const simulated[] = {"\"chapter\": \"0",
                                            "\"backend\": \"sim\"",
                                            "\"m\": 16, \"n\": 16, \"k\": 16",
                                            "\"dtype\": \"fp16\"",
                                            "\"verified\": true",
                                            "\"mismatches\": 0",
                                            "\"max_error\": ",
                                            "\"error_bound\": ",
                                            "\"registers\": null",
                                            "\"smem_bytes\": 98304",
                                            "\"stages\": null",
                                            "\"cycles\": 12345",
                                            "\"tensor_core_utilization\": ",
                                            "\"burst\": null",
                                            "\"sustained\": null",
                                            "\"baselines\": []",
                                            NULL};
    static const char *const measured[] = {
        "\"variant\": \"truncating\"",
        "\"backend\": \"cuda\"",
        "\"dtype\": \"bf16\"",
        "\"burst\": {\"ms\": 20, \"tflops\": ",
        "\"clock_mhz\": 1000",
        "\"power_w\": null",
        "\"baselines\": [{\"name\": \"cublas\", \"burst\": {\"ms\": 20",
        NULL};
    check_json(TOUR, SMALL "--dtype fp16 --json", 5, simulated);
    check_json(GPU, SMALL "--timing both --variant truncating --json", 1, measured);

    /* A wrong result: still JSON, NaN is null, and no speed. */
    run(GPU, SMALL "--variant nan-output --json");
    char error[256];
    struct json value;
    const bool valid = json_parse(outcome.out, &value, error, sizeof error);
    expect(outcome.code == 1 && valid && json_member(&value, "verified")->kind == JSON_FALSE &&
               json_member(&value, "max_error")->kind == JSON_NULL &&
               json_member(&value, "burst")->kind == JSON_NULL,
           "JSON of a wrong result: %s", outcome.out);
    if (valid) json_free(&value);

    run(GPU, SMALL "--csv DIR/samples.csv");
    expect(outcome.code == 0 && exists("samples.csv"), "--csv: %s", outcome.err);
    run(SIM, SMALL "--trace DIR/trace.json --trace-sms 7; cat DIR/trace.json");
    expect(strstr(outcome.out, "{\"sms\":7}"), "--trace-sms: %s", outcome.out);
    run(TOUR, SMALL "--trace DIR/trace.json --report DIR/page");
    expect(outcome.code == 0 && exists("trace.json") && exists("page/index.html"), "--report: %s",
           outcome.err);
    expect(strstr(outcome.out, "in simulated cycles: ") && strstr(outcome.out, "/trace.json\n"),
           "--trace does not say what it wrote, and where: %s", outcome.out);
    expect(strstr(outcome.out, "simulated cycles") != NULL, "the table does not say simulated: %s",
           outcome.out);
    run(SIM, SMALL "--variant truncating --report DIR/one");
    expect(exists("one/index.html"), "--report of one kernel: %s", outcome.err);
    run(TOUR, "--help; ls DIR | wc -l");
    expect(strstr(outcome.out, "02_second") && strstr(outcome.out, "--schedule-seed") &&
               strstr(outcome.out, "\n4\n"),
           "--help, and four entries in the directory: %s", outcome.out);
    run(SIM, "--help");
    expect(strstr(outcome.out, "timed-wrong") != NULL, "--help does not list the variants");
    char command[1024];
    snprintf(command, sizeof command, "FAKE_NO_DEVICE=1 '%s' --size 16", programs[GPU]);
    run_command(command, &outcome);
    expect(outcome.code == 3 && !*outcome.out, "no device: exit code %d", outcome.code);
    snprintf(command, sizeof command, "cd '%s' && rm -r page one trace.json samples.csv",
             directory);
    run_command(command, &outcome);
    expect(outcome.code == 0 && directory_is_empty(), "files nobody asked for in %s", directory);
}

/* What a tour runs: chapters 1 to 9 unless told otherwise, and of those it is told, what it can. */
static void check_parts(void) {
    run(TOUR, SMALL);
    expect(outcome.code == 0 && strstr(outcome.out, "04_fourth") &&
               !strstr(outcome.out, "10_tenth"),
           "the tour by itself: %s%s", outcome.out, outcome.err);
    run(TOUR, SMALL "--chapters 4-13");
    expect(outcome.code == 2, "--chapters 4-13, of which some are not there: %d", outcome.code);
    run(TOUR, SMALL "--chapters 4,10,11,13");
    const char *tenth = strstr(outcome.out, "10_tenth");
    expect(outcome.code == 0 && strstr(outcome.out, "04_fourth") && tenth &&
               strstr(tenth, "16 x 16 x 16, fp16") && strstr(tenth, "11_eleventh") &&
               !strstr(outcome.out, "13_thirteenth"),
           "a tour that goes on with another type: %s%s", outcome.out, outcome.err);
    run(TOUR, SMALL "--chapters 4,10,11,13 --dtype bf16");
    expect(outcome.code == 0 && strstr(outcome.out, "04_fourth") &&
               strstr(outcome.out, "10_tenth") && !strstr(outcome.out, "11_eleventh") &&
               !strstr(outcome.out, "13_thirteenth"),
           "a tour of both parts: %s%s", outcome.out, outcome.err);
    const char *first = strstr(outcome.err, "11_eleventh is left out");
    const char *second = strstr(outcome.err, "13_thirteenth is left out");
    int lines = 0;
    for (const char *c = outcome.err; *c; ++c)
        lines += *c == '\n';
    expect(first && second && lines == 2, "a line for each that is left out: %s", outcome.err);
    run(TOUR, "--help");
    expect(strstr(outcome.out, "fp16 only") && strstr(outcome.out, "needs 2 GPUs"),
           "--help says what chapters need: %s", outcome.out);
}

/* The tour runs the steps, in the registry's order and under their own names; no other variant. */
static void check_steps(void) {
    static const char *const variants[] = {"null", "\"between\"", "null"};
    static const char *const listings[][3] = {
        {SMALL "--chapters 2", "\n02_second:between ", "\n02_second "},
        {"--help", "\n  02_second:between ", "\n  02_second "}};
    run(TOUR, SMALL "--chapters 1,2 --json");
    expect(outcome.code == 0 && count_lines(outcome.out) == 3, "steps: exit code %d, %d lines: %s",
           outcome.code, count_lines(outcome.out), outcome.err);
    int row = 0;
    for (char *line = strtok(outcome.out, "\n"); line && row < 3;
         line = strtok(NULL, "\n"), ++row) {
        char field[64];
        snprintf(field, sizeof field, "\"variant\": %s,", variants[row]);
        expect(strstr(line, field) != NULL, "row %d of the steps: no %s in %s", row, field, line);
    }
    for (int i = 0; i < 2; ++i) {
        run(TOUR, listings[i][0]);
        const char *between = strstr(outcome.out, listings[i][1]);
        const char *own = strstr(outcome.out, listings[i][2]);
        expect(outcome.code == 0 && between && own && between < own &&
                   !strstr(outcome.out, "aside"),
               "%s lists the steps alone, in order: %s", listings[i][0], outcome.out);
    }
    /* The fake simulator's steps all take as long. A step that was left out has no gain over it. */
    run(TOUR, SMALL "--chapters 1,2");
    expect(strstr(outcome.out, " gain ") && strstr(outcome.out, " 1.00x "), "no gain: %s",
           outcome.out);
    run(TOUR, SMALL "--chapters 1,4");
    expect(!strstr(outcome.out, " gain "), "a gain over a step that was not run: %s", outcome.out);
}

/* Every option without a value, and with each of its bad ones. */
static void check_refusals(int program) {
    for (const struct option *option = options; option < options + OPTIONS; ++option) {
        if (!(option->programs >> program & 1) || !option->bad) continue;
        char arguments[128], says[128];
        snprintf(says, sizeof says, "%s: needs a value", option->name);
        check_usage(&(struct usage){program, option->name, 2, says});
        for (const char *const *bad = option->bad; *bad; ++bad) {
            snprintf(arguments, sizeof arguments, SMALL "%s '%s'", option->name, *bad);
            const char *format = option->bad == bad_files ? "%s: " : "%s: '%s'";
            snprintf(says, sizeof says, format, option->name, *bad);
            check_usage(&(struct usage){program, arguments, 2, says});
        }
    }
}

static bool ends_well(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) return false;
    const bool sought = fseek(file, -1, SEEK_END) == 0;
    const int last = sought ? fgetc(file) : EOF;
    fclose(file);
    return last == '\n' || last == '}' || last == '>';
}

/* Takes away the files of a run, each of which must be whole; returns how many there were. */
static int take_files(const char *arguments) {
    static struct outcome listing;
    char command[1024];
    int files = 0;
    snprintf(command, sizeof command, "find '%s' -type f", directory);
    run_command(command, &listing);
    for (char *path = strtok(listing.out, "\n"); path; path = strtok(NULL, "\n"), ++files) {
        expect(!strstr(path, ".tmp"), "%s: left a temporary file %s", arguments, path);
        expect(ends_well(path), "%s: %s is cut off", arguments, path);
    }
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s'", directory, directory);
    run_command(command, &listing);
    return files;
}

static void add_option(char *arguments, size_t room, const struct option *option) {
    int values = 0;
    while (values < 4 && option->good[values])
        ++values;
    const size_t used = strlen(arguments);
    snprintf(arguments + used, room - used, " %s", option->name);
    if (values > 0)
        snprintf(arguments + strlen(arguments), room - strlen(arguments), "%c%s",
                 fuzz_once_in(4) ? '=' : ' ', option->good[fuzz_between(0, values - 1)]);
}

/* Good options in a random order. */
static void check_order(int program) {
    const struct option *chosen[OPTIONS] = {0};
    int count = 0, files = 0;
    for (int i = 0; i < OPTIONS; ++i) {
        if (!(options[i].programs >> program & 1) || (i > 0 && fuzz_once_in(2))) continue;
        const int at = fuzz_between(0, count);
        chosen[count++] = chosen[at];
        chosen[at] = &options[i];
        files += options[i].bad == bad_files;
    }
    char arguments[1024] = "";
    for (int i = 0; i < count; ++i)
        add_option(arguments, sizeof arguments, chosen[i]);
    if (strstr(arguments, "--json"))
        check_json(program, arguments, -1, (const char *[]){"\"verified\": true", NULL});
    else
        run(program, arguments);
    expect(outcome.code == 0 && !*outcome.err, "%s: exit code %d: %s", arguments, outcome.code,
           outcome.err);
    expect(take_files(arguments) >= files, "%s: a file is missing", arguments);
}

/* A reader that has gone away, as in `| true`: standard output is a pipe that nobody reads. */
static void check_pipe(int program) {
    char command[2048];
    snprintf(command, sizeof command,
             "mkfifo '%s/pipe'; true <'%s/pipe' & exec 3>'%s/pipe'; wait; rm '%s/pipe'; "
             "exec '%s' " SMALL ">&3",
             directory, directory, directory, directory, programs[program]);
    run_command(command, &outcome);
    expect(outcome.code == 2 && strstr(outcome.err, "standard output: ") &&
               count_lines(outcome.err) == 1,
           "a reader that has gone away: exit code %d: %s", outcome.code, outcome.err);
}

/* A file that becomes too large, as on a full disk. Other files of the report may be there, but not
 * the page. Returns the exit code. */
static int check_limit(const char *option, int blocks) {
    char command[2048], says[64];
    snprintf(command, sizeof command, "ulimit -f %d; exec '%s' " SMALL "%s '%s/made'", blocks,
             programs[CHAPTER], option, directory);
    run_command(command, &outcome);
    const int code = outcome.code;
    snprintf(says, sizeof says, "05_tma_mbarrier: %s: cannot write ", option);
    if (code != 0) {
        expect(code == 2 && count_lines(outcome.err) == 1 && strstr(outcome.err, says) &&
                   strstr(outcome.err, "/made': File too large"),
               "%s: too large a file: exit code %d: %s", option, code, outcome.err);
        expect(strstr(outcome.out, "simulated cycles") && !strstr(outcome.out, "/made"),
               "%s: too large a file, and yet: %s", option, outcome.out);
        expect(!exists("made/index.html"), "%s: a page without all of its files", option);
    }
    if (code != 0 && (blocks == LEAST_BLOCKS || !strcmp(option, "--trace")))
        expect(directory_is_empty(), "%s: too large a file: left something behind", option);
    take_files(option);
    return code;
}

static void check_limits(const char *option) {
    expect(check_limit(option, LEAST_BLOCKS) != 0, "%s: what is written is too small", option);
    int blocks = 2 * LEAST_BLOCKS;
    while (blocks < MOST_BLOCKS && check_limit(option, blocks) != 0)
        blocks *= 2;
    expect(blocks < MOST_BLOCKS, "%s: what is written is too large", option);
}

int main(int argc, char **argv) {
    if (argc != PROGRAMS + 2) {
        fprintf(stderr, "usage: harness_usage GPU SIM TOUR CHAPTER DIRECTORY\n");
        return 2;
    }
    for (int i = 0; i < PROGRAMS; ++i)
        programs[i] = argv[i + 1];
    directory = argv[PROGRAMS + 1];
    char command[1024];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", directory, directory);
    run_command(command, &outcome);
    expect(outcome.code == 0, "cannot make %s: %s", directory, outcome.err);
    for (size_t i = 0; i < sizeof usages / sizeof *usages; ++i)
        check_usage(&usages[i]);
    check_outputs();
    check_parts();
    check_steps();
    for (int program = 0; program < PROGRAMS; ++program) {
        check_refusals(program);
        for (int i = 0; i < ORDERS; ++i)
            check_order(program);
        check_pipe(program);
    }
    check_limits("--trace");
    check_limits("--report");
    return expectations_met();
}
