"""right.py: kernels that are unusual and right, each made from a chapter's kernel by a few edits.

The simulator must accuse none of them. Some have one further edit that breaks them, and these must be
accused, so that tools/gallery/right_kernels.py can fail.
"""

from edit import Replace
from store import Break, Right

CP_ASYNC, CP_MBARRIER = "03_cp_async_multistage/kernel.cu", "03_cp_async_multistage/mbarrier.cu"
REGISTERS, TMA = "04_rf_double_buffer/kernel.cu", "05_tma_mbarrier/kernel.cu"
WGMMA, RS = "06_wgmma/kernel.cu", "06_wgmma/rs.cu"
TWO_WARPGROUPS = "06_wgmma/two_warpgroups.cu"
SPECIALIZED, PINGPONG = "07_warp_specialized/kernel.cu", "08_persistent_pingpong/kernel.cu"
PERSISTENT, MULTICAST = "08_persistent_pingpong/persistent.cu", "09_cluster_multicast/kernel.cu"
PIPELINE = "building_blocks/pipeline.h"
EPILOGUE_STORE = "building_blocks/epilogue_store.h"

INIT = "mbarrier_init(&shared->full[stage], 1);"
# 24 + 2 * 240 registers of a thread are the 3 * 168 at launch.
EXCHANGE_24_240 = (
    Replace('#include "hopper/thread.h"',
            '#include "hopper/registers.h"\n#include "hopper/thread.h"'),
    Replace("    if (warpgroup == 0) {\n",
            "    if (warpgroup == 0) {\n        setmaxnreg_dec(24);\n"),
    Replace("    } else {\n        consumer(",
            "    } else {\n        setmaxnreg_inc(240);\n        consumer("))


def tail(state):
    """The producer waits for the last releases. `state`: the end of its loop, and an indent."""
    return Replace(state, state[:-1] + "    producer_tail(shared->ring, state, STAGES);\n}")


PRODUCED = "        pipeline_advance(&state, STAGES);\n    }\n}"
PRODUCED_TILES = "            pipeline_advance(&state, STAGES);\n        }\n    }\n}"
WAIT_LAST_07 = "    wgmma_wait_group(0);\n    store_64_rows("
RELEASE_LAST_07 = ("    wgmma_wait_group(0);\n    for (int i = 0; i < WAIT; ++i) "
                   "release_stage(shared, &release);\n    store_64_rows(")
WAIT_BY_ONE_LANE = Replace(
    "    consumer_wait(shared->ring, *state);",
    "    if (threadIdx.x % 32 == 7) consumer_wait(shared->ring, *state);\n"
    "    __syncwarp();")
HAND_OVER = "if (threadIdx.x % 32 == 0) mbarrier_arrive(&shared->order[1 - consumer]);"

RIGHT = [
    # ---- other depths ----
    Right("seven stages", CP_ASYNC, "Nothing but the ring's depth changes, and 224 KB fit an SM.",
          macros="STAGES=7:CTAS_PER_SM=1"),
    Right("two stages by barriers", CP_MBARRIER,
          "The full and the empty barrier of a stage order its uses at any depth.",
          macros="STAGES=2"),
    Right("six stages and two fragments", REGISTERS,
          "The wait counts the groups of STAGES - 2 k-tiles.", macros="STAGES=6:CTAS_PER_SM=1"),
    Right("two stages of the TMA", TMA,
          "A stage is refilled behind the barrier that follows its last reading.",
          macros="STAGES=2"),
    Right("seven stages of wgmma", WGMMA, "Nothing but the ring's depth changes.",
          macros="STAGES=7"),
    Right("two stages, a group in flight", SPECIALIZED,
          "One stage is read while the other is filled: the group in flight holds one of two.",
          macros="STAGES=2"),
    Right("three stages in a cluster", MULTICAST,
          "Both CTAs have the same ring, and all sixteen warps release a stage.",
          macros="STAGES=3"),
    Right("two buffers for ping-pong", PINGPONG,
          "Six epilogue tiles take the two buffers in turn, and the wait leaves one store.",
          [Replace("#define BUFFERS 1", "#define BUFFERS 2")], macros="STAGES=4"),

    # ---- waiting for more than one must ----
    Right("waits for all copies", CP_ASYNC, "No group in flight is fewer than STAGES - 2.",
          [Replace("cp_async_wait_group(STAGES - 2);", "cp_async_wait_group(0);")]),
    Right("a group for each part", REGISTERS,
          "A k-tile is PARTS groups; all but those of the youngest STAGES - 2 are waited for.",
          [Replace("            load_part(shared, args, tile, k_tile, part, inside);\n",
                   "{\n            load_part(shared, args, tile, k_tile, part, inside);\n"
                   "            cp_async_commit_group(); }\n"),
           Replace("        cp_async_commit_group();\n    }\n    wait", "    }\n    wait"),
           Replace("if (step < PARTS) load_part(shared, args, tile, k_tile + STAGES - 1, step, "
                   "inside);",
                   "if (step < PARTS) { load_part(shared, args, tile, k_tile + STAGES - 1, step, "
                   "inside); cp_async_commit_group(); }"),
           Replace("        cp_async_commit_group();\n        wait", "        wait"),
           Replace("cp_async_wait_group(STAGES - 2)",
                   "cp_async_wait_group((STAGES - 2) * PARTS)")]),
    Right("a group for each step", WGMMA, "A k-tile is four groups, and four stay in flight.",
          [Replace("accumulate || step > 0);\n        }",
                   "accumulate || step > 0);\n"
                   "            if (i == BM / 64 - 1) wgmma_commit_group();\n        }"),
           Replace("    wgmma_commit_group();\n    advance", "    advance"),
           Replace("wgmma_wait_group(WAIT);", "wgmma_wait_group(4 * WAIT);")]),
    Right("nothing in flight", RS,
          "Each k-tile's wait covers its own group, so one set of fragments would do, too.",
          macros="WAIT=0"),
    Right("stores complete before the buffer is reused", PERSISTENT,
          "A store that is complete has read its buffer.", [],
          elsewhere={EPILOGUE_STORE: [Replace("bulk_wait_group_read(BUFFERS - 1)",
                                              "bulk_wait_group(0)")]}),
    Right("refills after the multiplications", CP_ASYNC,
          "The stage has been free since the barrier, and the groups keep their order.",
          [Replace("        load_stage(shared, args, tile, k_tile + STAGES - 1, inside);\n", ""),
           Replace("            multiply(acc, &fragments);\n        }\n",
                   "            multiply(acc, &fragments);\n        }\n"
                   "        load_stage(shared, args, tile, k_tile + STAGES - 1, inside);\n")]),

    # ---- extra fences, other fences, fewer fences ----
    Right("a fence before every wgmma", WGMMA,
          "wgmma.fence touches no register and waits for nothing.",
          [Replace("            wgmma_m64nNk16(",
                   "            wgmma_fence();\n            wgmma_m64nNk16(")]),
    Right("one fence for all k-tiles", SPECIALIZED,
          "Between wgmmas of one shape on the same accumulators no fence is needed, and nothing "
          "else touches them; the condition is the same in all four warps.",
          [Replace("    wgmma_fence();", "    if (k_tile == 0) wgmma_fence();")]),
    Right("the other fence for the barriers", TMA,
          "fence.proxy.async by the initializing thread orders its initializations before the "
          "TMA's signals.",
          [Replace("        fence_mbarrier_init();", "        fence_proxy_async();")]),
    Right("superfluous proxy fences", SPECIALIZED, "A fence orders; it cannot take an order away.",
          [Replace("    if (threadIdx.x % 32 == 0) consumer_release(",
                   "    fence_proxy_async();\n    if (threadIdx.x % 32 == 0) consumer_release("),
           Replace("        producer_acquire(",
                   "        fence_proxy_async();\n        fence_proxy_async_global();\n"
                   "        producer_acquire(")]),
    Right("fences of the device's scope", PERSISTENT, "Nothing is released or acquired by them.",
          [Replace('#include "hopper/element.h"',
                   '#include "hopper/atomics.h"\n#include "hopper/element.h"'),
           Replace("        epilogue_store(",
                   "        fence_acq_rel(SCOPE_GPU);\n        epilogue_store(")]),
    Right("the issuer fences again", PINGPONG,
          "Every writer has fenced before the barrier; the issuer's fence is one more.", [],
          elsewhere={EPILOGUE_STORE: [Replace("        if (elected) tma_store(",
                                              "        if (elected) fence_proxy_async();\n"
                                              "        if (elected) tma_store(")]}),
    Right("sums that are never cleared", WGMMA,
          "The first multiplication has accumulate = 0 and does not read them.",
          [Replace("float acc[BM / 64][64] = {{0}};", "float acc[BM / 64][64];")]),
    Right("cleared sums, always added to", SPECIALIZED,
          "The zeros are written before the first wgmma_fence.",
          [Replace("shared->b[state->index], k_tile > 0);", "shared->b[state->index], true);")]),
    Right("sums scaled between wait and store", SPECIALIZED,
          "The accumulators belong to the threads again, and halves of them are exact.",
          [Replace(WAIT_LAST_07,
                   "    wgmma_wait_group(0);\n"
                   "    for (int i = 0; i < BN / 2; ++i) acc[i] = 0.5f * acc[i] + 0.5f * "
                   "acc[i];\n    store_64_rows(")]),

    # ---- other threads produce ----
    Right("the last warp issues", TMA,
          "Initializing and issuing are one thread's, whichever it is.",
          [Replace("    if (threadIdx.x == 0) {\n", "    if (threadIdx.x == 96) {\n"),
           Replace("if (threadIdx.x == 0) load_stage", "if (threadIdx.x == 96) load_stage")]),
    Right("three threads share the producer's work", TMA,
          "A barrier stands between initialization, first loads and refills.",
          [Replace("        for (int k_tile = 0; k_tile < STAGES - 1; ++k_tile)\n",
                   "    }\n    __syncthreads();\n    if (threadIdx.x == 33) {\n"
                   "        for (int k_tile = 0; k_tile < STAGES - 1; ++k_tile)\n"),
           Replace("if (threadIdx.x == 0) load_stage", "if (threadIdx.x == 127) load_stage")]),
    Right("a producer for each operand", TMA, "Two arrivals, each with the bytes of its own load.",
          [Replace(INIT, "mbarrier_init(&shared->full[stage], 2);"),
           Replace("        for (int k_tile = 0; k_tile < STAGES - 1; ++k_tile)\n",
                   "    }\n    __syncthreads();\n"
                   "    if (threadIdx.x == 0 || threadIdx.x == 32) {\n"
                   "        for (int k_tile = 0; k_tile < STAGES - 1; ++k_tile)\n"),
           Replace("if (threadIdx.x == 0) load_stage",
                   "if (threadIdx.x == 0 || threadIdx.x == 32) load_stage"),
           Replace("    mbarrier_arrive_expect_tx(&shared->full[stage], STAGE_BYTES);",
                   "    mbarrier_arrive_expect_tx(&shared->full[stage], STAGE_BYTES / 2);"),
           Replace("    tma_load(shared->a[stage]",
                   "    if (threadIdx.x == 0) tma_load(shared->a[stage]"),
           Replace("    tma_load(shared->b[stage]",
                   "    if (threadIdx.x == 32) tma_load(shared->b[stage]")]),
    Right("a producer in each warpgroup", TWO_WARPGROUPS,
          "Two arrivals, 16 KB announced by one and 32 KB by the other.",
          [Replace(INIT, "mbarrier_init(&shared->full[stage], 2);"),
           Replace("        for (int k_tile = 0; k_tile < STAGES; ++k_tile) load_stage(shared, "
                   "&args, tile, k_tile);\n    }\n",
                   "    }\n    __syncthreads();\n    if (threadIdx.x % 128 == 0)\n"
                   "        for (int k_tile = 0; k_tile < STAGES; ++k_tile) load_stage(shared, "
                   "&args, tile, k_tile);\n"),
           Replace("        if (threadIdx.x == 0) load_stage",
                   "        if (threadIdx.x % 128 == 0) load_stage"),
           Replace("    mbarrier_arrive_expect_tx(&shared->full[stage], STAGE_BYTES);",
                   "    mbarrier_arrive_expect_tx(&shared->full[stage],\n"
                   "        (threadIdx.x ? BN : BM) * BK * sizeof(element_t));"),
           Replace("    tma_load(shared->a[stage]",
                   "    if (threadIdx.x == 0) tma_load(shared->a[stage]"),
           Replace("    tma_load(shared->b[stage]",
                   "    if (threadIdx.x == 128) tma_load(shared->b[stage]")]),
    Right("the producer is lane 9 of warp 3", SPECIALIZED,
          "The ring cares for one thread that produces, not for which.",
          [Replace("warp == 0 && elect_one()", "threadIdx.x == 105")]),
    Right("two producer warps", SPECIALIZED,
          "Each waits for the empty barrier itself, and the full one expects both.",
          [Replace("warp == 0 && elect_one()", "warp < 2 && elect_one()"),
           Replace("state, STAGE_BYTES);",
                   "state, (threadIdx.x < 32 ? BM : BN) * BK * sizeof(element_t));"),
           Replace("        tma_load(shared->a",
                   "        if (threadIdx.x < 32) tma_load(shared->a"),
           Replace("        tma_load(shared->b",
                   "        if (threadIdx.x >= 32) tma_load(shared->b")],
          elsewhere={PIPELINE: [Replace("i < stages; ++i) {\n"
                                        "        mbarrier_init(&ring[i].full, 1);",
                                        "i < stages; ++i) {\n"
                                        "        mbarrier_init(&ring[i].full, 2);")]}),
    Right("one CTA of the cluster loads B for both", MULTICAST,
          "Its empty barrier counts the warps of both; the other's full barrier expects the same "
          "bytes, which may come before they are announced.",
          [Replace("cluster_rank() * (BN / CLUSTER); /* of B */", "0;"),
           Replace("            if (MULTICAST)\n", "            if (cluster_rank() == 0)\n"),
           Replace("            else for (int part = 0; part < BN; part += BN / CLUSTER)\n"
                   "                tma_load(&shared->b[state.index][part * BK], &args->map_b, "
                   "tile.n * BN + part,\n                         k_tile * BK, full);\n", ""),
           Replace("p->ldb, BN / CLUSTER, BK,", "p->ldb, BN, BK,")]),

    # ---- other threads wait ----
    Right("one lane waits for its warp", CP_MBARRIER,
          "__syncwarp hands on what the lane has acquired.",
          [Replace("        mbarrier_wait(&shared->full[stage], round & 1);",
                   "        if (threadIdx.x % 32 == 31) mbarrier_wait(&shared->full[stage], "
                   "round & 1);\n        __syncwarp();")]),
    Right("one lane waits before wgmma", SPECIALIZED,
          "__syncwarp hands on what the lane has acquired, to every lane that issues.",
          [WAIT_BY_ONE_LANE]),
    Right("one thread waits for the CTA", TMA,
          "The barrier behind the wait hands on what the thread has acquired.",
          [Replace("            __syncthreads();\n", ""),
           Replace("            mbarrier_wait(&shared->full[state.index], state.phase);\n",
                   "            if (threadIdx.x == 77) "
                   "mbarrier_wait(&shared->full[state.index], state.phase);\n"
                   "            __syncthreads();\n")]),
    Right("polls without being suspended", TMA,
          "test_wait acquires when it is true, as try_wait does.",
          [Replace("            mbarrier_wait(&shared->full[state.index], state.phase);\n",
                   "            while (!mbarrier_test_wait(&shared->full[state.index], "
                   "state.phase)) {\n            }\n")]),
    Right("looks before it waits", SPECIALIZED,
          "A look that is true acquires; one that is false is followed by the wait.",
          [Replace("    consumer_wait(shared->ring, *state);",
                   "    if (!consumer_test_wait(shared->ring, *state)) "
                   "consumer_wait(shared->ring, *state);"),
           Replace("        producer_acquire(shared->ring, state, STAGE_BYTES);",
                   "        const bool is_free = producer_try_acquire(shared->ring, state);\n"
                   "        if (!is_free) mbarrier_wait(&shared->ring[state.index].empty, "
                   "state.phase);\n        mbarrier_arrive_expect_tx(full, STAGE_BYTES);")]),

    # ---- other threads release, or at another time ----
    Right("releases before it multiplies", CP_MBARRIER,
          "The last ldmatrix has read the stage; what follows are registers.",
          [Replace("step);\n            multiply(acc",
                   "step);\n"
                   "            if (step == BK / 16 - 1) "
                   "mbarrier_arrive(&shared->empty[stage]);\n            multiply(acc"),
           Replace("        mbarrier_arrive(&shared->empty[stage]);\n    }", "    }")]),
    Right("one lane releases for its warp", CP_MBARRIER,
          "__syncwarp puts the other lanes' reads before the arrival.",
          [Replace("mbarrier_init(&shared->empty[threadIdx.x], THREADS);",
                   "mbarrier_init(&shared->empty[threadIdx.x], THREADS / 32);"),
           Replace("        mbarrier_arrive(&shared->empty[stage]);\n    }",
                   "        __syncwarp();\n"
                   "        if (threadIdx.x % 32 == 3) mbarrier_arrive(&shared->empty[stage]);\n"
                   "    }")],
          broken=Break("", Replace("        __syncwarp();\n", ""),
                       reports="overwritten-while-read")),
    Right("an empty barrier instead of the CTA's", WGMMA,
          "Each warp arrives behind its wait, and the issuer waits for the four.",
          [Replace("    mbarrier_t full[STAGES]; ",
                   "    mbarrier_t empty[STAGES];\n    mbarrier_t full[STAGES]; "),
           Replace(INIT, INIT[:-1] + ', mbarrier_init(&shared->empty[stage], 4);'),
           Replace("        __syncthreads();\n        if (threadIdx.x == 0) load_stage",
                   "        const int last = (k_tile - WAIT) % STAGES, round = (k_tile - WAIT) "
                   "/ STAGES;\n"
                   "        if (threadIdx.x % 32 == 0) mbarrier_arrive(&shared->empty[last]);\n"
                   "        if (threadIdx.x == 0) mbarrier_wait(&shared->empty[last], round & "
                   "1);\n        if (threadIdx.x == 0) load_stage")]),
    Right("every thread releases", SPECIALIZED,
          "The barrier expects 256 arrivals, each behind its thread's wait.",
          [Replace("if (threadIdx.x % 32 == 0) consumer_release", "consumer_release"),
           Replace("CONSUMERS * 4);", "CONSUMERS * 128);")]),
    Right("one thread releases for its warpgroup", SPECIALIZED,
          "The four warps meet behind their waits before one of them arrives.",
          [Replace("    if (threadIdx.x % 32 == 0) consumer_release",
                   "    named_barrier_sync(threadIdx.x / 128, 128);\n"
                   "    if (threadIdx.x % 128 == 64) consumer_release"),
           Replace("CONSUMERS * 4);", "CONSUMERS);")],
          broken=Break("", Replace("    named_barrier_sync(threadIdx.x / 128, 128);\n", ""),
                       reports="overwritten-while-read")),
    Right("the consumers give all stages first", SPECIALIZED,
          "The early arrivals complete phase 0 of every empty barrier, for which the producer "
          "waits first.",
          [Replace("state = {0, 1};", "state = {0, 0};"),
           Replace("release = {0, 0}; /* the next to read, to release */",
                   "release = {0, 0};\n"
                   "    if (threadIdx.x % 32 == 0) for (; release.index < STAGES; "
                   "++release.index)\n        consumer_release(shared->ring, release);\n"
                   "    release.index = 0;")],
          broken=Break("", Replace("state = {0, 0};", "state = {0, 1};"), reports="deadlock")),
    Right("lane 9 releases for the other CTA", MULTICAST,
          "All lanes of the warp have waited for the group; any may arrive.",
          [Replace("    if (lane < CLUSTER) "
                   "mbarrier_arrive_remote(&shared->ring[state->index].empty, lane);",
                   "    if (lane >= 8 && lane < 8 + CLUSTER)\n"
                   "        mbarrier_arrive_remote(&shared->ring[state->index].empty, lane - "
                   "8);")]),
    Right("a local arrival and a remote one", MULTICAST, "The CTA's own barrier needs no mapa.",
          [Replace("    if (lane < CLUSTER) "
                   "mbarrier_arrive_remote(&shared->ring[state->index].empty, lane);",
                   "    if (lane == (int)cluster_rank()) "
                   "mbarrier_arrive(&shared->ring[state->index].empty);\n"
                   "    else if (lane < CLUSTER)\n"
                   "        mbarrier_arrive_remote(&shared->ring[state->index].empty, lane);")]),

    # ---- registers ----
    Right("24 and 240 registers for one tile", SPECIALIZED, "24 + 2 * 240 = 3 * 168.",
          [*EXCHANGE_24_240]),
    Right("24 and 240 registers for ping-pong", PINGPONG, "24 + 2 * 240 = 3 * 168.",
          [Replace("PRODUCER_REGISTERS 40", "PRODUCER_REGISTERS 24"),
           Replace("CONSUMER_REGISTERS 232", "CONSUMER_REGISTERS 240")]),
    Right("24 and 240 registers in a cluster", MULTICAST, "24 + 2 * 240 = 3 * 168, in every CTA.",
          [*EXCHANGE_24_240]),

    # ---- the staging memory ----
    Right("staging in the ring", SPECIALIZED,
          "Every load has landed, and both consumers have waited for their wgmmas and met, before "
          "the first is overwritten.",
          [Replace('#include "building_blocks/pipeline.h"',
                   '#include "building_blocks/epilogue_store.h"\n'
                   '#include "building_blocks/pipeline.h"'),
           Replace(WAIT_LAST_07,
                   "    wgmma_wait_group(0);\n    named_barrier_sync(3, 128 * CONSUMERS);\n"
                   "    epilogue_store((element_t (*)[EPILOGUE_M * EPILOGUE_N])shared->a[half], "
                   "args,\n"
                   "        tile.m * BM + half * 64, tile.n * BN, 64, BN, acc, 1 + half);\n"
                   "    if (threadIdx.x % 128 == 0) bulk_wait_group(0);\n"
                   "    if (false) store_64_rows("),
           Replace("BN, BK, SWIZZLE_128B))\n",
                   "BN, BK, SWIZZLE_128B) ||\n"
                   "        gemm_tensor_map(&args.map_d, type, p->d, p->m, p->n, p->ldd, "
                   "EPILOGUE_M, EPILOGUE_N, SWIZZLE_128B))\n")],
          broken=Break("", Replace("    named_barrier_sync(3, 128 * CONSUMERS);\n", ""),
                       reports="data-race")),
    Right("the last thread stores", PERSISTENT,
          "Issue, commit and wait are one thread's, whichever it is.",
          [Replace("threadIdx.x % 128 == 0", "threadIdx.x % 128 == 127")],
          elsewhere={EPILOGUE_STORE: [Replace("threadIdx.x % 128 == 0",
                                              "threadIdx.x % 128 == 127")]}),
    Right("both consumers stage together", PERSISTENT,
          "Both have the same tiles and the same columns, so both come equally often.", [],
          elsewhere={EPILOGUE_STORE: [Replace("named_barrier_sync(barrier, 128)",
                                              "named_barrier_sync(5, 256)", 2)]}),
    Right("warps of the producer store", PERSISTENT,
          "The storing warp arrives when the buffer has been read, the consumer behind its proxy "
          "fence; either one syncs on what the other arrives at. An empty group at the edge keeps "
          "the count of buffers.",
          [Replace("/* Multiplies and stores its 64 rows of tile after tile. One warpgroup. */\n",
                   "DEVICE void storer(struct smem *shared, const struct gemm_args *args, int "
                   "half) {\n"
                   "    for (int number = blockIdx.x; number < args->items; number += gridDim.x) "
                   "{\n"
                   "        const struct tile tile = tile_at(number, args->tiles_m, "
                   "args->tiles_n);\n        for (int j = 0; j < BN / EPILOGUE_N; ++j) {\n"
                   "            const int column = tile.n * BN + j * EPILOGUE_N;\n"
                   "            if (epilogue_at_edge(args, column)) {\n"
                   "                if (elect_one()) bulk_commit_group();\n"
                   "                continue;\n            }\n"
                   "            if (elect_one()) bulk_wait_group_read(BUFFERS - 1);\n"
                   "            __syncwarp();\n            named_barrier_arrive(3 + half, 160);\n"
                   "            named_barrier_sync(1 + half, 160);\n"
                   "            if (elect_one()) {\n"
                   "                tma_store(&args->map_d, tile.m * BM + half * 64, column,\n"
                   "                          shared->d[half][j % BUFFERS]);\n"
                   "                bulk_commit_group();\n            }\n        }\n    }\n"
                   "    if (elect_one()) bulk_wait_group(0);\n}\n\n"),
           Replace("    if (elected) bulk_wait_group(0);\n", ""),
           Replace("producer(shared, &args);\n",
                   "producer(shared, &args);\n"
                   "        else if (warp == 1 || warp == 2) storer(shared, &args, warp - 1);\n")],
          elsewhere={EPILOGUE_STORE: [Replace("        if (elected) bulk_wait_group_read(BUFFERS "
                                              "- 1);\n", ""),
                                      Replace("        named_barrier_sync(barrier, 128);\n"
                                              "        epilogue_stage",
                                              "        named_barrier_sync(2 + barrier, 160);\n"
                                              "        epilogue_stage"),
                                      Replace("        named_barrier_sync(barrier, 128);\n"
                                              "        if (elected) tma_store(&args->map_d, "
                                              "first_row, first_column, staging);\n",
                                              "        named_barrier_arrive(barrier, 160);\n"),
                                      Replace("    if (elected) bulk_commit_group();\n", "")]},
          broken=Break("", Replace("                if (elect_one()) bulk_commit_group();\n", ""),
                       reports="overwritten-while-read")),

    # ---- turns ----
    Right("turns by bar.sync and bar.arrive", PINGPONG,
          "Barrier 4 + c is consumer c's turn: the other arrives, it syncs, as often as it has "
          "tiles.",
          [Replace("        mbarrier_wait(&shared->order[consumer], order_phase);\n",
                   "        named_barrier_sync(4 + consumer, 256);\n"),
           Replace("    if (consumer == 1) pipeline_skip",
                   "    if (consumer == 1) named_barrier_arrive(4, 256);\n"
                   "    if (consumer == 1) pipeline_skip"),
           Replace(HAND_OVER,
                   "if (number + (int)gridDim.x < args->items) named_barrier_arrive(5 - "
                   "consumer, 256);")]),
    Right("one thread hands over the turn", PINGPONG,
          "The barrier expects one arrival, and it hands over the Tensor Core, no data.",
          [Replace("mbarrier_init(&shared->order[i], 4);", "mbarrier_init(&shared->order[i], 1);"),
           Replace(HAND_OVER, HAND_OVER.replace("% 32 == 0", "% 128 == 100"))]),
    Right("the CTA's barrier by another number", CP_ASYNC,
          "bar.sync 9 with all threads is bar.sync 0.",
          [Replace("        __syncthreads();", "        named_barrier_sync(9, THREADS);")]),
    Right("one warpgroup only arrives", TWO_WARPGROUPS,
          "A barrier for each stage: a warpgroup comes to it again only after the refill that "
          "follows its last use.",
          [Replace("        __syncthreads();\n        if (threadIdx.x == 0) load_stage",
                   "        const int barrier = 1 + (k_tile - WAIT) % STAGES;\n"
                   "        if (half == 0) named_barrier_sync(barrier, THREADS);\n"
                   "        else named_barrier_arrive(barrier, THREADS);\n"
                   "        if (threadIdx.x == 0) load_stage")],
          broken=Break("", Replace("1 + (k_tile - WAIT) % STAGES;", "1;"),
                       reports="barrier-count")),

    # ---- the end ----
    Right("a tail for one tile", SPECIALIZED,
          "The consumers release every stage, so that the producer's last waits end.",
          [tail(PRODUCED), Replace(WAIT_LAST_07, RELEASE_LAST_07)],
          broken=Break("",
                       Replace("for (int i = 0; i < WAIT; ++i) release_stage(shared, &release);",
                               ""), reports="deadlock")),
    Right("a tail for many tiles", PERSISTENT,
          "Every stage is released; those never used pass at once.", [tail(PRODUCED_TILES)]),
    Right("a tail instead of the cluster's barrier", MULTICAST,
          "The producer stays until all sixteen warps have released every stage: no arrival and "
          "no multicast comes after that.",
          [tail(PRODUCED_TILES), Replace("    cluster_sync();\n}", "}")]),
    Right("the cluster's barrier twice", MULTICAST,
          "The stronger barrier orders all that the relaxed one does.",
          [Replace("    cluster_sync_relaxed();", "    __syncthreads();\n    cluster_sync();")]),
]
