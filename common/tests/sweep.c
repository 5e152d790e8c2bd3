/*
 * sweep.c: many sizes, inputs and schedules through one stage, in one process, by the harness's own
 * verification.
 *
 *     build/sim/sweep --stage 06_wgmma --triples 150 --schedule all --dtype both
 *
 * m, n and k are drawn from sizes around the tiles' and fragments' edges; --long-k draws a k that
 * goes around every ring at least twice, and enough rows and columns for several tiles. A failure
 * prints the command that repeats it alone.
 */
#include <stdio.h>
#include <string.h>

#include "harness/experiment.h"
#include "harness/message.h"
#include "harness/options.h"
#include "harness/registry.h"

struct sweep {
    const char *stage, *variant; /* stage NULL: all; variant "all": each, NULL: the chapter's own */
    uint64_t seed;
    int triples;
    int schedule; /* enum sim_schedule; ALL: each in turn */
    int type;     /* enum gemm_type; ALL: in turn */
    int sms;
    bool long_k;
};
enum { ALL = -1 };

/* One run of a stage. */
struct trial {
    struct problem_size size;
    enum input_kind input;
    uint64_t seed;
    struct backend_options backend;
};

static int draw(uint64_t *random, int count) {
    const int choice = (int)(*random % (uint64_t)count);
    *random /= (uint64_t)count;
    return choice;
}

static struct trial draw_trial(const struct sweep *sweep, const struct gemm_stage *stage, int i) {
    static const int edges[] = {1,  2,  7,  8,   15,  16,  17,  31, 33,
                                63, 64, 65, 127, 128, 129, 255, 257};
    static const int several[] = {1, 17, 65, 129, 257, 385, 520};
    static const enum input_kind kinds[] = {INPUT_INTEGER, INPUT_INTEGER, INPUT_INTEGER,
                                            INPUT_UNIFORM, INPUT_NORMAL,  INPUT_ZEROS};
    enum { EDGES = sizeof edges / sizeof *edges, SEVERAL = sizeof several / sizeof *several };
    uint64_t random = input_hash(sweep->seed, (uint64_t)i);
    struct trial trial = {
        .seed = sweep->seed + (uint64_t)i,
        .backend = {.type =
                        sweep->type == ALL ? (enum gemm_type)(i & 1) : (enum gemm_type)sweep->type,
                    .schedule = sweep->schedule == ALL ? (enum sim_schedule)(i / 2 % 4)
                                                       : (enum sim_schedule)sweep->schedule,
                    .sms = sweep->sms > stage->cluster ? sweep->sms : stage->cluster,
                    .schedule_seed = sweep->seed + (uint64_t)i}};
    trial.input = kinds[draw(&random, 6)];
    if (!sweep->long_k) {
        trial.size.m = edges[draw(&random, EDGES)];
        trial.size.n = edges[draw(&random, EDGES)];
        trial.size.k = edges[draw(&random, EDGES)];
        return trial;
    }
    const int ring = stage->tile_k * (stage->stages > 1 ? stage->stages : 2);
    trial.size.m = several[draw(&random, SEVERAL)];
    trial.size.n = several[draw(&random, SEVERAL)];
    trial.size.k = 2 * ring + 1 + draw(&random, 2 * ring);
    return trial;
}

static void print_command(const struct gemm_stage *stage, const struct trial *t) {
    printf("    build/sim/%s%s%s --m %d --n %d --k %d --input %s --seed %llu --dtype %s --sms %d "
           "--schedule %s --schedule-seed %llu\n",
           stage->name, stage->variant ? " --variant " : "", stage->variant ? stage->variant : "",
           t->size.m, t->size.n, t->size.k, input_names[t->input], (unsigned long long)t->seed,
           type_names[t->backend.type], t->backend.sms, schedule_names[t->backend.schedule],
           (unsigned long long)t->backend.schedule_seed);
    fflush(stdout);
}

/* The backend is opened anew, as by the command that repeats the trial. */
static enum exit_code run_trial(const struct stage_entry *entry, const struct trial *t) {
    const struct gemm_stage *stage = stage_of_type(entry, t->backend.type);
    struct device_info device = {0};
    struct experiment experiment;
    enum exit_code code = backend_open(&t->backend, &device);
    if (code != EXIT_VERIFIED) return code;
    if (stage->select)
        stage = stage->select(
            &(struct gemm_problem){.m = t->size.m, .n = t->size.n, .k = t->size.k});
    code = experiment_open(&experiment, &device, t->size, t->backend.type, t->input, t->seed,
                           &stage, 1, false);
    if (code == EXIT_VERIFIED) {
        struct stage_result result;
        experiment_verify(&experiment, stage, &result);
        code = result.code;
    }
    experiment_close(&experiment);
    backend_close();
    return code;
}

/* Adds to the counts of failures and hazards. */
static void sweep_stage(const struct sweep *sweep, const struct stage_entry *entry, int *failures,
                        int *hazards) {
    char label[96];
    int failed = 0, hazardous = 0;
    stage_label(entry->bf16, label, sizeof label);
    for (int i = 0; i < sweep->triples; ++i) {
        const struct trial trial = draw_trial(sweep, entry->bf16, i);
        progress("%s: %d/%d", label, i + 1, sweep->triples);
        const enum exit_code code = run_trial(entry, &trial);
        if (code == EXIT_VERIFIED) continue;
        progress_clear();
        print_command(entry->bf16, &trial);
        if (code == EXIT_HAZARD)
            ++hazardous;
        else
            ++failed;
    }
    progress_clear();
    printf("%s: %d triples, %d failures, %d hazards\n", label, sweep->triples, failed, hazardous);
    fflush(stdout);
    *failures += failed;
    *hazards += hazardous;
}

static bool read_option(struct sweep *sweep, const char *name, const char *value) {
    uint64_t whole = 0;
    if (!strcmp(name, "--stage"))
        sweep->stage = strcmp(value, "all") ? value : NULL;
    else if (!strcmp(name, "--variant"))
        sweep->variant = value;
    else if (!strcmp(name, "--seed"))
        return parse_whole(value, 0, UINT64_MAX, &sweep->seed);
    else if (!strcmp(name, "--triples")) {
        if (!parse_whole(value, 1, 100000000, &whole)) return false;
        sweep->triples = (int)whole;
    } else if (!strcmp(name, "--sms")) {
        if (!parse_whole(value, 1, 1024, &whole)) return false;
        sweep->sms = (int)whole;
    } else if (!strcmp(name, "--schedule")) {
        sweep->schedule = find_name(value, schedule_names, 4);
        return sweep->schedule >= 0 || !strcmp(value, "all");
    } else if (!strcmp(name, "--dtype")) {
        sweep->type = find_name(value, type_names, 2);
        return sweep->type >= 0 || !strcmp(value, "both");
    } else
        return false;
    return true;
}

static bool selected(const struct sweep *sweep, const struct gemm_stage *stage) {
    if (sweep->stage && strcmp(sweep->stage, stage->name) != 0) return false;
    if (!sweep->variant) return !stage->variant;
    return !strcmp(sweep->variant, "all") ||
           (stage->variant && !strcmp(sweep->variant, stage->variant));
}

int main(int argc, char **argv) {
    struct sweep sweep = {.seed = 1, .triples = 150, .schedule = ALL, .type = ALL, .sms = 4};
    message_open(argv[0]);
    for (int i = 1; i < argc; ++i) {
        if (!strcmp(argv[i], "--long-k")) {
            sweep.long_k = true;
            continue;
        }
        if (i + 1 == argc || !read_option(&sweep, argv[i], argv[i + 1])) {
            complain("%s: not an option, or not with this value\nusage: %s [--stage NAME|all] "
                     "[--variant NAME|all] [--triples N] [--seed S] [--schedule time|early|late|"
                     "random|all] [--dtype fp16|bf16|both] [--sms N] [--long-k]",
                     argv[i], message_program());
            return EXIT_USAGE;
        }
        ++i;
    }
    int failures = 0, hazards = 0, stages = 0;
    for (int i = 0; i < stage_registry_count; ++i) {
        if (!selected(&sweep, stage_registry[i].bf16)) continue;
        sweep_stage(&sweep, &stage_registry[i], &failures, &hazards);
        ++stages;
    }
    if (stages == 0) {
        complain("no such stage or variant: %s %s", sweep.stage ? sweep.stage : "all",
                 sweep.variant ? sweep.variant : "");
        return EXIT_USAGE;
    }
    return hazards ? EXIT_HAZARD : failures ? EXIT_WRONG : EXIT_VERIFIED;
}
