#include "harness/shares.h"

#include <stdlib.h>
#include <string.h>

#include "harness/allocate.h"
#include "harness/message.h"
#include "harness/verify.h"

/* Rows and columns of a matrix, the ends excluded. */
struct part {
    int64_t first_row, end_row, first_column, end_column;
};

/* Where a slice of an extent lies, in elements; `unit`: SLICE_M, SLICE_N or SLICE_K. */
static void slice(int extent, int unit, int device, int devices, int64_t *first, int64_t *end) {
    *first = gemm_slice_begin(extent, unit, device, devices);
    *end = gemm_slice_begin(extent, unit, device + 1, devices);
}

static struct part part_of_a(const struct operands *o, enum gemm_layout layout, int device,
                             int devices) {
    struct part part = {0, o->m, 0, o->k};
    if (layout == LAYOUT_SLICES_OF_K)
        slice(o->k, SLICE_K, device, devices, &part.first_column, &part.end_column);
    else
        slice(o->m, SLICE_M, device, devices, &part.first_row, &part.end_row);
    return part;
}

static struct part part_of_b(const struct operands *o, enum gemm_layout layout, int device,
                             int devices) {
    struct part part = {0, o->n, 0, o->k};
    if (layout == LAYOUT_SLICES_OF_K)
        slice(o->k, SLICE_K, device, devices, &part.first_column, &part.end_column);
    else
        slice(o->n, SLICE_N, device, devices, &part.first_row, &part.end_row);
    return part;
}

/* The padding after the last column counts as the last slice's. */
static struct part part_of_d(const struct operands *o, enum gemm_layout layout, int device,
                             int devices) {
    struct part part = {0, o->m, 0, o->ldd};
    if (layout == LAYOUT_SLICES_OF_K) {
        slice(o->m, SLICE_M, device, devices, &part.first_row, &part.end_row);
    } else {
        slice(o->n, SLICE_N, device, devices, &part.first_column, &part.end_column);
        if (device == devices - 1) part.end_column = o->ldd;
    }
    return part;
}

/* ---- opening ---- */

/* The part of a matrix [rows][ld] in every place of the slab, padding everywhere else. */
static bool fill_part(const struct slab *slab, const struct buffers *buffers, const uint16_t *host,
                      int64_t ld, struct part part, uint16_t padding) {
    uint16_t *const image =
        allocate((size_t)slab->elements, sizeof *image, "the operands of a device");
    for (int64_t i = 0; i < slab->elements; ++i)
        image[i] = padding;
    for (int64_t row = part.first_row; row < part.end_row; ++row)
        for (int64_t column = part.first_column; column < part.end_column; ++column)
            image[row * ld + column] = host[row * ld + column];
    const bool good = slab_fill(buffers, slab, image, padding);
    free(image);
    return good;
}

static bool open_operands(struct shares *shares, const struct buffers *buffers,
                          const struct operands *o, enum gemm_layout layout) {
    const int devices = shares->devices;
    const uint16_t padding = padding_of(o->type);
    for (int device = 0; device < devices; ++device) {
        struct slab *const a = &shares->a[layout][device], *const b = &shares->b[layout][device];
        if (!slab_alloc(a, buffers, device, o->m * o->lda, "A", false) ||
            !slab_alloc(b, buffers, device, o->n * o->ldb, "B", false) ||
            !fill_part(a, buffers, o->a, o->lda, part_of_a(o, layout, device, devices), padding) ||
            !fill_part(b, buffers, o->b, o->ldb, part_of_b(o, layout, device, devices), padding))
            return false;
    }
    shares->has_layout[layout] = true;
    return true;
}

/* What the kernels need at most. */
static void measure(struct shares *shares, const struct operands *o,
                    const struct gemm_kernel *const *kernels, int count) {
    const struct gemm_problem problem = {.m = o->m,
                                         .n = o->n,
                                         .k = o->k,
                                         .lda = o->lda,
                                         .ldb = o->ldb,
                                         .ldd = o->ldd,
                                         .devices = shares->devices};
    for (int i = 0; i < count; ++i) {
        if (kernels[i]->layout == LAYOUT_ONE_DEVICE) continue;
        const size_t bytes =
            kernels[i]->workspace_bytes ? kernels[i]->workspace_bytes(&problem) : 0;
        const size_t words = kernels[i]->flags ? kernels[i]->flags(&problem) : 0;
        if (shares->workspace_bytes < bytes) shares->workspace_bytes = bytes;
        if (shares->flag_words < words) shares->flag_words = words;
    }
}

static bool open_workspaces(struct shares *shares) {
    for (int device = 0; device < shares->devices; ++device) {
        if (shares->workspace_bytes)
            shares->workspace[device] =
                backend_alloc_on(device, shares->workspace_bytes, "workspace", true);
        if (shares->flag_words)
            shares->flags[device] = backend_alloc_on(
                device, shares->flag_words * sizeof *shares->flags[device], "flags", true);
        if ((shares->workspace_bytes && !shares->workspace[device]) ||
            (shares->flag_words && !shares->flags[device])) {
            complain("no memory for a workspace of %.1f MB on device %d; choose smaller sizes",
                     (double)shares->workspace_bytes * 1e-6, device);
            return false;
        }
    }
    return true;
}

enum exit_code shares_open(struct shares *shares, const struct buffers *buffers,
                           const struct operands *o, const struct gemm_kernel *const *kernels,
                           int count, int devices) {
    memset(shares, 0, sizeof *shares);
    bool wanted[GEMM_LAYOUTS] = {false};
    for (int i = 0; i < count; ++i)
        wanted[kernels[i]->layout] = true;
    for (int layout = LAYOUT_ONE_DEVICE + 1; layout < GEMM_LAYOUTS; ++layout) {
        if (!wanted[layout]) continue;
        shares->devices = devices;
        if (!open_operands(shares, buffers, o, (enum gemm_layout)layout)) return EXIT_NO_DEVICE;
    }
    if (!shares->devices) return EXIT_VERIFIED;
    measure(shares, o, kernels, count);
    shares->view = allocate((size_t)buffers_view_elements(buffers), sizeof *shares->view,
                            "the outputs of the devices");
    return open_workspaces(shares) && shares_add_output(shares, buffers, 0) ? EXIT_VERIFIED
                                                                            : EXIT_NO_DEVICE;
}

void shares_close(struct shares *shares) {
    for (int device = 0; device < shares->devices; ++device) {
        for (int layout = 0; layout < GEMM_LAYOUTS; ++layout) {
            if (shares->a[layout][device].memory) backend_free(shares->a[layout][device].memory);
            if (shares->b[layout][device].memory) backend_free(shares->b[layout][device].memory);
        }
        for (int output = 0; output < MAX_OUTPUTS; ++output)
            if (shares->outputs[device][output].memory)
                backend_free(shares->outputs[device][output].memory);
        if (shares->workspace[device]) backend_free(shares->workspace[device]);
        if (shares->flags[device]) backend_free(shares->flags[device]);
    }
    free(shares->view);
    memset(shares, 0, sizeof *shares);
}

bool shares_add_output(struct shares *shares, const struct buffers *buffers, int output) {
    for (int device = 0; device < shares->devices; ++device)
        if (!shares->outputs[device][output].memory &&
            !slab_alloc(&shares->outputs[device][output], buffers, device,
                        buffers->rows * buffers->columns_padded, "D", true))
            return false;
    return true;
}

/* ---- a run ---- */

void shares_fill_in(const struct shares *shares, const struct buffers *buffers,
                    const struct gemm_kernel *kernel, int output, int set,
                    struct gemm_problem *problem) {
    const enum gemm_layout layout = kernel->layout;
    problem->devices = shares->devices;
    for (int device = 0; device < shares->devices; ++device) {
        const struct slab *const a = &shares->a[layout][device], *const b =
                                                                     &shares->b[layout][device];
        problem->share[device] = (struct gemm_share){
            .a = (const element_t *)slab_matrix(buffers, a, set),
            .b = (const element_t *)slab_matrix(buffers, b, set),
            .d = (element_t *)slab_matrix(buffers, &shares->outputs[device][output], set),
            .workspace = shares->workspace[device],
            .flags = shares->flags[device],
        };
    }
}

bool shares_poison(const struct shares *shares, int output) {
    for (int device = 0; device < shares->devices; ++device) {
        const struct slab *const d = &shares->outputs[device][output];
        if (!backend_fill(d->memory, OUTPUT_POISON, (size_t)d->total)) return false;
        if (shares->workspace_bytes &&
            !backend_fill(shares->workspace[device], OUTPUT_POISON, shares->workspace_bytes / 2))
            return false;
        if (shares->flag_words &&
            !backend_fill((void *)shares->flags[device], 0, 2 * shares->flag_words))
            return false;
    }
    return true;
}

static bool inside(const struct part *part, int64_t row, int64_t column) {
    return row >= part->first_row && row < part->end_row && column >= part->first_column &&
           column < part->end_column;
}

/* Moves a device's slice of D into the view, and looks at what lies around it. False if that has
 * changed. */
static bool take_slice(const struct buffers *buffers, const struct operands *o,
                       const uint16_t *from, struct part part, int device, const char *what,
                       uint16_t *view) {
    const int64_t guard = buffers->guard, elements = o->m * o->ldd;
    for (int64_t i = -guard; i < elements + guard; ++i) {
        const bool in_d = i >= 0 && i < elements;
        const int64_t row = in_d ? i / o->ldd : 0, column = in_d ? i % o->ldd : 0;
        if (in_d && inside(&part, row, column)) {
            view[guard + i] = from[guard + i];
        } else if (from[guard + i] != OUTPUT_POISON) {
            if (in_d)
                complain("%s: device %d wrote row %lld, column %lld of D, which is not in its "
                         "slice",
                         what, device, (long long)row, (long long)column);
            else
                complain("%s: device %d wrote outside of D, at %+lld", what, device,
                         (long long)(i < 0 ? i : i - elements));
            return false;
        }
    }
    return true;
}

static bool flags_zero(const struct shares *shares, int device, const char *what, bool *clean) {
    const size_t bytes = shares->flag_words * sizeof(uint32_t);
    if (!bytes) return true;
    uint32_t *const flags = allocate(1, bytes, "the flags of a device");
    const bool good = backend_copy_out(flags, shares->flags[device], bytes);
    for (size_t i = 0; good && *clean && i < shares->flag_words; ++i) {
        if (flags[i] == 0) continue;
        complain("%s: left flag %zu of device %d at %u; the next launch needs zero", what, i,
                 device, flags[i]);
        *clean = false;
    }
    free(flags);
    return good;
}

bool shares_read(const struct shares *shares, const struct buffers *buffers,
                 const struct operands *o, const struct gemm_kernel *kernel, int output, int set,
                 const char *what, uint16_t *view, bool *clean) {
    const int64_t elements = buffers_view_elements(buffers);
    *clean = true;
    for (int64_t i = 0; i < elements; ++i)
        view[i] = OUTPUT_POISON;
    for (int device = 0; device < shares->devices; ++device) {
        const struct slab *const slab = &shares->outputs[device][output];
        if (!slab_read(buffers, slab, set, shares->view)) return false;
        const struct part part = part_of_d(o, kernel->layout, device, shares->devices);
        *clean &= take_slice(buffers, o, shares->view, part, device, what, view);
        if (!flags_zero(shares, device, what, clean)) return false;
    }
    return true;
}
