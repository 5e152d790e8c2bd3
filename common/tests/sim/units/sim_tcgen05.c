/*
 * sim_tcgen05.c: tensor memory, multiplications of one thread, commits, loads and CTA pairs, used
 * rightly, and each rule broken alone: the report has the kind and the line.
 */
#include "blackwell/tcgen05.h"
#include "hopper/cluster.h"
#include "hopper/element.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "sim/settings.h"
#include "tests/sim/sim_kernels.h"

enum { EPILOGUE = 128, ISSUER = 4, THREADS = EPILOGUE + 32, BM = 128, BN = 64, BK = 64 };

struct smem {
    element_t a[BM * BK] __attribute__((aligned(1024)));
    element_t b[BN * BK] __attribute__((aligned(1024)));
    mbarrier_t full, empty, last;
    uint32_t tensor;
};

/* What is wrong. */
static int fault;
enum fault {
    NOTHING,
    NO_COMMIT,
    NO_FULL_WAIT,
    NO_FENCE_AFTER_WAIT,
    NO_WAIT_LOAD,
    WAIT_BEHIND_FENCE,
    WAIT_BEHIND_ARRIVAL,
    NO_FENCE_BEFORE_ARRIVAL,
    FENCE_BEHIND_ARRIVAL,
    NO_EMPTY_WAIT,
    NO_FENCE_BEFORE_MMA,
    OTHER_SHAPE,
    FIRST_ACCUMULATES,
    ARRIVES_ITSELF,
    ALL_LANES_MULTIPLY,
    ENDS_BEFORE_COMMIT,
    WGMMA_DESCRIPTOR,
    ODD_SWIZZLE,
    DESCRIPTOR_OUTSIDE,
    BAD_M,
    BAD_N,
    MIXED_TYPES,
    D_IN_LANE_32,
    D_NOT_ALLOCATED,
    D_OUT_OF_BOUNDS,
    LOAD_NOT_ALLOCATED,
    LOAD_NOT_WRITTEN,
    LOAD_OF_OTHERS,
    LOAD_OF_TWO,
    NO_BARRIER_BEHIND_ALLOC,
    NO_DEALLOC,
    DEALLOC_OF_LESS,
    DEALLOC_TWICE,
    DEALLOC_TOO_EARLY,
    GROUP_TWO_ALONE,
    MASK_EMPTY,
    /* Right, in other ways: */
    RELEASE_AND_ACQUIRE,
    WITHOUT_FENCES,
    LANE_ZERO,
    LATER_COMMIT
};

/* With one of these faults the report names this statement. The call stands on one line: compilers
 * differ in which of several is __LINE__. */
#define AT(statement, ...) AT_ANY(statement, ((const int[]){__VA_ARGS__, -1}))
#define AT_ANY(statement, faults)                                                                  \
    do {                                                                                           \
        if (is_one_of(faults)) marked_line = __LINE__;                                             \
        statement;                                                                                 \
    } while (0)

static const int of_mma[] = {NO_WAIT_LOAD,
                             WAIT_BEHIND_FENCE,
                             WAIT_BEHIND_ARRIVAL,
                             NO_FENCE_BEFORE_ARRIVAL,
                             FENCE_BEHIND_ARRIVAL,
                             NO_FENCE_BEFORE_MMA,
                             FIRST_ACCUMULATES,
                             WGMMA_DESCRIPTOR,
                             ODD_SWIZZLE,
                             DESCRIPTOR_OUTSIDE,
                             BAD_M,
                             BAD_N,
                             MIXED_TYPES,
                             D_IN_LANE_32,
                             D_NOT_ALLOCATED,
                             D_OUT_OF_BOUNDS,
                             NO_BARRIER_BEHIND_ALLOC,
                             -1};
static const int of_load[] = {
    NO_COMMIT,      NO_FENCE_AFTER_WAIT, LOAD_NOT_ALLOCATED, LOAD_NOT_WRITTEN,
    LOAD_OF_OTHERS, LOAD_OF_TWO,         ARRIVES_ITSELF,     -1};

static bool is_one_of(const int *list) {
    while (*list >= 0)
        if (*list++ == fault) return true;
    return false;
}

static bool ordered(void) { return fault == RELEASE_AND_ACQUIRE || fault == WITHOUT_FENCES; }

static void wait(const mbarrier_t *barrier, uint32_t phase) {
    if (ordered())
        mbarrier_wait(barrier, phase);
    else
        mbarrier_wait_relaxed(barrier, phase);
}

static void arrive(mbarrier_t *barrier) {
    if (ordered())
        mbarrier_arrive(barrier);
    else
        mbarrier_arrive_relaxed(barrier);
}

static const struct b128 some_elements = {{0x3c003c00, 0, 0x3c00, 0x4000}};

static void fill(struct smem *shared) {
    for (unsigned i = threadIdx.x; i < (BM + BN) * BK / 8; i += THREADS)
        st_shared_b128(&shared->a[8 * i], some_elements);
    fence_proxy_async();
}

static void begin(struct smem *shared, int warp) {
    fill(shared);
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, fault == ALL_LANES_MULTIPLY ? 32 : 1);
        mbarrier_init(&shared->empty, EPILOGUE);
        mbarrier_init(&shared->last, 1);
        fence_mbarrier_init();
    }
    if (fault == NO_BARRIER_BEHIND_ALLOC) __syncthreads();
    if (warp == ISSUER) {
        AT(tcgen05_alloc(1, &shared->tensor, 128), NO_DEALLOC);
        tcgen05_relinquish(1);
    }
    if (fault != NO_BARRIER_BEHIND_ALLOC) __syncthreads();
}

/* One thread: a k-tile, and its commit. */
static void issue(struct smem *shared, uint32_t tensor, int round) {
    uint64_t a = tcgen05_descriptor(shared_address(shared->a), 0, 1024, SWIZZLE_128B);
    const uint64_t b = tcgen05_descriptor(shared_address(shared->b), 0, 1024, SWIZZLE_128B);
    uint32_t instruction = tcgen05_instruction_of(BM, round && fault == OTHER_SHAPE ? 32 : BN, 0);
    uint32_t d = tensor;
    if (fault == WGMMA_DESCRIPTOR)
        a = wgmma_descriptor(shared_address(shared->a), 0, 1024, SWIZZLE_128B);
    if (fault == ODD_SWIZZLE) a |= (uint64_t)1 << 61;
    if (fault == DESCRIPTOR_OUTSIDE) a += 0x2000;
    if (fault == BAD_M) instruction = tcgen05_instruction_of(192, BN, 0);
    if (fault == BAD_N) instruction = tcgen05_instruction_of(BM, 264, 0);
    if (fault == MIXED_TYPES) instruction |= 1 << 7;
    if (fault == D_IN_LANE_32) d += 32 << 16;
    if (fault == D_NOT_ALLOCATED) d += 96;
    if (fault == D_OUT_OF_BOUNDS) d += 480;
    AT_ANY(tcgen05_mma(1, d, a, b, instruction, fault == FIRST_ACCUMULATES), of_mma);
    if (fault == ARRIVES_ITSELF) {
        mbarrier_arrive_relaxed(&shared->full);
    } else if (fault != NO_COMMIT || round == 0) {
        if (fault == GROUP_TWO_ALONE) AT(tcgen05_commit(2, &shared->full), GROUP_TWO_ALONE);
        if (fault == MASK_EMPTY) AT(tcgen05_commit_multicast(1, &shared->full, 0), MASK_EMPTY);
        if (fault == LATER_COMMIT && round == 1) tcgen05_commit(1, &shared->last);
        tcgen05_commit(1, &shared->full);
        if (fault == ENDS_BEFORE_COMMIT && round == 1)
            AT(tcgen05_commit(1, &shared->last), ENDS_BEFORE_COMMIT);
    }
    if (fault == NO_COMMIT && round == 1) mbarrier_arrive_relaxed(&shared->full);
}

static void issuer(struct smem *shared, uint32_t tensor) {
    for (int round = 0; round < 2; ++round) {
        if (fault != NO_EMPTY_WAIT) wait(&shared->empty, (uint32_t)round ^ 1);
        if (fault != NO_FENCE_BEFORE_MMA && fault != WITHOUT_FENCES) tcgen05_fence_after();
        issue(shared, tensor, round);
    }
}

static void reader(struct smem *shared, const struct gemm_args *args, int warp, uint32_t tensor) {
    const uint32_t lanes = (uint32_t)warp * 32 << 16;
    uint32_t from = tensor + (fault == LANE_ZERO ? 0 : lanes);
    if (fault == LOAD_NOT_ALLOCATED) from += 128;
    if (fault == LOAD_NOT_WRITTEN) from += 64;
    if (fault == LOAD_OF_OTHERS) from = tensor + ((uint32_t)(warp ^ 1) * 32 << 16);
    if (fault == LOAD_OF_TWO) from += threadIdx.x % 2;
    for (int round = 0; round < 2; ++round) {
        float values[32];
        if (fault != NO_FULL_WAIT) wait(&shared->full, (uint32_t)round);
        if (fault != NO_FENCE_AFTER_WAIT && fault != WITHOUT_FENCES) tcgen05_fence_after();
        AT_ANY(tcgen05_load(32, values, from), of_load);
        if (fault != NO_WAIT_LOAD && fault != WAIT_BEHIND_FENCE && fault != WAIT_BEHIND_ARRIVAL)
            tcgen05_wait_load();
        if (fault != NO_FENCE_BEFORE_ARRIVAL && fault != FENCE_BEHIND_ARRIVAL &&
            fault != WITHOUT_FENCES)
            tcgen05_fence_before();
        if (fault == WAIT_BEHIND_FENCE) tcgen05_wait_load();
        arrive(&shared->empty);
        if (fault == WAIT_BEHIND_ARRIVAL) tcgen05_wait_load();
        if (fault == FENCE_BEHIND_ARRIVAL) tcgen05_fence_before();
        for (int i = 0; i < 32 && fault == NOTHING; ++i)
            if (values[i] != values[i % 8]) st_global_b32(args->d, 1);
    }
}

KERNEL(THREADS, 1) rounds(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warp = (int)threadIdx.x / 32;
    begin(shared, warp);
    const uint32_t tensor = fault == NO_BARRIER_BEHIND_ALLOC ? 0 : ld_shared_b32(&shared->tensor);
    if (warp != ISSUER)
        reader(shared, &args, warp, tensor);
    else if (threadIdx.x % 32 == 0 || fault == ALL_LANES_MULTIPLY)
        issuer(shared, tensor);
    __syncwarp();
    if (fault == WAIT_BEHIND_ARRIVAL || fault == NO_WAIT_LOAD) tcgen05_wait_load();
    if (fault != DEALLOC_TOO_EARLY) __syncthreads();
    if (warp != ISSUER || fault == NO_DEALLOC) return;
    AT(tcgen05_dealloc(1, tensor, fault == DEALLOC_OF_LESS ? 64 : 128), DEALLOC_OF_LESS);
    if (fault == DEALLOC_TWICE) AT(tcgen05_dealloc(1, tensor, 128), DEALLOC_TWICE);
}

/* ---- allocation ---- */

enum alloc_fault {
    RIGHT_SIZES,
    COLUMNS_384,
    COLUMNS_16,
    COLUMNS_1024,
    INCREASING,
    RELINQUISHED,
    ONE_THREAD,
    TWO_OF_512,
    ODD_LANES_LESS,
    ODD_LANES_ELSEWHERE,
    ODD_LANES_FREE
};

static const int of_second[] = {RELINQUISHED, TWO_OF_512, -1};

KERNEL(32, 1) allocates(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int sizes[] = {[COLUMNS_384] = 384, [COLUMNS_16] = 16, [COLUMNS_1024] = 1024};
    if (fault >= COLUMNS_384 && fault <= COLUMNS_1024)

        AT(tcgen05_alloc(1, &shared->tensor, sizes[fault]), COLUMNS_384, COLUMNS_16, COLUMNS_1024);
    if (fault == ONE_THREAD && threadIdx.x == 0)
        AT(tcgen05_alloc(1, &shared->tensor, 32), ONE_THREAD);
    if (fault == ONE_THREAD) return;
    const bool odd = threadIdx.x % 2;
    uint32_t *const to = &shared->tensor + (fault == ODD_LANES_ELSEWHERE && odd);
    const int columns = fault == TWO_OF_512 ? 512 : fault == ODD_LANES_LESS && odd ? 32 : 64;
    AT(tcgen05_alloc(1, to, columns), ODD_LANES_LESS, ODD_LANES_ELSEWHERE);
    __syncwarp();
    const uint32_t first = ld_shared_b32(&shared->tensor);
    __syncwarp();
    if (fault == RELINQUISHED) tcgen05_relinquish(1);
    if (fault == INCREASING) AT(tcgen05_alloc(1, &shared->tensor, 128), INCREASING);
    if (fault != INCREASING)
        AT_ANY(tcgen05_alloc(1, &shared->tensor, fault == TWO_OF_512 ? 512 : 32), of_second);
    __syncwarp();
    const uint32_t second = ld_shared_b32(&shared->tensor);
    if (first == second) st_global_b32(args.d, 1);
    tcgen05_dealloc(1, second, fault == INCREASING ? 128 : 32);
    AT(tcgen05_dealloc(1, first + (fault == ODD_LANES_FREE && odd), 64), ODD_LANES_FREE);
}

/* Two CTAs on one SM, each with all columns: the second waits for the first. */
KERNEL(32, 2) takes_turns(KERNEL_ARGS args) {
    SHARED_MEMORY(uint32_t);
    (void)args;
    tcgen05_alloc(1, shared, 512);
    tcgen05_relinquish(1);
    __syncwarp();
    tcgen05_dealloc(1, ld_shared_b32(shared), 512);
}

/* ---- pairs ---- */

enum pair_fault {
    RIGHT_PAIR,
    NOT_LAUNCHED,
    ONE_ALLOCATES,
    ONE_RELINQUISHES,
    OTHER_COLUMNS,
    OTHER_ALLOCATION,
    FREED_TOO_EARLY,
    ALONE,
    LAUNCHED_BY_SYNC
};

static const int of_pairs_alloc[] = {NOT_LAUNCHED, ONE_ALLOCATES, OTHER_COLUMNS, ALONE, -1};

KERNEL(32, 1) pair(KERNEL_ARGS args) {
    SHARED_MEMORY(uint32_t);
    const uint32_t odd = cluster_rank();
    (void)args;
    if (fault == LAUNCHED_BY_SYNC) cluster_sync();
    if (fault != NOT_LAUNCHED && fault != LAUNCHED_BY_SYNC) cluster_sync_relaxed();
    if (fault != ONE_ALLOCATES || cluster_rank() == 0)
        AT_ANY(tcgen05_alloc(2, shared, fault == OTHER_COLUMNS && odd ? 32 : 64), of_pairs_alloc);
    if (fault == OTHER_ALLOCATION) tcgen05_alloc(2, shared + 1, 64);
    if (fault != ONE_RELINQUISHES || odd) AT(tcgen05_relinquish(2), ONE_RELINQUISHES);
    __syncwarp();
    if (fault != FREED_TOO_EARLY) cluster_sync();
    const uint32_t *const which = fault == OTHER_ALLOCATION ? shared + odd : shared;
    AT(tcgen05_dealloc(2, ld_shared_b32(which), 64), FREED_TOO_EARLY, OTHER_ALLOCATION);
    if (fault == OTHER_ALLOCATION) tcgen05_dealloc(2, ld_shared_b32(shared + 1 - odd), 64);
}

/* A load of either CTA, then the pair frees. */
enum last_load { BEHIND_CLUSTER_BARRIER, BEHIND_OWN_BARRIER };

KERNEL(32, 1) frees(KERNEL_ARGS args) {
    SHARED_MEMORY(uint32_t);
    float value[32];
    (void)args;
    cluster_sync_relaxed();
    tcgen05_alloc(2, shared, 32);
    cluster_sync();
    tcgen05_load(32, value, ld_shared_b32(shared));
    tcgen05_wait_load();
    if (fault == BEHIND_CLUSTER_BARRIER) cluster_sync();
    __syncthreads();
    AT(tcgen05_dealloc(2, ld_shared_b32(shared), 32), BEHIND_OWN_BARRIER);
}

/* ---- a handoff to the other CTA of a pair ---- */

/* CTA 1 reads columns that a thread of CTA 0 overwrites: RIGHT, and in ways that kernels in use
 * have. */
enum handoff { RELAXED_WITH_FENCES, DEFAULT_WITH_FENCES, DEFAULT_ALONE, NARROW_WAIT, NO_ARRIVAL };

struct handoff_smem {
    element_t tile[128 * 64] __attribute__((aligned(1024))); /* of zeros: A, and a half of B */
    mbarrier_t read, done;
    uint32_t tensor;
};

KERNEL(128, 1) hands_off(KERNEL_ARGS args) {
    SHARED_MEMORY(struct handoff_smem);
    const bool relaxed = fault == RELAXED_WITH_FENCES || fault == NARROW_WAIT;
    const int warp = warp_index();
    (void)args;
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->read, 128);
        mbarrier_init(&shared->done, 1);
        fence_mbarrier_init();
    }
    cluster_sync();
    if (warp == 0) tcgen05_alloc(2, &shared->tensor, 128);
    if (warp == 0) tcgen05_relinquish(2);
    for (int i = threadIdx.x; i < 128 * 64 / 8; i += 128)
        st_shared_b128(&shared->tile[8 * i], (struct b128){{0}});
    fence_proxy_async();
    cluster_sync();
    const uint32_t tensor = ld_shared_b32(&shared->tensor);
    const uint64_t tile = tcgen05_descriptor(shared_address(shared->tile), 0, 1024, SWIZZLE_128B);
    if (cluster_rank() == 0 && threadIdx.x == 0) {
        tcgen05_mma(2, tensor, tile, tile, tcgen05_instruction(256, 128), false);
        tcgen05_commit_multicast(2, &shared->done, 3);
    }
    mbarrier_wait_relaxed(&shared->done, 0);
    if (cluster_rank() == 1) {
        float value[32];
        tcgen05_fence_after();
        tcgen05_load(32, value, tensor + ((uint32_t)warp * 32 << 16));
        tcgen05_wait_load();
        if (fault != DEFAULT_ALONE) tcgen05_fence_before();
        if (relaxed) mbarrier_arrive_remote_relaxed(&shared->read, 0);
        if (!relaxed && fault != NO_ARRIVAL) mbarrier_arrive_remote(&shared->read, 0);
    } else if (threadIdx.x == 0) {
        if (fault == RELAXED_WITH_FENCES) mbarrier_wait_relaxed(&shared->read, 0);
        if (fault != RELAXED_WITH_FENCES && fault != NO_ARRIVAL) mbarrier_wait(&shared->read, 0);
        if (fault != DEFAULT_ALONE) tcgen05_fence_after();
        tcgen05_mma(2, tensor, tile, tile, tcgen05_instruction(256, 128), false);
        tcgen05_commit(2, &shared->done);
        mbarrier_wait(&shared->done, 1);
    }
    __syncwarp();
    cluster_sync();
    if (warp == 0) tcgen05_dealloc(2, tensor, 128);
}

/* The even CTA's thread commits to both; each waits. */
enum commit_fault { RIGHT_MASK, NO_SUCH_CTA, OTHER_WITHOUT_BARRIER };

KERNEL(32, 1) commits(KERNEL_ARGS args) {
    SHARED_MEMORY(mbarrier_t);
    (void)args;
    if (threadIdx.x == 0 && (fault != OTHER_WITHOUT_BARRIER || cluster_rank() == 0)) {
        mbarrier_init(shared, 1);
        fence_mbarrier_init();
    }
    cluster_sync();
    if (threadIdx.x == 0 && cluster_rank() == 0)

        AT(tcgen05_commit_multicast(2, shared, fault == NO_SUCH_CTA ? 5 : 3), NO_SUCH_CTA);
    mbarrier_wait_relaxed(shared, 0);
    cluster_sync();
}

/* ---- machines ---- */

KERNEL(128, 1) issues_wgmma(KERNEL_ARGS args) {
    (void)args;
    MARK wgmma_fence();
}

KERNEL(32, 1) issues_tcgen05(KERNEL_ARGS args) {
    SHARED_MEMORY(uint32_t);
    (void)args;
    MARK tcgen05_alloc(1, shared, 32);
}

/* ---- */

static void run(const char *name, const struct test_launch *launch, int wrong, const char *kind) {
    char text[96];
    snprintf(text, sizeof text, "%s, fault %d", name, wrong);
    fault = wrong;
    expect_run_(text, launch, kind);
}

static const struct test_launch of_rounds = {rounds, 1, 1, THREADS, sizeof(struct smem)};
#define ROUNDS(wrong, kind) run("rounds, " #wrong, &of_rounds, wrong, kind)
/* Either side of a race may come first. */
#define RACE(wrong) (fault = (wrong), expect_race_("rounds, " #wrong, &of_rounds))
static const struct test_launch of_allocates = {allocates, 1, 1, 32, sizeof(struct smem)};
#define ALLOCATES(wrong, kind) run("allocates, " #wrong, &of_allocates, wrong, kind)
static const struct test_launch of_pair = {pair, 2, 2, 32, 64};
#define PAIR(wrong, kind) run("pair, " #wrong, &of_pair, wrong, kind)
static const struct test_launch of_frees = {frees, 2, 2, 32, 64};
#define FREES(wrong, kind) run("frees, " #wrong, &of_frees, wrong, kind)
static const struct test_launch of_handoff = {hands_off, 2, 2, 128, sizeof(struct handoff_smem)};
static const struct test_launch of_commits = {commits, 2, 2, 32, 64};
#define COMMITS(wrong, kind) run("commits, " #wrong, &of_commits, wrong, kind)

int main(void) {
    test_machine = MACHINE_BLACKWELL;
    ROUNDS(NOTHING, NULL);
    ROUNDS(RELEASE_AND_ACQUIRE, NULL);
    ROUNDS(WITHOUT_FENCES, NULL);
    ROUNDS(LANE_ZERO, NULL);
    ROUNDS(LATER_COMMIT, NULL);
    ROUNDS(LOAD_NOT_WRITTEN, NULL); /* and the values are not used */
    ROUNDS(NO_COMMIT, "tensor-in-flight");
    RACE(NO_FULL_WAIT);
    ROUNDS(NO_FENCE_AFTER_WAIT, "tensor-fence-after");
    ROUNDS(NO_WAIT_LOAD, "tensor-load-in-flight");
    ROUNDS(WAIT_BEHIND_FENCE, "tensor-fence-before");
    RACE(WAIT_BEHIND_ARRIVAL);
    ROUNDS(NO_FENCE_BEFORE_ARRIVAL, "tensor-fence-before");
    ROUNDS(FENCE_BEHIND_ARRIVAL, "tensor-fence-before");
    RACE(NO_EMPTY_WAIT);
    ROUNDS(NO_FENCE_BEFORE_MMA, "tensor-fence-after");
    ROUNDS(FIRST_ACCUMULATES, "tensor-uninitialized");
    ROUNDS(ARRIVES_ITSELF, "tensor-in-flight");
    RACE(ALL_LANES_MULTIPLY);
    ROUNDS(ENDS_BEFORE_COMMIT, "exit-before-commit");
    ROUNDS(WGMMA_DESCRIPTOR, "tcgen05-descriptor");
    ROUNDS(ODD_SWIZZLE, "tcgen05-descriptor");
    ROUNDS(DESCRIPTOR_OUTSIDE, "shared-bounds");
    ROUNDS(BAD_M, "tcgen05-instruction");
    ROUNDS(BAD_N, "tcgen05-instruction");
    ROUNDS(MIXED_TYPES, "tcgen05-instruction");
    ROUNDS(D_IN_LANE_32, "tensor-lane");
    ROUNDS(D_NOT_ALLOCATED, "tensor-not-allocated");
    ROUNDS(D_OUT_OF_BOUNDS, "tensor-bounds");
    ROUNDS(LOAD_NOT_ALLOCATED, "tensor-not-allocated");
    ROUNDS(LOAD_OF_OTHERS, "tensor-lane");
    ROUNDS(LOAD_OF_TWO, "tensor-address");
    RACE(NO_BARRIER_BEHIND_ALLOC);
    ROUNDS(NO_DEALLOC, "tensor-not-freed");
    ROUNDS(DEALLOC_OF_LESS, "tensor-columns");
    ROUNDS(DEALLOC_TWICE, "tensor-columns");
    RACE(DEALLOC_TOO_EARLY);
    ROUNDS(GROUP_TWO_ALONE, "tensor-group");
    ROUNDS(MASK_EMPTY, "cta-mask");

    ALLOCATES(RIGHT_SIZES, NULL);
    ALLOCATES(COLUMNS_384, "tensor-columns");
    ALLOCATES(COLUMNS_16, "tensor-columns");
    ALLOCATES(COLUMNS_1024, "tensor-columns");
    ALLOCATES(INCREASING, "tensor-columns");
    ALLOCATES(RELINQUISHED, "tensor-relinquished");
    fault = ONE_THREAD;
    expect_kind_("allocates, ONE_THREAD", &of_allocates, "diverged-warp");
    ALLOCATES(TWO_OF_512, "deadlock");
    ALLOCATES(ODD_LANES_LESS, "tensor-address");
    ALLOCATES(ODD_LANES_ELSEWHERE, "tensor-address");
    ALLOCATES(ODD_LANES_FREE, "tensor-address");
    expect_run_("takes_turns", &(struct test_launch){takes_turns, 64, 1, 32, 64}, NULL);

    PAIR(RIGHT_PAIR, NULL);
    PAIR(LAUNCHED_BY_SYNC, NULL);
    PAIR(NOT_LAUNCHED, "tensor-pair-not-launched");
    PAIR(ONE_ALLOCATES, "deadlock");
    PAIR(FREED_TOO_EARLY, "tensor-alloc-order");
    PAIR(ONE_RELINQUISHES, "tensor-pair");
    PAIR(OTHER_COLUMNS, "tensor-pair");
    PAIR(OTHER_ALLOCATION, "tensor-pair");
    FREES(BEHIND_CLUSTER_BARRIER, NULL);
    FREES(BEHIND_OWN_BARRIER, "tensor-in-flight");
    run("pair, alone", &(struct test_launch){pair, 1, 1, 32, 64}, ALONE, "tensor-group");
    for (int strict = 0; strict < 2; ++strict) {
        backend_settings[SETTING_DOUBTFUL].value = (uint64_t)(1 + strict);
        for (fault = RELAXED_WITH_FENCES; fault < NO_ARRIVAL; ++fault)
            if (!strict || fault == RELAXED_WITH_FENCES)
                expect_run_("hands off", &of_handoff, NULL);
            else
                expect_kind_("hands off, strictly", &of_handoff, "tensor-in-flight");
        expect_race_("hands off, NO_ARRIVAL", &of_handoff);
    }
    backend_settings[SETTING_DOUBTFUL].value = 1;
    COMMITS(RIGHT_MASK, NULL);
    COMMITS(NO_SUCH_CTA, "bad-rank");
    fault = OTHER_WITHOUT_BARRIER;
    expect_kind_("commits, OTHER_WITHOUT_BARRIER", &of_commits, "mbarrier-uninitialized");

    expect_run_("issues_wgmma", &(struct test_launch){issues_wgmma, 1, 1, 128, 64},
                "wrong-machine");
    test_machine = MACHINE_HOPPER;
    expect_run_("issues_tcgen05", &(struct test_launch){issues_tcgen05, 1, 1, 32, 64},
                "wrong-machine");
    backend_close();
    return expect_result();
}
