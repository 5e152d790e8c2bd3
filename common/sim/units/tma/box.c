/* box.c: the checks that a TMA instruction has to pass when it is issued. */
#include "sim/units/tma/box.h"

#include "hopper/tma.h"
#include "sim/core/doubt.h"
#include "sim/core/global_memory.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/models/descriptor.h"
#include "sim/order/prerequisites.h"

/* The hardware takes a box anywhere on 128 bytes, but permutes by absolute address: the reader's
 * formula fits only where the pattern starts with the box. */
void tma_check_alignment(const struct tensor_map_fields *f, struct sim_shared_pointer pointer,
                         const char *operation) {
    const uint32_t period = swizzle_period(f->swizzle);
    char where[96];
    if (!doubtful_rules || f->swizzle == SWIZZLE_NONE ||
        sim_shared_pointer_address(pointer) % period == 0)
        return;
    doubt_in_next_report(DOUBT_MISALIGNED_SWIZZLE);
    sim_hazard(
        "misaligned-swizzle", sim_thread(),
        "%s: %s is not a multiple of %u bytes, so the %u B swizzle's pattern starts in the middle\n"
        "    align the buffer (and every stage of it) to %u bytes",
        operation, sim_where(pointer.cta, pointer.offset, where, sizeof where), period,
        swizzle_width(f->swizzle), period);
}

/* The swizzle moves chunks within 128 bytes, so only the last, incomplete line of a box can have
 * chunks that lie behind its end. */
struct sim_shared_pointer tma_box_pointer(const struct tensor_map_fields *f, const void *shared) {
    const uint32_t width = swizzle_width(f->swizzle), bytes = tensor_map_box_bytes(f);
    return sim_shared_at(shared, (bytes + width - 1) / width * width, TMA_ALIGNMENT);
}

void tma_box_pieces(const struct tensor_map_fields *f, struct sim_shared_pointer pointer,
                    void (*piece)(void *object, struct sim_shared_pointer pointer, size_t bytes),
                    void *object) {
    enum { LINE = 128 };
    const uint32_t bytes = tensor_map_box_bytes(f), address = sim_shared_pointer_address(pointer);
    const uint32_t whole = f->swizzle == SWIZZLE_NONE ? bytes : bytes / LINE * LINE;
    if (whole) piece(object, pointer, whole);
    for (uint32_t at = whole; at < bytes; at += TMA_CHUNK) {
        const uint32_t to = swizzle_address(address + at, f->swizzle) - address;
        piece(object,
              (struct sim_shared_pointer){pointer.cta, pointer.offset + to, pointer.host + to},
              TMA_CHUNK);
    }
}

void tma_box_stored_pieces(
    const struct tensor_map_fields *f, struct sim_shared_pointer pointer, int row, int column,
    void (*piece)(void *object, struct sim_shared_pointer pointer, size_t bytes), void *object) {
    struct tensor_map_fields inside = *f; /* the box's rows that are in the matrix */
    const uint32_t address = sim_shared_pointer_address(pointer);
    const struct box_row first = tensor_map_store_row(f, row, column, 0);
    if (row + inside.box_rows > f->rows) inside.box_rows = (int)(f->rows - row);
    if (first.last == f->box_columns && !tensor_map_outer(f)) {
        tma_box_pieces(&inside, pointer, piece, object);
        return;
    }
    for (int r = 0; r < tensor_map_box_lines(f); ++r) {
        const struct box_row in = tensor_map_store_row(f, row, column, r);
        for (int c = in.first; c < in.last; c += TMA_CHUNK / f->element_bytes) {
            const uint32_t to = tensor_map_box_offset(f, address, r, c);
            piece(object,
                  (struct sim_shared_pointer){pointer.cta, pointer.offset + to, pointer.host + to},
                  TMA_CHUNK);
        }
    }
}

/* The GPU answers another column with "illegal instruction", and names none. */
static void check_column(const struct tensor_map_fields *f, int column) {
    if ((int64_t)column * f->element_bytes % TMA_CHUNK)
        sim_fatal("tma-coordinate", sim_thread(),
                  "column %d is %lld bytes into the row: a box has to begin at a multiple of %d "
                  "bytes, which is %d elements.\n"
                  "    round the column down, and skip in shared memory what precedes it.",
                  column, (long long)column * f->element_bytes, TMA_CHUNK,
                  TMA_CHUNK / f->element_bytes);
}

/* And so it does where a store, but not a load, begins before the matrix. */
static void check_store(const struct tensor_map_fields *f, int row, int column) {
    bool before = row < 0 || column < 0;
    for (int i = 0; i < tensor_map_outer(f); ++i)
        before |= f->outer_at[i] < 0;
    if (before)
        sim_fatal("tma-coordinate", sim_thread(),
                  "a TMA store begins at row %d, column %d, before the matrix.\n"
                  "    skip it, or let its map begin earlier; only loads fill in what lies there.",
                  row, column);
}

/* What is beyond the extents the TMA leaves out: so the map is wrong. */
static const struct tensor_map_fields *checked;
static void outside(const void *pointer, size_t bytes, enum sim_access access) {
    char base[96], where[96];
    const struct tensor_map_fields *const f = checked;
    sim_hazard(
        "global-bounds", NULL,
        "the TMA %s %zu bytes at %s, outside of it, although they are inside its map: the "
        "map begins\n    at %s and has %lld rows of %lld columns, %lld bytes from row to "
        "row.\n    The TMA itself leaves out what is beyond a map's extents, so the extents, "
        "the pitch or the address of\n    the map are wrong.",
        access == SIM_READ ? "reads" : "writes", bytes, global_where(pointer, where, sizeof where),
        global_where(f->base, base, sizeof base), (long long)f->rows, (long long)f->columns,
        (long long)f->pitch);
}

static bool check_rows(const struct tensor_map_fields *f, int row, int column,
                       enum sim_access access) {
    for (int r = 0; r < tensor_map_box_lines(f); ++r) {
        const struct box_row in = access == SIM_WRITE ? tensor_map_store_row(f, row, column, r)
                                                      : tensor_map_box_row(f, row, column, r);
        const size_t bytes = (size_t)(in.last - in.first) * (size_t)f->element_bytes;
        if (bytes && !sim_global_check(in.global, bytes, access)) return false;
        if (bytes) prerequisites_check(in.global, bytes, access, false);
    }
    return true;
}

/* Every row of the box that meets the matrix must lie in an allocation. */
bool tma_check_global(const struct tensor_map_fields *f, int row, int column,
                      enum sim_access access) {
    check_column(f, column);
    if (access == SIM_WRITE) check_store(f, row, column);
    checked = f;
    global_outside = outside;
    const bool right = check_rows(f, row, column, access);
    global_outside = NULL;
    return right;
}
