/*
 * selection.h: for a chapter that chooses among its kernels: what the choice may ask the
 * backend (host thread).
 *
 * Such a chapter's record is a struct gemm_kernel whose launch() runs one of the others:
 *
 *     select  returns the variant that launch() runs for a problem of this m, n and k; its tile and
 *             function then replace the record's. NULL: launch() always runs this kernel
 *     ranked  writes the variants that may run such a problem, at most so many, in the order of
 *             predicted times: select()'s is the first. Returns how many. NULL: there is no such
 *             order
 */
#ifndef SERVICES_SELECTION_H
#define SERVICES_SELECTION_H

#include "gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tiles of D: kernels count them, and clusters of them, in an int. A selection takes no kernel that
 * would have more. */
enum { GEMM_MOST_TILES = 1 << 30 };

/* How fast the device's DRAM and L2 are, per cycle of the SM clock, beside those of an H200. */
struct gemm_rates {
    double memory, l2;
};
struct gemm_rates gemm_device_rates(void);

/* Has gemm_resident_clusters() failed on this thread, after a message, since the last call of this
 * function? Then what was selected by the answers is not what will be selected next time. */
bool gemm_questions_failed(void);

#ifdef __cplusplus
}
#endif
#endif
