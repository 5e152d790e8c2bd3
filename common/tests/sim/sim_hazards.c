/*
 * sim_hazards.c: how many reports a run makes, and their order: those of one cause, the same
 * earlier access, stand together.
 */
#include "tests/sim/sim_kernels.h"

#include "hopper/atomics.h"
#include "sim/settings.h"
#include "tests/support/capture.h"

/* Reports name lines: what belongs to one report stays on one. */
// clang-format off

struct smem {
    uint32_t word[4];
};

enum { FIRST = __LINE__ + 4, SECOND, READS = FIRST + 5 };
KERNEL(64, 1) six_races(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        st_shared_b32(&shared->word[0], 1);
        st_shared_b32(&shared->word[1], 1);
        atomic_add_relaxed(args.tile_counter, 1, SCOPE_GPU);
    } else if (threadIdx.x == 32) {
        while (atomic_add_relaxed(args.tile_counter, 0, SCOPE_GPU) == 0) {}
        (void)ld_shared_b32(&shared->word[0]);
        (void)ld_shared_b32(&shared->word[1]);
        (void)ld_shared_b32(&shared->word[0]);
        (void)ld_shared_b32(&shared->word[1]);
        (void)ld_shared_b32(&shared->word[0]);
        (void)ld_shared_b32(&shared->word[1]);
    }
}

// clang-format on

/* The lines of the reports, in their order; 0 after the last. */
static void expect(uint64_t shown, const int *reads, const char *rest) {
    static const struct test_launch launch = {six_races, 1, 1, 64, 4096};
    backend_settings[SETTING_HAZARDS].value = shown;
    test_open(SCHEDULE_EARLY, 1, 4);
    backend_hold_reports();
    (void)test_run(&launch, NULL);
    int count = 0;
    for (; reads[count]; ++count) {
        const char *const report = backend_report(count);
        char begin[96];
        snprintf(begin, sizeof begin,
                 "hazard: data-race: sim/sim_hazards.c:%d: ", READS + reads[count] - 1);
        EXPECT(report && strstr(report, begin) == report, "%d shown, report %d: not %s but %s",
               (int)shown, count, begin, report ? report : "none");
        snprintf(begin, sizeof begin, "issued at sim/sim_hazards.c:%d ",
                 reads[count] % 2 ? FIRST : SECOND);
        EXPECT(report && strstr(report, begin), "%d shown, report %d lacks \"%s\": %s", (int)shown,
               count, begin, report ? report : "none");
    }
    const char *const last = backend_report(count);
    EXPECT(rest ? last && !strcmp(last, rest) : !last, "%d shown, at last: %s", (int)shown,
           last ? last : "nothing");
}

int main(void) {
    const int usually[] = {1, 3, 2, 4, 0}, five[] = {1, 3, 5, 2, 4, 0};
    const int all[] = {1, 3, 5, 2, 4, 6, 0};
    EXPECT(backend_settings[SETTING_HAZARDS].value == 4, "the default is %d",
           (int)backend_settings[SETTING_HAZARDS].value);
    expect(4, usually, "hazards at 2 more lines are not shown: --hazards all");
    expect(5, five, "hazards at 1 more line is not shown: --hazards all");
    expect(backend_settings[SETTING_HAZARDS].high, all, NULL);
    expect(6, all, NULL);
    backend_close();
    return expect_result();
}
