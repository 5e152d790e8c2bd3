/*
 * timeline_chapters.c: in the simulated timelines of the chapters one can see what each chapter is
 * about, and here it is asserted in numbers. The trace of all of them goes to the file named on the
 * command line.
 *
 * 768 x 1536 x 512 on 4 SMs: 8 k-tiles per output tile; 18 output tiles of 128 x 128 per SM, 12 of
 * 128 x 192, 9 of 128 x 256. In simulated cycles. The limits leave room for other constants of the
 * timing model, not for another behaviour.
 */
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "harness/experiment.h"
#include "sim/core/simulation.h"
#include "tests/support/expect.h"
#include "tests/support/find_kernel.h"
#include "timeline/model.h"

enum { M = 768, N = 1536, K = 512, BK = 64, K_TILES = K / BK, SMS = 4 };
enum { IDEAL = 512 }; /* cycles of 128 x 128 x 64 on the Tensor Core; of 128 x 256, twice as many */

static struct gemm_problem problem;

/* Runs the kernel; its timeline is the last of the list. */
static const struct timeline *record(const char *name, const char *variant,
                                     struct timeline_figures *figures) {
    const struct gemm_kernel *kernel = find_kernel(name, variant);
    EXPECT(kernel, "there is no %s %s", name, variant);
    if (!kernel) exit(1);
    const struct contender contender = contender_of_kernel(kernel);
    double cycles = -1;
    const int before = timeline_count();
    const enum run_status status = backend_run(&contender, &problem, &cycles);
    EXPECT(status == RUN_OK && cycles > 0, "%s: status %d, %g cycles", name, status, cycles);
    EXPECT(timeline_count() == before + 1, "%s left no timeline", name);
    const struct timeline *timeline = timeline_list;
    while (timeline && timeline->next)
        timeline = timeline->next;
    if (!timeline || !timeline->ctas) exit(1);
    *figures = timeline_figures(before);
    printf("%-22s %-8s a k-tile every %5.0f, busy %.2f, prologue %5.0f, in flight %.1f, fragments "
           "under mma %.2f, epilogue under mma %.2f\n",
           name, variant, figures->k_tile_period, figures->tensor_core_busy, figures->prologue,
           figures->loads_in_flight, figures->fragment_overlap, figures->epilogue_overlap);
    return timeline;
}

static int first_cta(const struct timeline *timeline) { return timeline->cta[0].cta; }

static const struct track *track_of(const struct timeline *timeline, enum track_kind kind,
                                    int role) {
    static const struct track none;
    const struct track *track = timeline_find_track(timeline, first_cta(timeline), kind, role);
    EXPECT(track, "%s has no track of kind %d, role %d", timeline->name, kind, role);
    return track ? track : &none;
}

/* Cycles of spans of this kind in the first CTA, and how many of them `under` covers. */
struct cover {
    double length, covered;
    int spans;
};

static struct cover cover_of(const struct timeline *timeline, enum span_kind kind,
                             const struct track *under) {
    struct cover cover = {0, 0, 0};
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        if (track->cta != first_cta(timeline)) continue;
        for (int j = 0; j < track->count; ++j) {
            if (track->at[j].kind != kind) continue;
            ++cover.spans;
            cover.length += (double)(track->at[j].end - track->at[j].begin);
            cover.covered += (double)timeline_covered(under, track->at[j].begin, track->at[j].end);
        }
    }
    return cover;
}

/* When the first multiplication of k-tile i of the CTA's first output tile begins, and when its
 * last one ends. */
struct k_tiles {
    int64_t begin[K_TILES], end[K_TILES];
};

static struct k_tiles k_tiles_of(const struct timeline *timeline, int role) {
    const struct track *track = track_of(timeline, TRACK_MMA, role);
    struct k_tiles k = {{0}, {0}};
    for (int i = 0; i < K_TILES; ++i)
        k.begin[i] = -1;
    for (int i = 0; i < track->count; ++i) {
        const struct span *span = &track->at[i];
        if (span->tile != track->at[0].tile || span->k_tile < 0 || span->k_tile >= K_TILES)
            continue;
        if (k.begin[span->k_tile] < 0) k.begin[span->k_tile] = span->begin;
        k.end[span->k_tile] = span->end;
    }
    for (int i = 0; i < K_TILES; ++i)
        EXPECT(k.begin[i] >= 0, "%s: k-tile %d is not multiplied", timeline->name, i);
    return k;
}

static double multiplying(const struct track *track) {
    double length = 0;
    for (int i = 0; i < track->count; ++i)
        length += (double)(track->at[i].end - track->at[i].begin);
    return length;
}

static int by_value(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The gaps between the multiplications of a k-tile and those of the next: smallest and median. */
struct gaps {
    int64_t least, median;
};

static struct gaps gaps_of(const struct timeline *timeline, int role) {
    const struct k_tiles k = k_tiles_of(timeline, role);
    int64_t gap[K_TILES - 1];
    for (int i = 0; i + 1 < K_TILES; ++i)
        gap[i] = k.begin[i + 1] - k.end[i];
    qsort(gap, K_TILES - 1, sizeof *gap, by_value);
    return (struct gaps){gap[0], gap[(K_TILES - 1) / 2]};
}

/* ---- the chapters ---- */

static double test_01(void) {
    struct timeline_figures figures;
    const struct timeline *timeline = record("01_naive", "", &figures);
    const struct track *threads = track_of(timeline, TRACK_ROLE, TRACE_THREADS);
    EXPECT(threads->count > 0 && threads->at[0].kind == SPAN_FMA, "%d spans", threads->count);
    EXPECT(!cover_of(timeline, SPAN_MMA, NULL).spans, "the Tensor Core is used");
    return timeline->cycles;
}

/* Load, then multiply, and so on: the loads of a CTA never overlap its multiplications, so there is
 * a bubble in every k-tile. */
static double test_02(void) {
    struct timeline_figures figures;
    const struct timeline *timeline = record("02_smem_tiled", "", &figures);
    const struct track *multiply = track_of(timeline, TRACK_MMA, TRACE_THREADS);
    const struct cover loads = cover_of(timeline, SPAN_LOAD, multiply);
    EXPECT(loads.spans >= K_TILES && loads.covered == 0, "%g of %g cycles of loading under mma",
           loads.covered, loads.length);
    const struct gaps gaps = gaps_of(timeline, TRACE_THREADS);
    EXPECT(gaps.least > IDEAL, "a gap of only %lld cycles between k-tiles", (long long)gaps.least);
    EXPECT(figures.tensor_core_busy < 0.6, "busy %.2f", figures.tensor_core_busy);
    return timeline->cycles;
}

/* The prologue: all loads but one stage's are issued before the first multiplication, and from then
 * on loads fly under multiplications. */
static double test_03(void) {
    struct timeline_figures figures;
    const struct timeline *timeline = record("03_cp_async_multistage", "", &figures);
    const struct track *multiply = track_of(timeline, TRACK_MMA, TRACE_THREADS);
    const int64_t first = k_tiles_of(timeline, TRACE_THREADS).begin[0];
    int early = 0;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        if (track->cta != first_cta(timeline) || track->kind != TRACK_SLOT) continue;
        for (int j = 0; j < track->count; ++j)
            early += track->at[j].kind == SPAN_LOAD && track->at[j].begin < first;
    }
    EXPECT(early >= timeline->stages - 1, "%d loads before the first multiplication", early);
    const struct cover loads = cover_of(timeline, SPAN_LOAD, multiply);
    EXPECT(loads.covered > 0.5 * loads.length, "%g of %g cycles of loading under mma",
           loads.covered, loads.length);
    const struct cover fragments = cover_of(timeline, SPAN_FRAGMENTS, multiply);
    EXPECT(fragments.covered < 0.2 * multiplying(multiply), "%g of %g cycles of mma load fragments",
           fragments.covered, multiplying(multiply));
    EXPECT(figures.tensor_core_busy > 0.8, "busy %.2f", figures.tensor_core_busy);
    return timeline->cycles;
}

/* Fragments for the next step are on their way while this one multiplies, in 03 hardly any. */
static double test_04(void) {
    struct timeline_figures figures;
    const struct timeline *timeline = record("04_rf_double_buffer", "", &figures);
    const struct track *multiply = track_of(timeline, TRACK_MMA, TRACE_THREADS);
    const struct cover fragments = cover_of(timeline, SPAN_FRAGMENTS, multiply);
    EXPECT(fragments.covered > 0.6 * multiplying(multiply), "%g of %g cycles of mma load fragments",
           fragments.covered, multiplying(multiply));
    return timeline->cycles;
}

/* Each phase of a full barrier sees all bytes of a k-tile arrive, and no thread waits for anything
 * else. */
static double test_05(void) {
    struct timeline_figures figures;
    const struct timeline *timeline = record("05_tma_mbarrier", "", &figures);
    enum { PLACES = 64 };
    int64_t bytes[PLACES] = {0};
    uint32_t offset[PLACES];
    int places = 0, flips = 0;
    for (int i = 0; i < timeline->barriers; ++i) {
        const struct barrier_event *e = &timeline->barrier[i];
        if (e->cta != first_cta(timeline)) continue;
        int at = 0;
        while (at < places && offset[at] != e->offset)
            ++at;
        if (at == PLACES) break;
        if (at == places) offset[places++] = e->offset;
        if (e->kind == BARRIER_COMPLETE_TX) bytes[at] += e->amount;
        if (e->kind != BARRIER_FLIP) continue;
        EXPECT(bytes[at] == (128 + 128) * BK * 2, "a phase with %lld bytes", (long long)bytes[at]);
        bytes[at] = 0;
        ++flips;
    }
    EXPECT(places == timeline->stages && flips == K_TILES, "%d barriers, %d phases", places, flips);
    const struct cover loads = cover_of(timeline, SPAN_LOAD, NULL);
    EXPECT(loads.spans == K_TILES && loads.length > 300.0 * K_TILES, "%d loads of %g cycles",
           loads.spans, loads.length);
    return timeline->cycles;
}

/* With wait<0> the Tensor Core is idle between k-tiles, all of them; with wait<1> it is not. */
static double test_06(void) {
    struct timeline_figures waiting, figures;
    const struct timeline *timeline = record("06_wgmma", "wait0", &waiting);
    const struct gaps with = gaps_of(timeline, TRACE_THREADS);
    timeline = record("06_wgmma", "", &figures);
    const struct gaps without = gaps_of(timeline, TRACE_THREADS);
    EXPECT(with.least >= 100, "wait<0>: a gap of only %lld cycles", (long long)with.least);
    EXPECT(4 * without.median < with.median, "gaps of %lld cycles with wait<1>, %lld with wait<0>",
           (long long)without.median, (long long)with.median);
    EXPECT(figures.k_tile_period < 0.8 * waiting.k_tile_period, "periods of %g and %g cycles",
           figures.k_tile_period, waiting.k_tile_period);
    EXPECT(figures.tensor_core_busy > waiting.tensor_core_busy + 0.15, "busy %.2f and %.2f",
           figures.tensor_core_busy, waiting.tensor_core_busy);
    return timeline->cycles;
}

/* The loads are a role's of its own, which runs ahead of the consumers by most of the ring; the two
 * consumers share the Tensor Core, which is never idle. */
static double test_07(void) {
    struct timeline_figures figures;
    const struct timeline *timeline = record("07_warp_specialized", "", &figures);
    const struct k_tiles consumer = k_tiles_of(timeline, TRACE_CONSUMER_0);
    k_tiles_of(timeline, TRACE_CONSUMER_1);
    const int ahead = timeline->stages - 2;
    int loads = 0;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        if (track->cta != first_cta(timeline) || track->kind != TRACK_SLOT) continue;
        for (int j = 0; j < track->count; ++j) {
            const struct span *span = &track->at[j];
            if (span->kind != SPAN_LOAD) continue;
            ++loads;
            EXPECT(span->role == TRACE_PRODUCER, "k-tile %d is loaded by role %d", span->k_tile,
                   span->role);
            if (span->k_tile >= ahead)
                EXPECT(span->begin < consumer.end[span->k_tile - ahead] + 2 * IDEAL,
                       "k-tile %d is asked for only when %d is over", span->k_tile,
                       span->k_tile - ahead);
        }
    }
    EXPECT(loads == K_TILES, "%d loads", loads);
    const struct track *producer = track_of(timeline, TRACK_ROLE, TRACE_PRODUCER);
    for (int i = 0; i < producer->count; ++i)
        EXPECT(producer->at[i].kind == SPAN_ACQUIRE, "the producer does span kind %d",
               producer->at[i].kind);
    EXPECT(figures.tensor_core_busy > 0.95, "busy %.2f", figures.tensor_core_busy);
    EXPECT(figures.epilogue_overlap < 0.3, "epilogue under mma: %.2f", figures.epilogue_overlap);
    return timeline->cycles;
}

/* Two warpgroups, each multiplying and the first loading as well. */
static double test_two_warpgroups(void) {
    struct timeline_figures figures;
    const struct timeline *timeline = record("06_wgmma", "two_warpgroups", &figures);
    k_tiles_of(timeline, TRACE_CONSUMER_0);
    k_tiles_of(timeline, TRACE_CONSUMER_1);
    EXPECT(!timeline_find_track(timeline, first_cta(timeline), TRACK_ROLE, TRACE_PRODUCER),
           "there is a producer");
    EXPECT(figures.tensor_core_busy > 0.95, "busy %.2f", figures.tensor_core_busy);
    return timeline->cycles;
}

/* The loads of the next tile are on their way before this tile's epilogue is over. */
static double test_persistent(void) {
    struct timeline_figures figures;
    const struct timeline *timeline = record("08_persistent_pingpong", "persistent", &figures);
    const struct track *consumer = track_of(timeline, TRACK_ROLE, TRACE_CONSUMER_0);
    int epilogues = 0, early = 0;
    for (int i = 0; i < consumer->count; ++i) {
        const struct span *epilogue = &consumer->at[i];
        if (epilogue->kind != SPAN_EPILOGUE) continue;
        ++epilogues;
        for (int t = 0; t < timeline->tracks; ++t) {
            const struct track *track = &timeline->track[t];
            if (track->cta != first_cta(timeline) || track->kind != TRACK_SLOT) continue;
            for (int j = 0; j < track->count; ++j)
                early += track->at[j].kind == SPAN_LOAD && track->at[j].k_tile == 0 &&
                         track->at[j].tile > epilogue->tile && track->at[j].begin < epilogue->begin;
        }
    }
    EXPECT(epilogues == 9 && early >= 8, "%d epilogues, %d loads ahead", epilogues, early);
    return timeline->cycles;
}

/* The epilogue of one consumer runs under the main loop of the other. */
static double test_08(void) {
    struct timeline_figures figures;
    const struct timeline *timeline = record("08_persistent_pingpong", "", &figures);
    const struct track *second = track_of(timeline, TRACK_MMA, TRACE_CONSUMER_1);
    const struct track *first = track_of(timeline, TRACK_ROLE, TRACE_CONSUMER_0);
    int64_t begin = -1, end = -1;
    for (int i = 0; i < first->count && begin < 0; ++i)
        if (first->at[i].kind == SPAN_EPILOGUE) begin = first->at[i].begin, end = first->at[i].end;
    EXPECT(begin >= 0, "consumer 0 has no epilogue");
    const int64_t hidden = timeline_covered(second, begin, end);
    EXPECT(2 * hidden > end - begin, "%lld of %lld cycles of the first epilogue are hidden",
           (long long)hidden, (long long)(end - begin));
    EXPECT(figures.tensor_core_busy > 0.88, "busy %.2f, changes of tiles included",
           figures.tensor_core_busy);
    return timeline->cycles;
}

/* Loads are multicast, and a stage of one CTA is released by consumers of both. */
static double test_09(void) {
    struct timeline_figures figures;
    const struct timeline *timeline = record("09_cluster_multicast", "", &figures);
    const int cta = first_cta(timeline);
    const struct cover multicast = cover_of(timeline, SPAN_MULTICAST, NULL);
    EXPECT(timeline->cluster == 2, "a cluster of %d", timeline->cluster);
    EXPECT(multicast.spans >= K_TILES && !cover_of(timeline, SPAN_LOAD, NULL).spans,
           "%d multicast loads", multicast.spans);
    int own = 0, peer = 0;
    for (int i = 0; i < timeline->barriers; ++i) {
        const struct barrier_event *e = &timeline->barrier[i];
        if (e->kind != BARRIER_ARRIVE || e->cta != cta) continue;
        own += e->by_cta == cta;
        peer += e->by_cta != cta;
    }
    EXPECT(peer >= 8 * K_TILES && own >= peer, "%d arrivals of its own, %d of its peer", own, peer);
    EXPECT(figures.tensor_core_busy > 0.9, "busy %.2f", figures.tensor_core_busy);
    return timeline->cycles;
}

int main(int argc, char **argv) {
    /* `room`: the simulated cycles that it may take, beside those of `after`. */
    static const struct {
        const char *name;
        double (*test)(void);
        int after;
        double room;
    } steps[] = {{"01", test_01, 0, 1},
                 {"02", test_02, 0, 1},
                 {"03", test_03, 1, 1},
                 {"04", test_04, 2, 1},
                 {"05", test_05, 3, 1},
                 {"06", test_06, 4, 1},
                 {"06, two warpgroups", test_two_warpgroups, 5, 1},
                 {"07", test_07, 6, 1.02}, /* specialization by itself: a draw */
                 {"08, persistent", test_persistent, 7, 1},
                 {"08", test_08, 8, 1},
                 {"09", test_09, 8, 1.005}}; /* what multicast saves is not time */
    enum { STEPS = sizeof steps / sizeof *steps };
    const struct backend_options options = {.type = GEMM_BF16, .trace = true};
    sim_configure(SMS, SCHEDULE_TIME, 1);
    struct backend_info info;
    if (argc != 2 || backend_open(&options, &info)) return 2;
    problem = (struct gemm_problem){.m = M, .n = N, .k = K, .lda = K, .ldb = K, .ldd = N};
    element_t *a = backend_alloc(sizeof *a * M * K, "A", false);
    element_t *b = backend_alloc(sizeof *b * N * K, "B", false);
    problem.d = backend_alloc(sizeof *problem.d * M * N, "D", true);
    problem.tile_counter = backend_alloc(64 * sizeof(uint32_t), "tile counter", true);
    if (!a || !b || !problem.d || !problem.tile_counter) return 2;
    backend_fill(a, 0, (size_t)M * K);
    backend_fill(b, 0, (size_t)N * K);
    backend_fill(problem.tile_counter, 0, 64 * sizeof(uint32_t) / 2);
    problem.a = a;
    problem.b = b;
    double cycles[STEPS];
    for (int i = 0; i < STEPS; ++i) {
        cycles[i] = steps[i].test();
        const double limit = steps[i].room * cycles[steps[i].after];
        EXPECT(i == 0 || cycles[i] < limit, "%s takes %g cycles, %s took %g", steps[i].name,
               cycles[i], steps[steps[i].after].name, cycles[steps[i].after]);
    }
    EXPECT(timeline_write_trace(argv[1], TRACE_SMS), "%s was not written", argv[1]);
    timeline_free_all();
    backend_close();
    return expect_result();
}
