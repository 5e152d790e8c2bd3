/*
 * clocks.h: the SM's clock, read on the device.
 */
#ifndef GPU_CLOCKS_H
#define GPU_CLOCKS_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CLOCKS_CTAS_PER_SM = 2 }; /* so that the grid fills the GPU and every SM gets one */

/* An SM's two clocks at one moment. */
struct clock_reading {
    unsigned long long cycles;      /* clock64: SM clocks */
    unsigned long long nanoseconds; /* globaltimer */
    unsigned sm;
};

/* Enqueues a kernel that reads both clocks once in each of its sms * CLOCKS_CTAS_PER_SM CTAs.
 * `readings`: global memory. */
cudaError_t clocks_read(struct clock_reading *readings, int sms, cudaStream_t stream);

/* Through which two GPUs compare their timers: a mailbox in the memory of each, zeroed. */
struct timer_mailbox {
    unsigned long long time; /* globaltimer of the GPU that answers */
    unsigned turn;           /* of the question, or of the answer */
    unsigned unused;
};
/* What the asking GPU finds. */
struct timer_comparison {
    long long ahead;         /* of the other GPU's timer, ns */
    unsigned long long took; /* ns for question and answer, the shortest; 0: no answer came */
};

/* Enqueues one side of the comparison: a kernel on the current device that asks, or one on another
 * device that answers. The two run at the same time. `own` lies in the memory of the device that
 * executes the kernel, `other` in that of the other one. A side that waits for a second gives
 * up. */
cudaError_t clocks_ask(struct timer_mailbox *own, struct timer_mailbox *other,
                       struct timer_comparison *found, cudaStream_t stream);
cudaError_t clocks_answer(struct timer_mailbox *own, struct timer_mailbox *other,
                          cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
