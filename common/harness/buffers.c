#include "harness/buffers.h"

#include <stdlib.h>
#include <string.h>

#include "harness/allocate.h"
#include "harness/message.h"
#include "harness/verify.h"

enum {
    GUARD = 1024,  /* elements: 2 KB */
    ALIGN = 128,   /* elements: 256 bytes, as backend_alloc aligns */
    MAX_SETS = 256 /* for problems so small that their launch, not the cache, decides */
};

static int64_t slab_total(int64_t elements, int sets, int64_t guard, int64_t *stride) {
    *stride = sets == 1 && guard == 0 ? elements : (elements + ALIGN - 1) / ALIGN * ALIGN + guard;
    return guard + *stride * (sets - 1) + elements + guard;
}

int buffers_sets(const struct operands *o, const struct backend_info *device, int outputs) {
    const double operands = (double)operand_bytes(o, 'A') + (double)operand_bytes(o, 'B');
    const double output_bytes = 2.0 * (double)o->d_rows * o->ldd;
    if (device->l2_bytes == 0) return 1;
    int sets = (int)(2.0 * device->l2_bytes / (operands + output_bytes)) + 1;
    /* All contenders' outputs together should leave memory for others. */
    const double room = device->memory_bytes / 2.0 / (operands + outputs * output_bytes);
    if (sets > room) sets = (int)room;
    if (sets > MAX_SETS) sets = MAX_SETS;
    return sets < 1 ? 1 : sets;
}

bool slab_alloc(struct slab *slab, const struct buffers *buffers, int gpu, int64_t elements,
                const char *label, bool writable) {
    slab->elements = slab->piece = elements;
    slab->pieces = 1;
    slab->total = slab_total(elements, buffers->sets, buffers->guard, &slab->stride);
    slab->memory = backend_alloc_on(gpu, (size_t)slab->total * sizeof(uint16_t), label, writable);
    if (slab->memory) return true;
    complain("no memory for %s: %d x %.1f MB on the device; %s", label, buffers->sets,
             (double)elements * 2e-6,
             operand_pitches == PITCHES_FAR ? "--pitches far needs the addresses: ulimit -v"
                                            : "choose smaller sizes");
    return false;
}

bool slab_alloc_rows(struct slab *slab, const struct buffers *buffers, int64_t rows, int64_t row,
                     int64_t pitch, const char *label, bool writable) {
    const int64_t elements = pitch == row ? rows * row : (rows - 1) * pitch + row;
    if (!slab_alloc(slab, buffers, 0, elements, label, writable)) return false;
    if (pitch == row) return true;
    slab->pieces = rows;
    slab->piece = row;
    slab->apart = pitch;
    return true;
}

uint16_t *slab_matrix(const struct buffers *buffers, const struct slab *slab, int set) {
    return slab->memory + buffers->guard + slab->stride * set;
}

bool slab_fill(const struct buffers *buffers, const struct slab *slab, const uint16_t *host,
               uint16_t padding) {
    const size_t bytes = (size_t)slab->elements * sizeof *host;
    if (slab->total != slab->elements && !backend_fill(slab->memory, padding, (size_t)slab->total))
        return false;
    for (int64_t i = 0; i < slab->pieces; ++i)
        if (!backend_copy_in(slab_matrix(buffers, slab, 0) + i * slab->apart,
                             host + i * slab->piece, (size_t)slab->piece * sizeof *host))
            return false;
    for (int set = 1; set < buffers->sets; ++set)
        if (!backend_copy(slab_matrix(buffers, slab, set), slab_matrix(buffers, slab, 0), bytes))
            return false;
    return true;
}

bool slab_poison(const struct slab *slab, uint16_t pattern) {
    const size_t length = (size_t)(slab->pieces > 1 ? slab->piece : slab->total);
    for (int64_t i = 0; i < slab->pieces; ++i)
        if (!backend_fill(slab->memory + i * slab->apart, pattern, length)) return false;
    return true;
}

int64_t slab_view_elements(const struct buffers *buffers, const struct slab *slab) {
    return slab->pieces * slab->piece + 2 * buffers->guard;
}

bool slab_read(const struct buffers *buffers, const struct slab *slab, int set, uint16_t *view) {
    const int64_t length = slab->piece + 2 * buffers->guard; /* there is none if there are pieces */
    for (int64_t i = 0; i < slab->pieces; ++i)
        if (!backend_copy_out(view + i * slab->piece,
                              slab_matrix(buffers, slab, set) - buffers->guard + i * slab->apart,
                              (size_t)length * sizeof *view))
            return false;
    return true;
}

static bool alloc_b(struct buffers *buffers, const struct operands *o, int64_t in_16_bits) {
    if (o->format->packed_bytes)
        return slab_alloc(&buffers->b, buffers, 0, operand_bytes(o, 'B') / 2, "B", false);
    return slab_alloc_rows(&buffers->b, buffers, o->n, o->ldb / in_16_bits,
                           o->device_ldb / in_16_bits, "B", false);
}

enum exit_code buffers_open(struct buffers *buffers, const struct operands *o,
                            const struct backend_info *device, int sets, size_t workspace_bytes) {
    memset(buffers, 0, sizeof *buffers);
    buffers->sets = sets;
    buffers->guard = device->checks_bounds && sets == 1 ? 0 : GUARD;
    buffers->rows = o->d_rows;
    buffers->columns_padded = o->ldd;
    buffers->pitch = o->device_ldd;
    buffers->problems = allocate((size_t)sets, sizeof *buffers->problems, "the problems");

    const uint16_t padding = padding_of(o->type);
    const int64_t in_16_bits = gemm_type_is_scaled(o->type) ? 2 : 1; /* elements of A and B */
    if (!slab_alloc_rows(&buffers->a, buffers, o->m, o->lda / in_16_bits,
                         o->device_lda / in_16_bits, "A", false) ||
        !alloc_b(buffers, o, in_16_bits) || buffers_add_output(buffers) < 0)
        return EXIT_NO_DEVICE;
    const size_t counter_bytes = (size_t)sets * GEMM_COUNTERS * sizeof(uint32_t);
    buffers->tile_counters = backend_alloc(counter_bytes, "tile counter", true);
    buffers->workspace_bytes = workspace_bytes;
    if (workspace_bytes) buffers->workspace = backend_alloc(workspace_bytes, "workspace", true);
    if (!buffers->tile_counters || (workspace_bytes && !buffers->workspace)) {
        complain("no memory for a workspace of %.1f MB on the device; choose smaller sizes",
                 (double)(workspace_bytes + counter_bytes) * 1e-6);
        return EXIT_NO_DEVICE;
    }
    if (!slab_fill(buffers, &buffers->a, o->a, padding) ||
        !slab_fill(buffers, &buffers->b, o->b, padding))
        return EXIT_NO_DEVICE; /* the backend has said why */
    for (int set = 0; set < sets; ++set)
        buffers->problems[set] = (struct gemm_problem){
            .m = o->m,
            .n = o->n,
            .k = o->k,
            .lda = o->device_lda,
            .ldb = o->device_ldb,
            .ldd = o->device_ldd,
            .a = (const element_t *)slab_matrix(buffers, &buffers->a, set),
            .b = (const element_t *)slab_matrix(buffers, &buffers->b, set),
            .d = buffers_output(buffers, 0, set),
            .workspace = buffers->workspace,
            .tile_counter = buffers->tile_counters + set * GEMM_COUNTERS,
        };
    return EXIT_VERIFIED;
}

void buffers_close(struct buffers *buffers) {
    if (buffers->a.memory) backend_free(buffers->a.memory);
    if (buffers->b.memory) backend_free(buffers->b.memory);
    for (int i = 0; i < buffers->output_count; ++i)
        backend_free(buffers->outputs[i].memory);
    if (buffers->workspace) backend_free(buffers->workspace);
    if (buffers->tile_counters) backend_free(buffers->tile_counters);
    free(buffers->problems);
    memset(buffers, 0, sizeof *buffers);
}

int buffers_add_output(struct buffers *buffers) {
    if (buffers->output_count == MAX_OUTPUTS) {
        complain("more than %d contenders in one rotation; choose fewer", MAX_OUTPUTS);
        return -1;
    }
    struct slab *slab = &buffers->outputs[buffers->output_count];
    if (!slab_alloc_rows(slab, buffers, buffers->rows, buffers->columns_padded, buffers->pitch, "D",
                         true))
        return -1;
    return buffers->output_count++;
}

element_t *buffers_output(const struct buffers *buffers, int output, int set) {
    return (element_t *)slab_matrix(buffers, &buffers->outputs[output], set);
}

bool buffers_poison(const struct buffers *buffers, int output) {
    static const uint32_t zeros[GEMM_COUNTERS];
    if (!slab_poison(&buffers->outputs[output], OUTPUT_POISON)) return false;
    if (buffers->workspace &&
        !backend_fill(buffers->workspace, OUTPUT_POISON, buffers->workspace_bytes / 2))
        return false;
    for (int set = 0; set < buffers->sets; ++set)
        if (!backend_copy_in(buffers->problems[set].tile_counter, zeros, sizeof zeros))
            return false;
    return true;
}

int64_t buffers_view_elements(const struct buffers *buffers) {
    return slab_view_elements(buffers, &buffers->outputs[0]);
}

bool buffers_read(const struct buffers *buffers, int output, int set, uint16_t *view) {
    return slab_read(buffers, &buffers->outputs[output], set, view);
}

bool buffers_counters_zero(const struct buffers *buffers, int set, const char *what) {
    uint32_t counters[GEMM_COUNTERS];
    if (!backend_copy_out(counters, buffers->problems[set].tile_counter, sizeof counters))
        return false;
    for (int i = 0; i < GEMM_COUNTERS; ++i)
        if (counters[i] != 0) {
            complain("%s: left word %d of the tile counter at %u; the next launch needs zero", what,
                     i, counters[i]);
            return false;
        }
    return true;
}
