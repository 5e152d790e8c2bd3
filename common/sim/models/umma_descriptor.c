/* umma_descriptor.c: decoding the descriptors of tcgen05.mma. */
#include "sim/models/umma_descriptor.h"

#include <stddef.h>

const char *umma_descriptor_decode(uint64_t word, struct descriptor *out) {
    const unsigned swizzle = (unsigned)(word >> 61);
    out->start = (uint32_t)(word & 0x3fff) << 4;
    out->lbo = (uint32_t)(word >> 16 & 0x3fff) << 4;
    out->sbo = (uint32_t)(word >> 32 & 0x3fff) << 4;
    out->base_offset = (uint32_t)(word >> 49 & 7);
    out->swizzle = (enum gemm_swizzle)((4 - swizzle / 2) & 3);
    if (word >> 14 & 3) return "bits 14-15, behind the start address, must be zero";
    if (word >> 30 & 3) return "bits 30-31, behind the leading byte offset, must be zero";
    if ((word >> 46 & 7) != 1) return "bits 46-48 must be 0b001: is it a descriptor of wgmma?";
    if (word >> 52 & 1) return "bit 52: sm_100a has no absolute leading dimension";
    if (word >> 53 & 0xff) return "bits 53-60, before the swizzle mode, must be zero";
    if (swizzle == 1)
        return "swizzle mode 1, 128 bytes with atoms of 32, is not for these operands";
    if (swizzle % 2) return "swizzle modes 3, 5 and 7 do not exist (bits 61-63)";
    return NULL;
}

const char *umma_instruction_decode(uint32_t word, int group, struct umma_instruction *out) {
    const unsigned a = word >> 7 & 7, b = word >> 10 & 7;
    out->m = (int)(word >> 24 & 31) << 4;
    out->n = (int)(word >> 17 & 63) << 3;
    out->a = a ? TENSOR_BF16 : TENSOR_FP16;
    out->b = b ? TENSOR_BF16 : TENSOR_FP16;
    out->a_mn_major = word >> 15 & 1;
    out->b_mn_major = word >> 16 & 1;
    if (word & 7) return "bits 0-2: sparse matrices are not simulated";
    if (word >> 3 & 1) return "bit 3, saturation, is for integers";
    if ((word >> 4 & 3) != 1) return "bits 4-5 must be 1: accumulators are fp32";
    if (word >> 6 & 1 || word >> 23 & 1 || word >> 29 & 1) return "bits 6, 23 and 29 must be zero";
    if (a > 1 || b > 1) return "bits 7-12: the types of .kind::f16 are 0, fp16, and 1, bf16";
    if (a != b) return "bits 7-12: A and B have the same type";
    if (word >> 13 & 3) return "bits 13-14: negated operands are not simulated";
    if (word >> 30) return "bits 30-31 are for tcgen05.mma.ws";
    if (out->m != 64 * group && out->m != 128 * group)
        return group == 1 ? "m, bits 24-28, must be 64 or 128"
                          : "m, bits 24-28, must be 128 or 256 for a CTA pair";
    /* For m = 128 CUTLASS refuses odd multiples of 8; the ISA's table has them. */
    if (out->n < 8 * group || out->n > 256 || out->n % (8 * group))
        return group == 1 ? "n, bits 17-22, must be a multiple of 8 up to 256"
                          : "n, bits 17-22, must be a multiple of 16 up to 256 for a CTA pair";
    return NULL;
}
