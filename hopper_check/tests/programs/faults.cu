// faults.cu WHAT: programs that end badly, or check nothing.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

__global__ void store(int *out) { *out = 1; }
__global__ void nothing() {}

int main(int, char **argv) {
    const char *const what = argv[1];
    int *out, host;
    cudaMalloc(&out, sizeof *out);
    if (!strcmp(what, "crash")) {
        store<<<1, 1>>>(out);
        *(volatile int *)8 = 1; // in the host's code
    }
    if (!strcmp(what, "status")) {
        store<<<1, 1>>>(out);
        return 7;
    }
    if (!strcmp(what, "no-launch")) return 0;
    if (!strcmp(what, "no-access")) nothing<<<1, 1>>>();
    if (!strcmp(what, "graph")) {
        cudaGraph_t graph;
        store<<<1, 1>>>(out);
        return cudaGraphCreate(&graph, 0); // the runtime has no graphs
    }
    if (!strcmp(what, "bounds")) store<<<1, 1>>>(out + 1);
    if (!strcmp(what, "wait")) {
        store<<<1, 1>>>(out);
        cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
        printf("waiting\n");
        fflush(stdout);
        for (;;)
            pause();
    }
    return 0;
}
