/*
 * fake_runtime.h: a CUDA runtime without a GPU, as far as common/gpu's services call it. It counts
 * the calls, remembers a kernel's attributes for each device, and checks the pointers of launches.
 */
#ifndef TESTS_GPU_FAKE_RUNTIME_H
#define TESTS_GPU_FAKE_RUNTIME_H

#include <cuda_runtime.h>
#include <stdbool.h>

#include "gemm.h"

enum { FAKE_DEVICES = 2, FAKE_SMS = 132, FAKE_DEFAULT_SMEM = 48 * 1024, FAKE_CLUSTER = 2 };

/* Read and written under the lock of fake_count(), or while there is one thread. */
struct fake_runtime {
    int launches, attributes, encoded, moved, devices_asked, others; /* calls */
    int smem[FAKE_DEVICES]; /* that the kernel may use; fake_reset() forgets it */
    cudaError_t refuse;     /* the error of every launch; success: none */
    bool refuse_maps;       /* no map can be made */
    cudaError_t no_answer;  /* the error of every question about residency; success: none */
    cudaError_t last;       /* for cudaGetLastError() */
    struct gemm_args args;  /* of the last launch */
    bool early;             /* it may begin before the kernel ahead ends */
    int cluster;            /* its CTAs of a cluster; 0: it has no such attribute */
    int mixed_up;           /* launches whose pointers are not all of their caller */
    int inside, unlocked; /* threads that ask for their device; times that it was several at once */
    int devices;          /* that cudaGetDeviceCount() tells */
    int capability[FAKE_DEVICES]; /* their compute capabilities, 80 for 8.0 */
    void (*meanwhile)(void);      /* NULL, or called while a map is made */
};
extern struct fake_runtime fake;

/* A caller's matrices are in the 2^28 bytes from here on; its number is its stream, too. */
static inline char *fake_memory(uintptr_t caller) { return (char *)(caller << 28); }

/* The thread's current device, and the caller whose launches it makes. */
extern _Thread_local int fake_device;
extern _Thread_local uintptr_t fake_caller;

/* Adds a call. */
cudaError_t fake_count(int *calls);

/* No calls yet. */
void fake_forget_calls(void);

/* What cudaDeviceReset() does to a kernel. */
void fake_reset(int device);

#endif
