/*
 * run.c: runs one broken kernel until the simulator or the verification catches it.
 *
 *     mutant_run KERNEL.so order|value|few
 *
 * The shared object defines the stage `stage_mutant` and takes the simulator from this program. A
 * few small problems run under several schedules, in a fixed order, up to the first that reports a
 * hazard. A wrong result alone ends the search for "value"; "few" is for mutants that should pass.
 * Prints one line per run,
 *
 *     run SCHEDULE SEED M N K SMS CODE
 *
 * on stdout, with the exit code that a program would have had; the reports go to stderr. Ends with
 * 0 whatever became of the kernel, and with 2 if there was nothing to run.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "harness/experiment.h"
#include "harness/message.h"
#include "harness/options.h"
#include "harness/registry.h"

/* Stages come from shared objects only. */
const struct stage_entry stage_registry[] = {{NULL, NULL}};
const struct stage_entry stage_trace_registry[] = {{NULL, NULL}};
const int stage_registry_count = 0;
const bool program_is_tour = false;

struct shape {
    int m, n, k;
    int clusters; /* resident at once */
};

/* Every stage of the ring is used several times; a persistent kernel's CTA computes several tiles;
 * tiles are cut off at both edges, with n a multiple of 8 and not; k is cut off; the least; and
 * enough SMs for a split of k. */
static int make_shapes(const struct gemm_stage *stage, struct shape *shapes) {
    const int tile_m = stage->tile_m, tile_n = stage->tile_n, tile_k = stage->tile_k;
    const int ring = tile_k * (stage->stages > 1 ? stage->stages : 2);
    int count = 0;
    shapes[count++] = (struct shape){2 * tile_m + 8, 2 * tile_n + 8, 3 * tile_k + 8, 1};
    shapes[count++] = (struct shape){tile_m + 8, tile_n + 8, 2 * ring + tile_k + 24, 1};
    shapes[count++] = (struct shape){tile_m + 33, tile_n + 3, tile_k + 1, 1};
    shapes[count++] = (struct shape){1, 1, 2, 1};
    shapes[count++] = (struct shape){tile_m, 2 * tile_n, 4 * ring, 8};
    return count;
}

static enum exit_code run(const struct gemm_stage *stage, struct shape shape,
                          const struct backend_options *options) {
    const struct problem_size size = {shape.m, shape.n, shape.k};
    struct device_info device = {0};
    struct experiment experiment;
    enum exit_code code = backend_open(options, &device);
    if (code != EXIT_VERIFIED) return code;
    code = experiment_open(&experiment, &device, size, options->type, INPUT_INTEGER,
                           options->schedule_seed, &stage, 1, false);
    if (code == EXIT_VERIFIED) {
        struct stage_result result;
        experiment_verify(&experiment, stage, &result);
        code = result.code;
    }
    experiment_close(&experiment);
    backend_close();
    printf("run %s %llu %d %d %d %d %d\n", schedule_names[options->schedule],
           (unsigned long long)options->schedule_seed, shape.m, shape.n, shape.k, options->sms,
           code);
    fflush(stdout);
    return code;
}

struct search {
    const struct gemm_stage *stage;
    enum exit_code enough, worst;
};

/* False once there is nothing more to look for. */
static bool look(struct search *search, struct shape shape, enum sim_schedule schedule,
                 uint64_t seed) {
    const struct backend_options options = {.type = GEMM_BF16,
                                            .sms = search->stage->cluster * shape.clusters,
                                            .schedule = schedule,
                                            .schedule_seed = seed};
    const enum exit_code code = run(search->stage, shape, &options);
    if (search->worst < code) search->worst = code;
    return code < search->enough;
}

/* Every shape under every schedule; then, if nothing was wrong, many more random schedules. */
static void look_everywhere(struct search *search) {
    enum { SEEDS = 3, MORE_SEEDS = 40 };
    struct shape shapes[8];
    const int count = make_shapes(search->stage, shapes);
    for (int s = 0; s < count; ++s) {
        if (!look(search, shapes[s], SCHEDULE_LATE, 1)) return;
        if (!look(search, shapes[s], SCHEDULE_EARLY, 1)) return;
        for (uint64_t seed = 1; seed <= SEEDS; ++seed)
            if (!look(search, shapes[s], SCHEDULE_RANDOM, seed)) return;
        if (!look(search, shapes[s], SCHEDULE_TIME, 1)) return;
    }
    if (search->worst != EXIT_VERIFIED) return;
    for (uint64_t seed = SEEDS + 1; seed <= MORE_SEEDS; ++seed)
        if (!look(search, shapes[seed % 2], SCHEDULE_RANDOM, seed)) return;
}

static void look_briefly(struct search *search) {
    struct shape shapes[8];
    make_shapes(search->stage, shapes);
    (void)(look(search, shapes[0], SCHEDULE_LATE, 1) &&
           look(search, shapes[1], SCHEDULE_EARLY, 1) &&
           look(search, shapes[0], SCHEDULE_RANDOM, 1) &&
           look(search, shapes[1], SCHEDULE_RANDOM, 2));
}

int main(int argc, char **argv) {
    message_open(argv[0]);
    if (argc != 3) {
        complain("usage: %s KERNEL.so order|value|few", message_program());
        return EXIT_USAGE;
    }
    void *const object = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    const struct gemm_stage *const stage = object ? dlsym(object, "stage_mutant") : NULL;
    if (!stage) {
        complain("%s", dlerror());
        return EXIT_USAGE;
    }
    const bool value = !strcmp(argv[2], "value");
    struct search search = {stage, value ? EXIT_WRONG : EXIT_HAZARD, EXIT_VERIFIED};
    if (!strcmp(argv[2], "few"))
        look_briefly(&search);
    else
        look_everywhere(&search);
    return 0;
}
