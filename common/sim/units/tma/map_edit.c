/*
 * map_edit.c: tensor maps that a kernel changes: fields replaced in shared memory, the copy
 * to global memory, and the fences of the tensormap proxy.
 */
#include "hopper/tensormap.h"

#include <stdio.h>
#include <string.h>

#include "sim/core/collective.h"
#include "sim/core/global_memory.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/shared_memory.h"
#include "sim/core/storage.h"
#include "sim/cost/timing_model.h"
#include "sim/models/tensor_map.h"
#include "sim/order/clock.h"
#include "sim/order/global_shadow.h"
#include "sim/order/map_order.h"
#include "sim/order/prerequisites.h"
#include "sim/order/shadow.h"
#include "sim/units/poll.h"
#include "sim/units/tma/map.h"

enum { MAP_BYTES = sizeof(struct tensor_map), LANE_BYTES = MAP_BYTES / WARP_SIZE };

/* ---- which edits have been copied ---- */

/* A map in global memory, and the shared memory that it was copied from. */
struct copied {
    const struct tensor_map *to;
    int cta; /* index */
    size_t offset;
    uint16_t copied, edited; /* at which line; edited: since then, the first time */
    bool is_edited;
};

enum { COPIED = 256 };
static struct copied copied_maps[COPIED]; /* by the map's address; the newest takes the place */

static struct copied *copied_at(const struct tensor_map *to) {
    return &copied_maps[(uintptr_t)to / MAP_BYTES % COPIED];
}

static const char *say_edited(const void *map) {
    static char text[512];
    const struct copied *const c = copied_at(map);
    const char *file[2];
    char where[96];
    int line[2];
    if (c->to != map || !c->is_edited) return NULL;
    source_site_of(c->copied, &file[0], &line[0]);
    source_site_of(c->edited, &file[1], &line[1]);
    snprintf(text, sizeof text,
             "The map in use, at %s, was copied there at %s:%d. The map in shared memory has been "
             "edited since then,\n    at %s:%d, and not been copied again: has the edit come too "
             "late, or is a copy missing?",
             global_where(map, where, sizeof where), file[0], line[0], file[1], line[1]);
    return text;
}

/* In a launch the first edit or copy forgets those of the launch before. */
static void begin_story(void) {
    if (tma_map_story) return;
    memset(copied_maps, 0, sizeof copied_maps);
    tma_map_story = say_edited;
}

static uint16_t here(void) {
    const struct sim_self *const self = &sim_thread()->self;
    return source_site(self->file, self->line);
}

static void note_edit(const struct sim_shared_pointer *at) {
    begin_story();
    for (int i = 0; i < COPIED; ++i) {
        struct copied *const c = &copied_maps[i];
        if (!c->to || c->cta != at->cta->index || c->offset != at->offset || c->is_edited) continue;
        c->is_edited = true;
        c->edited = here();
    }
}

static void note_copy(const struct tensor_map *to, const struct sim_shared_pointer *from) {
    begin_story();
    *copied_at(to) = (struct copied){to, from->cta->index, from->offset, here(), 0, false};
}

/* ---- replacing a field ---- */

static void unsupported(const char *field, uint64_t value, const char *has) {
    sim_fatal("unsupported", NULL, "tensormap.replace, %s %llu: the simulator has %s", field,
              (unsigned long long)value, has);
}

static void replace_type(struct tensor_map_fields *f, uint64_t value) {
    /* u8, u16, u32, s32, u64, s64, f16, f32, f32.ftz, f64, bf16, tf32, tf32.ftz */
    static const unsigned char bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4},
                               whole[] = {1, 1, 1, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0};
    if (value >= sizeof bytes) unsupported("elemtype", value, "0 to 12");
    f->element_bytes = bytes[value];
    f->whole = whole[value];
    f->type = value == TENSOR_MAP_BF16 ? GEMM_BF16
              : bytes[value] == 1      ? GEMM_E4M3
              : bytes[value] == 2      ? GEMM_FP16
                                       : GEMM_FP32;
}

static void replace(struct tensor_map_fields *f, enum sim_map_field field, int ordinal,
                    uint64_t value) {
    const int extent = value > INT32_MAX ? -1 : (int)value; /* -1: of no use, as the TMA will say */
    const int outer = ordinal - 2;
    if (outer >= TENSOR_MAP_OUTER) unsupported("dimension", (uint64_t)ordinal, "dimensions 0 to 4");
    switch (field) {
    case MAP_ADDRESS:
        f->base = (const unsigned char *)(uintptr_t)value;
        break;
    case MAP_DIM:
        if (outer >= 0)
            f->outer_extent[outer] = (uint32_t)value;
        else
            *(ordinal ? &f->rows : &f->columns) = (int64_t)(uint32_t)value;
        break;
    case MAP_PITCH:
        *(ordinal ? &f->outer_pitch[ordinal - 1] : &f->pitch) = (int64_t)value;
        break;
    case MAP_BOX:
        if (outer >= 0)
            f->outer_box[outer] = extent < 0 || extent > UINT16_MAX ? 0 : (uint16_t)extent;
        else
            *(ordinal ? &f->box_rows : &f->box_columns) = extent;
        break;
    case MAP_ELEMENT_STRIDE:
        if (value != 1) unsupported("element_stride", value, "1");
        break;
    case MAP_RANK:
        if (value < 2 || value > TENSOR_MAP_MAX_RANK)
            unsupported("rank", value, "two to five dimensions");
        f->rank = (int)value;
        break;
    case MAP_TYPE:
        replace_type(f, value);
        break;
    case MAP_INTERLEAVE:
        if (value) unsupported("interleave_layout", value, "0");
        break;
    case MAP_SWIZZLE:
        f->swizzle = (enum gemm_swizzle)value;
        break;
    case MAP_FILL:
        if (value) unsupported("fill_mode", value, "0");
        break;
    }
}

static void edit(struct tensor_map *map, enum sim_map_field field, int ordinal, uint64_t value) {
    static const struct tensor_map zeros;
    struct tensor_map_fields fields = {0};
    if (memcmp(map, &zeros, MAP_BYTES) != 0 && !tensor_map_decode(map, &fields))
        sim_fatal("tensor-map", sim_thread(),
                  "tensormap.replace: what lies there is no tensor map\n"
                  "    copy the whole of one there first, or zeros and replace every field");
    replace(&fields, field, ordinal, value);
    tensor_map_write(map, &fields);
    sim_advance(TENSOR_MAP_REPLACE_CYCLES);
}

void sim_tensor_map_replace(struct tensor_map *map, enum sim_map_field field, int ordinal,
                            uint64_t value) {
    struct sim_thread *const thread = sim_thread();
    const struct sim_shared_pointer at = sim_shared_at(map, MAP_BYTES, MAP_BYTES);
    sim_shadow_generic(thread, at.cta, at.offset, MAP_BYTES, SIM_READ);
    sim_shadow_generic(thread, at.cta, at.offset, MAP_BYTES, SIM_WRITE);
    edit(map, field, ordinal, value);
    note_edit(&at);
    sim_progress();
}

void sim_tensor_map_replace_global(struct tensor_map *map, enum sim_map_field field, int ordinal,
                                   uint64_t value) {
    struct sim_thread *const thread = sim_thread();
    if ((uintptr_t)map % MAP_BYTES)
        sim_fatal("misaligned", NULL, "global address %p is not a multiple of %d",
                  (const void *)map, MAP_BYTES);
    prerequisites_check(map, MAP_BYTES, SIM_WRITE, false);
    if (!sim_global_check(map, MAP_BYTES, SIM_WRITE)) return;
    sim_global_generic(thread, map, MAP_BYTES, SIM_READ);
    sim_global_generic(thread, map, MAP_BYTES, SIM_WRITE);
    edit(map, field, ordinal, value);
    poll_written();
}

/* ---- the copy ---- */

struct copy {
    struct tensor_map *to;
    const struct tensor_map *from;
    enum sim_scope scope;
};

/* What a warp reads and writes together is one actor's: all its lanes know of it, and none of them
 * more of the others than before. */
struct map_copier {
    int slot;
    uint32_t epoch;
};

static struct map_copier *copier_of(struct sim_warp *warp) {
    struct sim_cluster *const cluster = warp->cta->cluster;
    if (warp->map_copier) return warp->map_copier;
    warp->map_copier = sim_arena_alloc(cluster, sizeof *warp->map_copier);
    warp->map_copier->slot = sim_slot_new(cluster, "tensormap.cp_fenceproxy", false, NULL);
    return warp->map_copier;
}

/* Each lane has to be ordered after the edits, and after the last uses of the old map. */
static bool copy_map(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    struct map_copier *const copier = copier_of(warp);
    const struct copy *const copy = operand[sim_thread()->lane];
    const struct sim_shared_pointer from = sim_shared_at(copy->from, MAP_BYTES, MAP_BYTES);
    ++copier->epoch;
    sim_shadow_async_warp(warp, from.offset, MAP_BYTES, SIM_READ, copier->slot, copier->epoch);
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct copy *const own = operand[lane];
        struct sim_thread *const thread = warp->thread[lane];
        if (own->to != copy->to || own->from != copy->from || own->scope != copy->scope)
            sim_fatal("diverged-warp", thread,
                      "tensor_map_copy_release: the lanes of the warp name different maps");
        sim_global_write_by(thread, (char *)copy->to + lane * LANE_BYTES, LANE_BYTES, copier->slot,
                            copier->epoch);
    }
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        sim_acquire_slot(warp->thread[lane], copier->slot, copier->epoch);
    *copy->to = *copy->from;
    note_copy(copy->to, &from);
    map_order_release_copy(sim_thread(), copy->to, copier->slot, copier->epoch, copy->scope);
    poll_written();
    return true;
}

void sim_tensor_map_copy_release(struct tensor_map *global, const struct tensor_map *map,
                                 enum scope scope) {
    struct copy copy = {global, map, (enum sim_scope)scope};
    (void)sim_shared_at(map, MAP_BYTES, MAP_BYTES);
    if ((uintptr_t)global % MAP_BYTES)
        sim_fatal("misaligned", NULL, "global address %p is not a multiple of %d",
                  (const void *)global, MAP_BYTES);
    prerequisites_check(global, MAP_BYTES, SIM_WRITE, false);
    if (!sim_global_check(global, MAP_BYTES, SIM_WRITE)) return;
    sim_warp_collective("tensormap.cp_fenceproxy", &copy, copy_map);
    sim_advance(TENSOR_MAP_COPY_CYCLES);
    sim_maybe_yield();
}

/* ---- fences ---- */

void sim_fence_tensor_map_release(enum scope scope) {
    map_order_release(sim_thread(), (enum sim_scope)scope);
    sim_advance(scope > SCOPE_CTA ? L2_LATENCY : FENCE_CYCLES);
    sim_maybe_yield();
}

void sim_fence_tensor_map_acquire(const struct tensor_map *map, enum scope scope) {
    struct sim_thread *const thread = sim_thread();
    if ((uintptr_t)map % MAP_BYTES)
        sim_fatal("misaligned", NULL, "global address %p is not a multiple of %d",
                  (const void *)map, MAP_BYTES);
    if (!sim_global_check(map, MAP_BYTES, SIM_READ)) return;
    map_order_acquire(thread, map, (enum sim_scope)scope);
    tma_map_forget(thread->cta->sm, map);
    sim_advance(TENSOR_MAP_ACQUIRE_CYCLES);
    sim_maybe_yield();
}
