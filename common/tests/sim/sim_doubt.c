/*
 * sim_doubt.c: the rules that are in doubt. Each has kernels that break it alone: they are
 * reported, and the report names the rule; with these rules off they are not. Those on demand are
 * reported by --doubtful all alone. Beside them stand kernels that are wrong in every reading, and
 * are reported in all cases.
 */
#include "tests/sim/units/sim_registers.h"

#include "blackwell/tcgen05.h"
#include "hopper/atomics.h"
#include "hopper/cluster.h"
#include "hopper/mbarrier.h"
#include "hopper/registers.h"
#include "sim/core/doubt.h"
#include "sim/settings.h"
#include "tests/support/capture.h"

struct doubt_smem {
    element_t tile[2][8 * 64] __attribute__((aligned(1024)));
    element_t operand[M * K];
    mbarrier_t barrier;
};

static int me(void) { return (int)threadIdx.x; }
static const struct b128 some_chunk = {{1, 2, 3, 4}};

/* ---- one release for four warps ---- */

/* Thread 0 speaks for the warpgroup. */
#define REUSE(name, wait)                                                                          \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct doubt_smem);                                                          \
        (void)args;                                                                                \
        st_shared_b128(&shared->operand[8 * me()], some_chunk);                                    \
        if (me() == 0) mbarrier_init(&shared->barrier, 1);                                         \
        fence_proxy_async();                                                                       \
        __syncthreads();                                                                           \
        float acc[4] = {0};                                                                        \
        const uint64_t operand =                                                                   \
            wgmma_descriptor(shared_address(shared->operand), 128, 256, SWIZZLE_NONE);             \
        wgmma_fence();                                                                             \
        wgmma_m64nNk16(8, acc, operand, operand, 0);                                               \
        wgmma_commit_group();                                                                      \
        wait;                                                                                      \
        if (me() == 0) mbarrier_arrive(&shared->barrier);                                          \
        if (me() == 96) {                                                                          \
            mbarrier_wait(&shared->barrier, 0);                                                    \
            st_shared_b128(shared->operand, some_chunk);                                           \
        }                                                                                          \
        __syncwarp();                                                                              \
        wgmma_wait_group(0);                                                                       \
    }
REUSE(released_once, wgmma_wait_group(0))
REUSE(released_before_the_wait, )

/* ---- a proxy fence for others ---- */

#define STORE_TILE(name, before, after)                                                            \
    KERNEL(64, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct doubt_smem);                                                          \
        st_shared_b128(&shared->tile[0][8 * me()], some_chunk);                                    \
        before;                                                                                    \
        __syncthreads();                                                                           \
        after;                                                                                     \
        if (me() == 0) {                                                                           \
            tma_store(&args.map_d, 0, 0, shared->tile[0]);                                         \
            bulk_commit_group();                                                                   \
            bulk_wait_group(0);                                                                    \
        }                                                                                          \
    }
STORE_TILE(fenced_by_the_issuer, , if (me() == 0) fence_proxy_async())
STORE_TILE(fenced_by_one_too_early, if (me() == 0) fence_proxy_async(), )
STORE_TILE(unfenced, , )

/* ---- a swizzled box off its pattern ---- */

KERNEL(64, 1) misaligned(KERNEL_ARGS args) {
    SHARED_MEMORY(struct doubt_smem);
    for (int i = me(); i < 2 * 64; i += 64)
        st_shared_b128(&shared->tile[i / 64][8 * (i % 64)], some_chunk);
    fence_proxy_async();
    __syncthreads();
    if (me() == 0) {
        tma_store(&args.map_b, 0, 0, &shared->tile[0][64]);
        bulk_commit_group();
        bulk_wait_group(0);
    }
}

/* ---- a store and an addition ---- */

KERNEL(64, 1) store_and_add(KERNEL_ARGS args) {
    if (me() == 0) st_global_relaxed(args.tile_counter, 0, SCOPE_GPU);
    if (me() == 32) atomic_add_relaxed(args.tile_counter, 1, SCOPE_GPU);
}

KERNEL(64, 1) ordinary_store_and_add(KERNEL_ARGS args) {
    if (me() == 0) st_global_b32(args.tile_counter, 0);
    if (me() == 32) atomic_add_relaxed(args.tile_counter, 1, SCOPE_GPU);
}

/* ---- a barrier of those who are left ---- */

KERNEL(128, 1) some_have_ended(KERNEL_ARGS args) {
    (void)args;
    if (me() < 32) return;
    __syncthreads();
    if (me() >= 96) return;
    __syncthreads();
}

KERNEL(128, 1) some_wait_elsewhere(KERNEL_ARGS args) {
    (void)args;
    if (me() < 32)
        named_barrier_sync(1, 64);
    else
        __syncthreads();
}

/* ---- lanes of those who are left ---- */

static int misread;

KERNEL(32, 1) lanes_have_ended(KERNEL_ARGS args) {
    (void)args;
    if (me() >= 16) return;
    __syncwarp();
}

KERNEL(32, 1) lanes_are_elsewhere(KERNEL_ARGS args) {
    (void)args;
    if (me() >= 16)
        elect_one();
    else
        __syncwarp();
}

/* Half of the lanes end, and lane i reads from lane i + 1. */
#define SHUFFLE(name, lanes)                                                                       \
    KERNEL(32, 1) name(KERNEL_ARGS args) {                                                         \
        (void)args;                                                                                \
        if (me() >= 16) return;                                                                    \
        const int from = (me() + 1) % (lanes);                                                     \
        misread += __shfl_sync(0xffffffffu, 100 + me(), from) != 100 + from;                       \
    }
SHUFFLE(those_left_shuffle, 16)
SHUFFLE(one_reads_from_the_ended, 32)

/* ---- an end that others come after ---- */

/* The warp that arrives ends, and the others meet. */
#define ARRIVE_AND_END(name, meet)                                                                 \
    KERNEL(64, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct doubt_smem);                                                          \
        (void)args;                                                                                \
        if (me() == 0) mbarrier_init(&shared->barrier, 1);                                         \
        fence_mbarrier_init();                                                                     \
        cluster_sync();                                                                            \
        if (me() == 0 && cluster_rank() == 1) mbarrier_arrive_remote(&shared->barrier, 0);         \
        if (me() < 32) return;                                                                     \
        meet;                                                                                      \
    }
ARRIVE_AND_END(others_meet, cluster_sync())
ARRIVE_AND_END(nobody_meets, )

/* ---- a register that keeps its value ---- */

#define TOUCH(name, touch)                                                                         \
    KERNEL(THREADS, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct smem);                                                                \
        float acc[ACC] = {0}, other[ACC];                                                          \
        (void)other;                                                                               \
        fill(shared, &args);                                                                       \
        wgmma_fence();                                                                             \
        touch;                                                                                     \
        wgmma_m64nNk16(N, acc, a_of(shared), b_of(shared), 1);                                     \
        finish();                                                                                  \
        for (int i = 0; i < ACC; i += 2)                                                           \
            st_global_b32(&args.d[2 * (threadIdx.x * ACC + i)],                                    \
                          pack_elements(acc[i], acc[i + 1]));                                      \
    }
#if READS_SEEN
TOUCH(zeros_onto_zeros, memset(acc, 0, sizeof acc))
TOUCH(copied_to_itself, memcpy(other, acc, sizeof acc); memcpy(acc, other, sizeof acc))
TOUCH(copied_elsewhere, memcpy(other, acc, sizeof acc))
#endif
TOUCH(changed, memset(acc, 1, sizeof acc))

/* ---- lanes of a warp that write one word ---- */

KERNEL(64, 1) all_lanes_write(KERNEL_ARGS args) {
    SHARED_MEMORY(struct doubt_smem);
    st_shared_b32(&shared->tile[0][2 * (me() / 32)], 1);
    st_global_b32(args.d + 2 * (me() / 32), 1);
    __syncthreads();
}

/* ---- an exchange of registers between the accesses of two lanes ---- */

#define LANE_0_TO_5(threads, name, before, between)                                                \
    KERNEL(threads, 1) name(KERNEL_ARGS args) {                                                    \
        SHARED_MEMORY(struct doubt_smem);                                                          \
        uint32_t *const word = (uint32_t *)shared->tile[0] + me() / 32;                            \
        (void)args;                                                                                \
        before;                                                                                    \
        if (me() % 32 == 0) st_shared_b32(word, 1 + me());                                         \
        between;                                                                                   \
        if (me() % 32 == 5) (void)ld_shared_b32(word);                                             \
        __syncthreads();                                                                           \
    }
LANE_0_TO_5(64, exchanged_between, , (void)__shfl_sync(~0u, me(), 0))
LANE_0_TO_5(64, exchanged_before, (void)__shfl_sync(~0u, me(), 0), )
LANE_0_TO_5(128, waited_between, , wgmma_wait_group(0))
LANE_0_TO_5(128, waited_before, wgmma_wait_group(0), )

KERNEL(64, 1) exchanged_elsewhere(KERNEL_ARGS args) {
    SHARED_MEMORY(struct doubt_smem);
    (void)args;
    if (me() == 0) st_shared_b32(shared->tile[0], 1);
    (void)__shfl_sync(~0u, me(), 0);
    if (me() == 37) (void)ld_shared_b32(shared->tile[0]);
    __syncthreads();
}

/* Lane 0 alone has waited for the other warp. */
KERNEL(64, 1) exchanged_behind_a_wait(KERNEL_ARGS args) {
    SHARED_MEMORY(struct doubt_smem);
    (void)args;
    if (me() == 0) mbarrier_init(&shared->barrier, 1);
    __syncthreads();
    if (me() == 32) {
        st_shared_b32(shared->tile[0], 1);
        mbarrier_arrive(&shared->barrier);
    }
    if (me() == 0) mbarrier_wait(&shared->barrier, 0);
    (void)__shfl_sync(~0u, me(), 0);
    if (me() == 5) (void)ld_shared_b32(shared->tile[0]);
    __syncthreads();
}

KERNEL(64, 1) exchanged_behind_a_load(KERNEL_ARGS args) {
    uint32_t *const word = (uint32_t *)args.d + 4 * (me() / 32);
    if (me() % 32 == 5) (void)ld_global_b32(word);
    (void)__shfl_sync(~0u, me(), 0);
    if (me() % 32 == 0) st_global_b32(word, 1);
}

/* ---- setmaxnreg, and how many registers there were ---- */

KERNEL(256, 1) raises_to_fewer(KERNEL_ARGS args) {
    (void)args;
    setmaxnreg_inc(240);
}

KERNEL(256, 1) raises_to_fewer_than_kept(KERNEL_ARGS args) {
    (void)args;
    setmaxnreg_dec(128);
    named_barrier_sync(1 + me() / 128, 128);
    setmaxnreg_inc(40);
}

KERNEL(64, 1) both_warps_write(KERNEL_ARGS args) {
    SHARED_MEMORY(struct doubt_smem);
    (void)args;
    if (me() % 32 == 0) st_shared_b32(shared->tile[0], 1 + me());
    __syncthreads();
}

KERNEL(64, 1) lanes_write_in_turn(KERNEL_ARGS args) {
    SHARED_MEMORY(struct doubt_smem);
    (void)args;
    if (me() == 0) st_shared_b32(shared->tile[0], 1);
    if (me() == 1) st_shared_b32(shared->tile[0], 2);
    __syncthreads();
}

/* ---- writes of the same bytes, or of others, without an order ---- */

#define WRITE(name, to, value, after)                                                              \
    KERNEL(64, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct doubt_smem);                                                          \
        (void)args;                                                                                \
        (void)shared;                                                                              \
        if (me() % 32 == 0) to(value);                                                             \
        after;                                                                                     \
        __syncthreads();                                                                           \
    }
#define TO_SHARED(value) st_shared_b32(shared->tile[0], value)
#define TO_GLOBAL(value) st_global_b32(args.d, value)
WRITE(same_to_shared, TO_SHARED, 5, )
WRITE(same_to_global, TO_GLOBAL, 5, )
WRITE(others_to_shared, TO_SHARED, 5 + (uint32_t)me(), )
WRITE(others_to_global, TO_GLOBAL, 5 + (uint32_t)me(), )
/* One of the two goes on to another value, which is after its own first write alone. */
WRITE(same_then_another, TO_SHARED, 5, if (me() == 32) TO_SHARED(6))
WRITE(same_then_another_in_global, TO_GLOBAL, 5, if (me() == 32) TO_GLOBAL(6))

/* Two threads store boxes to one place, from one tile or from two. */
#define STORE_BOTH(name, tile_of_second, bytes_of_second)                                          \
    KERNEL(64, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct doubt_smem);                                                          \
        st_shared_b128(&shared->tile[0][8 * me()], some_chunk);                                    \
        st_shared_b128(&shared->tile[1][8 * me()], bytes_of_second);                               \
        fence_proxy_async();                                                                       \
        __syncthreads();                                                                           \
        if (me() % 32 == 0) {                                                                      \
            tma_store(&args.map_d, 0, 0, shared->tile[me() == 32 ? (tile_of_second) : 0]);         \
            bulk_commit_group();                                                                   \
            bulk_wait_group_read(0);                                                               \
        }                                                                                          \
    }
static const struct b128 another_chunk = {{1, 2, 3, 5}};
STORE_BOTH(one_tile_twice, 0, another_chunk)
STORE_BOTH(equal_tiles, 1, some_chunk)
STORE_BOTH(other_tiles, 1, another_chunk)

/* ---- an initialization without its fence ---- */

KERNEL(64, 1) tma_signals(KERNEL_ARGS args) {
    SHARED_MEMORY(struct doubt_smem);
    if (me() == 0) mbarrier_init(&shared->barrier, 1);
    __syncthreads();
    if (me() == 32) {
        mbarrier_arrive_expect_tx(&shared->barrier, 8 * 64 * sizeof(element_t));
        tma_load(shared->tile[0], &args.map_d, 0, 0, &shared->barrier);
    }
    mbarrier_wait(&shared->barrier, 0);
}

#define PEER_ARRIVES(name, meet)                                                                   \
    KERNEL(64, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct doubt_smem);                                                          \
        (void)args;                                                                                \
        if (me() == 0) mbarrier_init(&shared->barrier, 1);                                         \
        meet;                                                                                      \
        if (me() == 0 && cluster_rank() == 1) mbarrier_arrive_remote(&shared->barrier, 0);         \
        cluster_sync();                                                                            \
    }
PEER_ARRIVES(peer_arrives, cluster_sync())
PEER_ARRIVES(peer_arrives_unreleased, cluster_sync_relaxed())
/* ---- an unwritten word ---- */

/* Each lane of a warp changes a word, of which the last has not been written; the other warp reads
 * some. */
#define SCAN(name, reads)                                                                          \
    KERNEL(64, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct doubt_smem);                                                          \
        element_t *const word = &shared->operand[2 * (me() % 32)];                                 \
        (void)args;                                                                                \
        if (me() < 31) st_shared_b32(word, 1);                                                     \
        __syncthreads();                                                                           \
        if (me() < 32) st_shared_b32(word, ld_shared_b32(word) + 1);                               \
        __syncthreads();                                                                           \
        if (me() >= 32 && me() % 32 < (reads)) (void)ld_shared_b32(word);                          \
    }
SCAN(scans_too_many, 31)
SCAN(reads_all_it_scanned, 32)

KERNEL(64, 1) reads_anothers_word(KERNEL_ARGS args) {
    SHARED_MEMORY(struct doubt_smem);
    (void)args;
    if (me() == 0) (void)ld_shared_b32(shared->operand);
    __syncthreads();
    if (me() == 1) st_shared_b32(shared->operand, 1);
}

/* ---- a store that its thread does not wait for ---- */

#define STORE_AND_END(name, commit, reuse)                                                         \
    KERNEL(64, 1) name(KERNEL_ARGS args) {                                                         \
        SHARED_MEMORY(struct doubt_smem);                                                          \
        st_shared_b128(&shared->tile[0][8 * me()], some_chunk);                                    \
        fence_proxy_async();                                                                       \
        __syncthreads();                                                                           \
        if (me() == 0) tma_store(&args.map_d, 0, 0, shared->tile[0]);                              \
        if (me() == 0) commit;                                                                     \
        reuse;                                                                                     \
    }
STORE_AND_END(store_and_end, bulk_commit_group(), )
STORE_AND_END(store_uncommitted_and_end, (void)0, )
STORE_AND_END(reused_by_others, bulk_commit_group(), __syncthreads();
              if (me() == 32) st_shared_b128(shared->tile[0], some_chunk))

/* ---- CTAs that wait for one with a lower index ---- */

KERNEL(32, 1) in_turn(KERNEL_ARGS args) {
    if (me() != 0) return;
    while (ld_global_acquire(args.tile_counter, SCOPE_GPU) % gridDim.x != blockIdx.x) {
    }
    red_add_release(args.tile_counter, 1, SCOPE_GPU);
}

/* ---- tensor memory ---- */

enum { COLUMNS = 32, ISSUER = 128 };

struct tensor_smem {
    element_t operand[128 * 64] __attribute__((aligned(1024)));
    mbarrier_t full, empty, ring;
    uint32_t tensor;
};

/* A warpgroup reads what thread 128 has multiplied, and that one multiplies once more. */
#define MULTIPLY_AND_READ(name, wait, after, before, arrive, lanes, before_commit, barrier)        \
    KERNEL(ISSUER + 32, 1) name(KERNEL_ARGS args) {                                                \
        SHARED_MEMORY(struct tensor_smem);                                                         \
        (void)args;                                                                                \
        float values[COLUMNS];                                                                     \
        for (unsigned i = threadIdx.x; i < 128 * 64 / 8; i += ISSUER + 32)                         \
            st_shared_b128(&shared->operand[8 * i], some_chunk);                                   \
        fence_proxy_async();                                                                       \
        if (me() == 0) {                                                                           \
            mbarrier_init(&shared->full, 1);                                                       \
            mbarrier_init(&shared->empty, ISSUER);                                                 \
            mbarrier_init(&shared->ring, 1);                                                       \
        }                                                                                          \
        fence_mbarrier_init();                                                                     \
        if (me() >= ISSUER) tcgen05_alloc(1, &shared->tensor, COLUMNS);                            \
        __syncthreads();                                                                           \
        const uint32_t d = ld_shared_b32(&shared->tensor);                                         \
        const uint64_t tile =                                                                      \
            tcgen05_descriptor(shared_address(shared->operand), 0, 1024, SWIZZLE_128B);            \
        for (int i = 0; i < 2; ++i) {                                                              \
            if (me() == ISSUER) {                                                                  \
                wait(&shared->empty, (uint32_t)i ^ 1);                                             \
                after;                                                                             \
                tcgen05_mma(1, d, tile, tile, tcgen05_instruction_of(128, COLUMNS, 0), false);     \
                before_commit;                                                                     \
                tcgen05_commit(1, &shared->full);                                                  \
            } else if (me() < ISSUER) {                                                            \
                wait(&shared->full, (uint32_t)i);                                                  \
                after;                                                                             \
                tcgen05_load(32, values, d + (lanes));                                             \
                tcgen05_wait_load();                                                               \
                before;                                                                            \
                arrive(&shared->empty);                                                            \
            }                                                                                      \
        }                                                                                          \
        __syncwarp();                                                                              \
        barrier;                                                                                   \
        if (me() >= ISSUER) tcgen05_dealloc(1, d, COLUMNS);                                        \
    }
#define OWN_LANES ((uint32_t)me() / 32 * 32 << 16)
MULTIPLY_AND_READ(with_fences, mbarrier_wait_relaxed, tcgen05_fence_after(), tcgen05_fence_before(),
                  mbarrier_arrive_relaxed, OWN_LANES, , __syncthreads())
MULTIPLY_AND_READ(without_fences, mbarrier_wait, , , mbarrier_arrive, OWN_LANES, , __syncthreads())
MULTIPLY_AND_READ(relaxed_without_fences, mbarrier_wait_relaxed, , , mbarrier_arrive_relaxed,
                  OWN_LANES, , __syncthreads())
MULTIPLY_AND_READ(lanes_left_out, mbarrier_wait_relaxed, tcgen05_fence_after(),
                  tcgen05_fence_before(), mbarrier_arrive_relaxed, 0, , __syncthreads())
MULTIPLY_AND_READ(lanes_of_another, mbarrier_wait_relaxed, tcgen05_fence_after(),
                  tcgen05_fence_before(), mbarrier_arrive_relaxed, OWN_LANES ^ 32 << 16, ,
                  __syncthreads())
MULTIPLY_AND_READ(waits_for_the_last_commit, mbarrier_wait_relaxed, tcgen05_fence_after(),
                  tcgen05_fence_before(), mbarrier_arrive_relaxed, OWN_LANES,
                  if (i == 1) tcgen05_commit(1, &shared->ring), __syncthreads())
MULTIPLY_AND_READ(waits_for_an_earlier_commit, mbarrier_wait_relaxed, tcgen05_fence_after(),
                  tcgen05_fence_before(), mbarrier_arrive_relaxed, OWN_LANES, ,
                  if (me() == ISSUER) tcgen05_commit(1, &shared->ring);
                  __syncwarp(); __syncthreads())

/* ---- */

enum { OFF, ON, ALL };
static const char *const settings[] = {"off", "on", "all"};

/* ---- a wait behind the warp's own arrival ---- */

/* Two warps take turns, as in FlashAttention-3: each waits at its own barrier for the other's
 * arrival, and warp 0 gives itself the first. */
#define TURNS(name, first)                                                                         \
    KERNEL(64, 1) name(KERNEL_ARGS args) {                                                         \
        (void)args;                                                                                \
        const int warp = me() / 32;                                                                \
        if (warp == 0) first;                                                                      \
        for (int i = 0; i < 3; ++i) {                                                              \
            named_barrier_sync(1 + warp, 64);                                                      \
            if (i + warp < 3) named_barrier_arrive(2 - warp, 64);                                  \
        }                                                                                          \
    }
TURNS(first_turn_from_itself, named_barrier_arrive(1, 64))
TURNS(nobody_gives_the_first_turn, (void)0)

/* Warp 0 counts twice, and does not wait. */
KERNEL(64, 1) arrives_twice(KERNEL_ARGS args) {
    (void)args;
    if (me() >= 32) return;
    named_barrier_arrive(1, 96);
    named_barrier_arrive(1, 96);
}

/* `kind`: one of these is reported, NULL: nothing. */
static void run(const char *name, const struct test_launch *launch, int setting, const char *kind,
                const char *says) {
    backend_settings[SETTING_DOUBTFUL].value = (uint64_t)setting;
    for (int i = 0; i < 3 + 6; ++i) {
        const enum sim_schedule schedule = i < 3 ? (enum sim_schedule)i : SCHEDULE_RANDOM;
        const char *got = "nothing", *file;
        int line;
        test_open(schedule, (uint64_t)i, 4);
        const struct capture capture = capture_begin();
        const enum run_status status = test_run(launch, NULL);
        char *const text = capture_end(capture);
        hazards_get(0, &got, &file, &line);
        EXPECT(kind ? status == RUN_HAZARD && strstr(kind, got) : status == RUN_OK,
               "%s, %s, %s: expected %s, got %s\n%s", name, settings[setting],
               schedule_names[schedule], kind ? kind : "nothing", got, text);
        EXPECT(says ? strstr(text, says) != NULL : !strstr(text, "This rule is in doubt"),
               "%s, %s, %s: the report %s %s\n%s", name, settings[setting],
               schedule_names[schedule], says ? "lacks" : "says", says ? says : "in doubt", text);
        free(text);
    }
}

static void in_doubt(const char *name, struct test_launch launch, const char *kind,
                     enum doubtful_rule rule) {
    run(name, &launch, ALL, kind, doubt_name(rule));
    run(name, &launch, ON, kind, doubt_name(rule));
    run(name, &launch, OFF, NULL, NULL);
}

static void on_demand(const char *name, struct test_launch launch, const char *kind,
                      enum doubtful_rule rule) {
    run(name, &launch, ALL, kind, doubt_name(rule));
    run(name, &launch, ON, NULL, NULL);
    run(name, &launch, OFF, NULL, NULL);
}

static void beyond_doubt(const char *name, struct test_launch launch, const char *kind) {
    for (int setting = OFF; setting <= ALL; ++setting)
        run(name, &launch, setting, kind, NULL);
}

/* With the rule a CTA with a lower index may begin last, which SCHEDULE_LATE does: four SMs have no
 * room for it. */
static void lower_ctas_first(void) {
    const struct test_launch launch = {in_turn, 10, 1, 32, (size_t)200 << 10};
    run("in_turn", &launch, OFF, NULL, NULL);
    backend_settings[SETTING_DOUBTFUL].value = ON;
    test_open(SCHEDULE_LATE, 0, 4);
    const struct capture capture = capture_begin();
    const enum run_status status = test_run(&launch, NULL);
    char *const text = capture_end(capture);
    EXPECT(status == RUN_HAZARD && strstr(text, "deadlock") &&
               strstr(text, doubt_name(DOUBT_CTA_ORDER)),
           "in_turn, on, late: got %d\n%s", status, text);
    free(text);
}

#define LAUNCH(kernel, threads, cluster)                                                           \
#kernel, (struct test_launch) { kernel, cluster, cluster, threads, sizeof(struct doubt_smem) }

int main(void) {
    test_open(SCHEDULE_EARLY, 0, 4);
    if (gemm_tensor_map(&test_args.map_d, GEMM_FP16, test_out, 8, 64, 64, 8, 64, SWIZZLE_NONE) ||
        gemm_tensor_map(&test_args.map_b, GEMM_FP16, test_out, 8, 64, 64, 8, 64, SWIZZLE_128B))
        return 1;
    in_doubt(LAUNCH(released_once, THREADS, 1), "overwritten-while-read", DOUBT_ONE_RELEASE);
    beyond_doubt(LAUNCH(released_before_the_wait, THREADS, 1), "overwritten-while-read");
    in_doubt(LAUNCH(fenced_by_the_issuer, 64, 1), "missing-proxy-fence", DOUBT_PROXY_FENCE);
    beyond_doubt(LAUNCH(fenced_by_one_too_early, 64, 1), "missing-proxy-fence");
    beyond_doubt(LAUNCH(unfenced, 64, 1), "missing-proxy-fence");
    in_doubt(LAUNCH(misaligned, 64, 1), "misaligned-swizzle", DOUBT_MISALIGNED_SWIZZLE);
    in_doubt(LAUNCH(store_and_add, 64, 1), "lost-update", DOUBT_LOST_UPDATE);
    beyond_doubt(LAUNCH(ordinary_store_and_add, 64, 1), "data-race");
    in_doubt(LAUNCH(some_have_ended, 128, 1), "deadlock", DOUBT_BARRIER_AFTER_EXIT);
    beyond_doubt(LAUNCH(some_wait_elsewhere, 128, 1), "deadlock");
    in_doubt(LAUNCH(first_turn_from_itself, 64, 1), "barrier-count", DOUBT_OWN_ARRIVAL);
    beyond_doubt(LAUNCH(nobody_gives_the_first_turn, 64, 1), "deadlock");
    beyond_doubt(LAUNCH(arrives_twice, 64, 1), "barrier-count");
    in_doubt(LAUNCH(lanes_have_ended, 32, 1), "diverged-warp", DOUBT_BARRIER_AFTER_EXIT);
    beyond_doubt(LAUNCH(lanes_are_elsewhere, 32, 1), "diverged-warp");
    beyond_doubt(LAUNCH(those_left_shuffle, 32, 1), NULL);
    EXPECT(!misread, "%d lanes of a shuffle among those left read something else", misread);
    beyond_doubt(LAUNCH(one_reads_from_the_ended, 32, 1), "diverged-warp");
    in_doubt(LAUNCH(others_meet, 64, 2), "exit-before-remote-arrival", DOUBT_EXIT_RELEASES);
    beyond_doubt(LAUNCH(nobody_meets, 64, 2), "exit-before-remote-arrival|cta-exited");
#if READS_SEEN
    in_doubt(LAUNCH(zeros_onto_zeros, THREADS, 1), "missing-wgmma-fence", DOUBT_UNCHANGED_REGISTER);
    in_doubt(LAUNCH(copied_to_itself, THREADS, 1), "missing-wgmma-fence", DOUBT_UNCHANGED_REGISTER);
    beyond_doubt(LAUNCH(copied_elsewhere, THREADS, 1), "missing-wgmma-fence");
#endif
    in_doubt(LAUNCH(scans_too_many, 64, 1), "uninitialized-shared", DOUBT_UNREAD_WORD);
    beyond_doubt(LAUNCH(reads_all_it_scanned, 64, 1), "uninitialized-shared");
    beyond_doubt(LAUNCH(reads_anothers_word, 64, 1), "uninitialized-shared");
    in_doubt(LAUNCH(all_lanes_write, 64, 1), "data-race", DOUBT_ONE_INSTRUCTION);
    in_doubt(LAUNCH(raises_to_fewer, 256, 1), "register-count", DOUBT_ENTRY_REGISTERS);
    beyond_doubt(LAUNCH(raises_to_fewer_than_kept, 256, 1), "register-count");
    in_doubt(LAUNCH(exchanged_between, 64, 1), "data-race", DOUBT_EXCHANGE);
    in_doubt(LAUNCH(exchanged_behind_a_wait, 64, 1), "data-race", DOUBT_EXCHANGE);
    in_doubt(LAUNCH(exchanged_behind_a_load, 64, 1), "data-race", DOUBT_EXCHANGE);
    beyond_doubt(LAUNCH(exchanged_before, 64, 1), "data-race");
    in_doubt(LAUNCH(waited_between, 128, 1), "data-race", DOUBT_EXCHANGE);
    beyond_doubt(LAUNCH(waited_before, 128, 1), "data-race");
    beyond_doubt(LAUNCH(exchanged_elsewhere, 64, 1), "data-race");
    beyond_doubt(LAUNCH(both_warps_write, 64, 1), "data-race");
    beyond_doubt(LAUNCH(lanes_write_in_turn, 64, 1), "data-race");
    beyond_doubt(LAUNCH(changed, THREADS, 1), "missing-wgmma-fence");
    in_doubt(LAUNCH(tma_signals, 64, 1), "missing-fence-mbarrier-init", DOUBT_INIT_FENCE);
    in_doubt(LAUNCH(peer_arrives, 64, 2), "missing-fence-mbarrier-init", DOUBT_INIT_FENCE);
    beyond_doubt(LAUNCH(peer_arrives_unreleased, 64, 2), "missing-fence-mbarrier-init");
    in_doubt(LAUNCH(store_and_end, 64, 1), "unwaited-store", DOUBT_STORE_BEFORE_EXIT);
    in_doubt(LAUNCH(store_uncommitted_and_end, 64, 1), "uncommitted-store",
             DOUBT_STORE_BEFORE_EXIT);
    const struct test_launch reused = {reused_by_others, 1, 1, 64, sizeof(struct doubt_smem)};
    run("reused_by_others", &reused, OFF, "overwritten-while-read", NULL);
    in_doubt(LAUNCH(same_to_shared, 64, 1), "data-race", DOUBT_EQUAL_VALUES);
    in_doubt(LAUNCH(same_to_global, 64, 1), "global-write-write", DOUBT_EQUAL_VALUES);
    in_doubt(LAUNCH(one_tile_twice, 64, 1), "global-write-write", DOUBT_EQUAL_VALUES);
    in_doubt(LAUNCH(equal_tiles, 64, 1), "global-write-write", DOUBT_EQUAL_VALUES);
    beyond_doubt(LAUNCH(others_to_shared, 64, 1), "data-race");
    beyond_doubt(LAUNCH(others_to_global, 64, 1), "global-write-write");
    beyond_doubt(LAUNCH(other_tiles, 64, 1), "global-write-write");
    const struct test_launch then_another = {same_then_another, 1, 1, 64,
                                             sizeof(struct doubt_smem)};
    const struct test_launch in_global = {same_then_another_in_global, 1, 1, 64,
                                          sizeof(struct doubt_smem)};
    run("same_then_another", &then_another, OFF, "data-race", NULL);
    run("same_then_another_in_global", &in_global, OFF, "global-write-write", NULL);
    lower_ctas_first();
#define TENSOR(kernel)                                                                             \
#kernel, (struct test_launch){kernel, 1, 1, ISSUER + 32, sizeof(struct tensor_smem) }
    test_machine = MACHINE_BLACKWELL;
    beyond_doubt(TENSOR(with_fences), NULL);
    on_demand(TENSOR(without_fences), "tensor-fence-after|tensor-fence-before", DOUBT_TENSOR_FENCE);
    beyond_doubt(TENSOR(relaxed_without_fences), "tensor-fence-after|tensor-fence-before");
    on_demand(TENSOR(lanes_left_out), "tensor-lane", DOUBT_TENSOR_LANE);
    beyond_doubt(TENSOR(lanes_of_another), "tensor-lane");
    on_demand(TENSOR(waits_for_the_last_commit), "exit-before-commit", DOUBT_COMMIT_BEFORE_EXIT);
    beyond_doubt(TENSOR(waits_for_an_earlier_commit), "exit-before-commit");
    backend_close();
    return expect_result();
}
