#include "harness/help.h"

#include <stdio.h>
#include <string.h>

#include "harness/backend.h"
#include "harness/message.h"
#include "harness/registry.h"

static void print_stages(void) {
    for (int i = 0; i < stage_registry_count; ++i) {
        const struct gemm_stage *stage = stage_registry[i].bf16;
        if (program_is_tour && stage->variant) continue;
        printf("  %-22s %s\n", !program_is_tour && stage->variant ? stage->variant : stage->name,
               stage->technique);
    }
}

static void print_problem_options(void) {
    const int size = backend_can_time() ? 8192 : 512;
    printf(
        "The problem: D = A * B, A is m x k, B is n x k (both contiguous along k), D is m x n.\n"
        "  --m M  --n N  --k K   its extents, each from 1 to 2000000000 (default %d)\n"
        "  --size S              all three; a later option wins\n"
        "  --dtype TYPE          fp16 or bf16 (default bf16); sums are fp32\n"
        "  --input KIND          uniform in [-1, 1] (default), normal, zeros, or integer: whole\n"
        "                        numbers so small that D must be exact\n"
        "  --seed SEED           of the input (default 1)\n\n",
        size);
}

static void print_run_options(void) {
    if (backend_can_time())
        printf(
            "Timing:\n"
            "  --timing MODE         burst (default): after a pause, a few milliseconds of work;\n"
            "                        sustained: seconds of load; both; none\n"
            "  --iters N             rounds of each mode (default: chosen for a short run)\n"
            "  --csv FILE            raw samples\n\n");
    else
        printf(
            "The simulator:\n"
            "  --sms N               SMs (default 4)\n"
            "  --schedule ORDER      time (default): by the timing model, gives simulated cycles;\n"
            "                        early, late, random: every asynchronous effect as early, as\n"
            "                        late, or at any moment that the rules allow\n"
            "  --schedule-seed SEED  of random (default 1)\n"
            "  --timing none         the only choice: it has cycles, not times\n\n");
    printf("Which kernels, and what comes out:\n");
    if (program_is_tour)
        printf("  --stages LIST         chapters, such as 3,7-9 (default: all)\n");
    else
        printf("  --variant NAME        a variant below instead of the chapter's own kernel\n");
    if (!program_is_tour && !backend_can_time())
        printf("  --explain SUBJECT     mbarrier: the life of the first mbarrier in this run, step "
               "by\n"
               "                        step; mbarrier:2: that of the third\n");
    printf("  --trace FILE          the timeline as Chrome trace JSON, for ui.perfetto.dev\n"
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
    printf(program_is_tour ? "Chapters:\n" : "The kernel and its variants:\n");
    print_stages();
    printf("\nExit code: 0 verified; 1 a wrong result, or a launch failed; 2 bad usage, or output "
           "that\n"
           "could not be written; 3 no usable device or not enough memory; 4 the simulator found a "
           "hazard\n"
           "or a deadlock. The tour ends with the worst of its stages (4, then 1).\n");
}
