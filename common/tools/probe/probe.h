/*
 * probe.h: kernels that measure what the timing model takes for granted, one property each.
 *
 * Every kernel takes a gemm_args and reads what it needs from it: `a` is global memory to read, `d`
 * to write, `map_a` and `map_b` describe `a` as boxes of 128 and of 8 rows of 128 bytes, `map_d`
 * describes `d` as boxes of 64 rows, `k` is how often to repeat, `items` and `splits` say which of
 * its variants, `m` how many boxes or lines `a` has. It writes its numbers to `workspace`, 64 bits
 * each, RESULTS of them for each CTA.
 */
#ifndef TOOLS_PROBE_PROBE_H
#define TOOLS_PROBE_PROBE_H

#include "gemm.h"

enum {
    RESULTS = 8,
    BOX_ROWS = 128,
    SMALL_BOX_ROWS = 8,
    STORE_BOX_ROWS = 64,
    BOX_COLUMNS = 64,
    ROW_BYTES = 2 * BOX_COLUMNS,
    BOX_BYTES = BOX_ROWS * ROW_BYTES,
    WGMMA_GROUP = 8, /* wgmmas of a group, as for a 128 x 128 x 64 k-tile */
    PROMOTED = 64    /* accumulators of a thread, 64 x 128 of a warpgroup */
};

struct probe_kernel {
    const void *kernel;
    const char *name;
    int threads; /* at most */
    size_t smem_bytes;
};

#ifdef __cplusplus
extern "C" {
#endif

/* memory.cu */
extern const struct probe_kernel probe_shared_chase, probe_chain_fill, probe_global_chase;
extern const struct probe_kernel probe_gather, probe_store_tile, probe_sync;
/* mbarrier.cu */
extern const struct probe_kernel probe_mbarrier, probe_remote, probe_cluster_sync;
/* copies.cu */
extern const struct probe_kernel probe_tma_latency, probe_tma_stream, probe_tma_store;
extern const struct probe_kernel probe_cp_async;
/* multiply.cu */
extern const struct probe_kernel probe_mma, probe_ldmatrix, probe_wgmma_8, probe_wgmma_64;
extern const struct probe_kernel probe_wgmma_128, probe_wgmma_192, probe_wgmma_256;
extern const struct probe_kernel probe_wgmma_128_wait0, probe_wgmma_256_wait0;
extern const struct probe_kernel probe_wgmma_128_alone, probe_promote;
/* launch.cu */
extern const struct probe_kernel probe_cta;

#ifdef __cplusplus
}
#endif

/* ---- the host's side ---- */

/* What to launch besides the kernel; zeros are defaults. */
struct probe_call {
    int grid;    /* 1 */
    int threads; /* the kernel's */
    int cluster; /* 1 */
    int k, items, splits, m;
    bool cold; /* empties the L2 of everything first; otherwise the kernel runs once unmeasured */
};

/* Runs the kernel and returns its RESULTS * grid numbers, valid until the next call. Ends the
 * process, with a message, if it cannot. */
const uint64_t *probe_run(const struct probe_kernel *kernel, struct probe_call call);
/* SMs of the GPU. */
int probe_sms(void);
/* Reports a measured value, and what timing_model.h has instead: `constant` NULL if it has none. */
void probe_report(const char *what, double value, const char *unit, const char *constant,
                  double model);

/* A group of probes that run in a process of their own. */
struct probe_family {
    const char *name;
    void (*run)(void);
};
extern const struct probe_family probe_families[];
extern const int probe_family_count;

#endif
