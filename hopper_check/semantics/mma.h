/* mma.h: mma.sync of the shapes and types that the book's kernels do not have, and sums as it has
 * them. */
#ifndef SEMANTICS_MMA_H
#define SEMANTICS_MMA_H

#include "program/decoder.h"

enum mma_element { F16, BF16, E4M3, E5M2, S8, U8, TF32 };
extern const char *const mma_element_names[];
extern const int mma_element_bits[];
enum mma_sum_type { SUM_F32, SUM_F16, SUM_S32 };

struct mma_types {
    enum mma_element a, b;
    enum mma_sum_type sum;
    bool saturates; /* of whole numbers: the sum stays in its range */
};

/* c and the sum of k products, as the bits of an fp32 or of an int32. */
uint32_t mma_sum(struct mma_types types, int k, const uint32_t *a, const uint32_t *b, uint32_t c);
/* From an fp16's bits to an fp32's, and back. */
uint32_t mma_f32_of(uint32_t half);
uint32_t mma_f16_of(uint32_t bits);

/* The lists of D, A, B and C, one behind the other, of so many registers each. */
void take_fragments(struct decoder *d, const int counts[4], char letter);

void decode_other_mma(struct decoder *d);
void decode_mma_f64(struct decoder *d);

#endif
