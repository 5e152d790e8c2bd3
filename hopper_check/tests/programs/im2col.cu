// im2col.cu [no-fence]: convolutions' operands as the TMA gathers them, of 3 to 5 dimensions,
// with padding, strides, dilated filters and boxes that end behind the last image; and stores of
// the same pixels.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

enum { CHANNELS = 16, PIXELS = 24, BOX = PIXELS * CHANNELS };

template <int DIMENSIONS>
__device__ void load(float *to, const CUtensorMap *map, const int *at, const uint16_t *offset,
                     uint32_t barrier) {
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(to);
    if (DIMENSIONS == 3)
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx"
                     "::bytes [%0], [%1, {%2, %3, %4}], [%5], {%6};" ::"r"(shared),
                     "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(barrier), "h"(offset[0])
                     : "memory");
    if (DIMENSIONS == 4)
        asm volatile("cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%1, {%2, %3, %4, %5}], "
                     "{%7, %8};"
                     "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx"
                     "::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(shared),
                     "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(barrier),
                     "h"(offset[0]), "h"(offset[1])
                     : "memory");
    if (DIMENSIONS == 5)
        asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx"
                     "::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10};" ::"r"(shared),
                     "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]),
                     "r"(barrier), "h"(offset[0]), "h"(offset[1]), "h"(offset[2])
                     : "memory");
}

template <int DIMENSIONS>
__device__ void store(const CUtensorMap *map, const int *at, float *from) {
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(from);
    if (DIMENSIONS == 3)
        asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
                     "[%0, {%1, %2, %3}], [%4];" ::"l"(map),
                     "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(shared)
                     : "memory");
    if (DIMENSIONS == 4)
        asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
                     "[%0, {%1, %2, %3, %4}], [%5];" ::"l"(map),
                     "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(shared)
                     : "memory");
    if (DIMENSIONS == 5)
        asm volatile("cp.reduce.async.bulk.tensor.5d.global.shared::cta.add.im2col_no_offs"
                     ".bulk_group [%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(map),
                     "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]), "r"(shared)
                     : "memory");
}

struct place {
    int at[5];
    uint16_t offset[3];
};

template <int DIMENSIONS>
__global__ void gather(const __grid_constant__ CUtensorMap in,
                       const __grid_constant__ CUtensorMap out, place from, place to, float *box,
                       bool fence) {
    __shared__ alignas(128) float tile[BOX];
    __shared__ uint64_t barrier;
    const uint32_t b = (uint32_t)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;"
                     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b),
                     "n"((int)sizeof tile)
                     : "memory");
        load<DIMENSIONS>(tile, &in, from.at, from.offset, b);
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; wait: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;"
                 "@!p bra wait; }" ::"r"(b)
                 : "memory");
    for (int i = threadIdx.x; i < BOX; i += blockDim.x) {
        box[i] = tile[i];
        tile[i] += 1;
    }
    if (fence) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        store<DIMENSIONS>(&out, to.at, tile);
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

struct convolution {
    int extent[5], lower[3], upper[3];
    unsigned stride[3];
    place from;
};

// Which element pixel r, channel c of the box is, one step after the other; < 0: a zero.
static int element(const convolution &v, int dimensions, const place &p, int r, int c) {
    const int space = dimensions - 2;
    int at[4], index = 0, pitch = v.extent[0];
    memcpy(at, p.at + 1, sizeof at);
    while (r--)
        for (int i = 0; i <= space; ++i) {
            at[i] += i < space ? (int)v.stride[i] : 1;
            if (i == space || at[i] < v.extent[1 + i] + v.upper[i]) break;
            at[i] = v.lower[i];
        }
    for (int i = 0; i <= space; ++i) {
        const int x = at[i] + (i < space ? p.offset[i] : 0);
        if (x < 0 || x >= v.extent[1 + i]) return -1;
        index += x * pitch;
        pitch *= v.extent[1 + i];
    }
    return p.at[0] + c < v.extent[0] ? index + p.at[0] + c : -1;
}

template <int DIMENSIONS> static int test(const convolution &v, bool fence) {
    CUtensorMap in, out;
    cuuint64_t extent[5], pitch[4];
    cuuint32_t stride[5] = {1, 1, 1, 1, 1}, ones[5] = {1, 1, 1, 1, 1};
    int elements = 1, none[3] = {0, 0, 0};
    float *image, *stored, *box;
    for (int i = 0; i < DIMENSIONS; ++i) {
        extent[i] = v.extent[i];
        elements *= v.extent[i];
        if (i < 4) pitch[i] = elements * sizeof(float);
        if (i > 0 && i < DIMENSIONS - 1) stride[i] = v.stride[i - 1];
    }
    cudaMallocManaged(&image, elements * sizeof *image);
    cudaMallocManaged(&stored, elements * sizeof *stored);
    cudaMallocManaged(&box, BOX * sizeof *box);
    for (int i = 0; i < elements; ++i) {
        image[i] = i + 1;
        stored[i] = 0;
    }
    if (cuTensorMapEncodeIm2col(&in, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, DIMENSIONS, image, extent,
                                pitch, v.lower, v.upper, CHANNELS, PIXELS, stride,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) ||
        cuTensorMapEncodeIm2col(&out, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, DIMENSIONS, stored, extent,
                                pitch, none, none, CHANNELS, PIXELS, ones,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        return printf("no map of %d dimensions\n", DIMENSIONS), 1;
    convolution plain = v;
    for (int i = 0; i < 3; ++i) {
        plain.lower[i] = plain.upper[i] = 0;
        plain.stride[i] = 1;
    }
    const place to = {{0, 1, 1, 0, 0}, {0, 0, 0}};
    gather<DIMENSIONS><<<1, 32>>>(in, out, v.from, to, box, fence);
    if (cudaDeviceSynchronize()) return 1;
    for (int i = 0; i < BOX; ++i) {
        const int e = element(v, DIMENSIONS, v.from, i / CHANNELS, i % CHANNELS);
        if (box[i] != (e < 0 ? 0 : e + 1))
            return printf("%d dimensions, %d: %g, not %d\n", DIMENSIONS, i, box[i], e + 1), 1;
        const int s = element(plain, DIMENSIONS, to, i / CHANNELS, i % CHANNELS);
        if (s >= 0 && stored[s] != box[i] + 1)
            return printf("%d dimensions, %d is stored as %g\n", DIMENSIONS, i, stored[s]), 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    const bool fence = argc < 2;
    (void)argv;
    // A filter of 3 with padding; of 3 x 3, dilated, in steps of 2; of 2 x 3 x 1, some channels.
    const convolution a = {{16, 10, 4, 1, 1}, {-1}, {-1}, {1}, {{0, 5, 1}, {2}}};
    const convolution b = {
        {16, 7, 5, 3, 1}, {-1, -2}, {-1, -2}, {2, 1}, {{0, 1, -2, 1}, {2, 4}}};
    const convolution c = {
        {20, 4, 3, 3, 2}, {0, -1, 0}, {-1, -1, 0}, {1, 1, 2}, {{8, 2, 1, 0, 0}, {1, 2, 0}}};
    return test<3>(a, fence) || test<4>(b, fence) || test<5>(c, fence);
}
