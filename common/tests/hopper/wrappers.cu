/*
 * wrappers.cu: what the headers offer and no chapter's kernel uses: CUTLASS's other verbs of the
 * pipeline, the end of an mbarrier, operands that are contiguous along m and n, conversion to e4m3,
 * counters and flags between CTAs, every field of a tensor map; and what chapter 12 uses of 4-bit
 * weights, in every way at once. nvcc assembles a wrapper only where one is used.
 */
#include "building_blocks/pipeline.h"
#include "gemm.h"
#include "hopper/atomics.h"
#include "hopper/element.h"
#include "hopper/thread.h"
#include "hopper/mma.h"
#include "hopper/tensormap.h"
#include "hopper/tma.h"
#include "hopper/w4.h"
#include "hopper/wgmma.h"
#include "tests/hopper/wrappers.h"

enum {
    EXTENT = WRAPPER_EXTENT,
    BOX = EXTENT * EXTENT, /* elements */
    BOX_BYTES = BOX * sizeof(element_t),
    STAGES = 2,
    HANDED = 8 * 32, /* elements that one warp hands to the other at a time */
};

/* The elected thread of warp 0 fills a ring that one thread of warp 1 empties, and each looks
 * before it waits. Every second box is filled by the thread's own stores. The producer stays until
 * all has been read. */
struct ring_smem {
    element_t box[STAGES][BOX]; /* [stage][row][column], 128 B swizzle */
    struct pipeline_stage ring[STAGES];
};

/* For the TMA to store. */
DEVICE void fill_box(element_t *box, const element_t *from) {
    NO_UNROLL for (int chunk = 0; chunk < BOX / 8; ++chunk) /* of 16 bytes, eight in a row */
        st_shared_b128(&box[(chunk ^ chunk / 8 % 8) * 8], ld_global_b128(&from[chunk * 8]));
    fence_proxy_async();
}

KERNEL(64, 1) polled_ring(KERNEL_ARGS args) {
    SHARED_MEMORY(struct ring_smem);
    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (warp_index() == 0) {
        struct pipeline_state state = {0, 1};
        if (elect_one()) {
            for (int i = 0; i < WRAPPER_BOXES; ++i) {
                mbarrier_t *full = &shared->ring[state.index].full;
                while (!producer_try_acquire(shared->ring, state)) {
                }
                if (i % 2 == 0) {
                    producer_acquire(shared->ring, state, BOX_BYTES);
                    tma_load(shared->box[state.index], &args.map_a, i * EXTENT, 0, full);
                } else {
                    fill_box(shared->box[state.index], &args.a[i * BOX]);
                    producer_commit(shared->ring, state);
                }
                pipeline_advance(&state, STAGES);
            }
            producer_tail(shared->ring, state, STAGES);
        }
    } else if (threadIdx.x == 32) {
        struct pipeline_state state = {0, 0};
        for (int i = 0; i < WRAPPER_BOXES; ++i) {
            if (i % 2 == 0)
                while (!consumer_test_wait(shared->ring, state)) {
                }
            else
                while (!consumer_try_wait(shared->ring, state)) {
                }
            tma_store(&args.map_d, i * EXTENT, 0, shared->box[state.index]);
            bulk_commit_group();
            bulk_wait_group_read(0);
            consumer_release(shared->ring, state);
            pipeline_advance(&state, STAGES);
        }
        bulk_wait_group(0);
    }
}

/* Warp 0 writes and arrives, warp 1 waits and reads; on the way back it is the other way round. */
struct handed_smem {
    struct b128 chunk[32];
};

KERNEL(64, 1) handed_over(KERNEL_ARGS args) {
    SHARED_MEMORY(struct handed_smem);
    enum { WRITTEN = 1, READ = 2, BOTH_WARPS = 64 };
    const int lane = threadIdx.x % 32;
    NO_UNROLL for (int i = 0; i < WRAPPER_BOXES * BOX / HANDED; ++i) {
        const int at = i * HANDED + lane * 8;
        if (warp_index() == 0) {
            if (i > 0) named_barrier_sync(READ, BOTH_WARPS);
            st_shared_b128(&shared->chunk[lane], ld_global_b128(&args.a[at]));
            named_barrier_arrive(WRITTEN, BOTH_WARPS);
        } else {
            named_barrier_sync(WRITTEN, BOTH_WARPS);
            st_global_b128(&args.d[at], ld_shared_b128(&shared->chunk[lane]));
            if (i + 1 < WRAPPER_BOXES * BOX / HANDED) named_barrier_arrive(READ, BOTH_WARPS);
        }
    }
}

/* Every box has a barrier of its own, all in the same place: phase 0 each time. */
struct renewed_smem {
    element_t box[BOX]; /* [row][column], 128 B swizzle */
    mbarrier_t full;
};

KERNEL(64, 1) renewed_barrier(KERNEL_ARGS args) {
    SHARED_MEMORY(struct renewed_smem);
    NO_UNROLL for (int i = 0; i < WRAPPER_BOXES; ++i) {
        if (threadIdx.x == 0) {
            mbarrier_init(&shared->full, 1);
            fence_mbarrier_init();
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
            tma_load(shared->box, &args.map_a, i * EXTENT, 0, &shared->full);
        }
        mbarrier_wait(&shared->full, 0);
        /* No thread waits any more when the barrier ends. */
        __syncthreads();
        if (threadIdx.x == 0) {
            mbarrier_inval(&shared->full);
            tma_store(&args.map_d, i * EXTENT, 0, shared->box);
            bulk_commit_group();
            bulk_wait_group_read(0);
        }
    }
    if (threadIdx.x == 0) bulk_wait_group(0);
}

/* D = A' * B, where both lie with k outside: A's rows are k, and contiguous along m; B's rows are
 * k, and contiguous along n. One warpgroup. */
struct major_smem {
    element_t a[BOX], b[BOX]; /* [k][m], [k][n], 128 B swizzle */
    mbarrier_t full;
};

KERNEL(128, 1) mn_major(KERNEL_ARGS args) {
    SHARED_MEMORY(struct major_smem);
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&shared->full, 2 * BOX_BYTES);
        tma_load(shared->a, &args.map_a, 0, 0, &shared->full);
        tma_load(shared->b, &args.map_b, 0, 0, &shared->full);
    }
    mbarrier_wait(&shared->full, 0);
    float acc[EXTENT / 2] = {0};
    /* Eight rows of 128 bytes make the swizzle's pattern: SBO leads to the next eight k. The width
     * of the swizzle is all of m, or n: LBO is not used. */
    const uint64_t a = wgmma_descriptor(shared_address(shared->a), 0, 1024, SWIZZLE_128B);
    const uint64_t b = wgmma_descriptor(shared_address(shared->b), 0, 1024, SWIZZLE_128B);
    wgmma_fence();
    UNROLL for (int step = 0; step < EXTENT / 16; ++step) {
        const uint64_t along_k = step * 16 * EXTENT * sizeof(element_t) >> 4;
        wgmma_m64nNk16_mn_major(64, acc, a + along_k, b + along_k, step > 0);
    }
    wgmma_commit_group();
    wgmma_wait_group(0);
    UNROLL for (int i = 0; i < EXTENT / 2; i += 2) {
        const int row = threadIdx.x / 32 * 16 + i % 4 / 2 * 8 + threadIdx.x % 32 / 4;
        const int column = i / 4 * 8 + threadIdx.x % 4 * 2;
        st_global_b32(&args.d[row * EXTENT + column], pack_elements(acc[i], acc[i + 1]));
    }
}

/* The same product of e4m3, of which there is no MN-major one: the operands are transposed while
 * they are converted. Rows of 64 bytes, in the 64 B swizzle. */
struct narrow_smem {
    uint32_t a[BOX / 4], b[BOX / 4]; /* four e4m3 each: [m][k], [n][k] */
};

DEVICE void narrow(uint32_t *to, const element_t *from) { /* [EXTENT of k][EXTENT] */
    NO_UNROLL for (int i = threadIdx.x; i < BOX / 4; i += 128) {
        const int line = i / (EXTENT / 4), k = i % (EXTENT / 4) * 4;
        float value[4];
        UNROLL for (int j = 0; j < 4; ++j)
            value[j] = element_to_float(ld_global_element(&from[(k + j) * EXTENT + line]));
        const uint32_t low = pack_e4m3(value[0], value[1]);
        const uint32_t high = pack_e4m3(value[2], value[3]);
        /* Chunks of 16 bytes change places by the number of the line of 128 bytes. */
        st_shared_b32(&to[i ^ (line / 2 % 4) * 4], low | high << 16);
    }
}

KERNEL(128, 1) narrowed(KERNEL_ARGS args) {
    SHARED_MEMORY(struct narrow_smem);
    narrow(shared->a, args.a);
    narrow(shared->b, args.b);
    fence_proxy_async();
    __syncthreads();
    float acc[EXTENT / 2] = {0};
    const uint64_t a = wgmma_descriptor(shared_address(shared->a), 0, 512, SWIZZLE_64B);
    const uint64_t b = wgmma_descriptor(shared_address(shared->b), 0, 512, SWIZZLE_64B);
    wgmma_fence();
    UNROLL for (int step = 0; step < EXTENT / 32; ++step)
        wgmma_m64nNk32_e4m3(64, acc, a + step * 2, b + step * 2, step > 0);
    wgmma_commit_group();
    wgmma_wait_group(0);
    UNROLL for (int i = 0; i < EXTENT / 2; i += 2) {
        const int row = threadIdx.x / 32 * 16 + i % 4 / 2 * 8 + threadIdx.x % 32 / 4;
        const int column = i / 4 * 8 + threadIdx.x % 4 * 2;
        st_global_b32(&args.d[row * EXTENT + column], pack_elements(acc[i], acc[i + 1]));
    }
}

/* The same product with A in registers, as 4-bit weights: they are packed here, and then made e4m3
 * by shifts and masks for the first 32 of k, and by a table for the rest. stmatrix stores the
 * product transposed, from a product that is transposed: A and B change places. */
struct weights_smem {
    uint32_t a[BOX / 4];          /* [m][k] as e4m3, 64 B swizzle */
    element_t d[EXTENT * EXTENT]; /* [m][n] */
};

/* Eight weights of a word: of row n, and of the row eight further, four of k each. */
DEVICE uint32_t pack_weights(const element_t *b, int row, int k) {
    uint32_t word = 0;
    UNROLL for (int i = 0; i < 8; ++i) {
        const element_t *from = &b[(k + i % 4) * EXTENT + row + i / 4 * 8];
        const int weight = (int)element_to_float(ld_global_element(from)), byte = i % 4;
        const uint32_t magnitude = weight < 0 ? -weight : weight;
        const int sign = i < 4 ? 8 * byte + 7 : (8 * byte + 11) % 32;
        word |= magnitude << (8 * byte + i / 4 * 4) | (uint32_t)(weight < 0) << sign;
    }
    return word;
}

KERNEL(128, 1) weights(KERNEL_ARGS args) {
    SHARED_MEMORY(struct weights_smem);
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
    float acc[2][EXTENT / 2] = {{0}}, sum[EXTENT / 2] = {0};
    uint32_t words[2][2], fragments[2][4];
    narrow(shared->a, args.a);
    fence_proxy_async();
    UNROLL for (int i = 0; i < 4; ++i)
        words[i / 2][i % 2] = pack_weights(args.b, row, i * 16 + lane % 4 * 4);
    w4_to_e4m3(fragments[0], words[0], 2);
    w4_to_e4m3(fragments[1], words[1], 2);
    __syncthreads();
    const uint64_t a = wgmma_descriptor(shared_address(shared->a), 0, 512, SWIZZLE_64B);
    wgmma_fence();
    wgmma_m64nNk32_e4m3_rs(64, acc[0], fragments[0], a, 0);
    wgmma_m64nNk32_e4m3_rs(64, acc[1], fragments[1], a + 2, 0);
    wgmma_commit_group();
    wgmma_wait_group(0);
    const float unit[2] = {W4_UNIT, W4_UNIT};
    UNROLL for (int i = 0; i < 2; ++i)
        wgmma_promote(sum, acc[i], unit, EXTENT / 2);
    UNROLL for (int i = 0; i < EXTENT / 2; i += 8) {
        const float *f = &sum[i];
        const uint32_t pairs[4] = {pack_elements(f[0], f[1]), pack_elements(f[2], f[3]),
                                   pack_elements(f[4], f[5]), pack_elements(f[6], f[7])};
        const int m = i * 2 + lane / 16 * 8 + lane % 8;
        const int n = threadIdx.x / 32 * 16 + lane / 8 % 2 * 8;
        stmatrix_x4_trans(&shared->d[m * EXTENT + n], pairs);
    }
    __syncthreads();
    UNROLL for (int i = threadIdx.x; i < BOX / 8; i += 128)
        st_global_b128(&args.d[i * 8], ld_shared_b128(&shared->d[i * 8]));
}

/* One box of A from CTA i through the workspace. */
DEVICE void copy_box(uint32_t *to, const uint32_t *from) {
    NO_UNROLL for (int i = threadIdx.x; i < BOX / 2; i += 64)
        st_global_b32(&to[i], ld_global_b32(&from[i]));
}

DEVICE uint32_t *words_of(const void *matrix, int box) {
    return (uint32_t *)((element_t *)matrix + box * BOX);
}

/* Three CTAs tell the first that their boxes are there, each in a way of its own; the first leaves
 * the flags as they were. */
KERNEL(64, 1) told(KERNEL_ARGS args) {
    const int box = blockIdx.x;
    uint32_t *flag = args.tile_counter;
    copy_box(words_of(args.workspace, box), words_of(args.a, box));
    __syncthreads();
    if (threadIdx.x == 0) {
        if (box == 1) st_global_release(&flag[1], 1, SCOPE_GPU);
        if (box == 2) {
            fence_acq_rel(SCOPE_GPU);
            st_global_relaxed(&flag[2], 1, SCOPE_SYS);
        }
        if (box == 3) {
            red_add_release(&flag[3], 1, SCOPE_SYS);
            red_add_relaxed(&flag[3], 1, SCOPE_GPU);
        }
        if (box == 0) {
            while (ld_global_acquire(&flag[1], SCOPE_SYS) == 0) {
            }
            while (ld_global_relaxed(&flag[2], SCOPE_GPU) == 0) {
            }
            fence_acq_rel(SCOPE_SYS);
            while (atomic_add_acquire(&flag[3], 0, SCOPE_GPU) != 2) {
            }
            for (int i = 1; i <= 3; ++i) st_global_relaxed(&flag[i], 0, SCOPE_GPU);
        }
    }
    __syncthreads();
    if (box == 0)
        NO_UNROLL for (int i = 0; i < WRAPPER_BOXES; ++i)
            copy_box(words_of(args.d, i), words_of(args.workspace, i));
}

/* The last CTA to come, by one counter, moves all boxes from the workspace to D with the TMA; the
 * other counters say the same. map_b is that of the workspace. */
struct counted_smem {
    element_t box[BOX]; /* 128 B swizzle */
    mbarrier_t full;
    uint32_t before;
};

KERNEL(64, 1) counted(KERNEL_ARGS args) {
    SHARED_MEMORY(struct counted_smem);
    uint32_t *counter = args.tile_counter;
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, 1);
        fence_mbarrier_init();
    }
    copy_box(words_of(args.workspace, blockIdx.x), words_of(args.a, blockIdx.x));
    __syncthreads();
    if (threadIdx.x != 0) return;
    fence_acq_rel(SCOPE_CTA);
    fence_acq_rel(SCOPE_CLUSTER);
    const uint32_t first = atomic_add_relaxed(&counter[4], 1, SCOPE_GPU);
    const uint32_t second = atomic_add_release(&counter[5], 1, SCOPE_SYS);
    if (atomic_add_acq_rel(&counter[6], 1, SCOPE_GPU) != WRAPPER_BOXES - 1) return;
    /* Of the same CTA's count beyond 32 bits, which it clears. */
    uint64_t *const wide = (uint64_t *)&counter[8];
    const uint64_t step = UINT64_C(1) << 40;
    if (atomic_cas_relaxed_b64(wide, 0, step, SCOPE_GPU) != 0 ||
        atomic_cas_relaxed_b64(wide, 0, 1, SCOPE_GPU) != step ||
        atomic_add_acq_rel_b64(wide, step, SCOPE_GPU) != step ||
        atomic_cas_relaxed_b64(wide, 2 * step, 0, SCOPE_GPU) != 2 * step)
        return;
    fence_proxy_async_global();
    for (int i = 0; i < WRAPPER_BOXES && first < WRAPPER_BOXES && second < WRAPPER_BOXES; ++i) {
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
        tma_load(shared->box, &args.map_b, i * EXTENT, 0, &shared->full);
        mbarrier_wait(&shared->full, i % 2);
        tma_store(&args.map_d, i * EXTENT, 0, shared->box);
        bulk_commit_group();
        bulk_wait_group_read(0);
    }
    for (int i = 4; i <= 6; ++i) st_global_b32(&counter[i], 0);
}

/* Each box of A goes to D through two maps that are made on the device, the one of A field by field
 * from zeros, that of D from the parameter. CTA 0 makes them, in the workspace. */
struct maps_smem {
    element_t box[BOX]; /* 128 B swizzle */
    struct tensor_map map __attribute__((aligned(128)));
    mbarrier_t full;
};

KERNEL(64, 1) remade_maps(KERNEL_ARGS args) {
    SHARED_MEMORY(struct maps_smem);
    struct tensor_map *maps = (struct tensor_map *)args.workspace, *map = &shared->map;
    uint32_t *words = (uint32_t *)map, *flag = args.tile_counter;
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (warp_index() != 0) return;
    if (blockIdx.x == 0) {
        st_shared_b32(&words[lane], 0);
        __syncwarp();
        if (lane == 0) {
            tensor_map_replace_address(map, args.a);
            tensor_map_replace_rank(map, 2);
            tensor_map_replace_dim(map, 0, EXTENT);
            tensor_map_replace_dim(map, 1, WRAPPER_BOXES * EXTENT);
            tensor_map_replace_pitch(map, (int64_t)(args.lda * sizeof(element_t)));
            tensor_map_replace_box(map, 0, EXTENT);
            tensor_map_replace_box(map, 1, EXTENT);
            tensor_map_replace_element_stride(map, 0, 1);
            tensor_map_replace_element_stride(map, 1, 1);
            tensor_map_replace_type(map, TENSOR_MAP_BF16);
            tensor_map_replace_interleave(map, 0);
            tensor_map_replace_swizzle(map, SWIZZLE_128B);
            tensor_map_replace_fill(map, 0);
        }
        __syncwarp();
        tensor_map_copy_release(&maps[0], map, SCOPE_GPU);
        st_global_b32((uint32_t *)&maps[1] + lane, ((const uint32_t *)&args.map_d)[lane]);
        fence_tensor_map_release(SCOPE_GPU);
        __syncwarp();
        if (lane == 0) st_global_release(&flag[7], WRAPPER_BOXES, SCOPE_GPU);
    }
    if (lane != 0) return;
    while (ld_global_acquire(&flag[7], SCOPE_GPU) == 0) {
    }
    fence_tensor_map_acquire(&maps[0], SCOPE_GPU);
    fence_tensor_map_acquire(&maps[1], SCOPE_GPU);
    mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
    tma_load(shared->box, &maps[0], blockIdx.x * EXTENT, 0, &shared->full);
    mbarrier_wait(&shared->full, 0);
    tma_store(&maps[1], blockIdx.x * EXTENT, 0, shared->box);
    bulk_commit_group();
    bulk_wait_group_read(0);
    atomic_add_relaxed(&flag[7], (uint32_t)-1, SCOPE_GPU); /* the last one leaves it as it was */
}

const struct wrapper_kernel wrapper_kernels[] = {
    {"polled_ring", (const void *)polled_ring, 64, sizeof(struct ring_smem), 1, false},
    {"handed_over", (const void *)handed_over, 64, sizeof(struct handed_smem), 1, false},
    {"renewed_barrier", (const void *)renewed_barrier, 64, sizeof(struct renewed_smem), 1, false},
    {"mn_major", (const void *)mn_major, 128, sizeof(struct major_smem), 1, true},
    {"narrowed", (const void *)narrowed, 128, sizeof(struct narrow_smem), 1, true},
    {"weights", (const void *)weights, 128, sizeof(struct weights_smem), 1, true},
    {"told", (const void *)told, 64, 0, WRAPPER_BOXES, false},
    {"counted", (const void *)counted, 64, sizeof(struct counted_smem), WRAPPER_BOXES, false},
    {"remade_maps", (const void *)remade_maps, 64, sizeof(struct maps_smem), WRAPPER_BOXES, false},
};
const int wrapper_kernel_count = sizeof wrapper_kernels / sizeof *wrapper_kernels;
