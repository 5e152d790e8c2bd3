/*
 * sweep.c: many sizes, inputs and schedules through the stages, in one process, by the harness's
 * own verification.
 *
 *     build/sim/sweep --stage 06_wgmma --triples 150 --schedule all --dtype both
 *     build/gpu/sweep --variant all --random 2000 --rotate 3
 *     build/gpu/sweep --variant all --repeat 1000 --size 1024x1152x640
 *
 * --triples draws m, n and k from sizes around the tiles' and fragments' edges, each stage for
 * itself; --long-k draws a k that goes around every ring at least twice, and enough rows and
 * columns for several tiles. --random sends every shape through all stages; three of five hold
 * integers, whose result has to be exact, and on the card cuBLAS is asked, too. With --rotate R the
 * chapters' own kernels compute every shape, and a variant every R-th. --repeat: as many
 * runs of one problem have to be bitwise identical. A failure prints the command that repeats it
 * alone.
 */
#include "sweep.h"

#include <stdio.h>
#include <string.h>

#include "harness/message.h"
#include "harness/output_file.h"

int sweep_draw(uint64_t *random, int count) {
    const int choice = (int)(*random % (uint64_t)count);
    *random /= (uint64_t)count;
    return choice;
}

bool sweep_selects(const struct sweep *sweep, const struct gemm_stage *stage) {
    if (sweep->stage && strcmp(sweep->stage, stage->name) != 0) return false;
    if (!sweep->variant) return !stage->variant;
    return !strcmp(sweep->variant, "all") ||
           (stage->variant && !strcmp(sweep->variant, stage->variant));
}

static void print_command(const struct gemm_stage *stage, const struct trial *t) {
    const bool card = backend_can_time();
    printf("    build/%s/%s%s%s --m %d --n %d --k %d --input %s --seed %llu --dtype %s",
           card ? "gpu" : "sim", stage->name, stage->variant ? " --variant " : "",
           stage->variant ? stage->variant : "", t->size.m, t->size.n, t->size.k,
           input_names[t->input], (unsigned long long)t->seed, type_names[t->backend.type]);
    if (card)
        printf(" --timing none\n");
    else
        printf(" --sms %d --schedule %s --schedule-seed %llu\n", t->backend.sms,
               schedule_names[t->backend.schedule], (unsigned long long)t->backend.schedule_seed);
    fflush(stdout);
}

void sweep_count(struct sweep_counts *counts, const struct gemm_stage *stage,
                 const struct trial *trial, enum exit_code code) {
    ++counts->runs;
    if (code == EXIT_VERIFIED) return;
    progress_clear();
    print_command(stage, trial);
    ++*(code == EXIT_HAZARD ? &counts->hazards : &counts->failures);
}

static bool read_count(const char *text, int *count) {
    uint64_t whole;
    if (!parse_whole(text, 1, 100000000, &whole)) return false;
    *count = (int)whole;
    return true;
}

static bool read_option(struct sweep *sweep, const char *name, const char *value) {
    if (!strcmp(name, "--stage"))
        sweep->stage = strcmp(value, "all") ? value : NULL;
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
    else if (!strcmp(name, "--largest"))
        return read_count(value, &sweep->largest) && sweep->largest <= 100000;
    else if (!strcmp(name, "--size"))
        return parse_extents(value, &sweep->size.m, &sweep->size.n, &sweep->size.k);
    else if (!strcmp(name, "--sms"))
        return read_count(value, &sweep->sms) && sweep->sms <= 1024;
    else if (!strcmp(name, "--schedule")) {
        sweep->schedule = find_name(value, schedule_names, 4);
        return sweep->schedule >= 0 || !strcmp(value, "all");
    } else if (!strcmp(name, "--dtype")) {
        sweep->type = find_name(value, type_names, 2);
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
            complain("%s: not an option, or not with this value\nusage: %s [--stage NAME|all] "
                     "[--variant NAME|all] [--seed S] [--dtype fp16|bf16|both] [--sms N] "
                     "[--schedule time|early|late|random|all]\n"
                     "  [--triples N [--long-k] | --random N [--largest EXTENT] [--rotate R] | "
                     "--repeat N "
                     "[--size MxNxK] [--may-differ STAGE]]",
                     argv[i], message_program());
            return EXIT_USAGE;
        }
        ++i;
    }
    if ((sweep.triples > 0) + (sweep.random > 0) + (sweep.repeat > 0) > 1) {
        complain("--triples, --random, --repeat: choose one");
        return EXIT_USAGE;
    }
    if (!sweep.random && !sweep.repeat && !sweep.triples) sweep.triples = 150;
    int stages = 0;
    for (int i = 0; i < stage_registry_count; ++i)
        stages += sweep_selects(&sweep, stage_registry[i].bf16);
    if (stages == 0) {
        complain("no such stage or variant: %s %s", sweep.stage ? sweep.stage : "all",
                 sweep.variant ? sweep.variant : "");
        return EXIT_USAGE;
    }
    struct sweep_counts counts = {0};
    const enum exit_code code = sweep.random   ? sweep_random(&sweep, &counts)
                                : sweep.repeat ? sweep_repeat(&sweep, &counts)
                                               : sweep_edges(&sweep, &counts);
    return streams_end(counts.hazards ? EXIT_HAZARD : counts.failures ? EXIT_WRONG : code);
}
