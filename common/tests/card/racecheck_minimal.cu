/*
 * racecheck_minimal.cu: does racecheck know that an mbarrier orders memory accesses?
 *
 * compute-sanitizer's racecheck reports a hazard where a persistent kernel hands a tile's number
 * from its producer to its consumers (hopper/tile_scheduler.h). This is that handoff alone, with
 * nothing around it that could be wrong: one word of shared memory, written by one thread and read
 * by a warp, over and over. The writer waits for `empty` before it stores and arrives on `full`
 * after; the reader waits for `full` before it loads and arrives on `empty` after. mbarrier.arrive
 * releases and mbarrier.try_wait acquires (PTX ISA, "mbarrier" and "Memory Consistency Model"), so
 * every load is ordered between two stores.
 *
 *     compute-sanitizer --tool racecheck build/gpu/racecheck_minimal mbarrier|barrier|none
 *
 * `barrier` is the same handoff with __syncthreads() for both waits, `none` the same without any
 * order. If the tool reports `mbarrier` and not `barrier`, the report is its own: it does not
 * follow mbarriers between generic accesses. `none` it has to report. The program prints how many
 * wrong numbers arrived; exit code 1 if any did where there is an order.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#include "hopper/mbarrier.h"

enum { ROUNDS = 64, THREADS = 64, READER = 32 };
enum order { BY_MBARRIER, BY_BARRIER, BY_NOTHING };

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

int main(int argc, char **argv) {
    static const char *const orders[] = {"mbarrier", "barrier", "none"};
    int order = BY_MBARRIER;
    if (argc > 1)
        for (order = 0; order < 3 && strcmp(argv[1], orders[order]) != 0; ++order) {
        }
    if (argc > 2 || order == 3) {
        fprintf(stderr, "usage: %s [mbarrier|barrier|none]\n", argv[0]);
        return 2;
    }
    uint32_t *on_device = NULL, wrong = 0;
    cudaError_t status = cudaMalloc((void **)&on_device, sizeof wrong);
    if (status == cudaSuccess) status = cudaMemset(on_device, 0, sizeof wrong);
    if (status == cudaSuccess) {
        handoff<<<1, THREADS, sizeof(struct smem)>>>(order, on_device);
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
    return wrong != 0 && order != BY_NOTHING;
}
