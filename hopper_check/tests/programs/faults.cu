// faults.cu WHAT: programs that end badly, or check nothing.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

__global__ void store(int *out) { *out = 1 + blockIdx.x; }
__global__ void add(int *out) { atomicAdd(out, 1); }
__global__ void spin(volatile int *out) {
    while (out[0] != 1)
        out[1] = out[1] + 1;
}
__global__ void nothing() {}
__global__ void count(int *out, int times) {
    int sum = 0;
    for (int i = 0; i < times; ++i)
        sum = sum * 3 ^ i;
    atomicXor(out, sum);
}

int main(int, char **argv) {
    const char *const what = argv[1];
    int *out, host;
    cudaMalloc(&out, 2 * sizeof *out);
    if (!strcmp(what, "crash")) {
        store<<<1, 1>>>(out);
        *(volatile int *)8 = 1; // in the host's code
    }
    if (!strcmp(what, "status")) {
        store<<<1, 1>>>(out);
        return 7;
    }
    if (!strcmp(what, "no-memset")) {
        add<<<1, 32>>>(out);
        cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
        return host != 32;
    }
    if (!strcmp(what, "no-launch")) return 0;
    if (!strcmp(what, "no-access")) nothing<<<1, 1>>>();
    if (!strcmp(what, "graph")) {
        cudaGraph_t graph;
        store<<<1, 1>>>(out);
        return cudaGraphCreate(&graph, 0); // the runtime has no graphs
    }
    if (!strcmp(what, "long")) count<<<10000, 1>>>(out, 100000);
    if (!strcmp(what, "bounds")) store<<<1, 1>>>(out + 2);
    if (!strcmp(what, "spin")) spin<<<1, 1>>>(out);
    if (!strcmp(what, "races")) store<<<2, 1>>>(out);
    if (!strcmp(what, "wait") || !strcmp(what, "races")) {
        store<<<1, 1>>>(out);
        cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
        printf("waiting\n");
        fflush(stdout);
        for (;;)
            pause();
    }
    return 0;
}
