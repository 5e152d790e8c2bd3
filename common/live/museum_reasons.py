"""museum_reasons.py: of each exhibit that the practice asks about, why a line that looks like the mistake
is not it. Lines are told by a part of their text.

`early`: before these lines what is missing would help as well; asked is the last line.
"""

EXHIBITS = {
    "01_empty_sequence": {
        "not": {
            "for (int tile = 1":
                "After the barrier it is too late: a thread's fence comes before the barrier that "
                "passes its writes on to thread 0.",
            "if (threadIdx.x == 0) {":
                "Here every thread would call it, but no barrier follows that passes the writes on "
                "to thread 0.",
            "tma_store(":
                "This access is the one that is not ordered. But only thread 0 comes here, and its "
                "fence covers its own accesses only, not the zeros of the other 127 threads.",
            "        fence_proxy_async();": "The loop has what it needs. How often does it run?",
        },
    },
    "02_refill_after_reads": {
        "not": {
            "mbarrier_arrive_expect_tx(":
                "Only lane 0 comes here, and after the barrier. What orders the reads of the other "
                "31 lanes?",
            "tma_load(":
                "This write is the one that is not ordered. But only lane 0 comes here, and its "
                "fence covers its own accesses only.",
            "mbarrier_wait(":
                "It orders the copy before the reads that follow. The other direction is the one "
                "to look at: these reads, and the next copy.",
        },
        "early": {
            "st_global_b128(":
                "In the loop it would help, too, once for every chunk. Further down it is called "
                "once for every tile.",
            "st_global_b128(\n}":
                "In the loop it would help, too, once for every chunk. Further down it is called "
                "once for every tile.",
        },
    },
    "04_parity_of_the_loop": {
        "not": {
            "mbarrier_init(":
                "Each barrier expects one arrival, of the thread that announces the bytes. That is "
                "right.",
            "mbarrier_arrive_expect_tx(":
                "One arrival and the bytes of one box: each barrier gets both once, so each "
                "completes its phase 0.",
            "tma_load(":
                "The copy signals the barrier on which its bytes were announced. Which phase of "
                "that barrier does it complete?",
            "ld_shared_b128(":
                "This read is too early. Something let the thread come here before the copy was "
                "complete.",
        },
    },
    "05_ring_parity": {
        "not": {
            "mbarrier_wait(landed, k / STAGES % 2)":
                "A stage's own barrier completes a phase once in STAGES tiles, so this parity is "
                "right.",
            "mbarrier_init(&shared->done, 32)": "The 32 lanes of warp 1 arrive. That is right.",
            "mbarrier_init(&shared->landed[i], 1)":
                "One thread announces the bytes. That is right.",
            "tma_load(": "This write collides with a read. Which wait should have held it back?",
            "mbarrier_arrive(&shared->done)":
                "Every lane arrives once for each tile, after its reads. So done completes a phase "
                "with every tile.",
            "fence_proxy_async()":
                "The reads come before it and the arrival after it. That is right.",
        },
    },
    "06_second_tile": {
        "not": {
            "const int stage = turn % STAGES":
                "Both follow from turn as they should, if turn counts what the barriers have seen.",
            "mbarrier_wait(&shared->empty[stage], phase ^ 1)":
                "In the first round it passes at once, later it waits for the release of the round "
                "before. That is right, if phase is.",
            "mbarrier_wait(full, phase)":
                "It waits for the load of this round. That is right, if phase is.",
            "tma_load(":
                "It loads k-tile n as it should. Into which stage, and in which phase of its "
                "barriers?",
            "for (int n = 0; n < TILES * K_TILES":
                "All k-tiles of both tiles are counted here, one after the other. That is right.",
            "enum {": "Any number of stages should do.",
        },
    },
    "08_flips_on_empty": {
        "not": {
            "            phase ^= 1;":
                "The producer flips its own phase with every tile that it loads. That is right.",
            "mbarrier_wait(&shared->empty, phase ^ 1)":
                "The producer waits for the release of the tile before. That is right: its phase "
                "counts the tiles that it has loaded.",
            "mbarrier_wait(&shared->full, phase)":
                "It passes at once for the third tile. With the right phase it would wait. Which "
                "line has changed the phase?",
            "const bool empty": "Both roles agree on which tile is empty.",
            "tma_load(": "This write collides with a read. The reader was let in too early.",
            "uint32_t phase = 0": "Producer and consumer both begin with phase 0. That is right.",
        },
    },
    "10_one_store_too_many": {
        "not": {
            "mbarrier_wait(landed":
                "It waits for the load into this stage, with the parity of the round before. That "
                "is right.",
            "tma_load(":
                "This write collides with a store that still reads the stage. What should have "
                "waited for that store?",
            "tma_store(":
                "The store reads the stage after the load has landed. When is that read complete?",
            "bulk_commit_group()": "Every store is a group of its own. That is right.",
            "    bulk_wait_group(0);":
                "The last stores are complete before the thread ends. That is right.",
        },
    },
    "11_clamped_bytes": {
        "not": {
            "const int rows": "It is the number of rows that exist. What uses it?",
            "mbarrier_wait(": "Here all threads wait, for bytes that do not match those announced.",
            "tma_load(":
                "The box begins inside the matrix; the TMA fills what lies outside with zeros, and "
                "may do so.",
            "mbarrier_init(": "One thread arrives. That is right.",
            "for (int i = threadIdx.x; i < rows":
                "Only the rows that exist are copied to D. That is right.",
        },
    },
    "12_pair_across_groups": {
        "not": {
            "if (!together)":
                "Each CTA loads for itself if the two do not share. Do they agree on that?",
            "else if (rank == 0)": "Rank 0 loads for both if the two share. Do they agree on that?",
            "mbarrier_arrive_expect_tx(":
                "Each CTA expects one box on its own barrier, from whichever CTA it comes.",
            "mbarrier_wait(": "Here CTA 3 waits for bytes that no CTA sends. Why not?",
            "tma_load_multicast(":
                "The mask has both CTAs of the pair. That is right for a pair that shares.",
            "const int row = ":
                "The box follows from the group of the CTA's own tile. That is right.",
            "#define PLACE_OF":
                "The tiles from FIRST_GROUP on are the second group's. That is right.",
        },
    },
    "13_arrives_again": {
        "not": {
            "            named_barrier_sync(TILE_ENDS, THREADS);":
                "Warp 1 arrives once for each tile, and waits. That is right.",
            "if (warp_index() == 0) {": "Both warps come to the end of each tile. How?",
            "st_global_b128(": "It is only the work of warp 1. It may take any time.",
            "enum {": "64 threads meet: THREADS is the right count.",
        },
    },
    "14_two_warps_expected": {
        "not": {
            "enum { LOADERS": "Four loaders and one warp that waits: five warps. That is right.",
            "named_barrier_arrive(":
                "Each of the loaders arrives once, and does not wait. That is right, if the "
                "barrier expects all of them.",
            "named_barrier_sync(":
                "The fifth warp arrives and waits. That is right, if the barrier expects all of "
                "them.",
            "st_shared_b32(": "It is written before the arrival. That is right.",
            "const uint32_t loaded":
                "This read may be too early: the barrier may complete without the writers.",
        },
    },
    "15_owner_returns": {
        "not": {
            "    cluster_sync();":
                "This barrier orders the write before the reads of the peers. Before it there is "
                "nothing to wait for but the write. What of the time after the reads?",
            "ld_shared_cluster_b128(":
                "This read may come too late. Before it nothing helps: the owner must be kept "
                "until after it.",
        },
        "early": {
            "st_global_b32(":
                "It would help, too, since the read is done. It may come later still.",
            "st_global_b32(\n}":
                "It would help, too, but in a branch of thread 0, where a barrier of all threads "
                "counts on the others' having ended. It may come later.",
        },
    },
    "16_departed_peer": {
        "not": {
            "mbarrier_arrive_remote(":
                "This arrival may come too late: its target has left. Before it nothing helps; the "
                "target must be kept until after it.",
            "    cluster_sync();":
                "This barrier makes the initialization known to the peer. What keeps the peer at "
                "the end?",
            "if (rank == 0) mbarrier_wait(":
                "Rank 0 waits until both have released the stage, but for the last tile nothing "
                "waits. That is no mistake: nothing is loaded after it.",
        },
        "early": {
            "mbarrier_arrive_remote(\n}":
                "It would help, too, once for every tile, and in a branch of thread 0. It may come "
                "later.",
        },
    },
    "17_next_fragment": {
        "not": {
            "ldmatrix_x4(":
                "This load overwrites registers that a wgmma may still read. What should have come "
                "before it?",
            "wgmma_fence()":
                "It orders the registers' writes before the wgmma that follow. That is right.",
            "wgmma_commit_group()": "All wgmma of a k-tile are one group. That is right.",
            "    wgmma_wait_group(0);":
                "It waits for the last group before the sums are read. That is right.",
            "wgmma_m64nNk16_rs(":
                "It reads A from registers, until its group is waited for. Where is that?",
        },
    },
    "18_metadata_in_the_stage": {
        "not": {
            "st_shared_b32(":
                "The tile's number is written before the barrier. That is right. Where does it "
                "lie?",
            "fence_proxy_async()":
                "It orders the write of the number before what the TMA writes there. What of the "
                "reads of the number?",
            "__syncthreads()": "After it every thread may read the number. That is right.",
            "tma_load(": "This write collides with a read of something else that lies there.",
            "const int n = ":
                "This read may come after the load has begun. That does no harm, if they do not "
                "touch the same bytes.",
            "mbarrier_wait(": "It waits before the box is read. That is right.",
        },
    },
    "20_memory_of_a_barrier": {
        "not": {
            "const uint32_t seven": "Here the number is read. It was written earlier.",
            "} place;":
                "A union may give the same bytes to both, one after the other. Something has to "
                "end the first use.",
            "mbarrier_init(": "The barrier begins here. Where does it end?",
        },
    },
    "22_read_is_not_written": {
        "not": {
            "fence_proxy_async()":
                "The box is written by ordinary stores, and every thread fences them before the "
                "barrier. That is right.",
            "tma_store(":
                "The store is issued after the barrier. When can other CTAs see what it writes?",
            "st_global_release(":
                "It releases what this thread has done and waited for. What has it waited for?",
            "ld_global_acquire(": "It acquires what the flag releases. That is right.",
            "const struct b128 chunk":
                "This read is too early, although the flag was seen. What did the flag promise?",
        },
    },
    "23_semaphore_alone": {
        "not": {
            "ld_global_acquire(":
                "It acquires what the semaphore releases. Does it release anything?",
            "const struct b128 chunk":
                "This read is the one that is not ordered. On its side there is an acquire and a "
                "barrier. On the other?",
        },
        "early": {
            "        if (threadIdx.x == 0) {":
                "It would help, too, but every thread would call it. One is enough, and it may do "
                "so later.",
        },
    },
    "25_one_lane_arrives": {
        "not": {
            "mbarrier_init(": "One lane arrives, so one arrival is right.",
            "mbarrier_wait(": "It acquires what the arrival releases. Of how many lanes?",
            "const struct b128 chunk":
                "This read is the one that is not ordered. The readers have waited for the "
                "arrival. Whose stores does it release?",
        },
        "early": {
            "        fence_proxy_async()":
                "It would help, too. It may come after this line as well.",
        },
    },
    "27_load_in_flight": {
        "not": {
            "mbarrier_init(&shared->empty":
                "Each of the 128 readers arrives once for each tile. That is right.",
            "mbarrier_wait_relaxed(&shared->empty":
                "It waits for the arrivals of all readers. What had they done before?",
            "tcgen05_mma(":
                "This multiplication overwrites columns that are still being loaded. Which arrival "
                "told its thread that it may?",
            "tcgen05_load(": "It is asynchronous. Who waits for its end, and when?",
            "mbarrier_arrive_relaxed(":
                "A fence covers what is complete when it is executed, so here it is too late.",
            "for (int i = 0; i < BN; i += 2)":
                "The values are right: a use of a register waits for its load. The columns are "
                "another matter.",
        },
    },
    "28_before_the_peer": {
        "not": {
            "const uint32_t sums": "The address is read behind a barrier. That is right.",
            "tcgen05_dealloc(": "Here both CTAs have long begun.",
        },
        "early": {"SHARED_MEMORY(": "It would help, too, and the next line is the latest."},
    },
    "29_answer_after_release": {
        "not": {
            "cluster_try_cancel(":
                "This write collides with a read. Which arrival told the thread that the place is "
                "free?",
            "more = cluster_is_canceled(":
                "The thread that asks reads its own answer, and releases the place behind that. "
                "That is right.",
            "mbarrier_init(&shared->empty": "One thread and the lanes of a warp arrive. That is right.",
            "const struct b128 answer":
                "This read collides with the next answer. What should have held that back?",
        },
    },
    "31_freed_before_the_peer": {
        "not": {"tcgen05_alloc(": "Both CTAs have begun. That is right."},
        "early": {
            "__syncwarp(": "It would help, too. It may come later.",
            "const uint32_t sums": "It would help, too. It may come later.",
            "if (threadIdx.x == 0)": "It would help, too. It may come later.",
        },
    },
    "33_last_release": {
        "early": {
            "mbarrier_arrive_remote(\n}":
                "In the loop it would help, too, after each tile. It is needed once, after the last.",
        },
    },
    "35_each_its_own_copy": {
        "not": {
            "cp_async_wait_group(":
                "Each thread has its own copies here. What does it know of the others' after that?",
            "fence_proxy_async(": "Each thread has fenced its own copies. Who knows of it?",
            "copy_tile(shared->a[1 - stage]":
                "The multiplication that has read this stage has been waited for, by each warp. But "
                "did all warps come as far?",
            "wgmma_wait_group(": "It speaks of the multiplication, which is over too late to help.",
        },
    },
    "36_five_in_four": {
        "not": {
            "cp_async_commit_group(": "A group for each tile, an empty one behind the last: that is "
                                      "right.",
            "cp_async_wait_group(": "All but the groups of later tiles are complete. That is right.",
            "__syncthreads(": "It makes every thread's copies visible to all.",
            "cp_async_16(": "This write collides with another. Which tile lies in that stage?",
        },
    },
    "37_fence_for_a_barrier": {
        "not": {
            "fence_proxy_async(": "Each thread has fenced what it has written. Who knows of it?",
            "bulk_commit_group(": "The thread that has issued the store commits it. That is right.",
            "stmatrix_x4(": "The lanes of a warp store together, and each warp has rows of its own.",
        },
    },
    "38_unheard_barrier": {
        "not": {
            "mbarrier_arrive_expect_tx(":
                "Each CTA announces the bytes of its half on its own barrier. That is right. Who "
                "waits for it?",
            "tma_load(": "Each CTA loads its half for its own barrier. That is right.",
            "ld_shared_cluster_b128(":
                "This read is too early. Something let rank 0 come here before the other half had "
                "landed.",
        },
    },
    "40_map_under_a_store": {
        "not": {
            "fence_proxy_async()":
                "Each lane fences what it has stored to the stage. That is right.",
            "tensor_map_replace_address(":
                "This changes the copy in shared memory, which no store uses.",
            "tensor_map_copy_release(":
                "This change comes while a store still reads the map. Which line should have kept "
                "it back?",
            "fence_tensor_map_acquire(": "The changed map is acquired before its use. That is right.",
            "bulk_commit_group()": "Each store is a group of its own. That is right.",
            "    bulk_wait_group(0);": "It waits for all stores before the end. That is right.",
        },
    },
    "41_operand_by_threads": {
        "not": {
            "issue_product(":
                "This read is the one that is not ordered. A thread's fence covers what it has "
                "written itself, so it comes before the barrier.",
            "for (int i = threadIdx.x":
                "Before the loop nothing has been written.",
        },
        "early": {
            "st_shared_b128(&shared->b[BOX_CHUNK(i)]\n}":
                "In the loop it would help, too, once for every chunk. Once after the loop is enough.",
        },
    },
    "42_in_one_step": {
        "not": {
            "st_shared_b128(&shared->part[i]": "Each lane fills places of its own.",
            "const struct b128 other":
                "The barrier at the end of the step orders this read after the writes of the step "
                "before. What of the writes of this step?",
        },
        "early": {
            "struct b128 sum": "It would help, too: no other lane writes this lane's place.",
            "for (int i = 0; i < 4": "It would help, too. It may come after the addition as well.",
        },
    },
    "43_map_from_the_host": {
        "not": {
            "mbarrier_wait(": "It waits for the load, which has used the map by then.",
            "tma_store(": "This map is in the kernel's parameter, where it needs nothing.",
        },
        "early": {
            "if (threadIdx.x != 0) return":
                "It would help, too, but all threads would call it. One is enough.",
            "mbarrier_init(": "It would help, too. It may come later.",
            "fence_mbarrier_init(": "It would help, too. It may come later.",
            "mbarrier_arrive_expect_tx(": "It would help, too. It may come later.",
        },
    },
}
