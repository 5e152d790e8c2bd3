/*
 * cluster_launch.h: a running CTA asks for a cluster that has not begun, and does its work instead.
 *
 * A grid has a cluster for each piece of work. A cluster that asks either gets the index of one
 * that will not be launched any more, or a refusal, after which its CTAs must not ask again. Every
 * cluster is either launched or handed out, once.
 *
 * PTX ISA: clusterlaunchcontrol.try_cancel, clusterlaunchcontrol.query_cancel.
 */
#ifndef BLACKWELL_CLUSTER_LAUNCH_H
#define BLACKWELL_CLUSTER_LAUNCH_H

#include "hopper/mbarrier.h"
#include "hopper/thread.h"

#ifdef __CUDACC__

/* Asks for a cluster. The answer, 16 bytes, is written to shared memory through the async proxy,
 * and counted down on `barrier`. What has been there before must be read, with a
 * fence_proxy_async() behind the read. One thread. */
DEVICE void cluster_try_cancel(struct b128 *answer, mbarrier_t *barrier) {
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                 ".b128 [%0], [%1];" ::"r"(shared_address(answer)),
                 "r"(shared_address(barrier))
                 : "memory");
}

#define CLUSTER_ANSWER(answer)                                                                     \
    "l"((uint64_t)(answer).word[1] << 32 | (answer).word[0]),                                      \
        "l"((uint64_t)(answer).word[3] << 32 | (answer).word[2])

/* Is it a cluster, and no refusal? Any thread. */
DEVICE bool cluster_is_canceled(struct b128 answer) {
    uint32_t canceled;
    asm volatile("{ .reg .b128 answer; .reg .pred p; mov.b128 answer, {%1, %2};\n\t"
                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, answer;\n\t"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(canceled)
                 : CLUSTER_ANSWER(answer));
    return canceled != 0;
}

/* blockIdx.x of its first CTA; undefined after a refusal. Any thread. */
DEVICE int cluster_first_cta(struct b128 answer) {
    int x;
    asm volatile("{ .reg .b128 answer; mov.b128 answer, {%1, %2};\n\t"
                 "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %0, answer; }"
                 : "=r"(x)
                 : CLUSTER_ANSWER(answer));
    return x;
}

#else
#include "sim/blackwell/cluster_launch.h"
#endif

#endif
