/*
 * promotion.c: where a kernel promotes its sums, each group of multiplications is followed
 * by its promotion, in a lane of its own; k-tiles are counted as such, however many groups and
 * promotions they take; and the stores show as an epilogue, even under multiplications.
 *
 * 512 x 1024 x 1024 on 4 SMs, 8 k-tiles of 128. In simulated cycles.
 */
#include "tests/timeline/promotion.h"

#include <stdlib.h>
#include <string.h>

#include "harness/experiment.h"
#include "sim/core/simulation.h"
#include "tests/support/expect.h"
#include "tests/support/find_kernel.h"
#include "timeline/model.h"

enum { K = 1024, K_TILES = K / 128, SMS = 4 };
enum { LAG = 128 }; /* cycles by which a thread's clock may be behind what it has just stored */
static const struct problem_size SIZE = {512, 1024, K};

/* Spans of one kind in a role's lane of the first CTA. `of[k]`: of k-tile k of the first output
 * tile. */
struct spans {
    int all, of[K_TILES];
    double length, covered; /* by the Tensor Core's work for this CTA and others */
};

static struct spans spans_of(const struct timeline *timeline, enum track_kind lane, int role,
                             enum span_kind kind) {
    struct spans spans = {0};
    const int cta = timeline->cta[0].cta;
    const struct track *track = timeline_find_track(timeline, cta, lane, role);
    const struct track *core = timeline_find_track(timeline, cta, TRACK_TENSOR_CORE, -1);
    for (int i = 0; track && i < track->count; ++i) {
        const struct span *span = &track->at[i];
        if (span->kind != kind) continue;
        ++spans.all;
        spans.length += (double)(span->end - span->begin);
        spans.covered += (double)timeline_covered(core, span->begin, span->end);
        if (span->tile != track->at[0].tile) continue;
        EXPECT(lane == TRACK_ROLE || (span->k_tile >= 0 && span->k_tile < K_TILES), "%s: k-tile %d",
               timeline->variant, span->k_tile);
        if (span->k_tile >= 0 && span->k_tile < K_TILES) ++spans.of[span->k_tile];
    }
    return spans;
}

static void test_groups(const struct story *story, const struct timeline *timeline, int role) {
    const struct track *multiply =
        timeline_find_track(timeline, timeline->cta[0].cta, TRACK_MMA, role);
    const struct track *promotion =
        timeline_find_track(timeline, timeline->cta[0].cta, TRACK_PROMOTION, role);
    EXPECT(multiply && promotion, "%s: a lane is missing", story->variant);
    if (!multiply || !promotion) return;
    EXPECT(promotion->count == multiply->count * story->promotions,
           "%s: %d promotions of %d groups", story->variant, promotion->count, multiply->count);
    for (int i = 0; i < promotion->count && i / story->promotions < multiply->count; ++i) {
        const struct span *sums = &multiply->at[i / story->promotions], *span = &promotion->at[i];
        EXPECT(span->k_tile == sums->k_tile && span->tile == sums->tile,
               "%s: promotion %d is of k-tile %d of tile %d, its sums of %d of %d", story->variant,
               i, span->k_tile, span->tile, sums->k_tile, sums->tile);
        EXPECT(span->begin > sums->begin && span->begin >= sums->end - LAG,
               "%s: promotion %d begins %lld cycles too early", story->variant, i,
               (long long)(sums->end - span->begin));
    }
}

static void test(const struct story *story, const struct timeline *timeline) {
    const int cta = timeline->cta[0].cta;
    double length = 0, covered = 0;
    for (int role = TRACE_CONSUMER_0; role <= TRACE_CONSUMER_1; ++role) {
        const struct spans multiply = spans_of(timeline, TRACK_MMA, role, SPAN_MMA);
        const struct spans promotion = spans_of(timeline, TRACK_PROMOTION, role, SPAN_PROMOTION);
        const struct spans issue = spans_of(timeline, TRACK_ROLE, role, SPAN_ISSUE);
        const struct spans epilogue = spans_of(timeline, TRACK_ROLE, role, SPAN_EPILOGUE);
        for (int k = 0; k < K_TILES; ++k) {
            EXPECT(multiply.of[k] == story->groups, "%s: k-tile %d has %d multiplications",
                   story->variant, k, multiply.of[k]);
            EXPECT(promotion.of[k] == story->groups * story->promotions,
                   "%s: k-tile %d has %d promotions", story->variant, k, promotion.of[k]);
        }
        test_groups(story, timeline, role);
        const int tiles = multiply.all / (K_TILES * story->groups);
        EXPECT(story->tiles ? tiles > 1 : tiles == 1, "%s: %d tiles", story->variant, tiles);
        EXPECT(epilogue.all >= tiles && epilogue.length > 100.0 * tiles,
               "%s: %d epilogues of %g cycles for %d tiles", story->variant, epilogue.all,
               epilogue.length, tiles);
        EXPECT(issue.all == multiply.all, "%s: %d times issued, %d multiplications", story->variant,
               issue.all, multiply.all);
        length += promotion.length;
        covered += promotion.covered;
    }
    EXPECT(!timeline_find_track(timeline, cta, TRACK_PROMOTION, TRACE_PRODUCER),
           "%s: the producer promotes", story->variant);
    printf("%-16s %-12s %.2f of the promotions under multiplications\n", story->name,
           story->variant, covered / length);
    EXPECT(!story->hides || covered > 0.8 * length, "%s: %g of %g cycles of promotion are hidden",
           story->variant, covered, length);
}

/* Runs the kernel and checks its timeline. */
static void test_kernel(const struct story *story) {
    const struct backend_options options = {.type = story->type, .trace = true};
    const struct gemm_kernel *kernel = find_kernel(story->name, story->variant);
    struct backend_info info;
    struct experiment experiment;
    struct kernel_result result;
    EXPECT(kernel, "there is no %s %s", story->name, story->variant);
    if (!kernel || backend_open(&options, &info) ||
        experiment_open(&experiment, &info, SIZE, story->type, INPUT_INTEGER, 1, &kernel, 1, false))
        exit(2);
    experiment_verify(&experiment, kernel, &result);
    EXPECT(result.code == EXIT_VERIFIED, "%s: code %d", story->variant, result.code);
    experiment_close(&experiment);
    if (timeline_list && timeline_list->ctas) test(story, timeline_list);
    timeline_free_all();
    backend_close();
}

int test_promotion(const struct story *stories, int count) {
    sim_configure(SMS, SCHEDULE_TIME, 1);
    for (int i = 0; i < count; ++i)
        test_kernel(&stories[i]);
    return expect_result();
}
