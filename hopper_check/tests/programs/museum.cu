// museum.cu: runs one form of an exhibit of the museum, which it is compiled with, as a CUDA
// program: museum_run.c and as much of a backend as that needs. Ends with 1 if D is wrong.
#include <cstdio>

#include <cuda_runtime.h>

extern "C" {
#include "tests/museum/museum_run.h"
}

exit_code backend_open(const backend_options *, backend_info *) { return EXIT_VERIFIED; }
void backend_close(void) {}

void *backend_alloc(size_t bytes, const char *, bool) {
    void *memory = nullptr;
    return cudaMalloc(&memory, bytes) ? nullptr : memory;
}

void backend_free(void *memory) { cudaFree(memory); }

bool backend_copy_in(void *device, const void *host, size_t bytes) {
    return !cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice);
}

bool backend_copy_out(void *host, const void *device, size_t bytes) {
    return !cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
}

bool backend_fill(void *device, uint16_t pattern, size_t elements) {
    for (size_t i = 0; i < elements; i += 4096) {
        uint16_t part[4096];
        const size_t count = elements - i < 4096 ? elements - i : 4096;
        for (size_t j = 0; j < count; ++j)
            part[j] = pattern;
        if (!backend_copy_in((uint16_t *)device + i, part, count * sizeof *part)) return false;
    }
    return true;
}

run_status backend_run(const contender *contender, const gemm_problem *problem, double *) {
    return contender->enqueue(contender, problem, nullptr) == GEMM_OK && !cudaDeviceSynchronize()
               ? RUN_OK
               : RUN_FAILED;
}

int main() {
    static const museum_exhibit exhibit = {"exhibit", {&museum_form_of_exhibit, nullptr}};
    int wrong = 0;
    if (museum_open(&exhibit) != EXIT_VERIFIED) return 2;
    const run_status status = museum_run(&exhibit, 0, &wrong);
    museum_close();
    printf("%d wrong%s\n", wrong, status == RUN_OK ? "" : ", and the launch has failed");
    return status != RUN_OK || wrong;
}
