#include "harness/help.h"

#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "harness/experiment.h"
#include "harness/message.h"
#include "harness/options.h"
#include "harness/problem_kind.h"
#include "harness/registry.h"

/* A line for what is not as usual: other than both 16-bit types, more than one GPU. It begins under
 * the technique. */
static void print_needs(const struct kernel_entry *entry, int width) {
    char types[32];
    const bool usual = entry->of_type[GEMM_FP16] && entry->of_type[GEMM_BF16] &&
                       !entry->of_type[GEMM_E4M3] && !entry->of_type[GEMM_W4A8];
    if (usual && entry->gpus == 1) return;
    printf("%*s", width + 3, "");
    if (!usual) printf("%s only%s", type_list(entry->of_type, types), entry->gpus > 1 ? "; " : "");
    if (entry->gpus > 1) printf("needs %d GPUs", entry->gpus);
    putchar('\n');
}

/* What an entry is called here: a chapter or chapter:variant in the tour, a variant elsewhere. */
static const char *listed_name(const struct gemm_kernel *kernel, char *text, size_t size) {
    if (program_is_tour) return kernel_label(kernel, text, size);
    return kernel->variant ? kernel->variant : kernel->name;
}

/* The steps of the tour, or a chapter's own kernel and all its variants. */
static void print_kernels(void) {
    char text[96];
    int width = 22;
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *kernel = kernel_of_any_type(&kernel_registry[i]);
        const int length = (int)strlen(listed_name(kernel, text, sizeof text));
        if ((kernel_registry[i].step || !program_is_tour) && length > width) width = length;
    }
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *kernel = kernel_of_any_type(&kernel_registry[i]);
        if (program_is_tour && !kernel_registry[i].step) continue;
        printf("  %-*s %s\n", width, listed_name(kernel, text, sizeof text), kernel->technique);
        print_needs(&kernel_registry[i], width);
    }
}

static const char *types_there_are(void) {
    static char text[96];
    char types[32];
    if (program_types(types) == 1)
        snprintf(text, sizeof text, "%s, the only one", types);
    else
        snprintf(text, sizeof text, "%s (default %s)", types, type_names[default_type()]);
    return text;
}

/* The options of the backend or of a kind of problem; further lines of a text begin under its
 * first. */
static void print_settings(const struct backend_setting *settings, int count) {
    for (int i = 0; i < count; ++i) {
        const struct backend_setting *setting = &settings[i];
        char option[64];
        snprintf(option, sizeof option, "%s %s", setting->option, setting->argument);
        printf("  %-22s", option);
        for (const char *c = setting->help; *c; ++c)
            if (*c == '\n')
                printf("\n%24s", "");
            else
                putchar(*c);
        putchar('\n');
    }
}

/* For programs with a kernel that may be launched early. */
static void print_launch(void) {
    for (int i = 0; i < kernel_registry_count; ++i) {
        if (kernel_of_any_type(&kernel_registry[i])->earliest == GEMM_IN_ORDER) continue;
        printf("  --launch WHEN         order (default); early: while the kernel ahead still runs\n"
               "                        early-b: the same, and B is complete\n");
        return;
    }
}

static void print_problem_options(void) {
    int m, n, k;
    default_extents(&m, &n, &k);
    const struct problem_kind *const kind = kind_of_program();
    printf(
        "The problem: %s, A is m x k, B is n x k (both contiguous along k), D is m x n.\n"
        "  --m M  --n N  --k K   its extents, each from 1 to 2000000000\n"
        "                        (default %d %d %d)\n"
        "  --size S              all three; a later option wins\n"
        "  --dtype TYPE          %s; sums are fp32\n"
        "  --input KIND          uniform in [-1, 1] (default), normal, zeros; integer: whole\n"
        "                        numbers so small that D must be exact; outliers: normal, with\n"
        "                        tiny rows, and large ones in A\n"
        "  --seed SEED           of the input (default 1)\n"
        "  --pitches WHICH       least (default): the columns, and what alignment needs; drawn:\n"
        "                        more, and not the same of A and B%s\n",
        kind->formula, m, n, k, types_there_are(),
        backend_can_time() ? ""
                           : "; far: more\n"
                             "                        elements than 32 bits count");
    printf("  --padding WHAT        around the operands: nan (default), or finite, a number far\n"
           "                        above theirs, for what drops a NaN\n");
    for (int i = 0; i < kernel_registry_count; ++i) {
        if (kernel_registry[i].gpus == 1) continue;
        printf("  --gpus N              that work together (default %d)\n",
               kernel_registry[i].gpus);
        break;
    }
    print_settings(kind->options, kind->option_count);
    putchar('\n');
}

static void print_run_options(void) {
    if (!backend_can_time())
        printf("%s:\n", backend_settings_heading);
    else
        printf(
            "Timing:\n"
            "  --timing MODE         burst (default): after a pause, a few milliseconds of work;\n"
            "                        sustained: seconds of load; both; none\n"
            "  --iters N             rounds of each mode (default: chosen for a short run)\n"
            "  --csv FILE            raw samples\n");
    print_settings(backend_settings, backend_setting_count);
    print_launch();
    if (!backend_can_time())
        printf("  --timing none         the only choice: there are cycles, not times\n");
    putchar('\n');
    printf("Which kernels, and what comes out:\n");
    if (program_is_tour)
        printf("  --chapters LIST       chapters, such as 3,7-9 (default: 1-9)\n");
    else
        printf("  --variant NAME        a variant below instead of the chapter's own kernel\n");
    if (!program_is_tour && !backend_can_time())
        printf("  --explain SUBJECT     mbarrier: the life of the first mbarrier in this run, step "
               "by\n"
               "                        step; mbarrier:2: that of the third\n");
    if (!program_is_tour && !backend_can_time())
        printf("  --check               about 200 small runs instead of one: sizes, "
               "schedules and\n"
               "                        SM counts that catch every bug of the book, and random "
               "ones\n"
               "                        from --seed; stops at the first failure. Takes --variant,\n"
               "                        --dtype and --seed\n");
    printf("  --trace FILE          the timeline as Chrome trace JSON, for ui.perfetto.dev\n"
           "  --trace-sms N         of the first N SMs (default: 4)\n"
           "  --report DIR          a page with results and timelines, DIR/index.html,\n"
           "                        and the timelines as figures\n"
           "  --json                one JSON object per kernel on stdout instead of the table\n"
           "  --help                this text\n\n");
}

void print_help(void) {
    printf("usage: %s [options]\n\n", message_program());
    if (program_is_tour)
        printf("Runs the chapters' kernels side by side%s and verifies each.\n\n",
               backend_can_time() ? "" : " in the simulator");
    else
        printf("Runs and verifies one kernel%s.\n\n",
               backend_can_time() ? "" : " in the simulator");
    print_problem_options();
    print_run_options();
    printf(program_is_tour ? "Chapters and the steps in between:\n"
                           : "The kernel and its variants:\n");
    print_kernels();
    printf("\nExit code: 0 verified; 1 a wrong result, or a launch failed; 2 bad usage, a kernel "
           "that does\n"
           "not compile, or output that could not be written; 3 no usable device or not enough "
           "memory;\n"
           "4 the simulator found a hazard, a deadlock, or no end. The tour ends with the worst of "
           "its\n"
           "chapters (4, then 1).\n");
}
