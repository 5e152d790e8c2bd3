/*
 * check.c: --check. The runs are shared out among processes, because a broken kernel may take its
 * process with it.
 */
#include "harness/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/branches.h"
#include "harness/experiment.h"
#include "kind_options.h"
#include "harness/message.h"

enum { DRAWN_RUNS = 96, RUNS = MOST_CHECK_RUNS + DRAWN_RUNS, MOST_WORKERS = 16 };
/* Problems of at most so many products run again on the workspace that the first run has left. */
enum { RUN_AGAIN = 1 << 24 };
enum { NOT_RUN = -1, SIGNALLED = 128 /* and more: by which signal a run ended its process */ };

/* What the processes share. */
struct board {
    atomic_int next;   /* run to be taken */
    atomic_int failed; /* the lowest run that failed; the number of runs: none has */
    atomic_int done;
    int code[RUNS];
    int taken[MOST_WORKERS]; /* what each works at */
    atomic_int left_out;     /* for want of addresses */
};

struct check {
    const struct gemm_kernel *kernel[ELEMENT_TYPES]; /* NULL: does not run */
    const struct options *options;
    struct check_run run[RUNS];
    enum gemm_type type[RUNS];
    int listed, count; /* the first `listed` are the backend's, the others drawn */
    int workers;
    pid_t worker[MOST_WORKERS]; /* 0: has ended */
    struct board *board;
};

static void set_kind_options(const struct gemm_kernel *kernel, const struct check_run *run) {
    struct kind_set set;
    memcpy(set.value, run->option, sizeof set.value);
    kind_set_options(kernel, &set);
}

enum exit_code check_run_once(const struct gemm_kernel *kernel,
                              const struct backend_options *options, const struct check_run *run) {
    struct backend_info device = {0};
    struct experiment experiment;
    struct kernel_result result;
    for (int i = 0; i < backend_setting_count; ++i)
        backend_settings[i].value = run->setting[i];
    struct backend_options of_run = *options;
    of_run.gpus = run->gpus;
    enum exit_code code = backend_open(&of_run, &device);
    if (code != EXIT_VERIFIED) return code;
    const struct problem_size size = {run->m, run->n, run->k};
    set_kind_options(kernel, run);
    experiment_early = run->early;
    operand_pitches = run->far ? PITCHES_FAR : PITCHES_DRAWN;
    operand_padding = run->padding;
    if (kernel->select && kernel_for_size(kernel, size)) kernel = kernel_for_size(kernel, size);
    code = experiment_open(&experiment, &device, size, options->type, run->input, run->seed,
                           &kernel, 1, false);
    if (code == EXIT_VERIFIED) {
        experiment_verify(&experiment, kernel, &result);
        if (result.code == EXIT_VERIFIED && (double)run->m * run->n * run->k <= RUN_AGAIN)
            experiment_verify_next(&experiment, kernel, &result);
        code = result.code;
    }
    experiment_close(&experiment);
    backend_close();
    return code;
}

/* ---- the processes ---- */

static void note(struct board *board, int run, int code) {
    board->code[run] = code;
    atomic_fetch_add(&board->done, 1);
    int lowest = atomic_load(&board->failed);
    while (code != EXIT_VERIFIED && run < lowest &&
           !atomic_compare_exchange_weak(&board->failed, &lowest, run)) {
    }
}

/* A process takes runs until there are none, or one in front of them has failed. */
static _Noreturn void work(const struct check *check, int worker) {
    struct board *const board = check->board;
    const int silence = open("/dev/null", O_WRONLY);
    if (silence < 0 || dup2(silence, STDERR_FILENO) < 0 || dup2(silence, STDOUT_FILENO) < 0)
        _exit(EXIT_NO_DEVICE);
    int run;
    while ((run = atomic_fetch_add(&board->next, 1)) < atomic_load(&board->failed)) {
        board->taken[worker] = run;
        struct backend_options options = check->options->backend;
        options.type = check->type[run];
        enum exit_code code =
            check_run_once(check->kernel[options.type], &options, &check->run[run]);
        if (code == EXIT_NO_DEVICE && check->run[run].far) {
            atomic_fetch_add(&board->left_out, 1);
            code = EXIT_VERIFIED;
        }
        note(board, run, code);
    }
    branches_keep();
    _exit(EXIT_VERIFIED);
}

/* A process that ended in the middle of a run has failed that run. */
static void bury(struct check *check, pid_t process, int status) {
    for (int i = 0; i < check->workers; ++i) {
        if (check->worker[i] != process) continue;
        check->worker[i] = 0;
        const int run = check->board->taken[i];
        if (run >= 0 && check->board->code[run] == NOT_RUN)
            note(check->board, run,
                 WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status));
    }
}

static bool start_workers(struct check *check) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const int wanted = cores < 1 ? 1 : cores < MOST_WORKERS ? (int)cores : MOST_WORKERS;
    for (int i = 0; i < wanted; ++i) {
        check->board->taken[i] = NOT_RUN;
        const pid_t process = fork();
        if (process == 0) work(check, i);
        if (process < 0) break; /* then with fewer */
        check->worker[check->workers++] = process;
    }
    if (!check->workers) complain("--check: cannot start a process: %s", strerror(errno));
    return check->workers > 0;
}

static void wait_for_workers(struct check *check) {
    const struct timespec tenth = {.tv_nsec = 100000000};
    for (int left = check->workers; left > 0;) {
        int status;
        const pid_t process = waitpid(-1, &status, progress_shown() ? WNOHANG : 0);
        if (process < 0 && errno != EINTR) abort(); /* we have children */
        if (process > 0) {
            bury(check, process, status);
            --left;
        } else {
            progress("--check: %d of %d runs", atomic_load(&check->board->done), check->count);
            if (progress_shown()) nanosleep(&tenth, NULL);
        }
    }
    progress_clear();
}

/* Every run up to the first that fails; false if that cannot be done. */
static bool run_all(struct check *check) {
    check->board =
        mmap(NULL, sizeof *check->board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (check->board == MAP_FAILED) {
        complain("--check: no memory: %s", strerror(errno));
        return false;
    }
    atomic_store(&check->board->failed, check->count);
    for (int i = 0; i < check->count; ++i)
        check->board->code[i] = NOT_RUN;
    fflush(stdout);
    if (!start_workers(check)) return false;
    wait_for_workers(check);
    return true;
}

/* ---- what is said ---- */

static int setting_index(const char *option) {
    for (int i = 0; i < backend_setting_count; ++i)
        if (!strcmp(backend_settings[i].option, option)) return i;
    return -1;
}

/* "late 1, early 1, random 3, time 1": how often runs first .. end - 1 with run `like`'s problem
 * had each schedule. `like` NULL: all of them. */
static void say_schedules(const struct check *check, int first, int end,
                          const struct check_run *like) {
    const int schedule = setting_index("--schedule");
    if (schedule < 0) return;
    const struct backend_setting *const setting = &backend_settings[schedule];
    const char *before = "";
    for (uint64_t name = setting->low; name <= setting->high; ++name) {
        int count = 0;
        for (int i = first; i < end; ++i)
            count += check->run[i].setting[schedule] == name &&
                     (!like || (check->run[i].m == like->m && check->run[i].n == like->n &&
                                check->run[i].k == like->k));
        if (count) {
            printf("%s%s", before, setting->names[name]);
            if (count > 1) printf(" %dx", count);
            before = ", ";
        }
    }
    putchar('\n');
}

static void say_listed(const struct check *check) {
    const int sms = setting_index("--sms");
    printf("%8s %6s %6s %5s   %s\n", "m", "n", "k", "SMs", "schedules");
    for (int i = 0; i < check->listed; ++i) {
        const struct check_run *const run = &check->run[i];
        bool said = false;
        for (int j = 0; j < i; ++j)
            said |=
                check->run[j].m == run->m && check->run[j].n == run->n && check->run[j].k == run->k;
        if (said) continue;
        printf("%8d %6d %6d %5d   %s", run->m, run->n, run->k, sms < 0 ? 0 : (int)run->setting[sms],
               run->far ? "far pitches: " : "");
        say_schedules(check, 0, check->listed, run);
    }
}

static void say_drawn(const struct check *check) {
    int m = 0, n = 0, k = 0;
    for (int i = check->listed; i < check->count; ++i) {
        if (m < check->run[i].m) m = check->run[i].m;
        if (n < check->run[i].n) n = check->run[i].n;
        if (k < check->run[i].k) k = check->run[i].k;
    }
    printf("  and %d drawn by --seed %llu, up to %d x %d x %d: ", check->count - check->listed,
           (unsigned long long)check->options->seed, m, n, k);
    say_schedules(check, check->listed, check->count, NULL);
}

/* ---- the run that failed ---- */

enum { MOST_WORDS = 48 };

struct command {
    char text[MOST_WORDS][32];
    const char *word[MOST_WORDS + 1];
    int words;
};

static void add_word(struct command *command, const char *word) {
    if (command->words == MOST_WORDS) abort();
    command->word[command->words++] = word;
    command->word[command->words] = NULL;
}

static void add_number(struct command *command, const char *option, uint64_t value) {
    add_word(command, option);
    char *const text = command->text[command->words];
    snprintf(text, sizeof command->text[0], "%llu", (unsigned long long)value);
    add_word(command, text);
}

/* The command line that makes this run. */
static void make_command(const struct check *check, int number, const char *program,
                         struct command *command) {
    const struct options *const o = check->options;
    const struct check_run *const run = &check->run[number];
    const struct gemm_kernel *const kernel = check->kernel[check->type[number]];
    command->words = 0;
    add_word(command, program);
    if (o->variant) {
        add_word(command, "--variant");
        add_word(command, o->variant);
    }
    add_number(command, "--m", (uint64_t)run->m);
    add_number(command, "--n", (uint64_t)run->n);
    add_number(command, "--k", (uint64_t)run->k);
    set_kind_options(kernel, run);
    for (int i = 0; i < kind_of(kernel)->option_count; ++i) {
        const struct backend_setting *const option = &kind_of(kernel)->options[i];
        add_word(command, option->option);
        char *const number = command->text[command->words];
        add_word(command, setting_word(option, option->value, number));
    }
    for (int i = 0; i < backend_setting_count; ++i) {
        const struct backend_setting *const setting = &backend_settings[i];
        if (setting_is_usual(i, run->setting[i])) continue;
        add_word(command, setting->option);
        char *const number = command->text[command->words];
        add_word(command, setting_word(setting, run->setting[i], number));
    }
    if (run->early) {
        add_word(command, "--launch");
        add_word(command, early_names[run->early]);
    }
    add_word(command, "--pitches");
    add_word(command, pitch_names[run->far ? PITCHES_FAR : PITCHES_DRAWN]);
    add_word(command, "--padding");
    add_word(command, padding_names[run->padding]);
    add_word(command, "--input");
    add_word(command, input_names[run->input]);
    if (run->seed != 1) add_number(command, "--seed", run->seed);
    if (check->type[number] != default_type()) {
        add_word(command, "--dtype");
        add_word(command, type_names[check->type[number]]);
    }
}

/* Runs a command; what it says comes here. Its exit code, or SIGNALLED and more. */
static int obey(const struct command *command) {
    int status = 0;
    fflush(stdout);
    const pid_t process = fork();
    if (process == 0) {
        execvp(command->word[0], (char *const *)(uintptr_t)command->word);
        complain("%s: %s", command->word[0], strerror(errno));
        _exit(EXIT_NO_DEVICE);
    }
    if (process < 0 || waitpid(process, &status, 0) != process) return NOT_RUN;
    return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

static enum exit_code show_failure(const struct check *check, int failed, const char *program) {
    struct command command;
    const int code = check->board->code[failed];
    make_command(check, failed, program, &command);
    if (failed == 0)
        printf("The first of %d runs fails.", check->count);
    else
        printf("Runs 1 to %d of %d are right, run %d fails.", failed, check->count, failed + 1);
    printf(" It is\n\n   ");
    for (int i = 0; i < command.words; ++i)
        printf(" %s", command.word[i]);
    printf("\n\n");
    if (check->run[failed].far)
        printf(
            "Its rows lie so far apart that 32 bits do not count the elements between them: is an "
            "offset, or a pitch, an int?\n\n");
    const int again = obey(&command);
    if (code > SIGNALLED)
        complain("that run was ended by signal %d (%s)", code - SIGNALLED,
                 strsignal(code - SIGNALLED));
    if (again != code)
        complain("that run had exit code %d before, and %d when it was repeated", code, again);
    return code < SIGNALLED ? (enum exit_code)code : EXIT_WRONG;
}

/* Every fourth run is one of the other 16-bit type, unless --dtype says which. */
static void choose_types(struct check *check, const struct gemm_kernel *kernel) {
    const enum gemm_type type = check->options->backend.type;
    const enum gemm_type other = type == GEMM_BF16 ? GEMM_FP16 : GEMM_BF16;
    check->kernel[type] = kernel;
    for (int i = 0; i < kernel_registry_count && check->options->usual_type; ++i)
        if (kernel_of_type(&kernel_registry[i], type) == kernel)
            check->kernel[other] = kernel_of_type(&kernel_registry[i], other);
    for (int i = 0; i < check->count; ++i)
        check->type[i] = i % 4 == 3 && check->kernel[other] ? other : type;
}

/* "06_wgmma, bf16 and fp16" */
static void say_types(const struct check *check, const struct gemm_kernel *kernel) {
    char label[96];
    const char *before = ", ";
    printf("%s", kernel_label(kernel, label, sizeof label));
    for (int type = 0; type < ELEMENT_TYPES; ++type) {
        if (!check->kernel[type]) continue;
        printf("%s%s", before, type_names[type]);
        before = " and ";
    }
}

/* Which kernels the chapter's selection took, if it has one. */
static void say_selected(const struct check *check, const struct gemm_kernel *kernel) {
    const struct gemm_kernel *taken[RUNS];
    int count = 0;
    if (!kernel->select) return;
    for (int i = 0; i < check->count; ++i) {
        const struct problem_size size = {check->run[i].m, check->run[i].n, check->run[i].k};
        const struct gemm_kernel *const of_run = kernel_for_size(kernel, size);
        int known = 0;
        while (known < count && taken[known] != of_run)
            ++known;
        if (of_run && known == count) taken[count++] = of_run;
    }
    printf("  ran");
    for (int i = 0; i < count; ++i) {
        char label[96];
        printf("%s %s", i ? "," : "", kernel_label(taken[i], label, sizeof label));
    }
    printf("; others by --variant\n");
}

enum exit_code check_kernel(const struct gemm_kernel *kernel, const struct options *options,
                            const char *program) {
    struct check check = {.options = options};
    struct timespec begin, end;
    uint64_t random = options->seed;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    check.listed = check.count = backend_check_runs(kernel, check.run);
    /* A run on several devices takes several times as long. */
    const int drawn = kernel->several_devices ? DRAWN_RUNS / 4 : DRAWN_RUNS;
    for (int i = 0; i < drawn; ++i)
        backend_check_draw(kernel, &random, &check.run[check.count++]);
    for (int i = 0; i < check.count; ++i) /* every way to launch the kernel takes its turn */
        check.run[i].early = (enum gemm_early)(i % (1 + kernel->earliest));
    choose_types(&check, kernel);
    if (!branches_begin()) return EXIT_USAGE;
    if (!run_all(&check)) {
        branches_end(false);
        return EXIT_NO_DEVICE;
    }
    const int failed = atomic_load(&check.board->failed);
    enum exit_code code = EXIT_VERIFIED;
    if (failed < check.count) {
        code = show_failure(&check, failed, program);
        branches_end(false);
    } else {
        say_listed(&check);
        say_drawn(&check);
        say_selected(&check, kernel);
        if (!branches_end(true)) code = EXIT_USAGE;
        const int left_out = atomic_load(&check.board->left_out);
        if (left_out) printf("  %d runs left out: --pitches far lacks addresses\n", left_out);
        clock_gettime(CLOCK_MONOTONIC, &end);
        const double seconds =
            (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
        say_types(&check, kernel);
        printf(": all %d runs are right and without a hazard; %.1f s in %d process%s\n",
               check.count - left_out, seconds, check.workers, check.workers == 1 ? "" : "es");
    }
    munmap(check.board, sizeof *check.board);
    return code;
}
