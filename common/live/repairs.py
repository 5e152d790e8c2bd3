"""repairs.py: what the practice has for "mend it": calls, and edits of the gallery that break them
(rules.py). The first is in the kernel that the reader sees; the others are offered as
repairs."""

import re

from edit import Rule

# chapter, the call's line of code begins with, which of them, edits
CALLS = (
    ("02", "__syncthreads();", 0, ("before the previous statement", "only a warp's barrier")),
    ("03", "cp_async_wait_group(STAGES - 2);", 0, ("after the next statement", "depth + 1")),
    ("03", "cp_async_commit_group();", 0,
     ("before the previous statement", "by one thread of the warpgroup")),
    ("04", "cp_async_wait_group(STAGES - 2);", 0, ("depth + 1", "after the next statement")),
    ("05", "mbarrier_arrive_expect_tx(", 0,
     ("arrives without announcing bytes", "half the bytes", "twice the bytes")),
    ("05", "fence_proxy_async();", 0,
     ("after the next statement", "by one thread of the warpgroup")),
    ("05", "__syncthreads();", 1, ("before the previous statement", "only a warp's barrier")),
    ("05", "mbarrier_wait(&shared->full[state", 0,
     ("looks once instead of waiting", "parity inverted")),
    ("06", "wgmma_fence();", 0, ("after the next statement", "by one thread of the warpgroup")),
    ("06", "wgmma_wait_group(WAIT);", 0, ("after the next statement", "depth + 1")),
    ("06", "fence_mbarrier_init();", 0,
     ("before the previous statement", "after the next statement")),
    ("07", "producer_acquire(", 0, ("announces without waiting", "waits without announcing")),
    ("07", "pipeline_init(", 0, ("count - 1", "count + 1")),
    ("07", "if (threadIdx.x % 32 == 0) consumer_release(", 0,
     ("arrives at the full barrier", "by all threads")),
    ("08", "mbarrier_wait(&shared->order[consumer]", 0,
     ("after the next statement", "parity inverted")),
    ("08", "if (threadIdx.x % 32 == 0) mbarrier_arrive(&shared->order", 0,
     ("by all threads", "before the previous statement")),
    ("08", "if (elected) bulk_wait_group(0);", 0,
     ("depth + 1", "before the previous statement")),
    ("09", "if (lane < CLUSTER) mbarrier_arrive_remote(", 0,
     ("arrives at the own CTA only", "always CTA 0")),
    ("09", "cluster_sync();", 0, ("only the CTA's barrier", "before the previous statement")),
)


def calls(chapters):
    """(chapter, call): those of these chapters."""
    for call in CALLS:
        yield from ((name, call) for name in chapters if name.startswith(call[0]))


def edits(source, call):
    """The rules' edits for one of CALLS."""
    _, code, nth, whats = call
    return [Rule(code, what, nth).found(source) for what in whats]


def name_of(edit):
    """In an address: the call, and what is wrong with it."""
    call = next(word for word in re.findall(r"(\w+)\(", edit.code) if word != "if")
    what = edit.what.replace("+", "plus").replace(" - ", " minus ")
    return re.sub(r"[^a-z0-9]+", "-", f"{call} {what}".lower()).strip("-")
