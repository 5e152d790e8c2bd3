/*
 * map.c: where a tensor map lies, which of its bytes the TMA sees, and when.
 *
 * An SM keeps the maps that it has read from global memory, by address. Nothing but an acquire of
 * the tensormap proxy makes it read them again. Whether it does so by itself is the schedule's
 * choice: under `early` it always has, under `late` and `time` never. Maps in parameters cannot
 * change and are read where they lie.
 */
#include "sim/units/tma/map.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/global_memory.h"
#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/state.h"
#include "sim/cost/timing_model.h"
#include "sim/order/global_shadow.h"
#include "sim/order/map_order.h"
#include "sim/order/prerequisites.h"

const char *(*tma_map_story)(const void *map);

/* ---- what SMs have read ---- */

struct kept {
    struct kept *next;
    int sm;
    const struct tensor_map *map;
    struct tensor_map bytes;
};

enum { BUCKETS = 1024 };
static struct kept *kept[BUCKETS];

static struct kept **bucket_of(int sm, const struct tensor_map *map) {
    struct kept **link = &kept[((uintptr_t)map / sizeof *map + (unsigned)sm * 31u) % BUCKETS];
    while (*link && ((*link)->sm != sm || (*link)->map != map))
        link = &(*link)->next;
    return link;
}

void tma_map_forget(int sm, const struct tensor_map *map) {
    struct kept **const link = bucket_of(sm, map), *const old = *link;
    if (!old) return;
    *link = old->next;
    free(old);
}

void tma_maps_launch_begins(void) {
    tma_map_story = NULL;
    for (int i = 0; i < BUCKETS; ++i)
        while (kept[i])
            tma_map_forget(kept[i]->sm, kept[i]->map);
}

/* The map as this SM sees it; *fetched: it had to be read. */
static const struct tensor_map *seen_by(int sm, const struct tensor_map *map, bool *fetched) {
    struct kept **const link = bucket_of(sm, map);
    *fetched = !*link;
    if (*fetched) {
        *link = host_aligned(128, (sizeof **link + 127) & ~(size_t)127, "a tensor map");
        **link = (struct kept){.sm = sm, .map = map};
    }
    if (*fetched || sim.schedule == SCHEDULE_EARLY || sim_chance(2)) (*link)->bytes = *map;
    return &(*link)->bytes;
}

/* ---- where it lies ---- */

static bool is_parameter(const struct tensor_map *map) {
    const uintptr_t at = (uintptr_t)map, arguments = (uintptr_t)sim_self->arguments;
    return arguments <= at && at < arguments + sim.args_bytes;
}

/* Between this function's frame and the kernel's parameter there are variables of the thread. A
 * tensor map there is a copy; nvcc would put it into local memory, which the TMA cannot read. */
static bool is_local(const struct tensor_map *map) {
    const uintptr_t at = (uintptr_t)map, here = (uintptr_t)__builtin_frame_address(0);
    return here < at && at < (uintptr_t)sim_self->parameters;
}

static bool is_shared(const struct tensor_map *map) {
    const struct sim_cta *const cta = sim_thread()->cta;
    return (uintptr_t)map - (uintptr_t)cta->shared < cta->shared_bytes;
}

static bool is_global(const struct tensor_map *map) {
    size_t offset, bytes;
    return global_cells_of(map, &offset, &bytes) && offset + sizeof *map <= bytes;
}

/* `bytes` are what the TMA sees of it. */
static void decode(const struct tensor_map *map, const struct tensor_map *bytes,
                   struct tensor_map_fields *fields, const char *operation) {
    if (!tensor_map_decode(bytes, fields)) {
        char why[360] = "is it one of the kernel's arguments, and did the launch function fill it "
                        "in?";
        (void)map_order_half_written(sim_thread(), map, why, sizeof why);
        sim_fatal("tensor-map", sim_thread(),
                  "%s: the tensor map is not one that gemm_tensor_map() made, or was overwritten\n"
                  "    %s",
                  operation, why);
    }
    const char *const fault = tensor_map_fault(fields);
    if (fault)
        sim_fatal("tensor-map", sim_thread(),
                  "%s: the tensor map was changed to one that the TMA cannot use\n    %s",
                  operation, fault);
}

/* Is it in global memory? Ends the launch if it is where the TMA cannot read it. */
static bool check_memory(const struct tensor_map *map, const char *operation) {
    const struct sim_thread *const thread = sim_thread();
    const bool parameter = is_parameter(map);
    if (!parameter && is_local(map))
        sim_fatal(
            "tensor-map-copy", thread,
            "%s: the tensor map is a copy among the thread's variables\n"
            "    the TMA reads it from parameter, constant or global memory: pass the address "
            "of the kernel's own argument",
            operation);
    if (!parameter && is_shared(map))
        sim_fatal(
            "tensor-map-copy", thread,
            "%s: the tensor map lies in shared memory, where it can be edited but not used\n"
            "    copy it to global memory with tensor_map_copy_release(), and acquire it there",
            operation);
    if ((uintptr_t)map % 64)
        sim_fatal("tensor-map", thread, "%s: the tensor map is not 64-byte aligned", operation);
    return !parameter && is_global(map);
}

struct tma_map tma_map_of(const struct tensor_map *map, const char *operation) {
    struct tma_map result = {.global = NULL};
    struct sim_thread *const thread = sim_thread();
    bool fetched;
    if (!check_memory(map, operation)) {
        decode(map, map, &result.fields, operation);
        return result;
    }
    prerequisites_check(map, sizeof *map, SIM_READ, false);
    map_order_use(thread, map, operation);
    if (sim_global_check(map, sizeof *map, SIM_READ) == GLOBAL_WRITABLE) result.global = map;
    decode(map, seen_by(thread->cta->sm, map, &fetched), &result.fields, operation);
    result.fetch = fetched ? TENSOR_MAP_FETCH_CYCLES : 0;
    result.late = fetched && (sim.schedule == SCHEDULE_LATE || sim_chance(2));
    return result;
}

void tma_map_prefetch(const struct tensor_map *map) {
    struct tensor_map_fields fields;
    bool fetched;
    const bool global = check_memory(map, "TMA prefetch");
    decode(map, global ? seen_by(sim_thread()->cta->sm, map, &fetched) : map, &fields,
           "TMA prefetch");
}

void tma_map_note_read(const struct tma_map *map, int slot, uint32_t epoch) {
    if (map->global)
        sim_global_async(sim_thread(), map->global, sizeof *map->global, GLOBAL_TMA_MAP, slot,
                         epoch);
}

/* Does all of the box lie in memory? No thread runs that a report could name. */
void tma_map_read(struct tma_map *map) {
    struct tensor_map_fields now;
    if (!map->global || !map->late || !tensor_map_decode(map->global, &now)) return;
    size_t offset, bytes;
    const unsigned char *const last = now.base + (now.rows - 1) * now.pitch;
    if (tensor_map_fault(&now) || tensor_map_outer(&now) || tensor_map_outer(&map->fields) ||
        now.box_rows != map->fields.box_rows || now.box_columns != map->fields.box_columns ||
        now.element_bytes != map->fields.element_bytes ||
        !global_cells_of(now.base, &offset, &bytes) ||
        (size_t)(last - now.base) + (size_t)(now.columns * now.element_bytes) > bytes - offset)
        return;
    memcpy(now.outer_at, map->fields.outer_at, sizeof now.outer_at);
    map->fields = now;
}
