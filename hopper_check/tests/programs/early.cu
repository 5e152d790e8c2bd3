// early.cu: launches that begin before the one ahead has ended (programmatic dependent launch).
// Without an argument all of them wait in time; with one, one of them does not.
#include <cstdio>
#include <cstring>

#include <cuda/atomic>

enum { THREADS = 128, CTAS = 4, N = CTAS * THREADS };
enum mistake { NONE, READS, WRITES, ONE_WAITS, AHEAD_NEVER_WAITS, TOO_FAR, ADDS };
static const char *const mistakes[] = {"none", "reads", "writes", "one", "never", "far", "adds"};

struct memory {
    const int *weights; // that no kernel writes
    int *values, *sums, *copy, *count;
};

__global__ void produce(memory m, int by) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    cudaTriggerProgrammaticLaunchCompletion();
    m.values[i] = i * by; // produced
    m.copy[i] = m.sums[i]; // read by produce
}

// Weights and shared memory are its prologue.
__global__ void consume(memory m, mistake mistake) {
    __shared__ int ready[THREADS];
    const int i = blockIdx.x * THREADS + threadIdx.x;
    ready[threadIdx.x] = m.weights[i];
    if (mistake == READS) ready[threadIdx.x] += m.values[i]; // too early
    if (mistake == WRITES) m.sums[i] = 0; // too early, too
    __syncthreads();
    if (mistake != ONE_WAITS || threadIdx.x == 0) cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    m.sums[i] = ready[THREADS - 1 - threadIdx.x] + m.values[i]; // summed
}

// Itself early, and behind consume(); it needs what produce() has written. One thread waits.
__global__ void check(memory m, mistake mistake) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const int early = mistake == TOO_FAR ? m.sums[i] : 0; // of the launch ahead
    if (threadIdx.x == 0) cudaGridDependencySynchronize();
    __syncthreads();
    if (m.values[i] + m.sums[i] + early < 0) __trap();
}

// Waits for nothing, and needs nothing.
__global__ void idle(int *words) {
    cudaTriggerProgrammaticLaunchCompletion();
    words[blockIdx.x * THREADS + threadIdx.x] = 1;
}
__global__ void after_idle(memory m) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    cudaGridDependencySynchronize();
    m.sums[i] += m.values[i]; // behind two launches
}

// A counter that all launches add to, and a flag that says what has been written.
__global__ void count(memory m, mistake mistake) {
    cuda::atomic_ref<int, cuda::thread_scope_device> counter(m.count[0]), flag(m.count[1]);
    cudaTriggerProgrammaticLaunchCompletion();
    if (threadIdx.x) return;
    counter.fetch_add(1, cuda::memory_order_relaxed);
    if (blockIdx.x) return;
    if (mistake == ADDS) m.count[2] += 1; // an ordinary addition
    m.count[3 + flag.load(cuda::memory_order_relaxed)] = 1;
    flag.fetch_add(1, cuda::memory_order_release);
}
__global__ void see(memory m) {
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(m.count[1]);
    if (threadIdx.x || blockIdx.x) return;
    while (flag.load(cuda::memory_order_acquire) < 2) {}
    if (m.count[3] + m.count[4] != 2) __trap();
}

static cudaStream_t stream;
template <typename... Types, typename... Values>
static void launch(bool early, void (*kernel)(Types...), Values... values) {
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = early;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(CTAS);
    config.blockDim = dim3(THREADS);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (cudaLaunchKernelEx(&config, kernel, Types(values)...) != cudaSuccess) printf("refused\n");
}

int main(int count_of, char **argument) {
    mistake mistake = NONE;
    for (int i = 0; count_of > 1 && i <= ADDS; ++i)
        if (!strcmp(argument[1], mistakes[i])) mistake = (enum mistake)i;
    memory m;
    int *weights, *words;
    cudaStreamCreate(&stream);
    cudaMalloc(&weights, N * sizeof(int));
    cudaMalloc(&words, N * sizeof(int));
    for (int **to : {&m.values, &m.sums, &m.copy, &m.count}) {
        cudaMalloc(to, N * sizeof(int));
        cudaMemset(*to, 0, N * sizeof(int));
    }
    cudaMemset(weights, 1, N * sizeof(int));
    m.weights = weights;
    for (int turn = 0; turn < 2; ++turn) {
        launch(true, produce, m, turn);
        launch(true, consume, m, mistake);
        launch(true, check, m, mistake);
        // In order, and after a copy: what is ahead has ended.
        launch(false, produce, m, turn);
        cudaMemcpyAsync(m.copy, m.sums, N * sizeof(int), cudaMemcpyDeviceToDevice, stream);
        launch(true, after_idle, m);
        launch(false, after_idle, m);
    }
    launch(false, produce, m, 1);
    launch(mistake == AHEAD_NEVER_WAITS, idle, words);
    launch(true, after_idle, m);
    cudaStreamSynchronize(stream);
    launch(false, count, m, mistake);
    launch(true, count, m, mistake);
    launch(true, see, m);
    return cudaDeviceSynchronize() != cudaSuccess;
}
