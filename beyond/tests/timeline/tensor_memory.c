/*
 * tensor_memory.c: the lanes of the sets of sums in tensor memory, of chapters 17 to 19: each set
 * is filled and read in turn, once for each output tile; no set is filled while it is read; and
 * where there are two, one is filled during most of the time in which the other is read.
 *
 * 512 x 768 x 384 on 2 SMs. In simulated cycles.
 */
#include <stdlib.h>
#include <string.h>

#include "harness/experiment.h"
#include "sim/core/simulation.h"
#include "tests/support/expect.h"
#include "tests/support/find_kernel.h"
#include "timeline/model.h"

enum { SMS = 2, M = 512, N = 768, K = 384, BM = 128, BN = 256, MOST_SETS = 2 };

/* The lanes of a CTA's sets. Returns how many there are. */
static int lanes_of(const struct timeline *timeline, int cta, const struct track **lane) {
    int sets = 0;
    for (int i = 0; i < timeline->tracks; ++i)
        if (timeline->track[i].cta == cta && timeline->track[i].kind == TRACK_SUMS &&
            sets < MOST_SETS)
            lane[sets++] = &timeline->track[i];
    return sets;
}

/* The cycles in which multiplications fill a set, of [begin, end). */
static int64_t filled(const struct track *lane, int64_t begin, int64_t end) {
    int64_t sum = 0;
    for (int i = 0; i < lane->count; ++i) {
        const struct span *const span = &lane->at[i];
        const int64_t from = span->begin > begin ? span->begin : begin;
        const int64_t to = span->end < end ? span->end : end;
        if (span->kind == SPAN_MMA && to > from) sum += to - from;
    }
    return sum;
}

static void test(const struct gemm_kernel *kernel, int sets, int *tiles) {
    const char *const name = kernel->variant ? kernel->variant : kernel->name;
    const struct timeline *const timeline = timeline_list;
    for (int c = 0; c < timeline->ctas; ++c) {
        const struct track *lane[MOST_SETS];
        const int found = lanes_of(timeline, timeline->cta[c].cta, lane);
        EXPECT(found == sets, "%s: %d sets, not %d", name, found, sets);
        int64_t read = 0, both = 0;
        for (int set = 0; set < found; ++set) {
            EXPECT(lane[set]->count % 2 == 0, "%s: a set is not read at the end", name);
            *tiles += lane[set]->count / 2;
            for (int i = 0; i < lane[set]->count; ++i) {
                const struct span *const span = &lane[set]->at[i];
                EXPECT(span->kind == (i % 2 ? SPAN_EPILOGUE : SPAN_MMA), "%s: set %d, span %d: %d",
                       name, set, i, span->kind);
                if (i % 2 == 0 || sets == 1 || i + 2 >= lane[set]->count) continue;
                read += span->end - span->begin;
                both += filled(lane[1 - set], span->begin, span->end);
            }
        }
        EXPECT(sets == 1 || 10 * both > 6 * read,
               "%s: of %lld cycles that read a set, %lld fill the other", name, (long long)read,
               (long long)both);
    }
}

static void run(const char *name, const char *variant, int sets) {
    const struct gemm_kernel *const kernel = find_kernel(name, variant);
    EXPECT(kernel, "there is no %s %s", name, variant);
    if (!kernel) return;
    const struct backend_options options = {
        .type = GEMM_BF16, .trace = true, .machine = kernel->machine};
    struct backend_info info;
    struct experiment experiment;
    struct kernel_result result;
    if (backend_open(&options, &info) ||
        experiment_open(&experiment, &info, (struct problem_size){M, N, K}, GEMM_BF16,
                        INPUT_INTEGER, 1, &(const struct gemm_kernel *){kernel}, 1, false))
        exit(2);
    experiment_verify(&experiment, kernel, &result);
    EXPECT(result.code == EXIT_VERIFIED, "%s: code %d", name, result.code);
    experiment_close(&experiment);
    int tiles = 0;
    if (timeline_list && timeline_list->ctas) test(kernel, sets, &tiles);
    EXPECT(tiles == M / BM * (N / BN), "%s: %d tiles of 128 x 256", name, tiles);
    timeline_free_all();
    backend_close();
}

int main(void) {
    sim_configure(SMS, SCHEDULE_TIME, 1);
    run("17_tcgen05", "", 2);
    run("17_tcgen05", "one_set", 1);
    run("18_cta_pair", "", 2);
    run("18_cta_pair", "one_set", 1);
    run("19_work_stealing", "", 2);
    return expect_result();
}
