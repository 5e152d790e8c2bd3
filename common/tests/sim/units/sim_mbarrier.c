/* sim_mbarrier.c: kernels that use mbarriers and the TMA rightly, and every wrong use that the
 * simulator knows. */
#include "hopper/element.h"
#include "hopper/mma.h"
#include "hopper/tma.h"
#include "tests/sim/sim_trials.h"

enum { BOX_ELEMENTS = TRIAL_BOX * 64, BOX_BYTES = BOX_ELEMENTS * 2, THREADS = 64 };

struct smem {
    element_t box[2][BOX_ELEMENTS];
    mbarrier_t full, empty;
    uint32_t word[4];
};

/* One thread initializes both barriers and all may use them. */
static void begin(struct smem *shared, int full, int empty) {
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, full);
        mbarrier_init(&shared->empty, empty);
        fence_mbarrier_init();
    }
    __syncthreads();
}

static void load(struct smem *shared, const struct gemm_args *args, int buffer, int row,
                 int column) {
    mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
    tma_load(shared->box[buffer], &args->map_a, row, column, &shared->full);
}

static void read_box(struct smem *shared, int buffer) {
    ld_shared_b128(&shared->box[buffer][threadIdx.x * 8]);
}

/* ---- right ---- */

enum { ABOVE = TRIAL_BOX / 2, BEFORE = 8 };

/* Every box of A, also those that lie partly outside, goes to D, so much further down and to the
 * right. */
KERNEL(THREADS, 1) copy_boxes(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    uint32_t phase = 0;
    for (int row = -ABOVE; row < args.m; row += TRIAL_BOX)
        for (int column = -BEFORE; column < args.n; column += 64) {
            if (threadIdx.x == 0) {
                load(shared, &args, 0, row, column);
                mbarrier_wait(&shared->full, phase);
                tma_store(&args.map_d, row + ABOVE, column + BEFORE, shared->box[0]);
                bulk_commit_group();
                bulk_wait_group_read(0);
            }
            phase ^= 1;
        }
}

/* The TMA's bytes come before they are announced; all threads wait. */
KERNEL(THREADS, 1) bytes_before_announcement(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0) {
        tma_load(shared->box[0], &args.map_a, 0, 0, &shared->full);
        tma_load(shared->box[1], &args.map_b, 0, 0, &shared->full);
        mbarrier_arrive_expect_tx(&shared->full, 2 * BOX_BYTES);
    }
    mbarrier_wait(&shared->full, 0);
    read_box(shared, 0);
    read_box(shared, 1);
}

/* A ring of one buffer: thread 0 fills it, warp 1 reads it with a fence before each release. */
KERNEL(THREADS, 1) ring(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 32);
    for (int i = 0; i < 6; ++i) {
        if (threadIdx.x == 0) {
            mbarrier_wait(&shared->empty, i % 2 ^ 1);
            load(shared, &args, 0, 0, 0);
        }
        if (threadIdx.x >= 32) {
            while (!mbarrier_try_wait(&shared->full, i % 2)) {
            }
            read_box(shared, 0);
            fence_proxy_async();
            mbarrier_arrive(&shared->empty);
        }
    }
}

/* Adds a box of A to D twice. */
KERNEL(THREADS, 1) reduce(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0) load(shared, &args, 0, 0, 0);
    mbarrier_wait(&shared->full, 0);
    if (threadIdx.x == 0) {
        tma_reduce_add(&args.map_d, 0, 0, shared->box[0]);
        bulk_commit_group();
        tma_reduce_add(&args.map_d, 0, 0, shared->box[0]);
        bulk_commit_group();
        bulk_wait_group(0);
    }
}

/* Sums in fp32: thread t writes row t of a box, 128 B swizzle, and all of it is added twice, partly
 * out of bounds. */
KERNEL(THREADS, 1) reduce_fp32(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    uint32_t *const sums = (uint32_t *)(void *)shared->box[0];
    for (unsigned i = 0; i < 32; ++i) {
        const float value = (float)(threadIdx.x * 32 + i);
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        st_shared_b32(&sums[threadIdx.x * 32 + (i / 4 ^ threadIdx.x % 8) * 4 + i % 4], bits);
    }
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; ++i) {
            tma_reduce_add(&args.map_d, TRIAL_EXTENT - 3, TRIAL_EXTENT - 28, shared->box[0]);
            bulk_commit_group();
        }
        bulk_wait_group(0);
    }
}

/* ---- wrong ---- */

KERNEL(THREADS, 1) never_initialized(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    if (threadIdx.x == 0) mbarrier_arrive(&shared->full);
}

KERNEL(THREADS, 1) initialized_too_late(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    if (threadIdx.x == 0) mbarrier_init(&shared->full, 1);
    __syncwarp(); /* orders warp 0 only */
    if (threadIdx.x == 32) mbarrier_test_wait(&shared->full, 1);
}

KERNEL(THREADS, 1) overwritten_barrier(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, 1, 1);
    if (threadIdx.x == 0) {
        st_shared_b32((uint32_t *)(void *)&shared->full, 0);
        mbarrier_arrive(&shared->full);
    }
}

KERNEL(THREADS, 1) too_many_arrivals(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, 1, 1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&shared->full, 64); /* pending 0, bytes missing */
        mbarrier_arrive(&shared->full);
    }
}

KERNEL(THREADS, 1) no_arrivals_expected(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    if (threadIdx.x == 0) mbarrier_init(&shared->full, 0);
}

KERNEL(THREADS, 1) tx_out_of_range(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, 2, 1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&shared->full, (1 << 20) - 1);
        mbarrier_arrive_expect_tx(&shared->full, 1);
    }
}

KERNEL(THREADS, 1) initialized_twice(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, 1, 1);
    if (threadIdx.x == 0) mbarrier_init(&shared->full, 1);
}

/* Announces less than the two boxes bring: the phase never completes, or completes too early. */
KERNEL(THREADS, 1) too_few_bytes(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0) {
        tma_load(shared->box[0], &args.map_a, 0, 0, &shared->full);
        tma_load(shared->box[1], &args.map_b, 0, 0, &shared->full);
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
    }
    mbarrier_wait(&shared->full, 0);
    read_box(shared, 0);
    read_box(shared, 1);
}

/* The TMA signals a barrier in the async proxy. argument: which fence stands behind the
 * initialization, and whose. */
enum { INIT_FENCE, PROXY_FENCE, NO_FENCE, FENCE_BEFORE, FENCE_BY_ANOTHER, FENCE_BEHIND_BARRIER };
KERNEL(THREADS, 1) signalled(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int fence = args.splits;
    if (threadIdx.x == 0) {
        if (fence == FENCE_BEFORE) fence_mbarrier_init();
        mbarrier_init(&shared->full, 1);
        if (fence == INIT_FENCE) fence_mbarrier_init();
        if (fence == PROXY_FENCE) fence_proxy_async();
    }
    if (threadIdx.x == 32 && fence == FENCE_BY_ANOTHER) fence_mbarrier_init();
    __syncthreads();
    if (threadIdx.x == 0 && fence == FENCE_BEHIND_BARRIER) fence_mbarrier_init();
    if (threadIdx.x == 32) load(shared, &args, 0, 0, 0);
    mbarrier_wait(&shared->full, 0);
    read_box(shared, 0);
}

KERNEL(THREADS, 1) too_many_bytes(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES + 16);
        tma_load(shared->box[0], &args.map_a, 0, 0, &shared->full);
    }
    mbarrier_wait(&shared->full, 0);
}

/* A parity of 2, to the wait with this number. */
KERNEL(THREADS, 1) parity_of_two(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x != 0) return;
    load(shared, &args, 0, 0, 0);
    if (args.splits == 0) mbarrier_wait(&shared->full, 2);
    if (args.splits == 1)
        while (!mbarrier_test_wait(&shared->full, 2)) {
        }
    if (args.splits == 2)
        while (!mbarrier_try_wait(&shared->full, 2)) {
        }
}

KERNEL(THREADS, 1) wrong_parity(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0) load(shared, &args, 0, 0, 0);
    mbarrier_wait(&shared->full, 1); /* passes at once */
    read_box(shared, 0);
}

/* Thread 0 waits, the others read without having waited or met it. */
KERNEL(THREADS, 1) only_one_waits(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0) {
        load(shared, &args, 0, 0, 0);
        mbarrier_wait(&shared->full, 0);
    }
    if (threadIdx.x >= 32) read_box(shared, 0);
    __syncthreads();
}

KERNEL(THREADS, 1) nobody_waits(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0) load(shared, &args, 0, 0, 0);
}

/* The producer does not wait for `empty`: phases run away from the slow waiter. */
KERNEL(THREADS, 1) runaway_producer(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; ++i) {
            mbarrier_arrive_expect_tx(&shared->empty, BOX_BYTES); /* takes its time */
            tma_load(shared->box[0], &args.map_a, 0, 0, &shared->empty);
            mbarrier_wait(&shared->empty, i);
            if (i == 1) {
                mbarrier_arrive(&shared->full);
                mbarrier_arrive(&shared->full);
            }
        }
    if (threadIdx.x >= 32) mbarrier_wait(&shared->full, 0);
}

/* Argument 0 loads, 1 prefetches the map. */
KERNEL(THREADS, 1) garbage_map(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0 && args.splits == 1) tma_prefetch_map((const struct tensor_map *)args.a);
    if (threadIdx.x == 0 && args.splits == 0) {
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
        tma_load(shared->box[0], (const struct tensor_map *)args.a, 0, 0, &shared->full);
    }
}

/* A box that begins in the middle of 16 bytes of a row: argument 0 loads, 1 stores. 2 and 3 load
 * 16 bytes into the row and before it, 4 far above the matrix; 5 and 6 store before it. */
KERNEL(THREADS, 1) box_off_the_chunks(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    static const int8_t row[] = {0, 0, 0, 0, -100, -1, 0}, column[] = {4, 4, 8, -8, 0, 0, -8};
    const bool stores = args.splits == 1 || args.splits > 4;
    if (threadIdx.x == 0 && stores)
        tma_store(&args.map_d, row[args.splits], column[args.splits], shared->box[0]);
    if (threadIdx.x == 0 && !stores) {
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
        tma_load(shared->box[0], &args.map_a, row[args.splits], column[args.splits], &shared->full);
    }
    mbarrier_wait(&shared->full, 0);
}

static void load_by_value(struct smem *shared, const struct gemm_args args) {
    tma_load(shared->box[0], &args.map_a, 0, 0, &shared->full);
}

/* A tensor map is not where the TMA can read it: a variable; an argument that is a copy. */
KERNEL(THREADS, 1) copied_map(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    const struct tensor_map map = args.map_a;
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
        if (args.splits == 0) tma_load(shared->box[0], &map, 0, 0, &shared->full);
        if (args.splits == 1) load_by_value(shared, args);
        if (args.splits == 2) tma_store(&map, 0, 0, shared->box[0]);
        if (args.splits == 3) tma_prefetch_map(&map);
    }
}

KERNEL(THREADS, 1) misaligned_box(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
        tma_load(shared->box[0] + 64, &args.map_a, 0, 0, &shared->full);
    }
    mbarrier_wait(&shared->full, 0);
}

KERNEL(THREADS, 1) misaligned_by_16(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
        tma_load(shared->box[0] + 8, &args.map_a, 0, 0, &shared->full);
    }
    mbarrier_wait(&shared->full, 0);
}

static void write_row(struct smem *shared) {
    const struct b128 zeros = {{0}};
    for (int i = 0; i < 8; ++i)
        st_shared_b128(&shared->box[0][threadIdx.x * 64 + i * 8], zeros);
}

/* Where a fence before the barrier is missing, or made by one thread for all. */
KERNEL(THREADS, 1) store_without_fence(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    write_row(shared);
    if (args.splits == 1 && threadIdx.x == 0) fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        fence_proxy_async();
        tma_store(&args.map_d, 0, 0, shared->box[0]);
        bulk_commit_group();
        bulk_wait_group(0);
    }
}

KERNEL(THREADS, 1) store_without_barrier(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    write_row(shared);
    fence_proxy_async();
    if (threadIdx.x == 0) {
        tma_store(&args.map_d, 0, 0, shared->box[0]);
        bulk_commit_group();
        bulk_wait_group(0);
    }
    __syncthreads();
}

/* argument 0: no thread waits; 1: the issuing thread does, and no other learns of it. */
KERNEL(THREADS, 1) source_reused(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    write_row(shared);
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store(&args.map_d, 0, 0, shared->box[0]);
        bulk_commit_group();
        if (args.splits == 1) bulk_wait_group_read(0);
    }
    if (threadIdx.x >= 32) write_row(shared);
    __syncthreads();
    if (threadIdx.x == 0) bulk_wait_group_read(0);
}

/* argument 0: not waited for; 1: not even committed; 2: only the older of two groups. */
KERNEL(THREADS, 1) ends_during_store(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    write_row(shared);
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x != 0) return;
    tma_store(&args.map_d, 0, 0, shared->box[0]);
    if (args.splits != 1) bulk_commit_group();
    if (args.splits != 2) return;
    tma_store(&args.map_d, 64, 0, shared->box[0]);
    bulk_commit_group();
    bulk_wait_group_read(1);
}

/* ldmatrix, release, refill: argument 1 has the fence between. */
KERNEL(THREADS, 1) refill_after_ldmatrix(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 32);
    if (threadIdx.x == 0) load(shared, &args, 0, 0, 0);
    if (threadIdx.x >= 32) {
        uint32_t fragments[4];
        mbarrier_wait(&shared->full, 0);
        ldmatrix_x4(fragments, &shared->box[0][threadIdx.x % 32 * 64]);
        if (args.splits == 1) fence_proxy_async();
        mbarrier_arrive(&shared->empty);
    }
    if (threadIdx.x == 0) {
        mbarrier_wait(&shared->empty, 0);
        load(shared, &args, 0, 64, 0);
        mbarrier_wait(&shared->full, 1);
    }
}

/* The refill does not wait for the reader at all. */
KERNEL(THREADS, 1) refill_too_early(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 32);
    if (threadIdx.x == 0) {
        load(shared, &args, 0, 0, 0);
        mbarrier_wait(&shared->full, 0);
    }
    __syncthreads();
    if (threadIdx.x >= 32) {
        read_box(shared, 0);
        fence_proxy_async();
    }
    if (threadIdx.x == 0) {
        load(shared, &args, 0, 64, 0);
        mbarrier_wait(&shared->full, 1);
    }
}

/* Two loads into the same place, the second before the first was waited for. */
KERNEL(THREADS, 1) load_over_load(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0) {
        load(shared, &args, 0, 0, 0);
        mbarrier_arrive_expect_tx(&shared->empty, BOX_BYTES);
        tma_load(shared->box[0], &args.map_b, 0, 0, &shared->empty);
        mbarrier_wait(&shared->full, 0);
        mbarrier_wait(&shared->empty, 0);
    }
}

/* The same within one phase: two loads that both belong to the stage, one of them to the wrong
 * address. */
KERNEL(THREADS, 1) load_over_load_of_a_phase(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&shared->full, 2 * BOX_BYTES);
        tma_load(shared->box[0], &args.map_a, 0, 0, &shared->full);
        tma_load(shared->box[0], &args.map_b, 0, 0, &shared->full);
        mbarrier_wait(&shared->full, 0);
    }
}

KERNEL(THREADS, 1) store_to_input(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    write_row(shared);
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store(&args.map_a, 0, 0, shared->box[0]);
        bulk_commit_group();
        bulk_wait_group(0);
    }
}

KERNEL(THREADS, 1) box_beyond_shared_memory(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    begin(shared, 1, 1);
    if (threadIdx.x == 0)
        tma_load((element_t *)(void *)shared + 15 * 512 * 2, &args.map_a, 0, 0, &shared->full);
}

/* ---- */

/* Twice a number from -2 to 2, as fp16. */
static uint16_t doubled(uint16_t bits) { return bits ? (uint16_t)(bits + 0x400) : 0; }

static void check(const struct sim_trial *t) {
    if (t->kernel == reduce)
        for (int i = 0; i < TRIAL_BOX * 64; ++i) {
            const int at = i / 64 * TRIAL_EXTENT + i % 64;
            EXPECT(trial_d[at] == doubled(trial_a[at]),
                   "%s: element (%d, %d): 0x%04x, expected 0x%04x", t->name, i / 64, i % 64,
                   trial_d[at], doubled(trial_a[at]));
        }
    if (t->kernel == reduce_fp32)
        for (int i = 0; i < TRIAL_EXTENT * TRIAL_EXTENT; ++i) {
            const int row = i / TRIAL_EXTENT - (TRIAL_EXTENT - 3);
            const int column = i % TRIAL_EXTENT - (TRIAL_EXTENT - 28);
            const float expected = row >= 0 && column >= 0 ? (float)(2 * (row * 32 + column)) : 0;
            EXPECT(trial_workspace[i] == expected, "%s: (%d, %d): %g, expected %g", t->name, row,
                   column, trial_workspace[i], expected);
        }
    if (t->kernel == copy_boxes)
        for (int i = 0; i < TRIAL_EXTENT * TRIAL_EXTENT; ++i) {
            const int row = i / TRIAL_EXTENT - ABOVE, column = i % TRIAL_EXTENT - BEFORE;
            const uint16_t expected =
                row >= 0 && column >= 0 ? trial_a[row * TRIAL_EXTENT + column] : 0;
            EXPECT(trial_d[i] == expected, "%s: element (%d, %d): 0x%04x, expected 0x%04x", t->name,
                   row, column, trial_d[i], expected);
        }
}

#define TRIAL(kernel, ...)                                                                         \
    {                                                                                              \
#kernel, kernel, .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),      \
                         __VA_ARGS__                                                               \
    }
#define WRONG(kernel, kind, ...) TRIAL(kernel, .hazard = kind, __VA_ARGS__)

int main(int argc, char **argv) {
    static const struct sim_trial trials[] = {
        TRIAL(copy_boxes),
        TRIAL(bytes_before_announcement),
        TRIAL(ring),
        TRIAL(reduce),
        TRIAL(reduce_fp32, .fp32 = true),
        WRONG(never_initialized, "mbarrier-uninitialized"),
        WRONG(overwritten_barrier, "mbarrier-uninitialized"),
        TRIAL(signalled, .argument = INIT_FENCE),
        TRIAL(signalled, .argument = PROXY_FENCE),
        WRONG(signalled, "missing-fence-mbarrier-init", .argument = NO_FENCE),
        WRONG(signalled, "missing-fence-mbarrier-init", .argument = FENCE_BEFORE),
        WRONG(signalled, "missing-fence-mbarrier-init", .argument = FENCE_BY_ANOTHER),
        /* Ordered by nothing, the fence may also come after the load. */
        WRONG(signalled, "mbarrier-init-order|missing-fence-mbarrier-init",
              .argument = FENCE_BEHIND_BARRIER),
        /* Ordered by nothing, it may also come before the initialization. */
        WRONG(initialized_too_late, "mbarrier-init-order", .schedules = 1 << SCHEDULE_EARLY),
        WRONG(initialized_too_late, "mbarrier-uninitialized", .schedules = 1 << SCHEDULE_LATE),
        WRONG(too_many_arrivals, "mbarrier-arrivals"),
        WRONG(no_arrivals_expected, "mbarrier-count"),
        WRONG(tx_out_of_range, "mbarrier-tx"),
        WRONG(initialized_twice, "mbarrier-reinit"),
        WRONG(too_few_bytes, "tx-count", .schedules = 1 << SCHEDULE_LATE | 1 << SCHEDULE_TIME),
        WRONG(too_few_bytes, "deadlock", .text = "more have landed than were announced",
              .schedules = 1 << SCHEDULE_EARLY),
        WRONG(too_many_bytes, "deadlock", .text = "16 bytes still missing"),
        /* Of two sides of a race, the one that comes second is accused. */
        WRONG(wrong_parity, "read-before-landed|overwritten-while-read"),
        WRONG(parity_of_two, "mbarrier-parity", .argument = 0),
        WRONG(parity_of_two, "mbarrier-parity", .argument = 1),
        WRONG(parity_of_two, "mbarrier-parity", .argument = 2),
        WRONG(only_one_waits, "read-before-landed|overwritten-while-read"),
        WRONG(nobody_waits, "unwaited-copy"),
        WRONG(runaway_producer, "lapped-waiter",
              .schedules = 1 << SCHEDULE_LATE | 1 << SCHEDULE_TIME),
        WRONG(garbage_map, "tensor-map"),
        WRONG(garbage_map, "tensor-map", .argument = 1),
        WRONG(copied_map, "tensor-map-copy", .argument = 0),
        WRONG(copied_map, "tensor-map-copy", .argument = 1),
        WRONG(copied_map, "tensor-map-copy", .argument = 2),
        WRONG(copied_map, "tensor-map-copy", .argument = 3),
        WRONG(box_off_the_chunks, "tma-coordinate", .argument = 0),
        WRONG(box_off_the_chunks, "tma-coordinate", .argument = 1),
        TRIAL(box_off_the_chunks, .argument = 2),
        TRIAL(box_off_the_chunks, .argument = 3),
        TRIAL(box_off_the_chunks, .argument = 4),
        WRONG(box_off_the_chunks, "tma-coordinate", .argument = 5),
        WRONG(box_off_the_chunks, "tma-coordinate", .argument = 6),
        WRONG(misaligned_box, "misaligned-swizzle"),
        WRONG(misaligned_by_16, "misaligned"),
        WRONG(store_without_fence, "missing-proxy-fence"),
        WRONG(store_without_fence, "missing-proxy-fence", .argument = 1),
        WRONG(store_without_barrier, "data-race|overwritten-while-read"),
        WRONG(source_reused, "overwritten-while-read|data-race"),
        WRONG(source_reused, "overwritten-while-read|data-race", .argument = 1),
        WRONG(ends_during_store, "unwaited-store"),
        WRONG(ends_during_store, "uncommitted-store", .argument = 1),
        WRONG(ends_during_store, "unwaited-store", .argument = 2),
        WRONG(refill_after_ldmatrix, "missing-proxy-fence-after-read"),
        TRIAL(refill_after_ldmatrix, .argument = 1),
        WRONG(refill_too_early, "overwritten-while-read|read-before-landed"),
        WRONG(load_over_load, "overwritten-in-flight"),
        WRONG(load_over_load_of_a_phase, "overwritten-in-flight"),
        WRONG(store_to_input, "global-read-only"),
        WRONG(box_beyond_shared_memory, "shared-bounds"),
    };
    run_trials(trials, sizeof trials / sizeof *trials, check, argc, argv);
    return expect_result();
}
