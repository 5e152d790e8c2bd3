/*
 * 41_operand_by_threads.cu: threads write an operand; the Tensor Core reads it behind a barrier.
 *
 * title: An operand that threads have written
 * kind: proxy
 * project: SGLang, https://github.com/sgl-project/sglang/pull/39124
 * symptom: 86 of 100 runs wrong at one shape, on a B300
 * reports: missing-proxy-fence
 * does: The threads of a warpgroup store a tile of A and one of B to shared memory, and then
 *   multiply them.
 */
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "tests/museum/museum.h"
#include "tests/museum/product.h"

enum { THREADS = 128 };
struct smem {
    element_t a[BOX_ELEMENTS], b[BOX_ELEMENTS];
};

KERNEL(THREADS, 1) small_product(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    float acc[BOX_ROWS / 2];
    for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS) {
        st_shared_b128(&shared->a[BOX_CHUNK(i)], ld_global_b128(&args.a[MATRIX_CHUNK(0, i)]));
        st_shared_b128(&shared->b[BOX_CHUNK(i)], ld_global_b128(&args.b[MATRIX_CHUNK(0, i)]));
    }
#if FIXED
    fence_proxy_async();
#endif
    __syncthreads();
    issue_product(acc, shared->a, shared->b, false); /* accused: missing-proxy-fence */
    wgmma_wait_group(0);
    wgmma_use_registers(acc, BOX_ROWS / 2);
    UNROLL for (int i = 0; i < BOX_ROWS / 2; i += 2)
        st_global_b32(&args.d[product_place(i)], pack_elements(acc[i], acc[i + 1]));
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    for (int i = 0; i < BOX_ELEMENTS; ++i) {
        const int row = i / BOX_ROWS, column = i % BOX_ROWS;
        const float sum = product_of(a, b, row, column, 0, 1);
        wrong += d[row * MUSEUM_EXTENT + column] != float_to_bf16(sum);
    }
    return wrong;
}

EXHIBIT(small_product, 1, 1, THREADS, struct smem, count_wrong);
