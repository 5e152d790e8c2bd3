/* options.c: reading the command line. */
#include "command/options.h"

#include <stdlib.h>
#include <string.h>

void options_help(FILE *out) {
    fputs(
        "usage: hopper_check run KERNEL.ptx [OPTION...] [ARGUMENT...]\n"
        "       hopper_check list KERNEL.ptx\n"
        "       hopper_check instructions|summary\n"
        "\n"
        "run executes a kernel on the simulator and reports races and broken rules.\n"
        "list says which kernels there are, and what in them is not modelled.\n"
        "instructions prints which instructions are modelled, and how; summary their names alone.\n"
        "\n"
        "  --entry NAME             the kernel, if there are several\n"
        "  --grid X[,Y[,Z]]         CTAs (default 1)\n"
        "  --block X[,Y[,Z]]        threads of a CTA (default: what the kernel declares)\n"
        "  --cluster X[,Y[,Z]]      CTAs of a cluster (default: what the kernel declares)\n"
        "  --shared BYTES           dynamic shared memory (default 0)\n"
        "  --input NAME=SPEC        global memory that the kernel may only read\n"
        "  --buffer NAME=SPEC       global memory that it may write, too\n"
        "  --map NAME=BUFFER:BOX[:SWIZZLE[:EXTENTS:STRIDES]]   a tensor map\n"
        "  --write NAME=FILE.npy    what the buffer holds after the last run\n"
        "  --expect NAME=FILE.npy   what it has to hold after each\n"
        "  --schedule NAME          time, early, late, random or all (default all)\n"
        "  --seed N                 of random (default 1)\n"
        "  --sms N                  SMs (default 4)\n"
        "  --elect any              elect.sync takes the lane that the schedule says\n"
        "                           (default lowest)\n"
        "  --doubtful on|off        also the rules that are in doubt (default off)\n"
        "  --step-limit N           turns of threads before a launch counts as endless\n"
        "  --branch-limit N         branches in one turn of a thread, likewise\n"
        "  --json FILE              the findings, as JSON\n"
        "\n"
        "SPEC: TYPE:ROWSxCOLUMNS[:zeros], TYPE:ROWSxCOLUMNS:integers[:SEED] or TYPE:FILE.npy,\n"
        "TYPE one of f16 bf16 e4m3 f32 f64 i8 to u64.\n"
        "BOX, EXTENTS: AxBx..., in elements, the innermost dimension last; STRIDES: A,B,..., in\n"
        "elements, without the innermost, which is 1. Without EXTENTS: those of the buffer.\n"
        "A pointer to a map points to a copy of it in global memory.\n"
        "An argument for each parameter: a number, the name of a buffer or of a map, or of a\n"
        "struct {OFFSET=VALUE,...}, where a number has its type in front: 432=i32:200.\n"
        "\n"
        "Ends with 0: clean; 1: a buffer is not as expected, or the launch was refused;\n"
        "2: the command line or the PTX is wrong; 3: no memory; 4: findings; 5: no verdict,\n"
        "the kernel has an instruction that is not modelled.\n",
        out);
}

bool options_complain(const char *option, const char *value, const char *why) {
    fprintf(stderr, "hopper_check: %s%s%s: %s\n", option, value ? " " : "", value ? value : "",
            why);
    return false;
}

bool options_number(const char *option, const char *text, uint64_t least, uint64_t most,
                    uint64_t *out) {
    char *end;
    *out = strtoull(text, &end, 0);
    if (end == text || *end || *text == '-' || *out < least || *out > most)
        return options_complain(option, text, "is no number in its range");
    return true;
}

bool options_choice(const char *option, const char *text, const char *yes, const char *no,
                    bool *out) {
    *out = !strcmp(text, yes);
    if (*out || !strcmp(text, no)) return true;
    fprintf(stderr, "hopper_check: %s %s: is neither %s nor %s\n", option, text, yes, no);
    return false;
}

static bool parse_three(const char *option, const char *text, struct three *out) {
    enum { MOST = 1 << 24 };
    int used = 0;
    struct three v = {1, 1, 1};
    const int read = sscanf(text, "%d,%d,%d", &v.x, &v.y, &v.z);
    const int wanted[] = {0, 1, 2, 3};
    static const char *const formats[] = {"", "%*d%n", "%*d,%*d%n", "%*d,%*d,%*d%n"};
    if (read < 1) return options_complain(option, text, "expected X, X,Y or X,Y,Z");
    if (sscanf(text, formats[wanted[read]], &used) < 0 || text[used])
        return options_complain(option, text, "expected X, X,Y or X,Y,Z");
    if (v.x < 1 || v.y < 1 || v.z < 1 || (int64_t)v.x * v.y > MOST ||
        (int64_t)v.x * v.y * v.z > MOST)
        return options_complain(option, text, "out of range");
    *out = v;
    return true;
}

static bool parse_schedule(const char *text, struct options *o) {
    const bool all = !strcmp(text, "all");
    bool known = all;
    for (int i = 0; i < SIM_SCHEDULES; ++i) {
        o->schedule[i] = all || !strcmp(text, schedule_names[i]);
        known |= o->schedule[i];
    }
    return known ||
           options_complain("--schedule", text, "is none of time, early, late, random, all");
}

static bool parse_option(const char *name, const char *value, struct options *o) {
    uint64_t number = 0;
    if (!strcmp(name, "--entry")) return (o->entry = value) != NULL;
    if (!strcmp(name, "--json")) return (o->json = value) != NULL;
    if (!strcmp(name, "--grid")) return parse_three(name, value, &o->launch.grid);
    if (!strcmp(name, "--block")) return parse_three(name, value, &o->launch.block);
    if (!strcmp(name, "--cluster")) return parse_three(name, value, &o->launch.cluster);
    if (!strcmp(name, "--input")) return buffers_add(&o->buffers, value, false);
    if (!strcmp(name, "--buffer")) return buffers_add(&o->buffers, value, true);
    if (!strcmp(name, "--map")) return buffers_add_map(&o->buffers, value);
    if (!strcmp(name, "--write")) return buffers_add_file(&o->buffers, value, false);
    if (!strcmp(name, "--expect")) return buffers_add_file(&o->buffers, value, true);
    if (!strcmp(name, "--schedule")) return parse_schedule(value, o);
    if (!strcmp(name, "--seed")) return options_number(name, value, 0, UINT64_MAX, &o->seed);
    if (!strcmp(name, "--step-limit"))
        return options_number(name, value, 0, UINT64_MAX, &o->step_limit);
    if (!strcmp(name, "--branch-limit"))
        return options_number(name, value, 0, UINT64_MAX, &o->launch.branch_limit);
    if (!strcmp(name, "--shared")) {
        if (!options_number(name, value, 0, 227 << 10, &number)) return false;
        o->launch.dynamic_shared_bytes = (int)number;
        return true;
    }
    if (!strcmp(name, "--sms")) {
        if (!options_number(name, value, 0, MAX_SMS, &number)) return false;
        o->sms = (int)number;
        return number > 0 || options_complain(name, value, "there is at least one");
    }
    if (!strcmp(name, "--elect"))
        return options_choice(name, value, "any", "lowest", &o->launch.elect_any);
    if (!strcmp(name, "--doubtful")) return options_choice(name, value, "on", "off", &o->doubtful);
    return options_complain(name, NULL, "unknown option; --help lists them");
}

bool options_parse(int argc, char **argv, struct options *o) {
    memset(o, 0, sizeof *o);
    o->launch.grid = (struct three){1, 1, 1};
    o->launch.branch_limit = BRANCH_LIMIT;
    o->launch.parameters_at = sizeof(struct gemm_args);
    o->sms = 4;
    o->seed = 1;
    o->step_limit = STEP_LIMIT;
    parse_schedule("all", o);
    if (argc < 2) return options_complain("which program, or which command?", NULL, "--help");
    o->command = argv[1];
    int i = 2;
    if (strcmp(o->command, "instructions") != 0 && strcmp(o->command, "summary") != 0) {
        if (argc < 3) return options_complain(o->command, NULL, "which file of PTX?");
        o->ptx = argv[i++];
    }
    for (; i < argc && !strncmp(argv[i], "--", 2); i += 2) {
        if (i + 1 == argc) return options_complain(argv[i], NULL, "needs a value");
        if (!parse_option(argv[i], argv[i + 1], o)) return false;
    }
    o->argument = argv + i;
    o->arguments = argc - i;
    return true;
}
