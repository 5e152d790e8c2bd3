"""repairs.py: what the practice has for "mend it": calls, and breaks of the rules at them. The first
is in the kernel that the reader sees; the others are offered as repairs."""

import re

from edit import Rule


def wrong(code, *whats, nth=0):
    """The breaks of one call."""
    return [Rule(code, what, nth) for what in whats]


# chapter: of its kernel
REPAIRS = {
    "02": [
        wrong("__syncthreads();", "before the previous statement", "only a warp's barrier"),
    ],
    "03": [
        wrong("cp_async_wait_group(STAGES - 2);", "after the next statement", "depth + 1"),
        wrong("cp_async_commit_group();",
              "before the previous statement", "by one thread of the warpgroup"),
    ],
    "04": [
        wrong("cp_async_wait_group(STAGES - 2);", "depth + 1", "after the next statement"),
    ],
    "05": [
        wrong("mbarrier_arrive_expect_tx(",
              "arrives without announcing bytes", "half the bytes", "twice the bytes"),
        wrong("fence_proxy_async();", "after the next statement", "by one thread of the warpgroup"),
        wrong("__syncthreads();", "before the previous statement", "only a warp's barrier", nth=1),
        wrong("mbarrier_wait(&shared->full[state",
              "looks once instead of waiting", "parity inverted"),
    ],
    "06": [
        wrong("wgmma_fence();", "after the next statement", "by one thread of the warpgroup"),
        wrong("wgmma_wait_group(WAIT);", "after the next statement", "depth + 1"),
        wrong("fence_mbarrier_init();",
              "before the previous statement", "after the next statement"),
    ],
    "07": [
        wrong("producer_acquire(", "announces without waiting", "waits without announcing"),
        wrong("pipeline_init(", "count - 1", "count + 1"),
        wrong("if (threadIdx.x % 32 == 0) consumer_release(",
              "arrives at the full barrier", "by all threads"),
    ],
    "08": [
        wrong("mbarrier_wait(&shared->order[consumer]",
              "after the next statement", "parity inverted"),
        wrong("if (threadIdx.x % 32 == 0) mbarrier_arrive(&shared->order",
              "by all threads", "before the previous statement"),
        wrong("if (elected) bulk_wait_group(0);", "depth + 1", "before the previous statement"),
    ],
    "09": [
        wrong("if (lane < CLUSTER) mbarrier_arrive_remote(",
              "arrives at the own CTA only", "always CTA 0"),
        wrong("cluster_sync();", "only the CTA's barrier", "before the previous statement"),
    ],
}


def of_chapters(chapters):
    """(chapter, breaks of one call)"""
    for number, calls in REPAIRS.items():
        yield from ((name, call) for name in chapters if name.startswith(number) for call in calls)


def name_of(edit):
    """In an address: the call, and what is wrong with it."""
    call = next(word for word in re.findall(r"(\w+)\(", edit.code) if word != "if")
    what = edit.what.replace("+", "plus").replace(" - ", " minus ")
    return re.sub(r"[^a-z0-9]+", "-", f"{call} {what}".lower()).strip("-")
