/*
 * racecheck_minimal.cu: does racecheck know that an mbarrier, or a cluster's barrier, orders
 * memory accesses?
 *
 * A report of racecheck about a kernel whose threads meet at mbarriers is a defect of the kernel
 * only if the tool follows mbarriers. The smallest such handoff answers that, with nothing around
 * it that could be wrong: one word of shared memory, written by one thread and read by a warp,
 * over and over. The writer waits for `empty` before it stores and arrives on `full` after; the
 * reader waits for `full` before it loads and arrives on `empty` after. mbarrier.arrive
 * releases and mbarrier.try_wait acquires (PTX ISA, "mbarrier" and "Memory Consistency Model"), so
 * every load is ordered between two stores.
 *
 *     compute-sanitizer --tool racecheck build/gpu/racecheck_minimal ORDER
 *
 * `barrier` is the same handoff with __syncthreads() for both waits, `none` the same without any
 * order. If the tool reports `mbarrier` and not `barrier`, the report is its own: it does not
 * follow mbarriers between generic accesses. `none` it has to report.
 *
 * `cluster` asks the same about a cluster that adds up through distributed shared memory, as
 * chapter 10 does where it splits the k loop: each of two CTAs writes to its own shared memory and
 * reads the other's, over and over, with a cluster barrier before every read and another after it.
 * barrier.cluster.arrive releases and .wait acquires (PTX ISA, "barrier.cluster"), so every read is
 * ordered between two writes. `cluster_none` is the same exchange without these barriers. If the
 * tool reports both alike, it does not follow cluster barriers; if neither, it does not look at
 * what comes from another CTA. `alone` and `alone_none` are that exchange among the threads of one
 * CTA, in a launch without clusters, where the CTA is a cluster of its own: chapter 10's split_k
 * with one CTA to a tile.
 *
 * The program prints how many wrong numbers arrived; exit code 1 if any did where there is an
 * order.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#include "hopper/cluster.h"

enum { ROUNDS = 64, THREADS = 64, READER = 32, CLUSTER = 2 };
enum order {
    BY_MBARRIER,
    BY_BARRIER,
    BY_NOTHING,
    BY_CLUSTER,
    CLUSTER_BY_NOTHING,
    ALONE_BY_CLUSTER,
    ALONE_BY_NOTHING,
    ORDERS
};

struct smem {
    mbarrier_t full, empty;
    uint32_t number;
};

// Before the store or the load of a round: the other side has finished with the word.
DEVICE void wait_for_turn(struct smem *shared, int order, bool writer, int round) {
    const uint32_t phase = (uint32_t)round & 1;
    if (order == BY_MBARRIER)
        mbarrier_wait(writer ? &shared->empty : &shared->full, writer ? phase ^ 1 : phase);
}

// After it.
DEVICE void hand_over(struct smem *shared, int order, bool writer) {
    if (order == BY_MBARRIER) {
        __syncwarp();
        if (threadIdx.x % 32 == 0) mbarrier_arrive(writer ? &shared->full : &shared->empty);
    }
}

static __global__ void __launch_bounds__(THREADS, 1) handoff(int order, uint32_t *wrong) {
    SHARED_MEMORY(struct smem);
    const bool writer = threadIdx.x < READER;
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, 1);
        mbarrier_init(&shared->empty, 1);
    }
    __syncthreads();
    uint32_t seen_wrong = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        const uint32_t number = (uint32_t)round * 3 + 1;
        if (writer) {
            wait_for_turn(shared, order, true, round);
            if (threadIdx.x == 0) st_shared_b32(&shared->number, number);
            hand_over(shared, order, true);
        }
        if (order == BY_BARRIER) __syncthreads();
        if (!writer) {
            wait_for_turn(shared, order, false, round);
            seen_wrong += ld_shared_b32(&shared->number) != number;
            hand_over(shared, order, false);
        }
        if (order == BY_BARRIER) __syncthreads();
    }
    atomicAdd(wrong, seen_wrong);
}

struct exchanged {
    struct b128 own[THREADS]; // [thread]
};

// Every thread leaves a number in its own CTA's memory and takes one from the last CTA but `rank`.
DEVICE void exchange(struct exchanged *shared, bool ordered, uint32_t ctas, uint32_t *wrong) {
    const uint32_t rank = cluster_rank(), other = ctas - 1 - rank;
    const int place = THREADS - 1 - threadIdx.x; // another thread's number
    uint32_t seen_wrong = 0;
    cluster_sync(); // the other CTA runs
    for (int round = 0; round < ROUNDS; ++round) {
        const uint32_t number = (uint32_t)round * THREADS * CLUSTER;
        const struct b128 own = {{number + rank * THREADS + threadIdx.x}};
        st_shared_b128(&shared->own[threadIdx.x], own);
        if (ordered) cluster_sync(); // all have written
        const struct b128 got = ld_shared_cluster_b128(&shared->own[place], other);
        seen_wrong += got.word[0] != number + other * THREADS + place;
        if (ordered) cluster_sync(); // all have read
    }
    atomicAdd(wrong, seen_wrong);
    cluster_sync(); // no CTA exits while the other may read its memory
}

static __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
    exchange_in_cluster(bool ordered, uint32_t *wrong) {
    SHARED_MEMORY(struct exchanged);
    exchange(shared, ordered, CLUSTER, wrong);
}

static __global__ void __launch_bounds__(THREADS, 1) exchange_alone(bool ordered, uint32_t *wrong) {
    SHARED_MEMORY(struct exchanged);
    exchange(shared, ordered, 1, wrong);
}

int main(int argc, char **argv) {
    static const char *const orders[ORDERS] = {
        "mbarrier", "barrier", "none", "cluster", "cluster_none", "alone", "alone_none"};
    int order = BY_MBARRIER;
    if (argc > 1)
        for (order = 0; order < ORDERS && strcmp(argv[1], orders[order]) != 0; ++order) {
        }
    if (argc > 2 || order == ORDERS) {
        fprintf(stderr, "usage: %s [mbarrier|barrier|none|cluster|cluster_none|alone|alone_none]\n",
                argv[0]);
        return 2;
    }
    uint32_t *on_device = NULL, wrong = 0;
    cudaError_t status = cudaMalloc((void **)&on_device, sizeof wrong);
    if (status == cudaSuccess) status = cudaMemset(on_device, 0, sizeof wrong);
    if (status == cudaSuccess) {
        if (order < BY_CLUSTER)
            handoff<<<1, THREADS, sizeof(struct smem)>>>(order, on_device);
        else if (order < ALONE_BY_CLUSTER)
            exchange_in_cluster<<<CLUSTER, THREADS, sizeof(struct exchanged)>>>(
                order == BY_CLUSTER, on_device);
        else
            exchange_alone<<<1, THREADS, sizeof(struct exchanged)>>>(order == ALONE_BY_CLUSTER,
                                                                     on_device);
        status = cudaGetLastError();
    }
    if (status == cudaSuccess)
        status = cudaMemcpy(&wrong, on_device, sizeof wrong, cudaMemcpyDeviceToHost);
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", argv[0], cudaGetErrorString(status));
        return 3;
    }
    cudaFree(on_device);
    printf("%s: %d rounds, %u wrong numbers read\n", orders[order], ROUNDS, wrong);
    return wrong != 0 && order != BY_NOTHING && order != CLUSTER_BY_NOTHING &&
           order != ALONE_BY_NOTHING;
}
