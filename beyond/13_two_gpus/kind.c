/*
 * kind.c: the product on several devices as a kind of problem, and what lies where.
 *
 * Every device has matrices of the problem's shapes, in slabs like those of buffers.h. Of A and B
 * it holds its slice, and NaN everywhere else, so a kernel that reads another device's slice in the
 * wrong memory gets NaN. D is put together from the slices of all devices; an element that a device
 * has written outside its slice is an error.
 *
 * The bound is that of the product (reference.h), but for parts, sums over a slice of k, that have
 * been rounded to 16 bits before they were added up. By the argument there a part is at most
 * P = min(8, sqrt(k)) |a_i|_4 |b_j|_4, so each of them adds half_ulp(P).
 */
#include "split.h"

#include <math.h>
#include <stdlib.h>

#include "harness/allocate.h"
#include "harness/baseline_list.h"
#include "harness/message.h"
#include "harness/problem_kind.h"
#include "rivals.h"

/* What a kernel is told, and which layouts are there, for the rivals. */
struct told {
    struct split_problem split; /* first */
    bool has_layout[SPLIT_LAYOUTS];
};

struct shares {
    struct slab a[SPLIT_LAYOUTS][GEMM_DEVICES], b[SPLIT_LAYOUTS][GEMM_DEVICES];
    struct slab outputs[GEMM_DEVICES][MAX_OUTPUTS]; /* those that are not there have no memory */
    void *workspace[GEMM_DEVICES];
    size_t workspace_bytes;
    uint32_t *flags[GEMM_DEVICES];
    size_t flag_words;
    uint16_t *view;    /* one device's output on the host */
    struct told *told; /* [sets] */
};

static struct shares *shares_of(const struct kind_problem *p) { return p->memory; }

static const struct split_kernel *split_kernel_of(const struct gemm_kernel *kernel) {
    return kernel->of_kind;
}

/* Rows and columns of a matrix, the ends excluded. */
struct part {
    int64_t first_row, end_row, first_column, end_column;
};

/* Where a slice of an extent lies, in elements; `unit`: SLICE_M, SLICE_N or SLICE_K. */
static void slice(int extent, int unit, int device, int devices, int64_t *first, int64_t *end) {
    *first = gemm_slice_begin(extent, unit, device, devices);
    *end = gemm_slice_begin(extent, unit, device + 1, devices);
}

static struct part part_of_a(const struct operands *o, enum split_layout layout, int device,
                             int devices) {
    struct part part = {0, o->m, 0, o->k};
    if (layout == LAYOUT_SLICES_OF_K)
        slice(o->k, SLICE_K, device, devices, &part.first_column, &part.end_column);
    else
        slice(o->m, SLICE_M, device, devices, &part.first_row, &part.end_row);
    return part;
}

static struct part part_of_b(const struct operands *o, enum split_layout layout, int device,
                             int devices) {
    struct part part = {0, o->n, 0, o->k};
    if (layout == LAYOUT_SLICES_OF_K)
        slice(o->k, SLICE_K, device, devices, &part.first_column, &part.end_column);
    else
        slice(o->n, SLICE_N, device, devices, &part.first_row, &part.end_row);
    return part;
}

/* The padding after the last column counts as the last slice's. */
static struct part part_of_d(const struct operands *o, enum split_layout layout, int device,
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

static bool open_operands(const struct kind_problem *p, const struct buffers *buffers,
                          enum split_layout layout) {
    struct shares *const shares = shares_of(p);
    const struct operands *const o = p->operands;
    const int devices = p->devices;
    const uint16_t padding = padding_of(o->type);
    for (int device = 0; device < devices; ++device) {
        struct slab *const a = &shares->a[layout][device], *const b = &shares->b[layout][device];
        if (!slab_alloc(a, buffers, device, o->m * o->lda, "A", false) ||
            !slab_alloc(b, buffers, device, o->n * o->ldb, "B", false) ||
            !fill_part(a, buffers, o->a, o->lda, part_of_a(o, layout, device, devices), padding) ||
            !fill_part(b, buffers, o->b, o->ldb, part_of_b(o, layout, device, devices), padding))
            return false;
    }
    shares->told[0].has_layout[layout] = true;
    return true;
}

/* What the kernels need at most. */
static void measure(const struct kind_problem *p, const struct gemm_kernel *const *kernels,
                    int count) {
    struct shares *const shares = shares_of(p);
    const struct operands *const o = p->operands;
    const struct gemm_problem problem = {.m = o->m,
                                         .n = o->n,
                                         .k = o->k,
                                         .lda = o->lda,
                                         .ldb = o->ldb,
                                         .ldd = o->ldd,
                                         .of_kind = shares->told};
    for (int i = 0; i < count; ++i) {
        const struct split_kernel *const split = split_kernel_of(kernels[i]);
        const size_t bytes =
            kernels[i]->workspace_bytes ? kernels[i]->workspace_bytes(&problem) : 0;
        const size_t words = split->flags ? split->flags(&problem) : 0;
        if (shares->workspace_bytes < bytes) shares->workspace_bytes = bytes;
        if (shares->flag_words < words) shares->flag_words = words;
    }
}

static bool open_workspaces(const struct kind_problem *p) {
    struct shares *const shares = shares_of(p);
    for (int device = 0; device < p->devices; ++device) {
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

static bool add_output(const struct kind_problem *p, const struct buffers *buffers, int output) {
    struct shares *const shares = shares_of(p);
    for (int device = 0; device < p->devices; ++device)
        if (!shares->outputs[device][output].memory &&
            !slab_alloc(&shares->outputs[device][output], buffers, device,
                        buffers->rows * buffers->columns_padded, "D", true))
            return false;
    return true;
}

static enum exit_code open_shares(struct kind_problem *p, const struct buffers *buffers,
                                  const struct gemm_kernel *const *kernels, int count,
                                  int devices) {
    bool wanted[SPLIT_LAYOUTS] = {false};
    struct shares *const shares = allocate(1, sizeof *shares, "a problem on several devices");
    p->memory = shares;
    p->devices = devices;
    p->of_kind = shares->told =
        allocate((size_t)buffers->sets, sizeof *shares->told, "a problem on several devices");
    for (int set = 0; set < buffers->sets; ++set)
        shares->told[set].split.devices = devices;
    for (int i = 0; i < count; ++i)
        wanted[split_kernel_of(kernels[i])->layout] = true;
    for (int layout = 0; layout < SPLIT_LAYOUTS; ++layout)
        if (wanted[layout] && !open_operands(p, buffers, (enum split_layout)layout))
            return EXIT_NO_DEVICE;
    measure(p, kernels, count);
    shares->view = allocate((size_t)buffers_view_elements(buffers), sizeof *shares->view,
                            "the outputs of the devices");
    return open_workspaces(p) && add_output(p, buffers, 0) ? EXIT_VERIFIED : EXIT_NO_DEVICE;
}

static void close_shares(struct kind_problem *p) {
    struct shares *const shares = shares_of(p);
    for (int device = 0; device < p->devices; ++device) {
        for (int layout = 0; layout < SPLIT_LAYOUTS; ++layout) {
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
    free(shares);
}

static const struct slab *slab_of(const struct kind_problem *p, const struct gemm_kernel *kernel,
                                  char matrix, int device, int output) {
    const struct shares *const shares = shares_of(p);
    return matrix == 'A' ? &shares->a[split_kernel_of(kernel)->layout][device]
                         : &shares->outputs[device][output];
}

/* ---- a run ---- */

static void fill_in(const struct kind_problem *p, const struct buffers *buffers,
                    const struct gemm_kernel *kernel, int output, int set,
                    struct gemm_problem *problem) {
    const struct shares *const shares = shares_of(p);
    const enum split_layout layout = split_kernel_of(kernel)->layout;
    problem->of_kind = &shares->told[set];
    for (int device = 0; device < p->devices; ++device) {
        const struct slab *const a = &shares->a[layout][device], *const b =
                                                                     &shares->b[layout][device];
        shares->told[set].split.share[device] = (struct split_share){
            .a = (const element_t *)slab_matrix(buffers, a, set),
            .b = (const element_t *)slab_matrix(buffers, b, set),
            .d = (element_t *)slab_matrix(buffers, &shares->outputs[device][output], set),
            .workspace = shares->workspace[device],
            .flags = shares->flags[device],
        };
    }
}

static void set_trace(const struct kind_problem *p, int device, struct trace_record *buffer) {
    shares_of(p)->told[0].split.share[device].trace = buffer; /* the recorder runs the first set */
}

static bool poison(struct kind_problem *p, const struct buffers *buffers, int output) {
    const struct shares *const shares = shares_of(p);
    if (!add_output(p, buffers, output)) return false;
    for (int device = 0; device < p->devices; ++device) {
        if (!slab_poison(&shares->outputs[device][output], OUTPUT_POISON)) return false;
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

static bool read_slices(const struct kind_problem *p, const struct buffers *buffers,
                        const struct gemm_kernel *kernel, int output, int set, const char *what,
                        uint16_t *view, bool *clean) {
    const struct shares *const shares = shares_of(p);
    const int64_t elements = buffers_view_elements(buffers);
    *clean = true;
    for (int64_t i = 0; i < elements; ++i)
        view[i] = OUTPUT_POISON;
    for (int device = 0; device < p->devices; ++device) {
        const struct slab *const slab = &shares->outputs[device][output];
        if (!slab_read(buffers, slab, set, shares->view)) return false;
        const struct part part =
            part_of_d(p->operands, split_kernel_of(kernel)->layout, device, p->devices);
        *clean &= take_slice(buffers, p->operands, shares->view, part, device, what, view);
        if (!flags_zero(shares, device, what, clean)) return false;
    }
    return true;
}

static const struct kind_memory memory = {.open = open_shares,
                                          .close = close_shares,
                                          .fill_in = fill_in,
                                          .set_trace = set_trace,
                                          .poison = poison,
                                          .read = read_slices,
                                          .slab = slab_of};

/* ---- what D must be ---- */

static int rounded_parts(const struct kind_problem *p, const struct gemm_kernel *kernel) {
    const struct split_kernel *const split = split_kernel_of(kernel);
    return split->rounds_parts ? p->devices - 1 : 0;
}

/* Sums over some of the products must be numbers of the type, too, where they are rounded to it. */
static int integer_limit(const struct gemm_kernel *const *kernels, int count, int terms,
                         enum gemm_type type) {
    const double exact =
        type == GEMM_BF16 ? 0x1p8 : 0x1p11; /* whole numbers up to it are of the type */
    const int most = input_integer_limit(terms, type);
    bool rounds = false;
    for (int i = 0; i < count; ++i)
        rounds |= split_kernel_of(kernels[i])->rounds_parts;
    for (int limit = 0; rounds && limit < most; ++limit) {
        /* Eight deviations of a sum, of products whose deviation is next (next + 1) / 3. */
        const double next = limit + 1, deviations = 8 * sqrt(terms) * next * (next + 1) / 3;
        if (fmin(terms * next * next, deviations) > exact) return limit;
    }
    return most;
}

#if KIND_ON_GPU
/* cuBLAS on one device, and with NCCL's collectives on all of them. */
static int split_baselines(const struct gemm_problem *problems, int count, uint32_t wanted,
                     struct contender *out, int room) {
    const struct told *const told = (const struct told *)problems->of_kind;
    const int made = backend_baselines(problems, count, wanted, out, room);
    if (wanted == baseline_mask("cublas")) return made;
    return made + split_rivals(problems, told->has_layout, out + made, room - made);
}
#else
#define split_baselines backend_baselines
#endif

const struct problem_kind split_kind = {.formula = "D = A * B",
                                        .integer_limit = integer_limit,
                                        .reference = product_reference,
                                        .rounded_parts = rounded_parts,
                                        .baselines = split_baselines,
                                        .library = "cublas",
                                        .memory = &memory};
