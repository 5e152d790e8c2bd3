"""right.py: kernels that are unusual and right, each made from a chapter's kernel by a few edits.

The simulator must accuse none of them. BROKEN are the same with one further edit that breaks them:
each must be accused, so that right_run.py can fail.
"""

import collections

from listed import (CP_ASYNC, CP_MBARRIER, EPILOGUE_STORE, MULTICAST, PERSISTENT, PINGPONG,
                    PIPELINE, REGISTERS, RS, SPECIALIZED, TMA, TWO_WARPGROUPS, WGMMA)

# macros: as in the top CMakeLists.txt; edits: (file, text, replacement), and how often the text
# occurs if that is not once; why: why the kernel is right.
Right = collections.namedtuple("Right", "name file macros edits why")
# of: the name of a right variant; verdict: the kind of the hazard.
Broken = collections.namedtuple("Broken", "of edits verdict")

INIT = "mbarrier_init(&shared->full[stage], 1);"
INCLUDE_REGISTERS = ('#include "hopper/thread.h"',
                     '#include "hopper/registers.h"\n#include "hopper/thread.h"')


def edits(file, *changes):
    return [(file, *change) for change in changes]


def tail(file, state):
    """The producer waits for the last releases. `state`: the end of its loop, and an indent."""
    return (file, state, state[:-1] + "    producer_tail(shared->ring, state, STAGES);\n}")


def exchange_24_240(file):
    """24 + 2 * 240 registers of a thread are the 3 * 168 at launch."""
    return edits(
        file, INCLUDE_REGISTERS,
        ("    if (warpgroup == 0) {\n", "    if (warpgroup == 0) {\n        setmaxnreg_dec(24);\n"),
        ("    } else {\n        consumer(", "    } else {\n        setmaxnreg_inc(240);\n"
         "        consumer("))


PRODUCED = "        pipeline_advance(&state, STAGES);\n    }\n}"
PRODUCED_TILES = "            pipeline_advance(&state, STAGES);\n        }\n    }\n}"
WAIT_LAST_07 = "    wgmma_wait_group(0);\n    store_64_rows("
RELEASE_LAST_07 = ("    wgmma_wait_group(0);\n    for (int i = 0; i < WAIT; ++i) "
                   "release_stage(shared, &release);\n    store_64_rows(")
WAIT_BY_ONE_LANE = ("    consumer_wait(shared->ring, *state);",
                    "    if (threadIdx.x % 32 == 7) consumer_wait(shared->ring, *state);\n"
                    "    __syncwarp();")
HAND_OVER = "if (threadIdx.x % 32 == 0) mbarrier_arrive(&shared->order[1 - consumer]);"

RIGHT = [
    # ---- other depths ----
    Right("seven stages", CP_ASYNC, "STAGES=7:CTAS_PER_SM=1", [],
          "Nothing but the ring's depth changes, and 224 KB fit an SM."),
    Right("two stages by barriers", CP_MBARRIER, "STAGES=2", [],
          "The full and the empty barrier of a stage order its uses at any depth."),
    Right("six stages and two fragments", REGISTERS, "STAGES=6:CTAS_PER_SM=1", [],
          "The wait counts the groups of STAGES - 2 k-tiles."),
    Right("two stages of the TMA", TMA, "STAGES=2", [],
          "A stage is refilled behind the barrier that follows its last reading."),
    Right("seven stages of wgmma", WGMMA, "STAGES=7", [],
          "Nothing but the ring's depth changes."),
    Right("two stages, a group in flight", SPECIALIZED, "STAGES=2", [],
          "One stage is read while the other is filled: the group in flight holds one of two."),
    Right("three stages in a cluster", MULTICAST, "STAGES=3", [],
          "Both CTAs have the same ring, and all sixteen warps release a stage."),
    Right("two buffers for ping-pong", PINGPONG, "STAGES=4",
          edits(PINGPONG, ("#define BUFFERS 1", "#define BUFFERS 2")),
          "Six epilogue tiles take the two buffers in turn, and the wait leaves one store."),

    # ---- waiting for more than one must ----
    Right("waits for all copies", CP_ASYNC, "",
          edits(CP_ASYNC, ("cp_async_wait_group(STAGES - 2);", "cp_async_wait_group(0);")),
          "No group in flight is fewer than STAGES - 2."),
    Right("a group for each part", REGISTERS, "",
          edits(REGISTERS,
                ("            load_part(shared, args, tile, k_tile, part, inside);\n", "{\n"
                 "            load_part(shared, args, tile, k_tile, part, inside);\n"
                 "            cp_async_commit_group(); }\n"),
                ("        cp_async_commit_group();\n    }\n    wait", "    }\n    wait"),
                ("if (step < PARTS) load_part(shared, args, tile, k_tile + STAGES - 1, step, "
                 "inside);", "if (step < PARTS) { load_part(shared, args, tile, k_tile + STAGES - "
                 "1, step, inside); cp_async_commit_group(); }"),
                ("        cp_async_commit_group();\n        wait", "        wait"),
                ("cp_async_wait_group(STAGES - 2)", "cp_async_wait_group((STAGES - 2) * PARTS)")),
          "A k-tile is PARTS groups; all but those of the youngest STAGES - 2 are waited for."),
    Right("a group for each step", WGMMA, "",
          edits(WGMMA,
                ("accumulate || step > 0);\n        }", "accumulate || step > 0);\n"
                 "            if (i == BM / 64 - 1) wgmma_commit_group();\n        }"),
                ("    wgmma_commit_group();\n    advance", "    advance"),
                ("wgmma_wait_group(WAIT);", "wgmma_wait_group(4 * WAIT);")),
          "A k-tile is four groups, and four stay in flight."),
    Right("nothing in flight", RS, "WAIT=0", [],
          "Each k-tile's wait covers its own group, so one set of fragments would do, too."),
    Right("stores complete before the buffer is reused", PERSISTENT, "",
          edits(EPILOGUE_STORE, ("bulk_wait_group_read(BUFFERS - 1)", "bulk_wait_group(0)")),
          "A store that is complete has read its buffer."),
    Right("refills after the multiplications", CP_ASYNC, "",
          edits(CP_ASYNC,
                ("        load_stage(shared, args, tile, k_tile + STAGES - 1, inside);\n", ""),
                ("            multiply(acc, &fragments);\n        }\n",
                 "            multiply(acc, &fragments);\n        }\n"
                 "        load_stage(shared, args, tile, k_tile + STAGES - 1, inside);\n")),
          "The stage has been free since the barrier, and the groups keep their order."),

    # ---- extra fences, other fences, fewer fences ----
    Right("a fence before every wgmma", WGMMA, "",
          edits(WGMMA, ("            wgmma_m64nNk16(", "            wgmma_fence();\n"
                        "            wgmma_m64nNk16(")),
          "wgmma.fence touches no register and waits for nothing."),
    Right("one fence for all k-tiles", SPECIALIZED, "",
          edits(SPECIALIZED, ("    wgmma_fence();", "    if (k_tile == 0) wgmma_fence();")),
          "Between wgmmas of one shape on the same accumulators no fence is needed, and nothing "
          "else touches them; the condition is the same in all four warps."),
    Right("the other fence for the barriers", TMA, "",
          edits(TMA, ("        fence_mbarrier_init();", "        fence_proxy_async();")),
          "fence.proxy.async by the initializing thread orders its initializations before the "
          "TMA's signals."),
    Right("superfluous proxy fences", SPECIALIZED, "",
          edits(SPECIALIZED,
                ("    if (threadIdx.x % 32 == 0) consumer_release(",
                 "    fence_proxy_async();\n    if (threadIdx.x % 32 == 0) consumer_release("),
                ("        producer_acquire(", "        fence_proxy_async();\n"
                 "        fence_proxy_async_global();\n        producer_acquire(")),
          "A fence orders; it cannot take an order away."),
    Right("fences of the device's scope", PERSISTENT, "",
          edits(PERSISTENT,
                ('#include "hopper/element.h"', '#include "hopper/atomics.h"\n'
                 '#include "hopper/element.h"'),
                ("        epilogue_store(", "        fence_acq_rel(SCOPE_GPU);\n"
                 "        epilogue_store(")),
          "Nothing is released or acquired by them."),
    Right("the issuer fences again", PINGPONG, "",
          edits(EPILOGUE_STORE, ("        if (elected) tma_store(", "        if (elected) "
                                 "fence_proxy_async();\n        if (elected) tma_store(")),
          "Every writer has fenced before the barrier; the issuer's fence is one more."),
    Right("sums that are never cleared", WGMMA, "",
          edits(WGMMA, ("float acc[BM / 64][64] = {{0}};", "float acc[BM / 64][64];")),
          "The first multiplication has accumulate = 0 and does not read them."),
    Right("cleared sums, always added to", SPECIALIZED, "",
          edits(SPECIALIZED, ("shared->b[state->index], k_tile > 0);",
                              "shared->b[state->index], true);")),
          "The zeros are written before the first wgmma_fence."),
    Right("sums scaled between wait and store", SPECIALIZED, "",
          edits(SPECIALIZED, (WAIT_LAST_07, "    wgmma_wait_group(0);\n    for (int i = 0; i < "
                              "BN / 2; ++i) acc[i] = 0.5f * acc[i] + 0.5f * acc[i];\n"
                              "    store_64_rows(")),
          "The accumulators belong to the threads again, and halves of them are exact."),

    # ---- other threads produce ----
    Right("the last warp issues", TMA, "",
          edits(TMA,
                ("    if (threadIdx.x == 0) {\n", "    if (threadIdx.x == 96) {\n"),
                ("if (threadIdx.x == 0) load_stage", "if (threadIdx.x == 96) load_stage")),
          "Initializing and issuing are one thread's, whichever it is."),
    Right("three threads share the producer's work", TMA, "",
          edits(TMA,
                ("        for (int k_tile = 0; k_tile < STAGES - 1; ++k_tile) {\n", "    }\n"
                 "    __syncthreads();\n    if (threadIdx.x == 33) {\n"
                 "        for (int k_tile = 0; k_tile < STAGES - 1; ++k_tile) {\n"),
                ("if (threadIdx.x == 0) load_stage", "if (threadIdx.x == 127) load_stage")),
          "A barrier stands between initialization, first loads and refills."),
    Right("a producer for each operand", TMA, "",
          edits(TMA,
                (INIT, "mbarrier_init(&shared->full[stage], 2);"),
                ("        for (int k_tile = 0; k_tile < STAGES - 1; ++k_tile) {\n", "    }\n"
                 "    __syncthreads();\n    if (threadIdx.x == 0 || threadIdx.x == 32) {\n"
                 "        for (int k_tile = 0; k_tile < STAGES - 1; ++k_tile) {\n"),
                ("if (threadIdx.x == 0) load_stage",
                 "if (threadIdx.x == 0 || threadIdx.x == 32) load_stage"),
                ("    mbarrier_arrive_expect_tx(&shared->full[stage], STAGE_BYTES);",
                 "    mbarrier_arrive_expect_tx(&shared->full[stage], STAGE_BYTES / 2);"),
                ("    tma_load(shared->a[stage]",
                 "    if (threadIdx.x == 0) tma_load(shared->a[stage]"),
                ("    tma_load(shared->b[stage]",
                 "    if (threadIdx.x == 32) tma_load(shared->b[stage]")),
          "Two arrivals, each with the bytes of its own load."),
    Right("a producer in each warpgroup", TWO_WARPGROUPS, "",
          edits(TWO_WARPGROUPS,
                (INIT, "mbarrier_init(&shared->full[stage], 2);"),
                ("        for (int k_tile = 0; k_tile < STAGES; ++k_tile) load_stage(shared, "
                 "&args, tile, k_tile);\n    }\n", "    }\n    __syncthreads();\n"
                 "    if (threadIdx.x % 128 == 0)\n        for (int k_tile = 0; k_tile < STAGES; "
                 "++k_tile) load_stage(shared, &args, tile, k_tile);\n"),
                ("        if (threadIdx.x == 0) load_stage",
                 "        if (threadIdx.x % 128 == 0) load_stage"),
                ("    mbarrier_arrive_expect_tx(&shared->full[stage], STAGE_BYTES);",
                 "    mbarrier_arrive_expect_tx(&shared->full[stage],\n"
                 "        (threadIdx.x ? BN : BM) * BK * sizeof(element_t));"),
                ("    tma_load(shared->a[stage]",
                 "    if (threadIdx.x == 0) tma_load(shared->a[stage]"),
                ("    tma_load(shared->b[stage]",
                 "    if (threadIdx.x == 128) tma_load(shared->b[stage]")),
          "Two arrivals, 16 KB announced by one and 32 KB by the other."),
    Right("the producer is lane 9 of warp 3", SPECIALIZED, "",
          edits(SPECIALIZED, ("warp == 0 && elect_one()", "threadIdx.x == 105")),
          "The ring cares for one thread that produces, not for which."),
    Right("two producer warps", SPECIALIZED, "",
          edits(PIPELINE, ("i < stages; ++i) {\n        mbarrier_init(&ring[i].full, 1);",
                           "i < stages; ++i) {\n        mbarrier_init(&ring[i].full, 2);"))
          + edits(SPECIALIZED,
                  ("warp == 0 && elect_one()", "warp < 2 && elect_one()"),
                  ("state, STAGE_BYTES);",
                   "state, (threadIdx.x < 32 ? BM : BN) * BK * sizeof(element_t));"),
                  ("        tma_load(shared->a", "        if (threadIdx.x < 32) tma_load("
                   "shared->a"),
                  ("        tma_load(shared->b", "        if (threadIdx.x >= 32) tma_load("
                   "shared->b")),
          "Each waits for the empty barrier itself, and the full one expects both."),
    Right("one CTA of the cluster loads B for both", MULTICAST, "",
          edits(MULTICAST,
                ("cluster_rank() * (BN / CLUSTER); /* of B */", "0;"),
                ("            if (MULTICAST)\n", "            if (cluster_rank() == 0)\n"),
                ("            else for (int part = 0; part < BN; part += BN / CLUSTER)\n"
                 "                tma_load(&shared->b[state.index][part * BK], &args->map_b, tile.n "
                 "* BN + part,\n                         k_tile * BK, full);\n", ""),
                ("p->ldb, BN / CLUSTER, BK,", "p->ldb, BN, BK,")),
          "Its empty barrier counts the warps of both; the other's full barrier expects the same "
          "bytes, which may come before they are announced."),

    # ---- other threads wait ----
    Right("one lane waits for its warp", CP_MBARRIER, "",
          edits(CP_MBARRIER,
                ("        mbarrier_wait(&shared->full[stage], round & 1);",
                 "        if (threadIdx.x % 32 == 31) mbarrier_wait(&shared->full[stage], round & "
                 "1);\n        __syncwarp();")),
          "__syncwarp hands on what the lane has acquired."),
    Right("one lane waits before wgmma", SPECIALIZED, "",
          edits(SPECIALIZED, WAIT_BY_ONE_LANE),
          "__syncwarp hands on what the lane has acquired, to every lane that issues."),
    Right("one thread waits for the CTA", TMA, "",
          edits(TMA,
                ("            __syncthreads();\n", ""),
                ("            mbarrier_wait(&shared->full[state.index], state.phase);\n",
                 "            if (threadIdx.x == 77) mbarrier_wait(&shared->full[state.index], "
                 "state.phase);\n            __syncthreads();\n")),
          "The barrier behind the wait hands on what the thread has acquired."),
    Right("polls without being suspended", TMA, "",
          edits(TMA, ("            mbarrier_wait(&shared->full[state.index], state.phase);\n",
                      "            while (!mbarrier_test_wait(&shared->full[state.index], "
                      "state.phase)) {\n            }\n")),
          "test_wait acquires when it is true, as try_wait does."),
    Right("looks before it waits", SPECIALIZED, "",
          edits(SPECIALIZED,
                ("    consumer_wait(shared->ring, *state);",
                 "    if (!consumer_test_wait(shared->ring, *state)) consumer_wait(shared->ring, "
                 "*state);"),
                ("        producer_acquire(shared->ring, state, STAGE_BYTES);",
                 "        const bool is_free = producer_try_acquire(shared->ring, state);\n"
                 "        if (!is_free) mbarrier_wait(&shared->ring[state.index].empty, "
                 "state.phase);\n        mbarrier_arrive_expect_tx(full, STAGE_BYTES);")),
          "A look that is true acquires; one that is false is followed by the wait."),

    # ---- other threads release, or at another time ----
    Right("releases before it multiplies", CP_MBARRIER, "",
          edits(CP_MBARRIER,
                ("step);\n            multiply(acc", "step);\n"
                 "            if (step == BK / 16 - 1) mbarrier_arrive(&shared->empty[stage]);\n"
                 "            multiply(acc"),
                ("        mbarrier_arrive(&shared->empty[stage]);\n    }", "    }")),
          "The last ldmatrix has read the stage; what follows are registers."),
    Right("one lane releases for its warp", CP_MBARRIER, "",
          edits(CP_MBARRIER,
                ("mbarrier_init(&shared->empty[threadIdx.x], THREADS);",
                 "mbarrier_init(&shared->empty[threadIdx.x], THREADS / 32);"),
                ("        mbarrier_arrive(&shared->empty[stage]);\n    }",
                 "        __syncwarp();\n        if (threadIdx.x % 32 == 3) mbarrier_arrive("
                 "&shared->empty[stage]);\n    }")),
          "__syncwarp puts the other lanes' reads before the arrival."),
    Right("an empty barrier instead of the CTA's", WGMMA, "",
          edits(WGMMA,
                ("    mbarrier_t full[STAGES]; ", "    mbarrier_t empty[STAGES];\n"
                 "    mbarrier_t full[STAGES]; "),
                (INIT, INIT[:-1] + ", mbarrier_init(&shared->empty[stage], 4);"),
                ("        __syncthreads();\n        if (threadIdx.x == 0) load_stage",
                 "        const int last = (k_tile - WAIT) % STAGES, round = (k_tile - WAIT) / "
                 "STAGES;\n        if (threadIdx.x % 32 == 0) mbarrier_arrive(&shared->empty["
                 "last]);\n        if (threadIdx.x == 0) mbarrier_wait(&shared->empty[last], "
                 "round & 1);\n        if (threadIdx.x == 0) load_stage")),
          "Each warp arrives behind its wait, and the issuer waits for the four."),
    Right("every thread releases", SPECIALIZED, "",
          edits(SPECIALIZED,
                ("if (threadIdx.x % 32 == 0) consumer_release", "consumer_release"),
                ("CONSUMERS * 4);", "CONSUMERS * 128);")),
          "The barrier expects 256 arrivals, each behind its thread's wait."),
    Right("one thread releases for its warpgroup", SPECIALIZED, "",
          edits(SPECIALIZED,
                ("    if (threadIdx.x % 32 == 0) consumer_release",
                 "    named_barrier_sync(threadIdx.x / 128, 128);\n"
                 "    if (threadIdx.x % 128 == 64) consumer_release"),
                ("CONSUMERS * 4);", "CONSUMERS);")),
          "The four warps meet behind their waits before one of them arrives."),
    Right("the consumers give all stages first", SPECIALIZED, "",
          edits(SPECIALIZED,
                ("state = {0, 1};", "state = {0, 0};"),
                ("release = {0, 0}; /* the next to read, to release */",
                 "release = {0, 0};\n    if (threadIdx.x % 32 == 0) for (; release.index < STAGES; "
                 "++release.index)\n        consumer_release(shared->ring, release);\n"
                 "    release.index = 0;")),
          "The early arrivals complete phase 0 of every empty barrier, for which the producer "
          "waits first."),
    Right("lane 9 releases for the other CTA", MULTICAST, "",
          edits(MULTICAST,
                ("    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[state->index].empty,"
                 " lane);", "    if (lane >= 8 && lane < 8 + CLUSTER)\n        "
                 "mbarrier_arrive_remote(&shared->ring[state->index].empty, lane - 8);")),
          "All lanes of the warp have waited for the group; any may arrive."),
    Right("a local arrival and a remote one", MULTICAST, "",
          edits(MULTICAST,
                ("    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[state->index].empty,"
                 " lane);", "    if (lane == (int)cluster_rank()) mbarrier_arrive(&shared->ring["
                 "state->index].empty);\n    else if (lane < CLUSTER)\n        "
                 "mbarrier_arrive_remote(&shared->ring[state->index].empty, lane);")),
          "The CTA's own barrier needs no mapa."),

    # ---- registers ----
    Right("24 and 240 registers for one tile", SPECIALIZED, "", exchange_24_240(SPECIALIZED),
          "24 + 2 * 240 = 3 * 168."),
    Right("24 and 240 registers for ping-pong", PINGPONG, "",
          edits(PINGPONG, ("PRODUCER_REGISTERS 40", "PRODUCER_REGISTERS 24"),
                ("CONSUMER_REGISTERS 232", "CONSUMER_REGISTERS 240")),
          "24 + 2 * 240 = 3 * 168."),
    Right("24 and 240 registers in a cluster", MULTICAST, "", exchange_24_240(MULTICAST),
          "24 + 2 * 240 = 3 * 168, in every CTA."),

    # ---- the staging memory ----
    Right("staging in the ring", SPECIALIZED, "",
          edits(SPECIALIZED,
                ('#include "building_blocks/pipeline.h"', '#include "building_blocks/'
                 'epilogue_store.h"\n#include "building_blocks/pipeline.h"'),
                (WAIT_LAST_07, "    wgmma_wait_group(0);\n    named_barrier_sync(3, 128 * "
                 "CONSUMERS);\n    epilogue_store((element_t (*)[EPILOGUE_M * EPILOGUE_N])shared->"
                 "a[half], args,\n        tile.m * BM + half * 64, tile.n * BN, 64, BN, acc, 1 + "
                 "half);\n    if (threadIdx.x % 128 == 0) bulk_wait_group(0);\n    if (false) "
                 "store_64_rows("),
                ("BN, BK, SWIZZLE_128B))\n", "BN, BK, SWIZZLE_128B) ||\n        gemm_tensor_map("
                 "&args.map_d, type, p->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N, "
                 "SWIZZLE_128B))\n")),
          "Every load has landed, and both consumers have waited for their wgmmas and met, before "
          "the first is overwritten."),
    Right("the last thread stores", PERSISTENT, "",
          edits(EPILOGUE_STORE, ("threadIdx.x % 128 == 0", "threadIdx.x % 128 == 127")) +
          edits(PERSISTENT, ("threadIdx.x % 128 == 0", "threadIdx.x % 128 == 127")),
          "Issue, commit and wait are one thread's, whichever it is."),
    Right("both consumers stage together", PERSISTENT, "",
          edits(EPILOGUE_STORE, ("named_barrier_sync(barrier, 128)",
                                 "named_barrier_sync(5, 256)", 2)),
          "Both have the same tiles and the same columns, so both come equally often."),
    Right("warps of the producer store", PERSISTENT, "",
          edits(EPILOGUE_STORE,
                ("        if (elected) bulk_wait_group_read(BUFFERS - 1);\n", ""),
                ("        named_barrier_sync(barrier, 128);\n        epilogue_stage",
                 "        named_barrier_sync(2 + barrier, 160);\n        epilogue_stage"),
                ("        named_barrier_sync(barrier, 128);\n        if (elected) tma_store(&args->"
                 "map_d, first_row, first_column, staging);\n",
                 "        named_barrier_arrive(barrier, 160);\n"),
                ("    if (elected) bulk_commit_group();\n", "")) +
          edits(PERSISTENT,
                ("/* Multiplies and stores its 64 rows of tile after tile. One warpgroup. */\n",
                 "DEVICE void storer(struct smem *shared, const struct gemm_args *args, int half) "
                 "{\n    for (int number = blockIdx.x; number < args->items; number += gridDim.x) "
                 "{\n        const struct tile tile = tile_at(number, args->tiles_m, "
                 "args->tiles_n);\n        for (int j = 0; j < BN / EPILOGUE_N; ++j) {\n"
                 "            const int column = tile.n * BN + j * EPILOGUE_N;\n"
                 "            if (epilogue_at_edge(args, column)) {\n"
                 "                if (elect_one()) bulk_commit_group();\n"
                 "                continue;\n            }\n"
                 "            if (elect_one()) bulk_wait_group_read(BUFFERS - 1);\n"
                 "            __syncwarp();\n"
                 "            named_barrier_arrive(3 + half, 160);\n"
                 "            named_barrier_sync(1 + half, 160);\n"
                 "            if (elect_one()) {\n"
                 "                tma_store(&args->map_d, tile.m * BM + half * 64, column,\n"
                 "                          shared->d[half][j % BUFFERS]);\n"
                 "                bulk_commit_group();\n            }\n        }\n    }\n"
                 "    if (elect_one()) bulk_wait_group(0);\n}\n\n"),
                ("    if (elected) bulk_wait_group(0);\n", ""),
                ("producer(shared, &args);\n", "producer(shared, &args);\n        else if (warp == "
                 "1 || warp == 2) storer(shared, &args, warp - 1);\n")),
          "The storing warp arrives when the buffer has been read, the consumer behind its proxy "
          "fence; either one syncs on what the other arrives at. An empty group at the edge keeps "
          "the count of buffers."),

    # ---- turns ----
    Right("turns by bar.sync and bar.arrive", PINGPONG, "",
          edits(PINGPONG,
                ("        mbarrier_wait(&shared->order[consumer], order_phase);\n",
                 "        named_barrier_sync(4 + consumer, 256);\n"),
                ("    if (consumer == 1) pipeline_skip",
                 "    if (consumer == 1) named_barrier_arrive(4, 256);\n"
                 "    if (consumer == 1) pipeline_skip"),
                (HAND_OVER, "if (number + (int)gridDim.x < args->items) "
                 "named_barrier_arrive(5 - consumer, 256);")),
          "Barrier 4 + c is consumer c's turn: the other arrives, it syncs, as often as it has "
          "tiles."),
    Right("one thread hands over the turn", PINGPONG, "",
          edits(PINGPONG,
                ("mbarrier_init(&shared->order[i], 4);", "mbarrier_init(&shared->order[i], 1);"),
                (HAND_OVER, HAND_OVER.replace("% 32 == 0", "% 128 == 100"))),
          "The barrier expects one arrival, and it hands over the Tensor Core, no data."),
    Right("the CTA's barrier by another number", CP_ASYNC, "",
          edits(CP_ASYNC, ("        __syncthreads();", "        named_barrier_sync(9, THREADS);")),
          "bar.sync 9 with all threads is bar.sync 0."),
    Right("one warpgroup only arrives", TWO_WARPGROUPS, "",
          edits(TWO_WARPGROUPS,
                ("        __syncthreads();\n        if (threadIdx.x == 0) load_stage",
                 "        const int barrier = 1 + (k_tile - WAIT) % STAGES;\n"
                 "        if (half == 0) named_barrier_sync(barrier, THREADS);\n"
                 "        else named_barrier_arrive(barrier, THREADS);\n"
                 "        if (threadIdx.x == 0) load_stage")),
          "A barrier for each stage: a warpgroup comes to it again only after the refill that "
          "follows its last use."),

    # ---- the end ----
    Right("a tail for one tile", SPECIALIZED, "",
          [tail(SPECIALIZED, PRODUCED)] + edits(SPECIALIZED, (WAIT_LAST_07, RELEASE_LAST_07)),
          "The consumers release every stage, so that the producer's last waits end."),
    Right("a tail for many tiles", PERSISTENT, "", [tail(PERSISTENT, PRODUCED_TILES)],
          "Every stage is released; those never used pass at once."),
    Right("a tail instead of the cluster's barrier", MULTICAST, "",
          [tail(MULTICAST, PRODUCED_TILES)] +
          edits(MULTICAST, ("    cluster_sync();\n}", "}")),
          "The producer stays until all sixteen warps have released every stage: no "
          "arrival and no multicast comes after that."),
    Right("the cluster's barrier twice", MULTICAST, "",
          edits(MULTICAST, ("    cluster_sync_relaxed();", "    __syncthreads();\n"
                            "    cluster_sync();")),
          "The stronger barrier orders all that the relaxed one does."),
]

BROKEN = [
    Broken("one warpgroup only arrives",
         edits(TWO_WARPGROUPS, ("1 + (k_tile - WAIT) % STAGES;", "1;")), "barrier-count"),
    Broken("one thread releases for its warpgroup",
         edits(SPECIALIZED, ("    named_barrier_sync(threadIdx.x / 128, 128);\n", "")),
         "overwritten-while-read"),
    Broken("the consumers give all stages first",
         edits(SPECIALIZED, ("state = {0, 0};", "state = {0, 1};")), "deadlock"),
    Broken("staging in the ring",
         edits(SPECIALIZED, ("    named_barrier_sync(3, 128 * CONSUMERS);\n", "")), "data-race"),
    Broken("warps of the producer store",
         edits(PERSISTENT, ("                if (elect_one()) bulk_commit_group();\n", "")),
         "overwritten-while-read"),
    Broken("a tail for one tile",
         edits(SPECIALIZED, ("for (int i = 0; i < WAIT; ++i) release_stage(shared, &release);",
                             "")), "deadlock"),
    Broken("one lane releases for its warp",
         edits(CP_MBARRIER, ("        __syncwarp();\n", "")), "overwritten-while-read"),
]
