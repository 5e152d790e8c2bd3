/*
 * clocks.cu: reads clock64 and globaltimer on every SM, and compares the globaltimers of two GPUs.
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

enum { TURNS = 200 };
static const unsigned long long PATIENCE_NS = 1000000000;

static __device__ unsigned long long timer_now() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

// Waits for a turn in this GPU's mailbox. What the other GPU has released with it, its time, comes
// before this thread's later accesses. ld.acquire.sys. False: it does not come.
static __device__ bool await_turn(const struct timer_mailbox *own, unsigned turn) {
    const unsigned long long begin = timer_now();
    unsigned found;
    do {
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                     : "=r"(found)
                     : "l"(&own->turn)
                     : "memory");
        if (timer_now() - begin > PATIENCE_NS) return false;
    } while (found != turn);
    return true;
}

// The time that this thread has stored comes before what the other GPU does after it has acquired
// the turn. st.release.sys
static __device__ void pass_turn(struct timer_mailbox *other, unsigned turn) {
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(&other->turn), "r"(turn) : "memory");
}

// An answer is on its way for as long as the question, if the two ways are alike: the other timer
// was read in the middle. The shortest exchange was delayed least.
static __global__ void ask_timer(struct timer_mailbox *own, struct timer_mailbox *other,
                                 struct timer_comparison *found) {
    struct timer_comparison best = {0, 0};
    for (unsigned turn = 1; turn <= TURNS; ++turn) {
        const unsigned long long begin = timer_now();
        pass_turn(other, turn);
        if (!await_turn(own, turn)) break;
        const unsigned long long took = timer_now() - begin;
        if (best.took != 0 && took >= best.took) continue;
        best.took = took;
        best.ahead = (long long)(own->time - begin) - (long long)(took / 2);
    }
    *found = best;
}

static __global__ void answer_timer(struct timer_mailbox *own, struct timer_mailbox *other) {
    for (unsigned turn = 1; turn <= TURNS; ++turn) {
        if (!await_turn(own, turn)) return;
        other->time = timer_now();
        pass_turn(other, turn);
    }
}

extern "C" cudaError_t clocks_ask(struct timer_mailbox *own, struct timer_mailbox *other,
                                  struct timer_comparison *found, cudaStream_t stream) {
    ask_timer<<<1, 1, 0, stream>>>(own, other, found);
    return cudaGetLastError();
}

extern "C" cudaError_t clocks_answer(struct timer_mailbox *own, struct timer_mailbox *other,
                                     cudaStream_t stream) {
    answer_timer<<<1, 1, 0, stream>>>(own, other);
    return cudaGetLastError();
}
