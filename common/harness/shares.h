/*
 * shares.h: a problem in the memory of several devices, for kernels whose layout is not
 * LAYOUT_ONE_DEVICE (gemm_shares.h).
 *
 * Every device has matrices of the problem's shapes, in slabs like those of buffers.h. Of A and B
 * it holds its slice, and NaN everywhere else, so a kernel that reads another device's slice in the
 * wrong memory gets NaN. D is put together from the slices of all devices; an element that a device
 * has written outside its slice is an error.
 */
#ifndef HARNESS_SHARES_H
#define HARNESS_SHARES_H

#include "gemm_devices.h"
#include "harness/buffers.h"

struct shares {
    int devices; /* 0: no kernel has asked for them */
    bool has_layout[GEMM_LAYOUTS];
    struct slab a[GEMM_LAYOUTS][GEMM_DEVICES], b[GEMM_LAYOUTS][GEMM_DEVICES];
    struct slab outputs[GEMM_DEVICES][MAX_OUTPUTS]; /* those that are not there have no memory */
    void *workspace[GEMM_DEVICES];
    size_t workspace_bytes;
    uint32_t *flags[GEMM_DEVICES];
    size_t flag_words;
    uint16_t *view; /* one device's output on the host */
};

/* Puts the operands into the memory of `devices` devices for those of the kernels that need it, and
 * makes output 0. EXIT_NO_DEVICE after a complaint if the memory cannot be had. */
enum exit_code shares_open(struct shares *shares, const struct buffers *buffers,
                           const struct operands *operands,
                           const struct gemm_kernel *const *kernels, int count, int devices);
void shares_close(struct shares *shares);

/* Makes an output with the number that one of `buffers` has. False after a complaint. */
bool shares_add_output(struct shares *shares, const struct buffers *buffers, int output);

/* Fills in what a kernel for several devices needs to know of the problem of a set. */
void shares_fill_in(const struct shares *shares, const struct buffers *buffers,
                    const struct gemm_kernel *kernel, int output, int set,
                    struct gemm_problem *problem);

/* Before a run: fills an output (all sets) and the workspaces with NaN, zeroes the flags. */
bool shares_poison(const struct shares *shares, int output);

/* Puts D together: a view as buffers_read() makes it. *clean: no device has written outside its
 * slice and every flag is zero again; else complains in the name of `what`. */
bool shares_read(const struct shares *shares, const struct buffers *buffers,
                 const struct operands *operands, const struct gemm_kernel *kernel, int output,
                 int set, const char *what, uint16_t *view, bool *clean);

#endif
