/* operands.c: the parts of shared memory and the registers that a wgmma reads. */
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/shared_memory.h"
#include "sim/models/fragments.h"
#include "sim/order/shadow.h"
#include "sim/units/wgmma/state.h"

/* The offset of 16 bytes of an operand in shared memory. */
static size_t chunk_at(const struct sim_cta *cta, const struct descriptor *d,
                       const struct wgmma_call *call, char operand, int line, int chunk) {
    const uint32_t address = descriptor_chunk(d, wgmma_mn_major(call, operand), line, chunk);
    if (address < SHARED_BASE || address + CHUNK > SHARED_BASE + cta->shared_bytes)
        sim_fatal(
            "shared-bounds", sim_thread(),
            "the descriptor of %c points outside the CTA's shared memory: line %d, chunk %d is "
            "at 0x%x\n"
            "    start 0x%x, LBO %u, SBO %u, swizzle %u B; shared memory is 0x%x to 0x%zx\n"
            "    Check the descriptor's strides, and what is added to its start.",
            operand, line, chunk, address, d->start, d->lbo, d->sbo,
            d->swizzle ? swizzle_width(d->swizzle) : 0, SHARED_BASE,
            SHARED_BASE + cta->shared_bytes);
    return address - SHARED_BASE;
}

/* Bytes that lie together are one access of each of the warps. */
struct reading {
    struct wgmma_state *state;
    int first_warp, warps;
    size_t begin, end;
};

static void note_read(const struct reading *reading) {
    struct wgmma_state *const state = reading->state;
    for (int w = reading->first_warp; w < reading->first_warp + reading->warps; ++w)
        sim_shadow_async_warp(state->warpgroup->warp[w], reading->begin,
                              reading->end - reading->begin, SIM_READ, state->slot[w],
                              state->committed + 1);
}

/* The warps read these lines and chunks of an operand, line by line: its shadow is larger than a
 * cache. */
static void note_reads(struct reading reading, const struct descriptor *d,
                       const struct wgmma_call *call, char operand, int first_line, int lines,
                       int first_chunk, int chunks) {
    const struct sim_cta *const cta = reading.state->warpgroup->cta;
    for (int line = first_line; line < first_line + lines; ++line) {
        reading.begin = reading.end = 0;
        for (int chunk = first_chunk; chunk < first_chunk + chunks; ++chunk) {
            const size_t at = chunk_at(cta, d, call, operand, line, chunk);
            if (reading.end > reading.begin && at == reading.end)
                reading.end += CHUNK;
            else if (reading.end > reading.begin && at + CHUNK == reading.begin)
                reading.begin = at;
            else {
                if (reading.end > reading.begin) note_read(&reading);
                reading.begin = at;
                reading.end = at + CHUNK;
            }
        }
        if (reading.end > reading.begin) note_read(&reading);
    }
}

/* Chunks are of 16 bytes: 8 elements, 16 of 8 bits, or 4 tf32, so that the K-major lines of an
 * instruction have two of them for every type.
 *
 * Every warp reads its 16 rows of A and all of B, and each of its lanes must be ordered after what
 * was written there. */
void wgmma_note_operands(struct wgmma_state *state, const struct wgmma_call *call,
                         const struct descriptor *a, const struct descriptor *b) {
    for (int w = 0; w < WARPGROUP_WARPS && !call->a_registers; ++w) {
        const struct reading own = {.state = state, .first_warp = w, .warps = 1};
        const int rows = FRAGMENT_WARP_ROWS, first = w * rows;
        if (wgmma_mn_major(call, 'A'))
            note_reads(own, a, call, 'A', 0, WGMMA_K, first / 8, rows / 8);
        else
            note_reads(own, a, call, 'A', first, rows, 0, WGMMA_K / 8);
    }
    const struct reading all = {.state = state, .first_warp = 0, .warps = WARPGROUP_WARPS};
    if (wgmma_mn_major(call, 'B'))
        note_reads(all, b, call, 'B', 0, WGMMA_K, 0, call->n / 8);
    else
        note_reads(all, b, call, 'B', 0, call->n, 0, WGMMA_K / 8);
}

static void fetch(const struct wgmma_operation *op, const struct descriptor *d, char operand,
                  int extent, struct wgmma_operand *out) {
    const struct sim_cta *const cta = op->state->warpgroup->cta;
    const bool mn_major = wgmma_mn_major(&op->call, operand);
    const int lines = mn_major ? WGMMA_K : extent, chunks = (mn_major ? extent : WGMMA_K) / 8;
    for (int line = 0; line < lines; ++line)
        for (int chunk = 0; chunk < chunks; ++chunk)
            wgmma_operand_chunk(out, mn_major, line, chunk,
                                cta->shared + chunk_at(cta, d, &op->call, operand, line, chunk),
                                op->call.type);
}

static void fetch_bytes(const struct wgmma_operation *op, struct wgmma_operand *out) {
    for (int t = 0; t < WARPGROUP_SIZE; ++t)
        for (int i = 0; i < A_REGISTERS; ++i)
            for (int byte = 0; byte < 4; ++byte) {
                const struct fragment_position at = fragment_of_a8(t, i, byte);
                out->bits[at.column][at.row] = (uint8_t)(op->a_values[t][i] >> 8 * byte);
            }
}

static void fetch_registers(const struct wgmma_operation *op, struct wgmma_operand *out) {
    for (int t = 0; t < WARPGROUP_SIZE; ++t)
        for (int i = 0; i < A_REGISTERS; ++i)
            for (int half = 0; half < 2; ++half) {
                const struct fragment_position at = fragment_of_a(t, i, half);
                out->bits[at.column][at.row] = (uint16_t)(op->a_values[t][i] >> 16 * half);
            }
}

static void fetch_words(const struct wgmma_operation *op, struct wgmma_operand *out) {
    for (int t = 0; t < WARPGROUP_SIZE; ++t)
        for (int i = 0; i < A_REGISTERS; ++i) {
            const struct fragment_position at = fragment_of_a32(t, i);
            out->bits[at.column][at.row] = (uint16_t)(op->a_values[t][i] >> 16);
            out->bits[8 + at.column][at.row] = (uint16_t)op->a_values[t][i];
        }
}

static void negate(struct wgmma_operand *operand, int extent, enum tensor_type type) {
    const int k = tensor_k(type);
    const uint16_t sign = k == TENSOR_MAX_K ? 0x80 : 0x8000;
    for (int i = 0; i < k; ++i)
        for (int line = 0; line < extent; ++line)
            operand->bits[i][line] ^= sign;
}

void wgmma_fetch_operands(const struct wgmma_operation *op, struct wgmma_operand *a,
                          struct wgmma_operand *b) {
    if (op->call.a_registers && op->call.type == TENSOR_TF32)
        fetch_words(op, a);
    else if (op->call.a_registers && tensor_k(op->call.type) == TENSOR_MAX_K)
        fetch_bytes(op, a);
    else if (op->call.a_registers)
        fetch_registers(op, a);
    else
        fetch(op, &op->a, 'A', WGMMA_M, a);
    fetch(op, &op->b, 'B', op->call.n, b);
    if (op->call.negative) negate(b, op->call.n, wgmma_type_of_b(&op->call));
}
