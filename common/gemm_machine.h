/*
 * gemm_machine.h: the GPUs that kernels are for, and what the harness and the simulator know of
 * them alike. What the simulator's timing model knows besides is in sim/cost/timing_model.h.
 */
#ifndef GEMM_MACHINE_H
#define GEMM_MACHINE_H

#include "gemm.h"

struct gemm_machine_record {
    const char *name;    /* of the generation */
    int capability;      /* the compute capability of its code, 90 for 9.0 */
    int flops_per_cycle; /* of an SM's Tensor Core: dense, elements of 16 bits */
    bool tensor_memory;  /* tcgen05 instead of wgmma */
};

/* The rates: 989 TFLOPS at 1.83 GHz on 132 SMs, the H200's data sheet; 8189 to 8193 FLOPs a cycle,
 * published measurements of a B200. */
static inline const struct gemm_machine_record *gemm_machine_record(enum gemm_machine machine) {
    static const struct gemm_machine_record records[MACHINES] = {
        [MACHINE_HOPPER] = {"Hopper", 90, 4096, false},
        [MACHINE_BLACKWELL] = {"Blackwell", 100, 8192, true},
    };
    return &records[machine];
}

#endif
