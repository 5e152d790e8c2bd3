/* terms.c: two tables. */
#include "command/terms.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *rule, *section;
} sections[] = {
    {"accumulator-in-flight", "PTX ISA, wgmma.mma_async; wgmma.wait_group"},
    {"accumulator-in-use", "PTX ISA, wgmma.mma_async; wgmma.wait_group"},
    {"accumulator-shape", "PTX ISA, wgmma.fence"},
    {"barrier-count", "PTX ISA, bar, barrier"},
    {"barrier-shared", "PTX ISA, bar, barrier"},
    {"cluster-barrier", "PTX ISA, barrier.cluster"},
    {"cta-exited", "CUDA programming guide, Distributed Shared Memory"},
    {"data-race", "PTX ISA, Memory Consistency Model: Conflict and Data-races"},
    {"diverged-warpgroup", "PTX ISA, wgmma: .aligned"},
    {"early-access", "PTX ISA, griddepcontrol"},
    {"exit-before-remote-arrival", "CUDA programming guide, Distributed Shared Memory"},
    {"exit-before-remote-read", "CUDA programming guide, Distributed Shared Memory"},
    {"exit-before-remote-write", "CUDA programming guide, Distributed Shared Memory"},
    {"exit-in-flight", "PTX ISA, cp.async.wait_group"},
    {"fragment-in-flight", "PTX ISA, wgmma.mma_async"},
    {"lapped-waiter", "PTX ISA, mbarrier.test_wait, mbarrier.try_wait"},
    {"mbarrier-arrivals", "PTX ISA, mbarrier.arrive"},
    {"mbarrier-init-order", "PTX ISA, fence: .mbarrier_init"},
    {"mbarrier-not-invalidated", "PTX ISA, mbarrier.inval"},
    {"mbarrier-parity", "PTX ISA, mbarrier.test_wait, mbarrier.try_wait"},
    {"mbarrier-reinit", "PTX ISA, mbarrier.init"},
    {"mbarrier-tx", "PTX ISA, mbarrier: Tracking asynchronous operations"},
    {"mbarrier-uninitialized", "PTX ISA, mbarrier.init"},
    {"missing-fence-mbarrier-init", "PTX ISA, fence: .mbarrier_init; .proxy.async"},
    {"missing-proxy-fence", "PTX ISA, Memory Consistency Model: Proxies; fence: .proxy.async"},
    {"missing-proxy-fence-after-read", "PTX ISA, Data Movement: Async Proxy; fence: .proxy.async"},
    {"missing-wgmma-fence", "PTX ISA, wgmma.fence"},
    {"overwritten-in-flight", "PTX ISA, Asynchronous Operations: completion"},
    {"overwritten-while-read", "PTX ISA, Asynchronous Operations: completion"},
    {"read-before-landed", "PTX ISA, Asynchronous Operations: completion"},
    {"tensor-map-in-use", "PTX ISA, fence: .proxy.tensormap"},
    {"tensor-map-not-acquired", "PTX ISA, fence: .proxy.tensormap"},
    {"tma-coordinate", "no sentence of the PTX ISA: GPUs answer \"illegal instruction\"; "
                       "docs/layouts.md, The TMA's side"},
    {"tx-count", "PTX ISA, mbarrier: Tracking asynchronous operations"},
    {"unwaited-copy", "PTX ISA, cp.async.bulk.wait_group"},
    {"unwaited-wgmma", "PTX ISA, wgmma.wait_group"},
};

const char *terms_section(const char *rule) {
    for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i)
        if (!strcmp(sections[i].rule, rule)) return sections[i].section;
    return NULL;
}

static const struct term terms[] = {
    {"bulk_commit_group", "cp.async.bulk.commit_group", "cp_async_bulk_commit_group"},
    {"bulk_wait_group_read", "cp.async.bulk.wait_group.read", "cp_async_bulk_wait_group_read"},
    {"bulk_wait_group", "cp.async.bulk.wait_group", "cp_async_bulk_wait_group"},
    {"cluster_arrive", "barrier.cluster.arrive", "barrier_cluster_arrive"},
    {"cluster_sync", "barrier.cluster.arrive, barrier.cluster.wait",
     "barrier_cluster_arrive, barrier_cluster_wait"},
    {"cp_async_wait_group", "cp.async.wait_group", NULL},
    {"fence_acq_rel", "fence.acq_rel, in CUDA C++ __threadfence() for the scope of the GPU", NULL},
    {"fence_mbarrier_init", "fence.mbarrier_init.release.cluster", "fence_mbarrier_init"},
    {"fence_proxy_async_global", "fence.proxy.async.global", "fence_proxy_async"},
    {"fence_proxy_async", "fence.proxy.async.shared::cta", "fence_proxy_async"},
    {"fence_tensor_map_acquire", "fence.proxy.tensormap::generic.acquire",
     "fence_proxy_tensormap_generic"},
    {"gemm_resident_clusters",
     "this book's; in CUDA C++ cudaOccupancyMaxActiveBlocksPerMultiprocessor(), of clusters "
     "cudaOccupancyMaxActiveClusters()",
     NULL},
    {"griddepcontrol_wait", "griddepcontrol.wait, in CUDA C++ cudaGridDependencySynchronize()",
     NULL},
    {"mbarrier_arrive_expect_tx", "mbarrier.arrive.expect_tx", "mbarrier_arrive_expect_tx"},
    {"mbarrier_arrive_remote_release", "mbarrier.arrive.release.cluster.shared::cluster",
     "mbarrier_arrive"},
    {"mbarrier_init", "mbarrier.init", "mbarrier_init"},
    {"mbarrier_inval", "mbarrier.inval", NULL},
    {"mbarrier_wait_cluster", "mbarrier.try_wait.parity.acquire.cluster",
     "mbarrier_try_wait_parity(sem_acquire, scope_cluster, ...)"},
    {"wgmma_commit_group", "wgmma.commit_group", NULL},
    {"wgmma_fence", "wgmma.fence", NULL},
    {"wgmma_wait_group", "wgmma.wait_group", NULL},
};

/* As a word of its own: fence_mbarrier_init() names no mbarrier_init(). */
static int names(const char *text, const char *wrapper) {
    const size_t length = strlen(wrapper);
    for (const char *at = text; (at = strstr(at, wrapper)); at += length)
        if ((at == text || (at[-1] != '_' && (at[-1] < 'a' || at[-1] > 'z'))) && at[length] == '(')
            return 1;
    return 0;
}

const struct term *terms_in(const char *text, int i) {
    for (size_t j = 0; j < sizeof terms / sizeof *terms; ++j)
        if (names(text, terms[j].wrapper) && i-- == 0) return &terms[j];
    return NULL;
}
