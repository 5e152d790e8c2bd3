/*
 * families.c: which probes there are, and how a constant follows from what a kernel has counted.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/cost/timing_model.h"
#include "tools/probe/probe.h"

enum { MANY = 4096, FEW = 256, L2_BOXES = (32 << 20) / BOX_BYTES };

/* Of the grid's CTAs, the one that took longest. */
static double slowest(const uint64_t *results, int grid, int index) {
    uint64_t most = 0;
    for (int i = 0; i < grid; ++i)
        if (results[i * RESULTS + index] > most) most = results[i * RESULTS + index];
    return (double)most;
}

/* ---- memory ---- */

static double chase(int lines, int distance, int steps, bool through_l1, bool cold) {
    probe_run(&probe_chain_fill, (struct probe_call){.grid = 64, .m = lines, .splits = distance});
    const struct probe_call call = {.k = steps, .m = lines, .items = through_l1, .cold = cold};
    return (double)*probe_run(&probe_global_chase, call) / steps;
}

static void memory(void) {
    probe_report("ld.shared, dependent",
                 (double)*probe_run(&probe_shared_chase, (struct probe_call){.k = MANY}) / MANY,
                 "cycles", "SHARED_LATENCY", SHARED_LATENCY);
    probe_report("ld.global, dependent, from the L1", chase(64, 128, MANY, true, false), "cycles",
                 "L1_LATENCY", L1_LATENCY);
    probe_report("ld.global, dependent, from the L2", chase(4096, 1024, 4096, false, false),
                 "cycles", "L2_LATENCY", L2_LATENCY);
    probe_report("ld.global, dependent, from DRAM", chase(8192, 16384, 2048, false, true), "cycles",
                 "DRAM_LATENCY", DRAM_LATENCY);
    const double loads = (double)*probe_run(&probe_gather, (struct probe_call){.k = FEW});
    probe_report("a warp's load of 32 lines, from the L1", loads / FEW / 16, "cycles", NULL, 0);

    const int sms = probe_sms();
    for (int all = 0; all < 2; ++all) {
        const int grid = all ? sms : 1;
        double cycles[2];
        for (int wide = 0; wide < 2; ++wide) {
            const struct probe_call call = {.grid = grid, .k = 8, .items = wide ? 16 : 4};
            cycles[wide] = slowest(probe_run(&probe_store_tile, call), grid, 1) / 8;
        }
        probe_report(all ? "a tile stored 4 bytes at a time, all SMs"
                         : "a tile stored 4 bytes at a time, one SM",
                     cycles[0], "cycles", NULL, 0);
        probe_report(all ? "a tile stored 16 bytes at a time, all SMs"
                         : "a tile stored 16 bytes at a time, one SM",
                     cycles[1], "cycles", NULL, 0);
        probe_report("  the difference, per line", (cycles[0] - cycles[1]) / 1536, "cycles",
                     "STORE_LINE_CYCLES", STORE_LINE_CYCLES);
    }
    static const int threads[] = {128, 384};
    for (int i = 0; i < 2; ++i) {
        const struct probe_call call = {.threads = threads[i], .k = MANY};
        probe_report(i ? "__syncthreads, 384 threads" : "__syncthreads, 128 threads",
                     (double)*probe_run(&probe_sync, call) / MANY, "cycles", "with its warps'",
                     BARRIER_LATENCY + threads[i] / 32 * BARRIER_WARP_CYCLES);
    }
}

/* ---- mbarriers and clusters ---- */

static void barriers(void) {
    const uint64_t *r = probe_run(&probe_mbarrier, (struct probe_call){.k = MANY});
    probe_report("mbarrier.arrive", (double)r[0] / MANY, "cycles", "MBARRIER_ARRIVE_CYCLES",
                 MBARRIER_ARRIVE_CYCLES);
    probe_report("mbarrier.try_wait, successful", (double)r[1] / MANY, "cycles",
                 "MBARRIER_TRY_WAIT_CYCLES", MBARRIER_TRY_WAIT_CYCLES);
    probe_report("mbarrier.arrive and the wait for it", (double)r[2] / MANY, "cycles", NULL, 0);
    probe_report("mbarrier.arrive.expect_tx and the wait for it", (double)r[3] / MANY, "cycles",
                 "sum of two", MBARRIER_EXPECT_TX_CYCLES + MBARRIER_TRY_WAIT_CYCLES);
    probe_report("fence.proxy.async", (double)r[4] / MANY, "cycles", "FENCE_CYCLES", FENCE_CYCLES);
    r = probe_run(&probe_remote, (struct probe_call){.grid = 2, .cluster = 2, .k = MANY});
    probe_report("remote arrive to the owner's release", (double)r[0] / MANY / 2, "cycles",
                 "REMOTE_ARRIVE_CYCLES", REMOTE_ARRIVE_CYCLES);
    probe_report("ld.shared::cluster, dependent", (double)r[1] / MANY, "cycles", "DSMEM_CYCLES",
                 DSMEM_CYCLES);
    r = probe_run(&probe_cluster_sync, (struct probe_call){.grid = 2, .cluster = 2, .k = MANY});
    probe_report("cluster_sync, two CTAs of 384 threads", (double)r[0] / MANY, "cycles",
                 "CLUSTER_BARRIER_CYCLES", CLUSTER_BARRIER_CYCLES);
    probe_report("cluster_sync_relaxed, the same", (double)r[1] / MANY, "cycles", NULL, 0);
}

/* ---- copies ---- */

static void report_stream(const char *what, int grid, int boxes, bool cold, const char *constant,
                          double model) {
    const int each = cold ? 96 : 512;
    const struct probe_call call = {.grid = grid, .k = each, .m = boxes, .cold = cold};
    const double cycles = slowest(probe_run(&probe_tma_stream, call), grid, 0);
    probe_report(what, (double)each * BOX_BYTES / cycles, "bytes/cycle/SM", constant, model);
}

static void copies(void) {
    static const char *const names[2][2] = {
        {"TMA, 16 KB, from DRAM to the wait's end", "TMA, 16 KB, from the L2 to the wait's end"},
        {"TMA, 1 KB, from DRAM to the wait's end", "TMA, 1 KB, from the L2 to the wait's end"}};
    for (int small = 0; small < 2; ++small) {
        const struct probe_call call = {.k = FEW, .items = small, .cold = true};
        const uint64_t *r = probe_run(&probe_tma_latency, call);
        probe_report(names[small][0], (double)r[0] / FEW, "cycles", "with overhead",
                     TMA_DRAM_LATENCY + TMA_OVERHEAD);
        probe_report(names[small][1], (double)r[1] / FEW, "cycles", "with overhead",
                     L2_LATENCY + TMA_OVERHEAD);
        probe_report("  the least of them", (double)r[2], "cycles", NULL, 0);
        probe_report("TMA, one thread's instructions, each", (double)r[3] / 7, "cycles",
                     "TMA_THREAD_CYCLES", TMA_THREAD_CYCLES);
    }
    const int sms = probe_sms(), all = 16384;
    report_stream("TMA, one SM, from the L2", 1, L2_BOXES, false, "TMA_BYTES_PER_CYCLE",
                  TMA_BYTES_PER_CYCLE);
    report_stream("TMA, all SMs, from the L2", sms, L2_BOXES, false, "L2_BYTES_PER_CYCLE / 132",
                  (double)L2_BYTES_PER_CYCLE / CHIP_SMS);
    report_stream("TMA, all SMs, from DRAM", sms, all, true, "DRAM_BYTES_PER_CYCLE / 132",
                  (double)DRAM_BYTES_PER_CYCLE / CHIP_SMS);
    const uint64_t *r = probe_run(&probe_tma_store, (struct probe_call){.k = FEW});
    probe_report("TMA store, 8 KB, until it has read", (double)r[0] / FEW, "cycles", NULL, 0);
    probe_report("TMA store, 8 KB, until it is complete", (double)r[1] / FEW, "cycles",
                 "with reading",
                 TMA_STORE_READ_CYCLES + TMA_STORE_LATENCY + 8192 / TMA_STORE_BYTES_PER_CYCLE);
    for (int some = 0; some < 2; ++some) {
        const int grid = some ? sms : 1;
        const struct probe_call call = {.grid = grid, .k = FEW, .m = (32 << 20) / 4096};
        r = probe_run(&probe_cp_async, call);
        const double bytes = 8.0 * 4096 * FEW;
        probe_report(some ? "cp.async, all SMs, from the L2" : "cp.async, one SM, from the L2",
                     bytes / slowest(r, grid, 0), "bytes/cycle/SM", NULL, 0);
        if (!some)
            probe_report("cp.async, 16 bytes, from the L2 to the wait's end", (double)r[1] / FEW,
                         "cycles", "with shared memory's", L2_LATENCY + SHARED_LATENCY);
    }
}

/* ---- the Tensor Core and the shared memory beside it ---- */

static double wgmma(const struct probe_kernel *kernel, int group, int warpgroups) {
    const struct probe_call call = {.threads = 128 * (1 + warpgroups), .k = FEW};
    return (double)*probe_run(kernel, call) / FEW / group;
}

static double promote(int beside_wgmma) {
    const struct probe_call call = {.threads = 384, .k = FEW, .items = beside_wgmma};
    return (double)probe_run(&probe_promote, call)[1] / FEW;
}

static void multiply(void) {
    struct probe_call call = {.threads = 32, .k = FEW, .items = 1};
    probe_report("mma.sync m16n8k16, dependent", (double)*probe_run(&probe_mma, call) / FEW / 8,
                 "cycles", "MMA_LATENCY", MMA_LATENCY);
    static const int warps[] = {1, 4, 8, 16};
    for (int i = 0; i < 4; ++i) {
        char what[64];
        snprintf(what, sizeof what, "mma.sync, %d warps, each, per sub-partition", warps[i]);
        call = (struct probe_call){.threads = 32 * warps[i], .k = FEW};
        const double cycles = (double)*probe_run(&probe_mma, call) / FEW / 8;
        probe_report(what, cycles * 4 / (warps[i] < 4 ? 4 : warps[i]), "cycles", "MMA_INTERVAL",
                     MMA_INTERVAL);
    }
    static const struct {
        const struct probe_kernel *kernel;
        int n;
    } shapes[] = {{&probe_wgmma_8, 8},
                  {&probe_wgmma_64, 64},
                  {&probe_wgmma_128, 128},
                  {&probe_wgmma_192, 192},
                  {&probe_wgmma_256, 256}};
    for (int i = 0; i < 5; ++i) {
        const int n = shapes[i].n, large = n / 2;
        const int model = large > WGMMA_SMALL_BASE + n / 4 ? large : WGMMA_SMALL_BASE + n / 4;
        char what[64];
        snprintf(what, sizeof what, "wgmma m64n%dk16", n);
        probe_report(what, wgmma(shapes[i].kernel, WGMMA_GROUP, 1), "cycles", "N / 2, 16 + N / 4",
                     model);
        snprintf(what, sizeof what, "wgmma m64n%dk16, two warpgroups, one every", n);
        probe_report(what, wgmma(shapes[i].kernel, WGMMA_GROUP, 2) / 2, "cycles", NULL, 0);
    }
    probe_report("wait<0> after eight m64n128k16, more than wait<1>",
                 WGMMA_GROUP * (wgmma(&probe_wgmma_128_wait0, WGMMA_GROUP, 1) -
                                wgmma(&probe_wgmma_128, WGMMA_GROUP, 1)),
                 "cycles", "drain and fence", WGMMA_DRAIN_CYCLES + WGMMA_FENCE_CYCLES);
    probe_report("wait<0> after eight m64n256k16, more than wait<1>",
                 WGMMA_GROUP * (wgmma(&probe_wgmma_256_wait0, WGMMA_GROUP, 1) -
                                wgmma(&probe_wgmma_256, WGMMA_GROUP, 1)),
                 "cycles", "drain and fence", WGMMA_DRAIN_CYCLES + WGMMA_FENCE_CYCLES);
    probe_report("one m64n128k16 from fence to wait<0>", wgmma(&probe_wgmma_128_alone, 1, 1),
                 "cycles", NULL, 0);
    probe_report("64 multiply-adds of each thread, one warpgroup", promote(0), "cycles", NULL, 0);
    probe_report("  beside another's wgmma m64n128k16", promote(1), "cycles", NULL, 0);
}

/* Both at once: what the TMA's fills take from those who read shared memory, and they from it. */
static void report_shared(const char *what, const struct probe_kernel *kernel, int grid,
                          double unit, const char *unit_name, int each) {
    char line[96];
    for (int fills = 0; fills < 2; ++fills) {
        const struct probe_call call = {
            .grid = grid, .threads = 384, .k = 2 * FEW, .splits = fills, .m = L2_BOXES};
        const uint64_t *r = probe_run(kernel, call);
        const double cycles = slowest(r, grid, 0) / (2 * FEW) / each / 2;
        snprintf(line, sizeof line, "%s, %s%s", what, grid == 1 ? "one SM" : "all SMs",
                 fills ? ", under TMA fills" : "");
        probe_report(line, unit > 0 ? unit / cycles : cycles, unit_name, NULL, 0);
        if (fills && r[2])
            probe_report("  and the fills, of the first SM",
                         (double)r[3] * BOX_BYTES / (double)r[2], "bytes/cycle", NULL, 0);
    }
}

static void sharing(void) {
    const int sms = probe_sms();
    const struct probe_call call = {.threads = 256, .k = FEW, .items = 1};
    probe_report("ldmatrix.x4, dependent", (double)*probe_run(&probe_ldmatrix, call) / FEW / 8,
                 "cycles", "SHARED_LATENCY and an add", SHARED_LATENCY + 4);
    for (int some = 0; some < 2; ++some) {
        const int grid = some ? sms : 1;
        report_shared("ldmatrix.x4, eight warps", &probe_ldmatrix, grid, 4 * 512, "bytes/cycle", 8);
        report_shared("wgmma m64n64k16", &probe_wgmma_64, grid, 0, "cycles", WGMMA_GROUP);
        report_shared("wgmma m64n128k16", &probe_wgmma_128, grid, 0, "cycles", WGMMA_GROUP);
        report_shared("wgmma m64n256k16", &probe_wgmma_256, grid, 0, "cycles", WGMMA_GROUP);
    }
}

/* ---- launching ---- */

struct interval {
    uint64_t sm, begin, end;
};

static int by_sm_and_begin(const void *a, const void *b) {
    const struct interval *x = a, *y = b;
    if (x->sm != y->sm) return x->sm < y->sm ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void launching(void) {
    const int grid = probe_sms() * 8;
    const uint64_t *r = probe_run(&probe_cta, (struct probe_call){.grid = grid, .k = 5000});
    struct interval *cta = calloc((size_t)grid, sizeof *cta);
    uint64_t *gap = calloc((size_t)grid, sizeof *gap);
    if (!cta || !gap) abort();
    for (int i = 0; i < grid; ++i)
        cta[i] = (struct interval){r[i * RESULTS], r[i * RESULTS + 1], r[i * RESULTS + 2]};
    qsort(cta, (size_t)grid, sizeof *cta, by_sm_and_begin);
    int gaps = 0;
    for (int i = 1; i < grid; ++i)
        if (cta[i].sm == cta[i - 1].sm && cta[i].begin > cta[i - 1].end)
            gap[gaps++] = cta[i].begin - cta[i - 1].end;
    qsort(gap, (size_t)gaps, sizeof *gap, by_value);
    if (gaps)
        probe_report("from a CTA's end to the next one's first instruction", (double)gap[gaps / 2],
                     "cycles", "CTA_LAUNCH_CYCLES", CTA_LAUNCH_CYCLES);
    else
        fprintf(stderr, "probe: no SM has run two CTAs\n");
    free(gap);
    free(cta);
}

const struct probe_family probe_families[] = {{"memory", memory},   {"barriers", barriers},
                                              {"copies", copies},   {"multiply", multiply},
                                              {"sharing", sharing}, {"launching", launching}};
const int probe_family_count = sizeof probe_families / sizeof *probe_families;
