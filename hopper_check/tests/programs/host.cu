// host.cu: streams, events, variables, all kinds of memory, fills and copies.
#include <cstdio>
#include <cstring>

__device__ int variable = 3;
__constant__ int factor[2];
__managed__ int managed = 4;

__global__ void scale(const int *in, int *out, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) out[i] = in[i] * factor[1] + variable;
    if (i == 0) managed += 1;
}

#define CHECK(call)                                                                                \
    if (cudaError_t e = (call)) return printf("%s: %s\n", #call, cudaGetErrorString(e)), 1
#define REQUIRE(condition)                                                                         \
    if (!(condition)) return printf("not so: %s\n", #condition), 1

int main() {
    enum { N = 256 };
    const int factors[2] = {1, 5};
    cudaStream_t one, two;
    cudaEvent_t start, stop;
    int *pinned, *in, *out, *pitched, copy[4][N], number = 0;
    size_t pitch;
    float milliseconds = -1;
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    REQUIRE(properties.major == 9 && properties.multiProcessorCount > 0);
    CHECK(cudaDeviceGetAttribute(&number, cudaDevAttrMultiProcessorCount, 0));
    REQUIRE(number == properties.multiProcessorCount);
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMallocHost(&pinned, N * sizeof *pinned));
    CHECK(cudaMallocAsync(&in, N * sizeof *in, one));
    CHECK(cudaMalloc(&out, N * sizeof *out));
    CHECK(cudaMallocPitch(&pitched, &pitch, N * sizeof(int), 4));
    for (int i = 0; i < N; ++i)
        pinned[i] = i;
    CHECK(cudaMemcpyToSymbol(factor, factors, sizeof factors));
    CHECK(cudaMemcpyAsync(in, pinned, N * sizeof *in, cudaMemcpyHostToDevice, one));
    CHECK(cudaEventRecord(start, one));
    scale<<<2, 128, 0, one>>>(in, out, N);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop, one));
    CHECK(cudaStreamWaitEvent(two, stop, 0));
    CHECK(cudaMemcpy2DAsync(pitched, pitch, out, 0 + N * sizeof(int), N * sizeof(int), 1,
                            cudaMemcpyDeviceToDevice, two));
    CHECK(cudaMemset2D((char *)pitched + pitch, pitch, 1, N * sizeof(int), 3));
    CHECK(cudaMemcpy2D(copy, sizeof copy[0], pitched, pitch, N * sizeof(int), 4,
                       cudaMemcpyDeviceToHost));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    REQUIRE(milliseconds > 0);
    REQUIRE(copy[0][7] == 7 * 5 + 3 && copy[3][N - 1] == 0x01010101);
    scale<<<1, 32, 0, two>>>(pinned, pinned, 32); // the GPU reaches pinned memory
    CHECK(cudaStreamSynchronize(two));
    REQUIRE(pinned[9] == 9 * 5 + 3 && managed == 6);
    CHECK(cudaMemcpyFromSymbol(&number, variable, sizeof number));
    REQUIRE(number == 3);
    static int box[3][4][5], back[2][3][5]; // of the box all but its first plane and first row
    for (int i = 0; i < 60; ++i)
        box[0][0][i] = i;
    cudaPitchedPtr cube;
    CHECK(cudaMalloc3D(&cube, make_cudaExtent(sizeof box[0][0], 4, 3)));
    REQUIRE(cube.pitch >= sizeof box[0][0] && cube.ysize == 4);
    cudaMemcpy3DParms copies = {};
    copies.srcPtr = make_cudaPitchedPtr(box, sizeof box[0][0], sizeof box[0][0], 4);
    copies.dstPtr = cube;
    copies.extent = make_cudaExtent(sizeof box[0][0], 4, 3);
    copies.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copies));
    copies.srcPtr = cube;
    copies.srcPos = make_cudaPos(0, 1, 1);
    copies.dstPtr = make_cudaPitchedPtr(back, sizeof back[0][0], sizeof back[0][0], 3);
    copies.extent = make_cudaExtent(sizeof back[0][0], 3, 2);
    copies.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3DAsync(&copies, one));
    REQUIRE(back[0][0][0] == box[1][1][0] && back[1][2][4] == box[2][3][4]);
    static int own[64]; // the program's memory, registered
    CHECK(cudaHostRegister(own, sizeof own, cudaHostRegisterDefault));
    REQUIRE(cudaHostRegister(own, sizeof own, 0) == cudaErrorHostMemoryAlreadyRegistered);
    scale<<<1, 64>>>(own, own, 64);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaHostUnregister(own));
    REQUIRE(own[63] == 3 && cudaGetLastError() != cudaSuccess);
    // Errors, as on a GPU: too long a copy, too much shared memory.
    REQUIRE(cudaMemcpy(out, pinned, N * sizeof *out + 1, cudaMemcpyHostToDevice) ==
            cudaErrorInvalidValue);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
    scale<<<1, 32, 100000>>>(in, out, N);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
    scale<<<1, 2048>>>(in, out, N);
    REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeAsync(in, one));
    CHECK(cudaFree(out));
    CHECK(cudaStreamDestroy(one));
    CHECK(cudaEventDestroy(start));
    return printf("right\n"), 0;
}
