/*
 * clocks.cu: reads clock64 and globaltimer on every SM.
 *
 * PTX ISA: "Special Registers" (%clock64, %globaltimer, %smid).
 */
#include "gpu/clocks.h"

enum { THREADS = 1024 };

// The timer ticks every 32 ns or more slowly and is read right behind the clock, so that a batch of
// milliseconds is known to a few parts in 100,000.
static __global__ void __launch_bounds__(THREADS) read_clocks(struct clock_reading *readings) {
    if (threadIdx.x != 0) return;
    struct clock_reading now;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(now.sm));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now.cycles));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now.nanoseconds));
    readings[blockIdx.x] = now;
}

extern "C" cudaError_t clocks_read(struct clock_reading *readings, int sms, cudaStream_t stream) {
    read_clocks<<<sms * CLOCKS_CTAS_PER_SM, THREADS, 0, stream>>>(readings);
    return cudaGetLastError();
}
