// turns.cu [WHAT]: CTAs that take turns by their index, more of them than fit at once. WHAT:
// `upward`, a CTA waits for the next one; `remote`, a peer's release that is waited for with the
// scope of a CTA.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

enum { CTAS = 60 };

__device__ int seen(const int *word) {
    int value;
    asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

__global__ void __launch_bounds__(1024, 1) sum(int *turn, int *total, bool upward) {
    const int mine = upward ? (int)(gridDim.x - 1 - blockIdx.x) : (int)blockIdx.x;
    if (threadIdx.x != 0) return;
    while (seen(turn) != mine) {
    }
    *total = 3 * *total + (int)blockIdx.x;
    asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(turn), "r"(mine + 1) : "memory");
}

// Rank 1 has read its tile and says so; rank 0 writes the tile anew.
__global__ void __cluster_dims__(2, 1, 1) refill(int *out) {
    __shared__ int tile[32];
    __shared__ uint64_t empty;
    const auto cluster = cg::this_cluster();
    tile[threadIdx.x] = (int)threadIdx.x;
    if (threadIdx.x == 0) ptx::mbarrier_init(&empty, 32);
    cluster.sync();
    if (cluster.block_rank() == 1) {
        out[threadIdx.x] = tile[threadIdx.x];
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                             cluster.map_shared_rank(&empty, 0));
    } else {
        while (!ptx::mbarrier_try_wait_parity(&empty, 0)) {
        }
        cluster.map_shared_rank(tile, 1)[threadIdx.x] = 1;
    }
    cluster.sync();
}

int main(int arguments, char **argument) {
    const char *const what = arguments > 1 ? argument[1] : "";
    int *words, total, expected = 0;
    cudaMalloc(&words, 64 * sizeof *words);
    cudaMemset(words, 0, 64 * sizeof *words);
    if (!strcmp(what, "remote")) refill<<<2, 32>>>(words + 32);
    sum<<<CTAS, 1024>>>(words, words + 1, !strcmp(what, "upward"));
    cudaMemcpy(&total, words + 1, sizeof total, cudaMemcpyDeviceToHost);
    for (int i = 0; i < CTAS; ++i)
        expected = (int)(3u * (unsigned)expected + (unsigned)i);
    return total != expected;
}
