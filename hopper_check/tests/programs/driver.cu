// driver.cu KERNEL.ptx: the driver's functions alone, with a module from a file.
#include <cstdio>
#include <cuda.h>

#define CHECK(call)                                                                                \
    if (CUresult e = (call)) return printf("%s: %d\n", #call, (int)e), 1

int main(int argc, char **argv) {
    enum { N = 64 };
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr x, y;
    CUstream stream;
    int n = N, host[N];
    void *arguments[] = {&x, &y, &n};
    if (argc < 2) return 2;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxPushCurrent(context));
    CHECK(cuCtxPopCurrent(nullptr));
    CHECK(cuModuleLoad(&module, argv[1]));
    CHECK(cuModuleGetFunction(&function, module, "sum"));
    CHECK(cuMemAlloc(&x, sizeof host));
    CHECK(cuMemAlloc(&y, sizeof host));
    for (int i = 0; i < N; ++i)
        host[i] = i;
    CHECK(cuMemcpyHtoD(x, host, sizeof host));
    CHECK(cuStreamCreate(&stream, 0));
    CHECK(cuMemsetD32Async(y, 5, N, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, nullptr, arguments, nullptr));
    CHECK(cuMemcpyDtoH(host, y, sizeof host));
    for (int i = 0; i < N; ++i)
        if (host[i] != i + 5) return printf("%d: %d\n", i, host[i]), 1;
    return printf("right\n"), 0;
}
