/*
 * harness_usage.c: bad input is answered by one clear line on stderr and exit code 2, before
 * anything was written; good input gives what --help promises.
 *
 *     harness_usage GPU SIM TOUR DIRECTORY      the programs made of the fake kernels; an empty
 * place for files
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/harness_command.h"
#include "tools/json/json.h"

struct usage {
    int program; /* 0 GPU, 1 SIM, 2 TOUR (a simulator's) */
    const char *arguments;
    int code;
    const char *says; /* on stderr, which must be one line */
};

enum { GPU, SIM, TOUR };

#define SMALL "--size 16 "

static const struct usage usages[] = {
    {SIM, "--nonsense", 2, "unknown option '--nonsense'"},
    {SIM, "nonsense", 2, "unknown option 'nonsense'"},
    {SIM, "--m", 2, "--m: needs a value"},
    {SIM, "--m 0", 2, "--m: '0' is not a whole number from 1 to"},
    {SIM, "--m -3", 2, "--m: '-3'"},
    {SIM, "--m abc", 2, "--m: 'abc'"},
    {SIM, "--m ''", 2, "--m: ''"},
    {SIM, "--m=", 2, "--m: ''"},
    {SIM, "--n 12x", 2, "--n: '12x'"},
    {SIM, "--n ' 12'", 2, "--n: ' 12'"},
    {SIM, "--n +12", 2, "--n: '+12'"},
    {SIM, "--n 1e3", 2, "--n: '1e3'"},
    {SIM, "--k 2147483648", 2, "--k: '2147483648'"},
    {SIM, "--k 99999999999999999999999", 2, "--k: '99999999999999999999999'"},
    {SIM, "--size 0x10", 2, "--size: '0x10'"},
    {SIM, "--seed 18446744073709551616", 2, "--seed"},
    {SIM, "--seed -1", 2, "--seed: '-1'"},
    {SIM, "--size 2000000000", 2, "more than can be addressed"},
    {SIM, "--m 2000000000 --k 2000000000", 2, "--m, --n, --k"},
    {SIM, "--m 2000000 --n 8 --k 2000000", 3, "memory"},
    {GPU, "--m 2000000 --n 8 --k 2000000", 3, "memory"},
    {SIM, "--input ones", 2,
     "--input: 'ones' is not known; choose uniform, normal, integer or zeros"},
    {SIM, "--input integer --m 1 --n 1 --k 16777217", 2, "--input: integer needs --k"},
    {SIM, "--dtype fp32", 2, "--dtype: 'fp32' is not known; choose fp16 or bf16"},
    {SIM, "--dtype FP16", 2, "--dtype"},
    {SIM, "--schedule never", 2, "--schedule: 'never'"},
    {SIM, "--sms 0", 2, "--sms: '0'"},
    {SIM, "--sms 1025", 2, "--sms: '1025'"},
    {SIM, "--timing burst", 2, "--timing: the simulator has cycles"},
    {SIM, "--timing fast", 2, "--timing: 'fast'"},
    {SIM, "--csv x.csv", 2, "--csv: the simulator takes no times"},
    {GPU, "--sms 4", 2, "--sms: only the simulator's programs"},
    {GPU, "--schedule late", 2, "--schedule: only the simulator's programs"},
    {GPU, "--schedule-seed 1", 2, "--schedule-seed: only the simulator's programs"},
    {GPU, "--iters 0", 2, "--iters: '0'"},
    {GPU, "--csv x.csv --timing none", 2, "--csv: with --timing none"},
    {GPU, "--csv DIR/absent/x.csv", 2, "--csv: cannot write"},
    {GPU, "--csv ''", 2, "--csv: the name is empty"},
    {GPU, "--csv /dev/full", 2, "--csv: '/dev/full' is not a regular file"},
    {SIM, "--trace DIR/absent/x.json", 2, "--trace: cannot write"},
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
    {TOUR, "--explain mbarrier", 2, "--explain: the tour has many kernels"},
    {TOUR, "--variant truncating", 2, "--variant: the tour runs"},
    {TOUR, "--chapters 12", 2, "--chapters: there is no chapter 12"},
    {TOUR, "--chapters 0", 2, "--chapters: there is no chapter 0"},
    {TOUR, "--chapters 4-99999999999", 2, "--chapters: there is no chapter 5"},
    {TOUR, "--chapters 2-1", 2, "--chapters: '2-1' is not a list"},
    {TOUR, "--chapters 1,", 2, "--chapters: '1,' is not a list"},
    {TOUR, "--chapters 1-", 2, "--chapters: '1-' is not a list"},
    {TOUR, "--chapters ''", 2, "--chapters: '' is not a list"},
    {TOUR, "--chapters 1;2", 127, NULL}, /* the shell's own business */
    {TOUR, "--chapters '1;2'", 2, "--chapters: '1;2' is not a list"},
    {TOUR, "--chapters all", 2, "--chapters: 'all' is not a list"},
    {TOUR, "--report DIR/absent/deeper", 2, "--report: cannot write into"},
    {TOUR, "--report ''", 2, "--report: the name is empty"},
    {TOUR, "--report /proc", 2, "--report: cannot write into"},
    {TOUR, "--report DIR/new --m 0", 2, "--m: '0'"},
    {SIM, SMALL "> /dev/full", 2, "standard output"},
    {SIM, SMALL "--json > /dev/full", 2, "standard output"},
    {SIM, SMALL ">&-", 2, "standard output is closed"},
    {SIM, "--help > /dev/full", 2, "standard output"},
    /* good ones */
    {SIM, SMALL "--m=5 --n 1 --k 3", 0, NULL},
    {SIM, SMALL "--schedule random --schedule-seed 18446744073709551615 --sms 1", 0, NULL},
    {SIM, SMALL "--timing none --seed 0", 0, NULL},
    {SIM, SMALL "<&- 2>&-", 0, NULL},
    {SIM, SMALL "--explain mbarrier:1", 0, NULL},
    {TOUR, SMALL "--chapters 2,4", 0, NULL},
    {GPU, SMALL "--timing both --iters 2", 0, NULL},
};

static const char *programs[3];
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

/* Every line is JSON, with these fields, and says null where nothing is known. */
static void check_json(int program, const char *arguments, int lines, const char *const *fields) {
    run(program, arguments);
    expect(outcome.code == 0, "%s: exit code %d: %s", arguments, outcome.code, outcome.err);
    expect(count_lines(outcome.out) == lines, "%s: %d lines, expected %d", arguments,
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
    static const char *const simulated[] = {
        "\"chapter\": \"0",     "\"variant\": null",
        "\"backend\": \"sim\"", "\"m\": 16, \"n\": 16, \"k\": 16",
        "\"dtype\": \"fp16\"",  "\"verified\": true",
        "\"mismatches\": 0",    "\"max_error\": ",
        "\"error_bound\": ",    "\"registers\": null",
        "\"smem_bytes\": 0",    "\"stages\": null",
        "\"cycles\": 12345",    "\"tensor_core_utilization\": ",
        "\"burst\": null",      "\"sustained\": null",
        "\"baselines\": []",    NULL};
    static const char *const measured[] = {
        "\"variant\": \"truncating\"",
        "\"backend\": \"cuda\"",
        "\"dtype\": \"bf16\"",
        "\"burst\": {\"ms\": 20, \"tflops\": ",
        "\"clock_mhz\": 1000",
        "\"power_w\": null",
        "\"baselines\": [{\"name\": \"cublas\", \"burst\": {\"ms\": 20",
        NULL};
    check_json(TOUR, SMALL "--dtype fp16 --json", 4, simulated);
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
    run(TOUR, SMALL "--trace DIR/trace.json --report DIR/page");
    expect(outcome.code == 0 && exists("trace.json") && exists("page/index.html"), "--report: %s",
           outcome.err);
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

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: harness_usage GPU SIM TOUR DIRECTORY\n");
        return 2;
    }
    for (int i = 0; i < 3; ++i)
        programs[i] = argv[i + 1];
    directory = argv[4];
    char command[1024];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", directory, directory);
    run_command(command, &outcome);
    expect(outcome.code == 0, "cannot make %s: %s", directory, outcome.err);
    for (size_t i = 0; i < sizeof usages / sizeof *usages; ++i)
        check_usage(&usages[i]);
    check_outputs();
    return expectations_met();
}
