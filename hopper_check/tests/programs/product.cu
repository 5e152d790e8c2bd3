// product.cu [M N K]: D = A B^T in bf16 with the Tensor Memory Accelerator, an mbarrier, wgmma and
// clusters of two CTAs along m that share the tile of B: each loads half of it for both.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

using bf16 = __nv_bfloat16;
enum { TILE_M = 64, TILE_N = 64, TILE_K = 64, CLUSTER = 2 };
#ifndef COLUMN
#define COLUMN 0 // at which column of A the product begins
#endif
enum { A_BYTES = TILE_M * TILE_K * 2, B_BYTES = TILE_N * TILE_K * 2 };

__device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ uint64_t descriptor(const void *tile) { // K-major, swizzled by 128 bytes
    return (shared_address(tile) & 0x3ffff) >> 4 | (uint64_t)1 << 16 | (uint64_t)64 << 32 |
           (uint64_t)1 << 62;
}

__device__ void wait(uint64_t *barrier, uint32_t parity) {
    asm volatile("{\n.reg .pred p;\nagain:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}"
                 ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}

__device__ void load(void *to, const CUtensorMap *map, int k, int row, uint64_t *barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)), "l"(map), "r"(k),
                 "r"(row), "r"(shared_address(barrier)) : "memory");
}

__device__ void load_for_all(void *to, const CUtensorMap *map, int k, int row, uint64_t *barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
                 "l"(map), "r"(k), "r"(row), "r"(shared_address(barrier)), "h"((uint16_t)3)
                 : "memory");
}

__device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

__device__ void multiply(float (&d)[32], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,"
                 "%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
                   "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
                   "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]),
                   "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
                   "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b));
}

__global__ void __launch_bounds__(128) product(const __grid_constant__ CUtensorMap map_a,
                                               const __grid_constant__ CUtensorMap map_b, float *d,
                                               int n, int k) {
    extern __shared__ __align__(1024) unsigned char tiles[]; // A, B
    __shared__ uint64_t full;
    unsigned char *const a = tiles, *const b = tiles + A_BYTES;
    const int m0 = blockIdx.x * TILE_M, n0 = blockIdx.y * TILE_N, rank = blockIdx.x % CLUSTER;
    float sum[32] = {};
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full)));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_sync();
    for (int i = 0; i < k / TILE_K; ++i) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                             shared_address(&full)), "r"(A_BYTES + B_BYTES) : "memory");
            load(a, &map_a, i * TILE_K + COLUMN, m0, &full);
            load_for_all(b + rank * B_BYTES / 2, &map_b, i * TILE_K, n0 + rank * TILE_N / 2, &full);
        }
        wait(&full, i & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int part = 0; part < TILE_K / 16; ++part)
            multiply(sum, descriptor(a + 32 * part), descriptor(b + 32 * part));
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" :::
                     "memory");
#ifndef NO_BARRIER
        cluster_sync(); // both CTAs have read what the next loads overwrite
#endif
    }
    const int row = m0 + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    for (int i = 0; i < 32; ++i)
        d[(size_t)(row + i / 2 % 2 * 8) * n + n0 + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] =
            sum[i];
}

static CUtensorMap map_of(bf16 *base, int rows, int columns, int box_rows) {
    CUtensorMap map;
    const cuuint64_t extent[] = {(cuuint64_t)columns, (cuuint64_t)rows};
    const cuuint64_t pitch[] = {(cuuint64_t)columns * sizeof *base};
    const cuuint32_t box[] = {TILE_K, (cuuint32_t)box_rows}, stride[] = {1, 1};
    void *encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                     &found);
    if (!encode || ((decltype(&cuTensorMapEncodeTiled))encode)(
                       &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, base, extent, pitch, box, stride,
                       CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                       CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        exit(2);
    ((uint64_t *)&map)[1] &= ~((uint64_t)1 << 21); // as CUTLASS does, for the sake of some drivers
    return map;
}

int main(int argc, char **argv) {
    const int m = argc > 3 ? atoi(argv[1]) : 128, n = argc > 3 ? atoi(argv[2]) : 128,
              k = argc > 3 ? atoi(argv[3]) : 192;
    std::vector<bf16> a((size_t)m * k), b((size_t)n * k);
    std::vector<float> d((size_t)m * n);
    for (size_t i = 0; i < a.size(); ++i)
        a[i] = __float2bfloat16((float)((int)(i * 7 % 5) - 2));
    for (size_t i = 0; i < b.size(); ++i)
        b[i] = __float2bfloat16((float)((int)(i * 5 % 7) - 3));
    bf16 *da, *db;
    float *dd;
    cudaMalloc(&da, a.size() * 2 + (1 << 22));
    while (!((uintptr_t)da >> 21 & 1)) // an address in which that bit is set, too
        da += 1 << 10;
    cudaMalloc(&db, b.size() * 2);
    cudaMalloc(&dd, d.size() * 4);
    cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
    const CUtensorMap map_a = map_of(da, m, k, TILE_M), map_b = map_of(db, n, k, TILE_N / 2);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = CLUSTER;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(m / TILE_M, n / TILE_N);
    config.blockDim = dim3(128);
    config.dynamicSmemBytes = A_BYTES + B_BYTES + 64 * 1024; // more than 48 KiB: to be allowed
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)config.dynamicSmemBytes);
    if (cudaLaunchKernelEx(&config, product, map_a, map_b, dd, n, k) != cudaSuccess) return 3;
    cudaMemcpy(d.data(), dd, d.size() * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int l = 0; l < k; ++l)
                sum += __bfloat162float(a[(size_t)i * k + l]) *
                       __bfloat162float(b[(size_t)j * k + l]);
            if (d[(size_t)i * n + j] != sum)
                return printf("D(%d, %d) is %g and not %g\n", i, j, d[(size_t)i * n + j], sum), 1;
        }
    return printf("right\n"), 0;
}
