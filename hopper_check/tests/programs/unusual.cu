// unusual.cu: right, and not what a GEMM looks like: cooperative groups, cuda::pipeline,
// cuda::barrier, atomics of several kinds, warps that exchange registers, a flag between CTAs,
// tiles of two warps, which meet in the system's shared memory, and a list in memory of malloc.
#include <cstdio>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;
enum { THREADS = 128, N = 4 * THREADS };

__global__ void groups(const int *in, int *sum) {
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    __shared__ int part[THREADS / 32];
    const int mine = in[block.group_index().x * THREADS + block.thread_rank()];
    const int total = cg::reduce(warp, mine, cg::plus<int>());
    if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = total;
    block.sync();
    if (block.thread_rank() == 0)
        for (int i = 0; i < THREADS / 32; ++i)
            atomicAdd(sum, part[i]);
}

__global__ void pipeline(const int *in, int *sum) {
    constexpr int STAGES = 2;
    const auto block = cg::this_thread_block();
    __shared__ int ring[STAGES][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto pipe = cuda::make_pipeline(block, &state);
    int mine = 0;
    for (int i = 0, ahead = 0; i < N / THREADS; ++i) {
        for (; ahead < N / THREADS && ahead < i + STAGES; ++ahead) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, ring[ahead % STAGES], in + ahead * THREADS,
                               sizeof ring[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        mine += ring[i % STAGES][THREADS - 1 - threadIdx.x];
        pipe.consumer_release();
    }
    for (int offset = 16; offset > 0; offset /= 2)
        mine += __shfl_down_sync(~0u, mine, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

__global__ void barriers(const int *in, int *sum) {
    using barrier_t = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier_t barrier;
    __shared__ int tile[THREADS];
    if (threadIdx.x == 0) init(&barrier, THREADS);
    __syncthreads();
    for (int i = 0; i < N / THREADS; ++i) {
        tile[threadIdx.x] = in[i * THREADS + threadIdx.x];
        barrier.arrive_and_wait();
        if (threadIdx.x == i)
            for (int j = 0; j < THREADS; ++j)
                atomicAdd_block(sum, tile[j]);
        barrier.arrive_and_wait();
    }
}

// The last CTA adds what all have left, behind a counter with acquire and release.
__global__ void last_block(const int *in, int *part, int *counter, int *sum) {
    __shared__ bool last;
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, in[blockIdx.x * THREADS + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        part[blockIdx.x] = total;
        cuda::atomic_ref<int, cuda::thread_scope_device> done(*counter);
        last = done.fetch_add(1, cuda::memory_order_acq_rel) == (int)gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (unsigned i = 0; i < gridDim.x; ++i)
            *sum += part[i];
}

// All CTAs meet, twice.
__global__ void whole_grid(const int *in, int *part, int *sum) {
    const auto grid = cg::this_grid();
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const int total = cg::reduce(warp, in[grid.thread_rank()], cg::plus<int>());
    if (warp.thread_rank() == 0) part[grid.thread_rank() / 32] = total;
    grid.sync();
    if (grid.thread_rank() == 0)
        for (int i = 0; i < N / 32; ++i)
            *sum += part[i];
    grid.sync();
    if (grid.thread_rank() == N - 1) *sum *= 2;
}

__global__ void wide_tiles(const int *in, int *sum) {
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<64>(block);
    __shared__ int mine[THREADS];
    mine[threadIdx.x] = in[blockIdx.x * THREADS + threadIdx.x];
    for (int half = 32; half > 0; half /= 2) {
        tile.sync();
        if ((int)tile.thread_rank() < half) mine[threadIdx.x] += mine[threadIdx.x + half];
    }
    const int first = tile.thread_rank() == 0 ? mine[threadIdx.x] : 0;
    const int total = cg::reduce(tile, first, cg::plus<int>());
    const int all_totals = cg::reduce(tile, total, cg::plus<int>());
    if (tile.thread_rank() == 0) atomicAdd(sum, all_totals / 64);
}

struct node {
    int value;
    node *next;
};

__global__ void push(const int *in, node **list) {
    node *const n = (node *)malloc(sizeof(node));
    n->value = in[blockIdx.x * THREADS + threadIdx.x];
    n->next = (node *)atomicExch((unsigned long long *)list, (unsigned long long)n);
}

__global__ void pop(node **list, int *sum) {
    for (node *n = *list, *next; n; n = next) {
        *sum += n->value;
        next = n->next;
        free(n);
    }
    if (malloc((size_t)1 << 40)) __trap();
}

int main() {
    int *in, *sum, *part, *counter, host[N], wanted = 0, found[7] = {};
    for (int i = 0; i < N; ++i)
        wanted += host[i] = i * i % 17;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&sum, sizeof found);
    cudaMalloc(&part, sizeof host);
    cudaMalloc(&counter, sizeof *counter);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(sum, 0, sizeof found);
    cudaMemset(counter, 0, sizeof *counter);
    groups<<<N / THREADS, THREADS>>>(in, sum);
    pipeline<<<1, THREADS>>>(in, sum + 1);
    barriers<<<1, THREADS>>>(in, sum + 2);
    last_block<<<N / THREADS, THREADS>>>(in, part, counter, sum + 3);
    int *last = sum + 4;
    void *arguments[] = {&in, &part, &last};
    cudaLaunchCooperativeKernel((const void *)whole_grid, dim3(N / THREADS), dim3(THREADS),
                                arguments, 0, nullptr);
    if (cudaLaunchCooperativeKernel((const void *)whole_grid, dim3(100000), dim3(THREADS),
                                    arguments, 0, nullptr) != cudaErrorCooperativeLaunchTooLarge)
        return 2;
    cudaGetLastError();
    node **list;
    cudaMalloc(&list, sizeof *list);
    cudaMemset(list, 0, sizeof *list);
    wide_tiles<<<N / THREADS, THREADS>>>(in, sum + 5);
    push<<<N / THREADS, THREADS>>>(in, list);
    pop<<<1, 1>>>(list, sum + 6);
    cudaMemcpy(found, sum, sizeof found, cudaMemcpyDeviceToHost);
    wanted *= 2;
    for (int i = 0; i < 7; ++i)
        if (i != 4) found[i] *= 2; // that one is twice the sum already
    for (int i = 0; i < 7; ++i)
        if (found[i] != wanted) return printf("sum %d is %d and not %d\n", i, found[i], wanted), 1;
    return printf("right\n"), cudaGetLastError() != cudaSuccess;
}
