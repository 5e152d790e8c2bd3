/*
 * which_gpus.c: the kernels of part one that have code for a compute capability, as
 * docs/on-a-gpu.md lists them, and that each chapter's own fits into the shared memory there. The
 * table of kernels is the simulator's, which CMake generates as it does the GPU programs'.
 */
#include <string.h>

#include "harness/experiment.h"
#include "harness/options.h"
#include "tests/support/expect.h"

enum { KB = 1024 };
static const struct {
    int capability, chapters;
    size_t
        smem_bytes; /* the most of a CTA: CUDA C++ Programming Guide, "Technical Specifications" */
} cards[] = {{75, 0, 64 * KB},   {80, 4, 163 * KB}, {86, 4, 99 * KB},   {87, 4, 163 * KB},
             {89, 4, 99 * KB},   {90, 9, 227 * KB}, {100, 5, 227 * KB}, {103, 5, 227 * KB},
             {110, 5, 227 * KB}, {120, 5, 99 * KB}, {121, 5, 99 * KB}};

int main(void) {
    for (size_t c = 0; c < sizeof cards / sizeof *cards; ++c) {
        int chapters = 0;
        for (int i = 0; i < kernel_registry_count; ++i) {
            const struct kernel_entry *entry = &kernel_registry[i];
            const struct gemm_kernel *kernel = kernel_of_any_type(entry);
            if (chapter_of_kernel(kernel) > 9 || !entry_runs_on(entry, cards[c].capability))
                continue;
            chapters += !kernel->variant;
            EXPECT(chapter_of_kernel(kernel) <= 4 || cards[c].capability >= 90, "%s on %d",
                   kernel->name, cards[c].capability);
            EXPECT(!entry->step || kernel->smem_bytes <= cards[c].smem_bytes,
                   "%s: %zu bytes, and %d has %zu", kernel->name, kernel->smem_bytes,
                   cards[c].capability, cards[c].smem_bytes);
            if (kernel->smem_bytes > cards[c].smem_bytes)
                printf("%d.%d: %s:%s needs %zu bytes of shared memory\n", cards[c].capability / 10,
                       cards[c].capability % 10, kernel->name, kernel->variant, kernel->smem_bytes);
        }
        EXPECT(chapters == cards[c].chapters, "%d: %d chapters", cards[c].capability, chapters);
    }
    return expect_result();
}
