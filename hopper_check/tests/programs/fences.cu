// fences.cu: the last block adds up what all have stored. Each thread has a fence.sc of its own
// between its store and the barrier, and another between the last barrier and its reads: so the
// fences of writer and reader are ordered, while the ticket's atomics order one thread at most.
// Without an argument it is right; with one, one of the fences is not there, or too narrow.
#include <cstdio>
#include <cstring>

enum { THREADS = 64, CTAS = 6 };
enum mistake { NONE, NO_WRITER, NO_READER, ONE_WRITER, NARROW };
static const char *const mistakes[] = {"none", "no-writer", "no-reader", "one-writer", "narrow"};

__device__ unsigned ticket;

__global__ void sum_up(int *part, int *sum, mistake mistake) {
    __shared__ bool last;
    part[blockIdx.x * THREADS + threadIdx.x] = 1; // stored
    if (mistake == NARROW)
        __threadfence_block();
    else if (mistake != NO_WRITER && (mistake != ONE_WRITER || threadIdx.x == 0))
        __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&ticket, 1) == CTAS - 1;
    __syncthreads();
    if (!last) return;
    if (mistake != NO_READER) __threadfence();
    int mine = 0;
    for (int i = threadIdx.x; i < CTAS * THREADS; i += THREADS)
        mine += part[i]; // read
    atomicAdd(sum, mine);
}

int main(int argc, char **argv) {
    int *part, *sum, result = 0, mistake = NONE;
    for (int i = 0; argc > 1 && i < (int)(sizeof mistakes / sizeof *mistakes); ++i)
        if (!strcmp(argv[1], mistakes[i])) mistake = i;
    cudaMalloc(&part, CTAS * THREADS * sizeof *part);
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(sum, 0, sizeof *sum);
    sum_up<<<CTAS, THREADS>>>(part, sum, (enum mistake)mistake);
    cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
    return result != CTAS * THREADS;
}
