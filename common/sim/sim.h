/*
 * sim.h: the simulator as a kernel sees it: what the wrappers in hopper/ become in a C build.
 *
 * Each function stands for the one instruction of the wrapper of the same name (see there for
 * shapes and rules). It is called by one simulated thread, on that thread's fiber; warp-wide
 * instructions are called by all 32 lanes.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "gemm.h"

struct b128;

struct sim_index {
    unsigned x, y, z;
};

/* The part of a simulated thread that kernels may read. */
struct sim_self {
    struct sim_index thread_index, block_index, block_dim, grid_dim;
    unsigned cluster_rank;
    const char *file; /* the chapter's line that is being executed */
    int line;
    int verb; /* > 0 inside a pipeline verb: inner wrappers keep the caller's line */
};
extern struct sim_self *sim_self;

static inline void sim_at(const char *file, int line) {
    if (!sim_self->verb) {
        sim_self->file = file;
        sim_self->line = line;
    }
}

/* A wrapper's call, with the line it stands on. */
#define SIM(call) (sim_at(__FILE__, __LINE__), call)
/* A call of a function that is itself made of wrappers, such as the verbs of pipeline.h: reports
 * name the caller's line. */
#define SIM_VERB(call) (sim_at(__FILE__, __LINE__), ++sim_self->verb, call, (void)--sim_self->verb)
#define SIM_VERB_VALUE(call)                                                                       \
    ({                                                                                             \
        sim_at(__FILE__, __LINE__);                                                                \
        ++sim_self->verb;                                                                          \
        __typeof__(call) value_ = (call);                                                          \
        --sim_self->verb;                                                                          \
        value_;                                                                                    \
    })

/* thread.h */
void *sim_shared_memory(size_t bytes);
uint32_t sim_shared_address(const void *pointer);
bool sim_elect_one(void);
void sim_sync_threads(void);
void sim_sync_warp(void);
int sim_shuffle(uint32_t mask, int value, int lane);
void sim_named_barrier_sync(int id, int threads);
void sim_named_barrier_arrive(int id, int threads);
element_t sim_ld_global_element(const element_t *pointer);
struct b128 sim_ld_global_b128(const void *pointer);
float sim_ld_global_float(const float *pointer);
void sim_st_global_element(element_t *pointer, element_t value);
void sim_st_global_b32(void *pointer, uint32_t value);
void sim_st_global_b128(void *pointer, struct b128 value);
uint32_t sim_atomic_add_global(uint32_t *pointer, uint32_t value);
uint32_t sim_ld_shared_b32(const void *pointer);
struct b128 sim_ld_shared_b128(const void *pointer);
void sim_st_shared_b32(void *pointer, uint32_t value);
void sim_st_shared_b128(void *pointer, struct b128 value);

/* element.h; the last two report the use of an accumulator that a wgmma still owns */
float sim_element_to_float(element_t e, int bf16);
element_t sim_float_to_element(float f, int bf16);
uint32_t sim_pack_elements(float low, float high, int bf16);

/* mma.h */
void sim_ldmatrix_x4(uint32_t r[4], const void *row);
void sim_stmatrix(void *row, const uint32_t *r, int matrices, int transpose);
void sim_mma_m16n8k16(float d[4], const uint32_t a[4], const uint32_t b[2], int bf16);

/* cp_async.h */
void sim_cp_async_16(void *shared, const void *global, int valid_bytes);
void sim_cp_async_commit_group(void);
void sim_cp_async_wait_group(int pending);
void sim_cp_async_mbarrier_arrive_noinc(uint64_t *barrier);

/* mbarrier.h */
/* `text`: the argument as the source has it, for reports. */
void sim_mbarrier_init(uint64_t *barrier, int arrivals, const char *text);
void sim_fence_mbarrier_init(void);
void sim_mbarrier_arrive(uint64_t *barrier);
void sim_mbarrier_arrive_expect_tx(uint64_t *barrier, uint32_t bytes);
bool sim_mbarrier_test_wait(const uint64_t *barrier, uint32_t parity);
bool sim_mbarrier_try_wait(const uint64_t *barrier, uint32_t parity);
void sim_mbarrier_wait(const uint64_t *barrier, uint32_t parity);

/* tma.h */
void sim_tma_prefetch_map(const struct tensor_map *map);
void sim_tma_load(void *shared, const struct tensor_map *map, int row, int column,
                  uint64_t *barrier);
void sim_tma_load_multicast(void *shared, const struct tensor_map *map, int row, int column,
                            uint64_t *barrier, uint16_t cta_mask);
void sim_tma_store(const struct tensor_map *map, int row, int column, const void *shared);
void sim_tma_reduce_add(const struct tensor_map *map, int row, int column, const void *shared);
void sim_bulk_commit_group(void);
void sim_bulk_wait_group_read(int pending);
void sim_bulk_wait_group(int pending);
void sim_fence_proxy_async(void);

/* wgmma.h */
void sim_wgmma_fence(void);
void sim_wgmma(int n, float *acc, uint64_t a, uint64_t b, int accumulate, int mn_major, int bf16);
void sim_wgmma_rs(int n, float *acc, const uint32_t a[4], uint64_t b, int accumulate, int bf16);
void sim_wgmma_commit_group(void);
void sim_wgmma_wait_group(int pending);

/* registers.h */
void sim_setmaxnreg(int count, int increase);

/* cluster.h */
void sim_cluster_sync(void);
void sim_mbarrier_arrive_remote(uint64_t *barrier, uint32_t rank);
void sim_mbarrier_arrive_remote_release(uint64_t *barrier, uint32_t rank);
struct b128 sim_ld_shared_cluster_b128(const void *pointer, uint32_t rank);
void sim_st_async_b32(uint32_t *word, uint32_t value, uint64_t *barrier, uint32_t rank);

/* timeline/trace.h (recording.c) */
void sim_trace(int role, int event, int argument);

#endif
