/* main.c: hopper_check: a kernel as PTX, executed and judged. */
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "command/arguments.h"
#include "command/findings.h"
#include "command/options.h"
#include "command/program.h"
#include "command/program_options.h"
#include "command/summary.h"
#include "harness/registry.h"
#include "program/instructions.h"
#include "program/sites.h"
#include "runtime/advice.h"
#include "sim/core/doubt.h"
#include "sim/core/hazards.h"

/* The harness is linked, and this program has no kernels of the book. */
const struct kernel_entry kernel_registry[] = {{{NULL}, 0, false, NULL, 0}};
const struct kernel_entry kernel_trace_registry[] = {{{NULL}, 0, false, NULL, 0}};
const int kernel_registry_count = 0;
const bool program_is_tour = false;

enum { MOST_PARAMETER_BYTES = 3584 }; /* the simulator's 4096, less a gemm_args */

static char *read_text(const char *path) {
    FILE *const file = fopen(path, "rb");
    long size = -1;
    if (file && !fseek(file, 0, SEEK_END)) size = ftell(file);
    char *const text = size >= 0 ? calloc(1, (size_t)size + 1) : NULL;
    bool good = text != NULL;
    if (good) {
        rewind(file);
        good = fread(text, 1, (size_t)size, file) == (size_t)size;
    }
    if (file) fclose(file);
    if (good) return text;
    fprintf(stderr, "hopper_check: %s cannot be read\n", path);
    free(text);
    return NULL;
}

/* sm_90a and what came before it: Hopper runs PTX of older targets. */
static bool target_is_known(const struct ptx_module *module) {
    char *end = NULL;
    const bool named = !strncmp(module->target, "sm_", 3);
    const long target = named ? strtol(module->target + 3, &end, 10) : 0;
    if (named && target >= 50 && target <= 90 && (!*end || !strcmp(end, "a"))) return true;
    fprintf(stderr, "hopper_check: %s is for %s; targets up to sm_90a are executed\n", module->file,
            module->target);
    return false;
}

static struct ptx_module *read_module(const char *path) {
    char error[512] = "", *const text = read_text(path);
    if (!text) return NULL;
    struct ptx_module *const module = ptx_parse(path, text, error, sizeof error);
    free(text);
    if (!module) fprintf(stderr, "hopper_check: %s\n", error);
    if (!module || target_is_known(module)) return module;
    ptx_free(module);
    return NULL;
}

/* What cannot be executed, each opcode once, with its line. */
static void print_refusals(const struct program *p, FILE *out) {
    for (int i = 0; i < p->refusals; ++i) {
        const struct refusal *const r = &p->refusal[i];
        int line;
        const char *const file = site_file(p->module, r->first, &line);
        fprintf(out, "%s:%d: %s (%d times, PTX line %d): %s\n", source_name(file), line,
                r->first->opcode, r->count, r->first->line, r->why);
    }
}

static enum exit list(const struct options *o) {
    struct ptx_module *const module = read_module(o->ptx);
    enum exit code = EXIT_CLEAN;
    if (!module) return EXIT_BAD_INPUT;
    for (int i = 0; i < module->functions; ++i) {
        struct ptx_function *const f = &module->function[i];
        if (!f->entry || !f->defined) continue;
        const struct program *const p = program_of(module, f);
        printf("%s: %d parameters, %d instructions, %d bytes of registers a thread, %s\n", f->name,
               f->params, f->instructions, p->frame_bytes,
               p->refusals ? "not modelled:" : "everything is modelled");
        print_refusals(p, stdout);
        if (p->refusals) code = EXIT_INCOMPLETE;
    }
    ptx_free(module);
    return code;
}

/* ---- run ---- */

struct task {
    struct options *options;
    unsigned char args[sizeof(struct gemm_args) + MOST_PARAMETER_BYTES]
        __attribute__((aligned(128)));
    size_t args_bytes;
};

static struct task task;

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                void *stream) {
    (void)self, (void)problem, (void)stream;
    return launch_run(&task.options->launch, task.args, task.args_bytes);
}

static void set(const char *option, uint64_t value) {
    for (int i = 0; i < backend_setting_count; ++i)
        if (!strcmp(backend_settings[i].option, option)) backend_settings[i].value = value;
}

/* One run. */
static enum exit run_once(struct options *o, enum sim_schedule schedule) {
    static const struct contender contender = {.name = "hopper_check", .enqueue = enqueue};
    static const struct gemm_problem problem;
    static const struct backend_options backend = {.type = GEMM_BF16};
    const struct ptx_function *const f = o->launch.program->function;
    struct backend_info info;
    size_t different = 0;
    sim_configure(o->sms, schedule, o->seed);
    set("--step-limit", o->step_limit);
    set("--doubtful", o->doubtful);
    doubt_advice = DOUBT_ADVICE;
    set("--hazards", HAZARDS_MOST);
    if (backend_open(&backend, &info) != EXIT_VERIFIED) return EXIT_BAD_INPUT;
    findings_run(schedule_names[schedule]);
    memset(task.args, 0, sizeof task.args);
    enum exit code = EXIT_BAD_INPUT;
    if (buffers_allocate(&o->buffers) && arguments_encode(f, &o->buffers, o->argument, o->arguments,
                                                          task.args + sizeof(struct gemm_args))) {
        const enum run_status status = backend_run(&contender, &problem, NULL);
        code = status == RUN_OK       ? EXIT_CLEAN
               : status == RUN_HAZARD ? EXIT_FINDINGS
                                      : EXIT_DIFFERENT;
        if (status != RUN_FAILED && !buffers_finish(&o->buffers, &different)) code = EXIT_BAD_INPUT;
        if (different)
            printf("%zu elements differ under %s\n", different, schedule_names[schedule]);
        if (different && code == EXIT_CLEAN) code = EXIT_DIFFERENT;
    }
    buffers_free(&o->buffers);
    backend_close();
    o->launch.silent = true; /* the first run has printed it */
    return code;
}

static const char *word_of(enum exit code) {
    return code == EXIT_DIFFERENT ? "different" : verdict_of(code);
}

static bool write_json(const struct options *o, int runs, enum exit code) {
    FILE *const out = fopen(o->json, "w");
    if (out) {
        fprintf(out, "{\n  \"file\": ");
        json_string(out, o->ptx);
        fprintf(out, ",\n  \"kernel\": ");
        json_string(out, o->launch.program->function->name);
        fprintf(out, ",\n  \"verdict\": \"%s\",\n  \"runs\": %d,\n  \"instructions\": %llu,\n",
                word_of(code), runs, (unsigned long long)o->launch.executed);
        fprintf(out, "  \"findings\": ");
        findings_json(out);
        fputs("\n}\n", out);
    }
    if (out && !ferror(out) && fclose(out) == 0) return true;
    fprintf(stderr, "hopper_check: %s cannot be written\n", o->json);
    return false;
}

/* The threads of a CTA and the CTAs of a cluster, as the kernel declares them. */
static bool complete_launch(struct launch *l) {
    const struct ptx_function *const f = l->program->function;
    const int *const threads = f->required_threads[0] ? f->required_threads : f->max_threads;
    if (!l->block.x && !threads[0]) {
        fprintf(stderr, "hopper_check: how many threads has a CTA? --block\n");
        return false;
    }
    if (!l->block.x) l->block = (struct three){threads[0], threads[1], threads[2]};
    if (!l->cluster.x)
        l->cluster = f->cluster[0] ? (struct three){f->cluster[0], f->cluster[1], f->cluster[2]}
                                   : (struct three){1, 1, 1};
    return launch_acceptable(l);
}

static enum exit run_entry(struct options *o, struct ptx_module *module) {
    char error[1024] = "";
    struct ptx_function *const f = ptx_entry(module, o->entry, error, sizeof error);
    if (!f) {
        fprintf(stderr, "hopper_check: %s\n", error);
        return EXIT_BAD_INPUT;
    }
    const struct program *const p = program_of(module, f);
    o->launch.program = p;
    if (p->refusals) {
        fprintf(stderr, "hopper_check: %s is not judged: it has what is not modelled\n", f->name);
        print_refusals(p, stderr);
        return EXIT_INCOMPLETE;
    }
    if (f->param_bytes > MOST_PARAMETER_BYTES) {
        fprintf(stderr, "hopper_check: %zu bytes of parameters; more than %d are not modelled\n",
                f->param_bytes, MOST_PARAMETER_BYTES);
        return EXIT_INCOMPLETE;
    }
    if (!complete_launch(&o->launch)) return EXIT_DIFFERENT;
    task.options = o;
    task.args_bytes = sizeof(struct gemm_args) + f->param_bytes;
    findings_begin();
    enum exit worst = EXIT_CLEAN;
    int runs = 0;
    for (int s = 0; s < SIM_SCHEDULES; ++s) {
        if (!o->schedule[s]) continue;
        const enum exit code = run_once(o, (enum sim_schedule)s);
        ++runs;
        if (code == EXIT_BAD_INPUT) return code;
        if (code > worst) worst = code;
    }
    if (findings_incomplete() || (worst == EXIT_CLEAN && !o->launch.executed))
        worst = EXIT_INCOMPLETE;
    findings_print(stdout, findings_count());
    for (int i = 0; findings_count() == 0 && backend_report(i); ++i)
        fprintf(stderr, "%s\n", backend_report(i));
    printf("%s: %s: %d run%s, %llu instructions of threads, %d finding%s\n", f->name,
           word_of(worst), runs, runs == 1 ? "" : "s", (unsigned long long)o->launch.executed,
           findings_count(), findings_count() == 1 ? "" : "s");
    return o->json && !write_json(o, runs, worst) ? EXIT_BAD_INPUT : worst;
}

static enum exit run(struct options *o) {
    struct ptx_module *const module = read_module(o->ptx);
    if (!module) return EXIT_BAD_INPUT;
    const enum exit code = run_entry(o, module);
    ptx_free(module);
    return code;
}

static bool is_command(const char *word) {
    static const char *const commands[] = {"run", "list", "instructions", "summary"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i)
        if (!strcmp(word, commands[i])) return true;
    return false;
}

int main(int argc, char **argv) {
    static struct options options; /* large */
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))) {
        program_options_help(stdout);
        fputc('\n', stdout);
        options_help(stdout);
        return EXIT_CLEAN;
    }
    if (argc > 1 && !is_command(argv[1])) return program_main(argc, argv);
    if (!options_parse(argc, argv, &options)) return EXIT_BAD_INPUT;
    if (!strcmp(options.command, "summary")) {
        instructions_summary(stdout);
        return EXIT_CLEAN;
    }
    if (!strcmp(options.command, "instructions")) {
        instructions_print(stdout);
        return EXIT_CLEAN;
    }
    if (!strcmp(options.command, "list")) return list(&options);
    if (!strcmp(options.command, "run")) return run(&options);
    fprintf(stderr, "hopper_check: there is no command %s; --help\n", options.command);
    return EXIT_BAD_INPUT;
}
