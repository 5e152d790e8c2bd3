/*
 * umma_descriptor.h: the two descriptors of tcgen05.mma, decoded bit for bit. The addresses that a
 * matrix descriptor makes are those of descriptor.h.
 *
 * PTX ISA: "Matrix Descriptors" of tcgen05: "Shared memory descriptor", "Instruction descriptor";
 * "Matrix Shape".
 */
#ifndef SIM_MODELS_UMMA_DESCRIPTOR_H
#define SIM_MODELS_UMMA_DESCRIPTOR_H

#include <stdbool.h>

#include "sim/models/descriptor.h"
#include "sim/models/tensor_sum.h"

/* Returns NULL, or a sentence that says what is wrong. */
const char *umma_descriptor_decode(uint64_t word, struct descriptor *out);

struct umma_instruction {
    int m, n;
    enum tensor_type a, b;
    bool a_mn_major, b_mn_major;
};

/* Of .kind::f16 with fp32 accumulators, for `group` CTAs. Returns NULL, or what is wrong. */
const char *umma_instruction_decode(uint32_t word, int group, struct umma_instruction *out);

#endif
