/*
 * timeline_synthetic.c: nine plausible timelines without a kernel, for tests of what draws them.
 */
#include "tests/timeline/timeline_synthetic.h"

#include <stdio.h>
#include <stdlib.h>

#include "timeline/model.h"
#include "timeline/tracks.h"

enum {
    LOAD_LATENCY = 900,
    TMA_LATENCY = 700,
    TMA_CYCLES = 180,
    SYNC = 30,
    STORE_CYCLES = 700,
    TILES = 3,
    RING_MAX = 6
};

struct shape {
    const char *name, *technique;
    int tile_m, tile_n, stages, consumers, cluster;
    enum { SCALAR, SYNCHRONOUS, RING, SPECIALIZED, PINGPONG } how;
    int multiply;  /* cycles per k-tile */
    int fragments; /* cycles per k-tile; 0: none */
    bool tma, wgmma, overlap_fragments;
};

static const struct shape shapes[] = {
    {"01_naive", "one thread per element", 8, 32, 0, 0, 1, SCALAR, 0, 0, false, false, false},
    {"02_smem_tiled", "tiles in shared memory, mma.sync", 128, 128, 1, 0, 1, SYNCHRONOUS, 768, 240,
     false, false, false},
    {"03_cp_async_multistage", "a ring filled by cp.async", 128, 128, 4, 0, 1, RING, 768, 240,
     false, false, false},
    {"04_rf_double_buffer", "fragments loaded under the multiplications", 128, 128, 4, 0, 1, RING,
     768, 240, false, false, true},
    {"05_tma_mbarrier", "one thread asks the TMA", 128, 128, 4, 0, 1, RING, 768, 240, true, false,
     true},
    {"06_wgmma", "asynchronous wgmma", 128, 128, 4, 0, 1, RING, 512, 0, true, true, false},
    {"07_warp_specialized", "a producer and two consumers", 128, 256, 4, 2, 1, SPECIALIZED, 1024, 0,
     true, true, false},
    {"08_persistent_pingpong", "epilogue under the main loop", 128, 128, 4, 2, 1, PINGPONG, 512, 0,
     true, true, false},
    {"09_cluster_multicast", "loads shared by a cluster", 128, 256, 4, 2, 2, SPECIALIZED, 1024, 0,
     true, true, false},
};

struct synthesis {
    struct timeline *timeline;
    const struct shape *shape;
    int cta, k_tiles;
    uint64_t core_free, copy_free;
    /* per ring stage: when its bytes landed, when it was released, how often it was filled */
    uint64_t landed[RING_MAX], released[RING_MAX];
    int fills[RING_MAX];
};

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* A mark. TRACE_NONE with argument 1 opens and with 0 closes the role. */
static void mark(struct synthesis *synthesis, int role, int warp, uint64_t time, int event,
                 int argument) {
    struct marks *marks =
        &timeline_cta(synthesis->timeline, synthesis->cta, synthesis->cta)->role[role];
    if (event != TRACE_NONE) {
        timeline_add_mark(marks, (int64_t)time, event, argument);
    } else if (argument) {
        marks->warp = warp;
        marks->open = (int64_t)time;
    } else {
        marks->close = (int64_t)time;
        marks->closed = true;
    }
}

static void step(struct synthesis *synthesis, uint64_t time, int kind, uint32_t offset, int thread,
                 uint32_t amount, uint32_t phase, int pending, int expected, int tx) {
    timeline_barrier(synthesis->timeline,
                     &(struct barrier_event){.cycle = time,
                                             .kind = (uint8_t)kind,
                                             .cta = synthesis->cta,
                                             .offset = offset,
                                             .by_cta = synthesis->cta,
                                             .by_thread = thread,
                                             .amount = amount,
                                             .phase = phase,
                                             .pending = pending,
                                             .expected = expected,
                                             .tx = tx,
                                             .name = offset < 0x20040 ? "&shared->full[stage]"
                                                                      : "&shared->empty[stage]",
                                             .file = "kernel.cu",
                                             .line = 100 + kind});
}

static uint32_t full(int slot) { return 0x20000 + 8 * (uint32_t)slot; }

/* Fills a ring stage; returns when its bytes have landed. */
static uint64_t load(struct synthesis *synthesis, int role, int warp, uint64_t time, int slot,
                     int k_tile) {
    const struct shape *shape = synthesis->shape;
    const uint64_t latency = shape->tma ? TMA_LATENCY : LOAD_LATENCY;
    const uint32_t bytes = (uint32_t)(shape->tile_m + shape->tile_n) * 128,
                   phase = (uint32_t)synthesis->fills[slot]++;
    mark(synthesis, role, warp, time, shape->cluster > 1 ? TRACE_LOAD_MULTICAST : TRACE_LOAD,
         k_tile);
    synthesis->copy_free = later(synthesis->copy_free, time) + TMA_CYCLES;
    synthesis->landed[slot] = synthesis->copy_free + latency;
    timeline_busy(synthesis->timeline, synthesis->cta, synthesis->cta, UNIT_COPY, warp, time + 2,
                  synthesis->landed[slot]);
    if (!shape->tma) return synthesis->landed[slot];
    const uint32_t offset = full(slot);
    const uint64_t end = synthesis->landed[slot];
    const int half = (int)bytes / 2;
    if (phase == 0) step(synthesis, 5, BARRIER_INIT, offset, 0, 1, 0, 1, 1, 0);
    step(synthesis, time, BARRIER_EXPECT_TX, offset, warp * 32, bytes, phase, 1, 1, (int)bytes);
    step(synthesis, time, BARRIER_ARRIVE, offset, warp * 32, 1, phase, 0, 1, (int)bytes);
    step(synthesis, time + 20, BARRIER_WAIT_BEGIN, offset, 128, phase & 1, phase, 0, 1, (int)bytes);
    step(synthesis, end - 90, BARRIER_COMPLETE_TX, offset, -1, (uint32_t)half, phase, 0, 1, half);
    step(synthesis, end, BARRIER_COMPLETE_TX, offset, -1, (uint32_t)half, phase, 0, 1, 0);
    step(synthesis, end, BARRIER_FLIP, offset, -1, 0, phase + 1, 1, 1, 0);
    step(synthesis, end + 5, BARRIER_WAIT_END, offset, 128, phase & 1, phase + 1, 1, 1, 0);
    return end;
}

/* Keeps the Tensor Core busy for a k-tile from `time` at the earliest; returns its end. */
static uint64_t multiply(struct synthesis *synthesis, int warp, uint64_t time, int cycles) {
    const int parts = synthesis->shape->wgmma ? 4 : 1;
    uint64_t at = later(time, synthesis->core_free);
    for (int i = 0; i < parts; ++i, at += (uint64_t)(cycles / parts))
        timeline_busy(synthesis->timeline, synthesis->cta, synthesis->cta,
                      synthesis->shape->wgmma ? UNIT_WGMMA : UNIT_MMA, warp, at,
                      at + (uint64_t)(cycles / parts));
    return synthesis->core_free = at;
}

static uint64_t epilogue(struct synthesis *synthesis, int role, int warp, uint64_t time, int tile) {
    mark(synthesis, role, warp, time, TRACE_EPILOGUE_BEGIN, tile);
    mark(synthesis, role, warp, time + 300, TRACE_STORE, tile);
    mark(synthesis, role, warp, time + STORE_CYCLES, TRACE_EPILOGUE_END, tile);
    return time + STORE_CYCLES;
}

static uint64_t scalar_tile(struct synthesis *synthesis, uint64_t time, int tile) {
    mark(synthesis, TRACE_THREADS, 0, time, TRACE_TILE, tile);
    mark(synthesis, TRACE_THREADS, 0, time, TRACE_FMA_BEGIN, 0);
    time += 900u * (unsigned)synthesis->k_tiles;
    mark(synthesis, TRACE_THREADS, 0, time, TRACE_FMA_END, 0);
    return epilogue(synthesis, TRACE_THREADS, 0, time, tile);
}

/* One k-tile by mma.sync; the fragments of the first step come first, the others under the
 * multiplications if they are double buffered. */
static uint64_t multiply_fragments(struct synthesis *synthesis, uint64_t time, int k_tile) {
    enum { STEPS = 4 };
    const struct shape *shape = synthesis->shape;
    const int fragments = shape->fragments / STEPS, cycles = shape->multiply / STEPS;
    if (shape->overlap_fragments) mark(synthesis, TRACE_THREADS, 0, time, TRACE_FRAGMENTS, k_tile);
    for (int i = 0; i < STEPS; ++i) {
        if (!shape->overlap_fragments)
            mark(synthesis, TRACE_THREADS, 0, time, TRACE_FRAGMENTS, k_tile);
        if (!shape->overlap_fragments || i == 0) time += (unsigned)fragments;
        mark(synthesis, TRACE_THREADS, 0, time, TRACE_MMA_BEGIN, k_tile);
        if (shape->overlap_fragments && i + 1 < STEPS)
            mark(synthesis, TRACE_THREADS, 0, time + 4, TRACE_FRAGMENTS, k_tile);
        time = multiply(synthesis, 0, time, cycles);
        mark(synthesis, TRACE_THREADS, 0, time, TRACE_MMA_END, k_tile);
    }
    return time;
}

static uint64_t synchronous_tile(struct synthesis *synthesis, uint64_t time, int tile) {
    mark(synthesis, TRACE_THREADS, 0, time, TRACE_TILE, tile);
    for (int k_tile = 0; k_tile < synthesis->k_tiles; ++k_tile) {
        const uint64_t there = load(synthesis, TRACE_THREADS, 0, time, 0, k_tile);
        mark(synthesis, TRACE_THREADS, 0, time + 80, TRACE_WAIT_BEGIN, k_tile);
        mark(synthesis, TRACE_THREADS, 0, there + SYNC, TRACE_WAIT_END, k_tile);
        time = multiply_fragments(synthesis, there + SYNC, k_tile) + SYNC;
    }
    return epilogue(synthesis, TRACE_THREADS, 0, time, tile);
}

static uint64_t ring_tile(struct synthesis *synthesis, uint64_t time, int tile) {
    const int stages = synthesis->shape->stages;
    const int lag = synthesis->shape->wgmma ? 1 : 0; /* multiplications that stay in flight */
    uint64_t ends[2] = {0, 0};
    mark(synthesis, TRACE_THREADS, 0, time, TRACE_TILE, tile);
    for (int i = 0; i < stages - 1 && i < synthesis->k_tiles; ++i)
        load(synthesis, TRACE_THREADS, 0, time += 40, i, i);
    for (int k_tile = 0; k_tile < synthesis->k_tiles; ++k_tile) {
        const uint64_t there = later(synthesis->landed[k_tile % stages], time + 10);
        mark(synthesis, TRACE_THREADS, 0, time + 10, TRACE_WAIT_BEGIN, k_tile);
        mark(synthesis, TRACE_THREADS, 0, time = there + 10, TRACE_WAIT_END, k_tile);
        if (lag) {
            mark(synthesis, TRACE_THREADS, 0, time, TRACE_MMA_BEGIN, k_tile);
            ends[k_tile & 1] = multiply(synthesis, 0, time, synthesis->shape->multiply);
            mark(synthesis, TRACE_THREADS, 0, time += 40, TRACE_MMA_END, k_tile);
            if (k_tile > 0)
                mark(synthesis, TRACE_THREADS, 0, time = later(time, ends[~k_tile & 1]) + 10,
                     TRACE_MMA_DONE, k_tile - 1);
        } else {
            time = multiply_fragments(synthesis, time, k_tile);
        }
        const int next = k_tile + stages - 1;
        if (next < synthesis->k_tiles)
            load(synthesis, TRACE_THREADS, 0, time += SYNC, next % stages, next);
    }
    if (lag)
        mark(synthesis, TRACE_THREADS, 0, time = synthesis->core_free + 20, TRACE_MMA_DONE,
             synthesis->k_tiles - 1);
    return epilogue(synthesis, TRACE_THREADS, 0, time, tile);
}

static void specialized(struct synthesis *synthesis) {
    const struct shape *shape = synthesis->shape;
    const bool pingpong = shape->how == PINGPONG;
    uint64_t producer = 200, consumer[2] = {200, 200};
    int fill = 0;
    mark(synthesis, TRACE_PRODUCER, 0, 100, TRACE_NONE, 1);
    for (int i = 0; i < 2; ++i)
        mark(synthesis, TRACE_CONSUMER_0 + i, 4 + 4 * i, 100, TRACE_NONE, 1);
    for (int tile = 0; tile < TILES * (pingpong ? 2 : 1); ++tile) {
        uint64_t done[2] = {0, 0};
        mark(synthesis, TRACE_PRODUCER, 0, producer, TRACE_TILE, tile);
        for (int i = 0; i < 2; ++i)
            if (!pingpong || tile % 2 == i)
                mark(synthesis, TRACE_CONSUMER_0 + i, 4 + 4 * i, consumer[i], TRACE_TILE, tile);
        for (int k_tile = 0; k_tile < synthesis->k_tiles; ++k_tile, ++fill) {
            const int slot = fill % shape->stages;
            mark(synthesis, TRACE_PRODUCER, 0, producer, TRACE_ACQUIRE_BEGIN, k_tile);
            producer = later(producer, synthesis->released[slot]) + 10;
            mark(synthesis, TRACE_PRODUCER, 0, producer, TRACE_ACQUIRE_END, k_tile);
            const uint64_t there = load(synthesis, TRACE_PRODUCER, 0, producer, slot, k_tile);
            producer += 60;
            for (int i = 0; i < 2; ++i) {
                if (pingpong && tile % 2 != i) continue;
                const int role = TRACE_CONSUMER_0 + i, warp = 4 + 4 * i;
                uint64_t *time = &consumer[i];
                mark(synthesis, role, warp, *time, TRACE_WAIT_BEGIN, k_tile);
                *time = later(*time + 10, there + 10);
                mark(synthesis, role, warp, *time, TRACE_WAIT_END, k_tile);
                mark(synthesis, role, warp, *time, TRACE_MMA_BEGIN, k_tile);
                const uint64_t end =
                    multiply(synthesis, warp, *time, shape->multiply / (pingpong ? 1 : 2));
                mark(synthesis, role, warp, *time += 30, TRACE_MMA_END, k_tile);
                if (k_tile > 0)
                    mark(synthesis, role, warp, *time = later(*time, done[i]) + 10, TRACE_MMA_DONE,
                         k_tile - 1);
                done[i] = end;
                synthesis->released[slot] = end + 20;
            }
        }
        for (int i = 0; i < 2; ++i) {
            if (pingpong && tile % 2 != i) continue;
            mark(synthesis, TRACE_CONSUMER_0 + i, 4 + 4 * i, consumer[i] = done[i] + 20,
                 TRACE_MMA_DONE, synthesis->k_tiles - 1);
            consumer[i] = epilogue(synthesis, TRACE_CONSUMER_0 + i, 4 + 4 * i, consumer[i], tile);
        }
    }
    for (int i = 0; i < 2; ++i)
        mark(synthesis, TRACE_CONSUMER_0 + i, 4 + 4 * i, consumer[i] + 20, TRACE_NONE, 0);
    mark(synthesis, TRACE_PRODUCER, 0, producer + 20, TRACE_NONE, 0);
}

void synthetic_timelines(int k_tiles) {
    const int count = (int)(sizeof shapes / sizeof *shapes);
    for (int i = 0; i < count; ++i) {
        const struct shape *shape = &shapes[i];
        const struct gemm_kernel step = {.name = shape->name,
                                         .technique = shape->technique,
                                         .tile_m = shape->tile_m,
                                         .tile_n = shape->tile_n,
                                         .tile_k = 64,
                                         .stages = shape->stages,
                                         .cluster = shape->cluster};
        const struct gemm_problem problem = {.m = 512, .n = 512, .k = 64 * k_tiles};
        struct timeline *timeline = timeline_begin(&step, &problem);
        for (int cta = 0; cta < 2; ++cta) {
            struct synthesis synthesis = {
                .timeline = timeline, .shape = shape, .cta = cta, .k_tiles = k_tiles};
            if (shape->how == SPECIALIZED || shape->how == PINGPONG) {
                specialized(&synthesis);
                continue;
            }
            uint64_t time = 150;
            mark(&synthesis, TRACE_THREADS, 0, 100, TRACE_NONE, 1);
            time = shape->how == SCALAR        ? scalar_tile(&synthesis, time, cta)
                   : shape->how == SYNCHRONOUS ? synchronous_tile(&synthesis, time, cta)
                                               : ring_tile(&synthesis, time, cta);
            mark(&synthesis, TRACE_THREADS, 0, time + 10, TRACE_NONE, 0);
        }
        timeline_end(timeline, 100000);
    }
}

const struct report_info synthetic_info = {
    .simulated = true,
    .device = "synthetic data for tests",
    .dtype = "bf16",
    .input = "uniform",
    .m = 512,
    .n = 512,
    .k = 512,
    .sms = 4,
    .command = "timeline_synthetic",
};

int synthetic_rows(struct report_row rows[16]) {
    const int count = (int)(sizeof shapes / sizeof *shapes);
    for (int i = 0; i < count; ++i)
        rows[i] = (struct report_row){.name = shapes[i].name,
                                      .technique = shapes[i].technique,
                                      .verified = true,
                                      .cycles = 200000.0 / (1 + 2 * i),
                                      .utilization = i ? 0.1 * i : 0.004,
                                      .smem_bytes = 1024u * 24u * (unsigned)i};
    rows[count] = (struct report_row){
        .name = "cublas", .baseline = true, .cycles = 11500, .utilization = 0.82};
    return count + 1;
}
