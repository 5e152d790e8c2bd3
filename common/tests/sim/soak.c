/*
 * soak.c: random problems through every kernel under random schedules, and not one false alarm.
 *
 *     build/sim/soak --trials 2000
 *     build/sim/soak --soak 3600 --seed 7
 *
 * A trial draws a kernel or variant, m, n and k around what is an edge for it, the input, the type,
 * the number of SMs, the schedule and its seed. The kernels take turns. Ends at the first failure
 * but four, each with the command that repeats it alone.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "harness/experiment.h"
#include "kind_options.h"
#include "harness/message.h"
#include "harness/options.h"
#include "harness/output_file.h"
#include "harness/registry.h"
#include "services/devices.h"
#include "sim/core/simulation.h"

enum { FAILURES = 4 };

struct soak {
    uint64_t seed, trials;
    double seconds; /* > 0: as many trials as there is time for */
};

struct trial {
    const struct gemm_kernel *kernel;
    struct problem_size size;
    enum input_kind input;
    enum padding padding;
    enum gemm_type type;
    int sms;
    enum sim_schedule schedule;
    uint64_t schedule_seed;
};

/* One of `count`, from the n-th random number of a trial. */
static int draw(uint64_t seed, uint64_t n, int count) {
    return (int)(input_hash(seed, n) % (uint64_t)count);
}

/* An extent of up to `tiles` tiles: anywhere, or a few elements from a tile's edge. */
static int draw_extent(uint64_t seed, uint64_t n, int tile, int tiles) {
    if (draw(seed, n, 2)) return 1 + draw(seed, n + 1, tile * tiles);
    const int extent = tile * draw(seed, n + 1, tiles + 1) + draw(seed, n + 2, 19) - 9;
    return extent > 0 ? extent : 1 + draw(seed, n + 2, 9);
}

/* Not one that chooses among kernels that come on their own, nor one for more GPUs than the
 * simulator has. */
static bool takes_part(const struct kernel_entry *entry) {
    return !kernel_of_any_type(entry)->select && entry->gpus <= GEMM_DEVICES;
}

static struct trial draw_trial(const struct soak *soak, uint64_t i) {
    static const enum input_kind inputs[] = {INPUT_INTEGER, INPUT_INTEGER, INPUT_UNIFORM,
                                             INPUT_NORMAL, INPUT_OUTLIERS};
    const uint64_t seed = input_hash(soak->seed, i);
    enum gemm_type type = draw(seed, 0, 2) ? GEMM_FP16 : GEMM_BF16;
    uint64_t turn = i % (uint64_t)kernel_registry_count;
    while (!takes_part(&kernel_registry[turn]))
        turn = (turn + 1) % (uint64_t)kernel_registry_count;
    while (!kernel_of_type(&kernel_registry[turn], type))
        type = (enum gemm_type)((type + 1) % ELEMENT_TYPES);
    const struct gemm_kernel *kernel = kernel_of_type(&kernel_registry[turn], type);
    /* Small problems find as much as large ones, and more of them fit into the time. Once in a
     * while one goes around the ring more than twice, or has several tiles for each SM. */
    const bool deep = draw(seed, 1, 8) == 0, wide = !deep && draw(seed, 2, 8) == 0;
    const int ring = kernel->stages > 1 ? kernel->stages : 2;
    struct trial trial = {.kernel = kernel, .input = inputs[draw(seed, 3, 5)]};
    trial.padding = draw(seed, 7, 2) ? PADDING_FINITE : PADDING_NAN;
    trial.size.m = draw_extent(seed, 10, kernel->tile_m, wide ? 3 : 1);
    trial.size.n = draw_extent(seed, 20, kernel->tile_n, wide ? 2 : 1);
    trial.size.k = draw_extent(seed, 30, kernel->tile_k == 1 ? 16 : kernel->tile_k,
                               deep   ? 3 * ring
                               : wide ? 2
                                      : ring);
    trial.size.k = kind_drawn_k(kernel, trial.size.k, seed);
    trial.type = type;
    trial.sms = kernel->cluster * (1 + draw(seed, 4, 3));
    trial.schedule = draw(seed, 5, 2) ? SCHEDULE_RANDOM : (enum sim_schedule)draw(seed, 6, 4);
    trial.schedule_seed = seed % 1000000007;
    return trial;
}

static enum exit_code run_trial(const struct trial *t) {
    struct backend_info device = {0};
    struct experiment experiment;
    sim_configure(t->sms, t->schedule, t->schedule_seed);
    operand_pitches = PITCHES_DRAWN;
    operand_padding = t->padding;
    const struct backend_options options = {.type = t->type, .gpus = 2};
    enum exit_code code = backend_open(&options, &device);
    if (code != EXIT_VERIFIED) return code;
    code =
        experiment_open(&experiment, &device, t->size, t->type, t->input, 1, &t->kernel, 1, false);
    if (code == EXIT_VERIFIED) {
        struct kernel_result result;
        experiment_verify(&experiment, t->kernel, &result);
        code = result.code;
    }
    experiment_close(&experiment);
    backend_close();
    return code;
}

static void print_command(const struct trial *t) {
    const struct gemm_kernel *kernel = t->kernel;
    printf("    build/sim/%s%s%s --m %d --n %d --k %d --input %s --seed 1 --dtype %s --sms %d "
           "--schedule %s --schedule-seed %llu --pitches drawn --padding %s",
           kernel->name, kernel->variant ? " --variant " : "",
           kernel->variant ? kernel->variant : "", t->size.m, t->size.n, t->size.k,
           input_names[t->input], type_names[t->type], t->sms, schedule_names[t->schedule],
           (unsigned long long)t->schedule_seed, padding_names[t->padding]);
    print_kind_options(kind_of(kernel));
    putchar('\n');
    fflush(stdout);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static enum exit_code soak_all(const struct soak *soak) {
    const double begin = now();
    int hazards = 0, failures = 0;
    uint64_t i = 0;
    for (; soak->seconds > 0 ? now() - begin < soak->seconds : i < soak->trials; ++i) {
        const struct trial trial = draw_trial(soak, i);
        progress("%llu trials", (unsigned long long)i);
        const enum exit_code code = run_trial(&trial);
        if (code == EXIT_VERIFIED) continue;
        progress_clear();
        print_command(&trial);
        hazards += code == EXIT_HAZARD;
        failures += code != EXIT_HAZARD;
        if (hazards + failures == FAILURES) break;
    }
    progress_clear();
    printf("%llu trials of %d kernels and variants in %.0f s: %d hazards, %d failures\n",
           (unsigned long long)i, kernel_registry_count, now() - begin, hazards, failures);
    return hazards ? EXIT_HAZARD : failures ? EXIT_WRONG : EXIT_VERIFIED;
}

int main(int argc, char **argv) {
    struct soak soak = {.seed = 1, .trials = 1000};
    message_open(argv[0]);
    if (!streams_begin()) return EXIT_USAGE;
    for (int i = 1; i < argc; i += 2) {
        uint64_t value = 0;
        const bool whole = i + 1 < argc && parse_whole(argv[i + 1], 1, UINT32_MAX, &value);
        if (whole && !strcmp(argv[i], "--trials"))
            soak.trials = value;
        else if (whole && !strcmp(argv[i], "--seed"))
            soak.seed = value;
        else if (whole && !strcmp(argv[i], "--soak"))
            soak.seconds = (double)value;
        else {
            complain("%s: not an option, or not with this value\n"
                     "usage: %s [--trials N | --soak SECONDS] [--seed S]",
                     argv[i], message_program());
            return EXIT_USAGE;
        }
    }
    return streams_end(soak_all(&soak));
}
