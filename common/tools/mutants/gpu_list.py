"""gpu_list.py: the mutants of the gallery that also run on the GPU (gpu_sample.py), and why these.

A sample over the chapters and over the kinds of mistakes, few of which stop the kernel: each of
those costs the GPU the whole patience of every tool. Each line chooses exactly one mutant.
"""

# The kinds, in the order of the page.
KINDS = ("A barrier between threads", "A wait for a copy", "A wait for the Tensor Core",
         "A fence between proxies", "An mbarrier", "The staging memory", "A cluster",
         "An address or a bound")
BARRIER, COPY, WGMMA, PROXY, MBARRIER, STAGING, CLUSTER, BOUND = KINDS

CP_ASYNC, CP_MBARRIER = "03_cp_async_multistage/kernel.cu", "03_cp_async_multistage/mbarrier.cu"
TILED, TMA = "02_smem_tiled/kernel.cu", "05_tma_mbarrier/kernel.cu"
WGMMA_SS, WGMMA_RS = "06_wgmma/kernel.cu", "06_wgmma/rs.cu"
TWO_WARPGROUPS = "06_wgmma/two_warpgroups.cu"
SPECIALIZED, PINGPONG = "07_warp_specialized/kernel.cu", "08_persistent_pingpong/kernel.cu"
MULTICAST = "09_cluster_multicast/kernel.cu"
EPILOGUE_STORE = "building_blocks/epilogue_store.h"
WIDE_STORE = "building_blocks/wide_store.h"

# (kind, file, function, a part of the line's code, how what is done to it begins, which of those
# alike)
CHOSEN = (
    (BARRIER, TILED, "kernel", "__syncthreads();", "removed", 0),
    (BARRIER, TILED, "kernel", "__syncthreads();", "removed", 1),
    (BARRIER, CP_ASYNC, "main_loop", "__syncthreads();", "removed", 0),
    (BARRIER, TMA, "kernel", "__syncthreads();", "removed", 1),
    (BARRIER, TMA, "kernel", "__syncthreads();", "by one thread of the warpgroup", 1),
    (BARRIER, TWO_WARPGROUPS, "kernel", "__syncthreads();", "removed", 1),

    (COPY, CP_ASYNC, "main_loop", "cp_async_wait_group(STAGES - 2);", "removed", 0),
    (COPY, CP_MBARRIER, "load_stage", "cp_async_mbarrier_arrive_noinc(",
     "arrives before the copies land", 0),
    (COPY, "04_rf_double_buffer/kernel.cu", "wait_stage", "cp_async_wait_group(", "depth + 1", 0),
    (COPY, TMA, "kernel", "mbarrier_wait(&shared->full[state.index]", "removed", 0),
    (COPY, SPECIALIZED, "issue_k_tile", "consumer_wait(", "looks once instead of waiting", 0),

    (WGMMA, WGMMA_SS, "issue_k_tile", "wgmma_fence();", "removed", 0),
    (WGMMA, WGMMA_SS, "kernel", "wgmma_wait_group(WAIT);", "removed", 0),
    (WGMMA, WGMMA_SS, "kernel", "wgmma_wait_group(0);", "removed", 0),
    (WGMMA, SPECIALIZED, "consumer", "wgmma_wait_group(WAIT);", "depth + 1", 0),

    (PROXY, TMA, "kernel", "fence_proxy_async();", "removed", 0),
    (PROXY, WGMMA_RS, "main_loop_step", "fence_proxy_async();", "removed", 0),
    (PROXY, EPILOGUE_STORE, "epilogue_store_staged", "fence_proxy_async();", "removed", 0),

    (MBARRIER, CP_MBARRIER, "kernel", "mbarrier_init(&shared->full", "removed", 0),
    (MBARRIER, TMA, "load_stage", "mbarrier_arrive_expect_tx(", "half the bytes", 0),
    (MBARRIER, WGMMA_SS, "issue_k_tile", "mbarrier_wait(", "parity inverted", 0),
    (MBARRIER, SPECIALIZED, "producer", "producer_acquire(", "announces without waiting", 0),
    (MBARRIER, SPECIALIZED, "producer", "struct pipeline_state state",
     "wrong initial producer phase", 0),

    (STAGING, EPILOGUE_STORE, "epilogue_store_staged", "bulk_wait_group_read(", "removed", 0),
    (STAGING, EPILOGUE_STORE, "epilogue_store_staged", "named_barrier_sync(", "removed", 0),
    (STAGING, EPILOGUE_STORE, "epilogue_store_staged", "named_barrier_sync(", "removed", 1),
    (STAGING, PINGPONG, "consumer", "bulk_wait_group(0);", "removed", 0),

    (CLUSTER, MULTICAST, "kernel", "fence_mbarrier_init();", "removed", 0),
    (CLUSTER, MULTICAST, "producer", "(1 << CLUSTER) - 1", "multicast to itself only", 0),

    (BOUND, TILED, "load_tile", "const int valid", "rows not checked", 0),
    (BOUND, TILED, "load_tile", "if (valid < CHUNK)", "missing tail: padding not masked", 0),
    (BOUND, WIDE_STORE, "store_64_rows", "store_16_rows(", "every warp stores the same rows", 0),
    (BOUND, EPILOGUE_STORE, "epilogue_at_edge", "return args->n % 8",
     "missing tail: the TMA writes", 0),
)


def is_chosen(line, key):
    """Is this line about the mutant with this key (rules.Edit.key, or a row of a record)?"""
    file, function, code, what, nth = key[:5]
    return ((file, function, int(nth)) == (line[1], line[2], line[5]) and
            line[3] in code and what.startswith(line[4]))


def one(items, line, key):
    """The only item that the line is about; LookupError if there is not exactly one."""
    matching = [item for item in items if is_chosen(line, key(item))]
    if len(matching) != 1:
        raise LookupError(f"{len(matching)} mutants fit gpu_list.py's {line[1:]}")
    return matching[0]
