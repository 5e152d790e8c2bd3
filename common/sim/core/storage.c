/*
 * storage.c: the memory of a resident cluster: its threads, its shared memory with the shadow, and
 * an arena for everything that lives as long as it does. Clusters that have retired are used again
 * by the launch.
 */
#include "sim/core/storage.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/fiber.h"
#include "sim/core/hooks.h"
#include "sim/core/host_memory.h"
#include "sim/core/shared_memory.h"

struct sim_arena_block {
    struct sim_arena_block *next;
    size_t used, room;
    unsigned char bytes[] __attribute__((aligned(64)));
};

void *sim_arena_alloc(struct sim_cluster *cluster, size_t bytes) {
    enum { BLOCK_BYTES = 256 << 10 };
    bytes = (bytes + 63) & ~(size_t)63;
    struct sim_arena_block *block = cluster->arena;
    if (!block || block->room - block->used < bytes) {
        size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        block = host_aligned(64, sizeof *block + room, "the simulation of a cluster");
        block->used = 0;
        block->room = room;
        block->next = cluster->arena;
        cluster->arena = block;
    }
    void *memory = block->bytes + block->used;
    block->used += bytes;
    return memset(memory, 0, bytes);
}

/* Keeps one block of the usual size for the next cluster. */
void storage_clear(struct sim_cluster *cluster) {
    while (cluster->arena && cluster->arena->next) {
        struct sim_arena_block *block = cluster->arena;
        cluster->arena = block->next;
        free(block);
    }
    if (cluster->arena) cluster->arena->used = 0;
}

static void *zeroed(size_t count, size_t size) { return host_zeroed(count, size, "a CTA"); }

/* The 18 bits of an address that a descriptor of wgmma has are the same of a generic address and of
 * one in the shared window, as on the GPU: ThunderKittens makes descriptors of generic ones. */
enum { DESCRIPTOR_ADDRESSES = 1 << 18 };

static unsigned char *shared_new(size_t bytes) {
    const size_t rounded =
        (SHARED_BASE + bytes + DESCRIPTOR_ADDRESSES) & ~((size_t)DESCRIPTOR_ADDRESSES - 1);
    unsigned char *const window =
        host_aligned(DESCRIPTOR_ADDRESSES, rounded, "the shared memory of a CTA");
    return window + SHARED_BASE;
}

static void shared_free(unsigned char *shared) { free(shared - SHARED_BASE); }

struct sim_cluster *storage_new(const struct gemm_launch *launch) {
    struct sim_cluster *cluster = zeroed(1, sizeof *cluster);
    cluster->ctas = launch->cluster;
    cluster->cta = zeroed(launch->cluster, sizeof *cluster->cta);
    cluster->slot_capacity = 2 * launch->cluster * launch->threads + 64;
    cluster->slot = zeroed(cluster->slot_capacity, sizeof *cluster->slot);
    for (int rank = 0; rank < cluster->ctas; ++rank) {
        struct sim_cta *cta = &cluster->cta[rank];
        cta->cluster = cluster;
        cta->rank = rank;
        cta->threads = launch->threads;
        cta->warps = (launch->threads + WARP_SIZE - 1) / WARP_SIZE;
        cta->warpgroups = (launch->threads + WARPGROUP_SIZE - 1) / WARPGROUP_SIZE;
        cta->thread = zeroed(cta->threads, sizeof *cta->thread);
        cta->warp = zeroed(cta->warps, sizeof *cta->warp);
        cta->warpgroup = zeroed(cta->warpgroups, sizeof *cta->warpgroup);
        cta->shared_bytes = (launch->smem_bytes + 15) & ~(size_t)15;
        cta->shared = shared_new(cta->shared_bytes);
        sim_hooks.cta_made(cta);
    }
    return cluster;
}

void storage_free(struct sim_cluster *cluster) {
    for (int rank = 0; rank < cluster->ctas; ++rank) {
        struct sim_cta *cta = &cluster->cta[rank];
        for (int i = 0; i < cta->threads; ++i)
            if (cta->thread[i].fiber) fiber_free(cta->thread[i].fiber);
        sim_hooks.cta_freed(cta);
        shared_free(cta->shared);
        free(cta->warpgroup);
        free(cta->warp);
        free(cta->thread);
    }
    storage_clear(cluster);
    free(cluster->arena);
    free(cluster->slot);
    free(cluster->cta);
    free(cluster);
}
