/*
 * sweep.c: many sizes, inputs and schedules through the kernels, in one process, by the harness's
 * own verification.
 *
 *     build/sim/sweep --chapter 06_wgmma --triples 150 --schedule all --dtype both
 *     build/gpu/sweep --variant all --random 2000 --rotate 3
 *     build/gpu/sweep --variant all --repeat 1000 --size 1024x1152x640
 *     build/gpu/sweep --chapter 13_two_gpus --flight 6 --repeat 100 --size 1024x1152x640
 *
 * --triples draws m, n and k from sizes around the tiles' and fragments' edges, each kernel for
 * itself; --long-k draws a k that goes around every ring at least twice, and enough rows and
 * columns for several tiles. --random sends every shape through all kernels; three of five hold
 * integers, whose result has to be exact, and on a GPU cuBLAS is asked, too. With --rotate R the
 * chapters' own kernels compute every shape, and a variant every R-th. --repeat: as many
 * runs of one problem have to be bitwise identical. --flight L, of kernels for several GPUs: L
 * launches in flight, with the result of each verified; of random problems or of one, and all of it
 * N times. A failure prints the command that repeats it
 * alone.
 */
#include "tests/sweep/sweep.h"

#include <stdio.h>
#include <string.h>

#include "harness/message.h"
#include "harness/output_file.h"

int sweep_draw(uint64_t *random, int count) {
    const int choice = (int)(*random % (uint64_t)count);
    *random /= (uint64_t)count;
    return choice;
}

int sweep_schedules(void) {
    const struct backend_setting *setting = find_setting("--schedule");
    return setting ? (int)setting->high + 1 : 1;
}

int sweep_random_schedule(void) {
    const struct backend_setting *setting = find_setting("--schedule");
    return setting ? find_name("random", setting->names, sweep_schedules()) : 0;
}

static void set(const char *option, uint64_t value) {
    struct backend_setting *setting = find_setting(option);
    if (setting) setting->value = value;
}

enum exit_code sweep_open(const struct trial *trial, struct backend_info *info) {
    set("--sms", (uint64_t)trial->sms);
    set("--schedule", (uint64_t)trial->schedule);
    set("--schedule-seed", trial->schedule_seed);
    set("--launches", trial->launches ? (uint64_t)trial->launches : 1);
    const struct backend_options options = {.type = trial->type, .gpus = 2};
    return backend_open(&options, info);
}

void sweep_launch_as(const struct trial *t) {
    operand_pitches = PITCHES_DRAWN;
    operand_padding = t->padding;
    experiment_early = (enum gemm_early)((t->size.m + t->size.n + t->size.k) % (GEMM_EARLY_B + 1));
}

bool sweep_selects(const struct sweep *sweep, const struct kernel_entry *entry) {
    const struct gemm_kernel *kernel = kernel_of_any_type(entry);
    if (sweep->chapter && strcmp(sweep->chapter, kernel->name) != 0) return false;
    if (!sweep->variant) return !kernel->variant;
    return !strcmp(sweep->variant, "all") ||
           (kernel->variant && !strcmp(sweep->variant, kernel->variant));
}

const struct gemm_kernel *sweep_kernel(const struct sweep *sweep, const struct kernel_entry *entry,
                                       enum gemm_type type) {
    if (!sweep_selects(sweep, entry) || entry->gpus > sweep->gpus_there ||
        !entry_runs_on(entry, sweep->capability))
        return NULL;
    return kernel_of_type(entry, type);
}

/* Learns what there is; says which kernels that leaves out. EXIT_NO_DEVICE if that is all. */
static enum exit_code look_around(struct sweep *sweep) {
    struct backend_info info = {0};
    int kernels = 0, selected = 0;
    const enum exit_code code = sweep_open(&(struct trial){.sms = sweep->sms}, &info);
    if (code != EXIT_VERIFIED) return code;
    sweep->gpus_there = info.gpus;
    sweep->capability = info.compute_capability;
    backend_close();
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct kernel_entry *entry = &kernel_registry[i];
        char label[96];
        if (!sweep_selects(sweep, entry)) continue;
        ++selected;
        kernel_label(kernel_of_any_type(entry), label, sizeof label);
        if (entry->gpus > sweep->gpus_there)
            complain("%s is left out: it needs %d GPUs that reach each other's memory", label,
                     entry->gpus);
        else if (!entry_runs_on(entry, sweep->capability))
            complain("%s is left out: it has no code for this GPU", label);
        else if (sweep->type != SWEEP_ALL && !kernel_of_type(entry, (enum gemm_type)sweep->type))
            complain("%s is left out: it is not compiled for %s", label, type_names[sweep->type]);
        else
            ++kernels;
    }
    if (selected == 0) {
        complain("no such chapter or variant: %s %s", sweep->chapter ? sweep->chapter : "all",
                 sweep->variant ? sweep->variant : "");
        return EXIT_USAGE;
    }
    return kernels ? EXIT_VERIFIED : EXIT_NO_DEVICE;
}

static void print_command(const struct gemm_kernel *kernel, const struct trial *t) {
    const bool on_gpu = backend_can_time();
    printf("    build/%s/%s%s%s --m %d --n %d --k %d --input %s --seed %llu --dtype %s",
           on_gpu ? "gpu" : "sim", kernel->name, kernel->variant ? " --variant " : "",
           kernel->variant ? kernel->variant : "", t->size.m, t->size.n, t->size.k,
           input_names[t->input], (unsigned long long)t->seed, type_names[t->type]);
    if (kernel->several_devices) printf(" --launches %d", t->launches ? t->launches : 1);
    sweep_launch_as(t);
    if (kernel->earliest) printf(" --launch %s", early_names[experiment_early]);
    print_kind_options(kind_of(kernel));
    printf(" --pitches %s --padding %s", pitch_names[operand_pitches], padding_names[t->padding]);
    if (on_gpu)
        printf(" --timing none\n");
    else
        printf(" --sms %d --schedule %s --schedule-seed %llu\n", t->sms,
               find_setting("--schedule")->names[t->schedule],
               (unsigned long long)t->schedule_seed);
    fflush(stdout);
}

void sweep_count(struct sweep_counts *counts, const struct gemm_kernel *kernel,
                 const struct trial *trial, enum exit_code code) {
    ++counts->runs;
    if (code == EXIT_VERIFIED) return;
    progress_clear();
    print_command(kernel, trial);
    ++*(code == EXIT_HAZARD ? &counts->hazards : &counts->failures);
}

static bool read_count(const char *text, int *count) {
    uint64_t whole;
    if (!parse_whole(text, 1, 100000000, &whole)) return false;
    *count = (int)whole;
    return true;
}

static bool read_option(struct sweep *sweep, const char *name, const char *value) {
    if (!strcmp(name, "--chapter"))
        sweep->chapter = strcmp(value, "all") ? value : NULL;
    else if (!strcmp(name, "--variant"))
        sweep->variant = value;
    else if (!strcmp(name, "--may-differ"))
        sweep->may_differ = value;
    else if (!strcmp(name, "--seed"))
        return parse_whole(value, 0, UINT64_MAX, &sweep->seed);
    else if (!strcmp(name, "--triples"))
        return read_count(value, &sweep->triples);
    else if (!strcmp(name, "--random"))
        return read_count(value, &sweep->random);
    else if (!strcmp(name, "--rotate"))
        return read_count(value, &sweep->rotate);
    else if (!strcmp(name, "--repeat"))
        return read_count(value, &sweep->repeat);
    else if (!strcmp(name, "--flight"))
        return read_count(value, &sweep->flight) && sweep->flight <= MOST_LAUNCHES;
    else if (!strcmp(name, "--largest"))
        return read_count(value, &sweep->largest) && sweep->largest <= 100000;
    else if (!strcmp(name, "--size"))
        return parse_extents(value, &sweep->size.m, &sweep->size.n, &sweep->size.k);
    else if (!strcmp(name, "--launches"))
        return read_count(value, &sweep->launches) && sweep->launches <= MOST_LAUNCHES;
    else if (!strcmp(name, "--sms"))
        return read_count(value, &sweep->sms) && sweep->sms <= 1024;
    else if (!strcmp(name, "--schedule")) {
        const struct backend_setting *setting = find_setting(name);
        sweep->schedule = setting ? find_name(value, setting->names, sweep_schedules()) : SWEEP_ALL;
        return sweep->schedule >= 0 || !strcmp(value, "all");
    } else if (!strcmp(name, "--dtype")) {
        sweep->type = find_name(value, type_names, ELEMENT_TYPES);
        return sweep->type >= 0 || !strcmp(value, "both");
    } else
        return false;
    return true;
}

int main(int argc, char **argv) {
    struct sweep sweep = {
        .seed = 1, .schedule = SWEEP_ALL, .type = SWEEP_ALL, .sms = 4, .rotate = 1};
    message_open(argv[0]);
    if (!streams_begin()) return EXIT_USAGE;
    for (int i = 1; i < argc; ++i) {
        if (!strcmp(argv[i], "--long-k")) {
            sweep.long_k = true;
            continue;
        }
        if (i + 1 == argc || !read_option(&sweep, argv[i], argv[i + 1])) {
            complain("%s: not an option, or not with this value\nusage: %s [--chapter NAME|all] "
                     "[--variant NAME|all] [--seed S] [--dtype fp16|bf16|e4m3|w4a8|both] "
                     "[--launches N] [--sms N] "
                     "[--schedule time|early|late|random|all]\n"
                     "  [--triples N [--long-k] | --random N [--largest EXTENT] [--rotate R] | "
                     "--repeat N "
                     "[--size MxNxK] [--may-differ CHAPTER:VARIANT] | --flight LAUNCHES [--random "
                     "N | --size MxNxK] [--repeat N]]",
                     argv[i], message_program());
            return EXIT_USAGE;
        }
        ++i;
    }
    if (!sweep.flight && (sweep.triples > 0) + (sweep.random > 0) + (sweep.repeat > 0) > 1) {
        complain("--triples, --random, --repeat: choose one");
        return EXIT_USAGE;
    }
    if (!sweep.random && !sweep.repeat && !sweep.triples) sweep.triples = 150;
    struct sweep_counts counts = {0};
    enum exit_code code = look_around(&sweep);
    if (code == EXIT_VERIFIED && sweep.flight)
        code = sweep_flight(&sweep, &counts);
    else if (code == EXIT_VERIFIED)
        code = sweep.random   ? sweep_random(&sweep, &counts)
               : sweep.repeat ? sweep_repeat(&sweep, &counts)
                              : sweep_edges(&sweep, &counts);
    return streams_end(counts.hazards ? EXIT_HAZARD : counts.failures ? EXIT_WRONG : code);
}
