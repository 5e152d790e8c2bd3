// graphs.cu [WHAT]: graphs that are captured from streams. WHAT: `race`, a kernel of the graph has
// one; `alloc`, what a capture does not take.
#include <cstdio>
#include <cstring>

__global__ void add(int *to, int value) { to[threadIdx.x] += value; }
__global__ void turn(int *to, const int *from, int race) {
    __shared__ int word[64];
    word[threadIdx.x] = from[threadIdx.x];
    if (!race) __syncthreads();
    to[threadIdx.x] = word[63 - threadIdx.x];
}

static void CUDART_CB called(void *times) { ++*(int *)times; }

static int *in, *out, *host, calls;
static cudaStream_t one, two;
static cudaEvent_t fork, join;

// On two streams; the parameters are those of the capture.
static cudaGraph_t capture(int value, int race, bool joins) {
    cudaGraph_t graph;
    cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(in, host, 64 * sizeof *in, cudaMemcpyHostToDevice, one);
    cudaEventRecord(fork, one);
    cudaStreamWaitEvent(two, fork, 0);
    add<<<1, 64, 0, one>>>(in, value);
    cudaMemsetAsync(out + 64, value, sizeof *out, two);
    cudaEventRecord(join, two);
    if (joins) cudaStreamWaitEvent(one, join, 0);
    turn<<<1, 64, 0, one>>>(out, in, race);
    value = 0;
    cudaLaunchHostFunc(one, called, &calls);
    const cudaError_t error = cudaStreamEndCapture(one, &graph);
    if (error != (joins ? cudaSuccess : cudaErrorStreamCaptureUnjoined))
        printf("capture: %s\n", cudaGetErrorString(error));
    return graph;
}

static bool is(int value) {
    int copy[65];
    cudaMemcpy(copy, out, sizeof copy, cudaMemcpyDeviceToHost);
    return copy[0] == host[63] + value && copy[63] == host[0] + value &&
           copy[64] == value * 0x01010101;
}

int main(int arguments, char **argument) {
    const char *const what = arguments > 1 ? argument[1] : "";
    const int race = !strcmp(what, "race");
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    cudaStreamCaptureStatus status;
    size_t nodes;
    cudaMalloc(&in, 64 * sizeof *in);
    cudaMalloc(&out, 65 * sizeof *out);
    cudaMallocHost(&host, 64 * sizeof *host);
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    for (int i = 0; i < 64; ++i)
        host[i] = i;
    cudaMemset(out, 0x55, 65 * sizeof *out);
    const cudaGraph_t first = capture(3, race, true), second = capture(5, race, true);
    bool right = calls == 0 && is(0x55) == false && !cudaGraphGetNodes(first, nullptr, &nodes);
    right &= nodes == 5 && !cudaGraphInstantiate(&exec, first, 0) && !cudaGraphDestroy(first);
    for (int i = 0; i < 3; ++i) {
        host[63] = 100 + i; // read when the graph is launched
        right &= !cudaGraphLaunch(exec, one) && !cudaStreamSynchronize(one) && is(3);
    }
    right &= !cudaGraphExecUpdate(exec, second, &info) && !cudaGraphLaunch(exec, two) && is(5);
    right &= cudaEventSynchronize(fork) == cudaErrorCapturedEvent;
    right &= cudaStreamWaitEvent(two, join, 0) == cudaErrorCapturedEvent;
    right &= calls == 4 && !capture(1, race, false);
    right &= cudaGetLastError() == cudaErrorStreamCaptureUnjoined;
    cudaStreamBeginCapture(one, cudaStreamCaptureModeRelaxed);
    right &= !cudaStreamIsCapturing(one, &status) && status == cudaStreamCaptureStatusActive;
    right &= cudaStreamSynchronize(one) == cudaErrorStreamCaptureUnsupported;
    if (!strcmp(what, "alloc")) cudaMallocAsync(&in, 4, one);
    cudaGraph_t empty;
    right &= !cudaStreamEndCapture(one, &empty) && !cudaGraphDestroy(empty);
    right &= cudaGraphExecUpdate(exec, second, &info) == cudaSuccess;
    right &= !cudaGraphExecDestroy(exec) && !cudaGraphDestroy(second);
    return !right;
}
