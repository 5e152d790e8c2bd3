/*
 * hopper_gemm.h: a library of library/: D = A * B on a Hopper GPU. For C and C++.
 *
 * hopper_gemm() is one call that does everything. A plan does once what depends on the shape, so
 * that a run costs the host little more than the launch itself.
 *
 * Devices. A call is for the caller's current device, of compute capability 9.0. The stream and all
 * memory of the call belong to that device. A plan belongs to the device that was current when it
 * was made, and that device must be current when the plan runs. Several devices may be used in
 * turn.
 *
 * Contexts. A call uses the context that the CUDA runtime uses: the thread's current one, or the
 * device's primary context. Destroy a device's plans before cudaDeviceReset(), and make them again
 * after it; hopper_gemm() needs no such care. The library keeps no device memory, and of a device
 * only what a reset does not change: the number of SMs, and how many CTAs of each kernel fit. In a
 * context that has only some of the SMs (a green context), kernels are still chosen for the whole
 * device.
 *
 * Memory. Calls may overlap on the device, in any streams. Calls that may overlap must not share
 *     D              both write it; nor may the D of one be the A or B of the other
 *     a workspace    it holds partial sums, and counters of them
 * They may share A, B and a plan. Calls in one stream do not overlap and may share everything. A
 * graph that has captured a call counts as that call each time it runs; two graphs that run at once
 * need two workspaces, also if they are copies of one graph.
 *
 * The workspace. It may hold anything when a call begins, also what a call for another shape has
 * left: nothing is cleared beforehand, by the caller or in the stream. A kernel counts on from a
 * counter only where it finds a pattern of 48 bits, and otherwise begins anew; a call leaves none
 * that has the pattern. (Random bits have it once in 3 * 10^14 times.) A copy of a workspace made
 * while a call uses it may have it: do not pass that. So may what an aborted kernel leaves, but
 * after an abort no memory of its context can be used.
 *
 * Threads. Several host threads may call at once, also with the same plan (built for the simulator:
 * one thread).
 *
 * Graphs. hopper_gemm() and hopper_gemm_plan_run() may be captured into a graph, which then holds
 * pointers and extents, and does not need the plan. Some take a runtime and driver of CUDA 12.3 or
 * later. Making a plan may not be captured. Neither may the first hopper_gemm() for a shape after
 * the start of the program or a reset: it may load a kernel. Call it once before the capture, or
 * make a plan.
 *
 * Early. Work in a stream runs in order: a call begins when all that precedes it is complete. With
 * hopper_gemm_plan_set_early() a plan's runs may begin while the kernel before them in the stream
 * still runs (programmatic dependent launch), and wait for its end before they touch the matrices.
 * The wait is for the kernels before that one as well, if every one of them that was launched early
 * has itself waited, by cudaGridDependencySynchronize() or griddepcontrol.wait. Those of these
 * libraries do. So another library's kernel that is launched early, before the run or after it, has
 * to wait, too. For the caller nothing else changes.
 *
 * Errors are reported on stderr and returned. No function exits, and none leaves an error set in
 * the runtime. An error that occurs later on the device, such as an access to memory that does not
 * exist, is reported by the runtime when the program waits for the stream.
 *
 * Linking. The library needs the CUDA runtime and nothing else of the toolkit. All its global names
 * begin with hopper_gemm.
 */
#ifndef HOPPER_GEMM_H
#define HOPPER_GEMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hopper_gemm_type { HOPPER_GEMM_FP16 = 0, HOPPER_GEMM_BF16 = 1 };

enum hopper_gemm_status {
    HOPPER_GEMM_OK = 0,
    HOPPER_GEMM_BAD_ARGUMENT = 1, /* nothing was done; stderr has which one, and why */
    HOPPER_GEMM_FAILED = 2 /* no device, not a Hopper, no memory, or the launch failed: stderr */
};

/* Bytes of workspace with which hopper_gemm() is predicted to be the fastest for such a problem on
 * the current device: 0 for most, a few megabytes where k is long and D is small. The arguments
 * are those of the call, on which its way to compute depends. If one is wrong, or there is no
 * device, a message on stderr and 0. */
size_t hopper_gemm_workspace(int type, int m, int n, int k, int64_t lda, int64_t ldb, int64_t ldd);

/* Enqueues D = A * B on `stream` (a cudaStream_t; NULL: the default stream) and returns without
 * waiting.
 *
 *     A  m x k   row-major, leading dimension lda
 *     B  n x k   row-major, leading dimension ldb     so both are contiguous along k
 *     D  m x n   row-major, leading dimension ldd     overwritten; overlaps neither A nor B
 *
 * m, n, k: any from 1 to 2000000000; a D of more than 2^30 tiles of 256 x 256 fails. lda, ldb >= k
 * and ldd >= n, in elements, are multiples of 8 and below 2^39. So rows of A and B need padding if
 * k is not a multiple of 8, and rows of D need it if n is not. The padding may hold anything, and
 * is not written. That of A and B may be read, up to the next multiple of 8 elements, also in the
 * last row: it must be allocated there. Rows that begin at multiples of 128 bytes are read faster.
 *
 * All three are of `type` (enum hopper_gemm_type) and in device memory, at multiples of 16 bytes.
 * Sums are fp32, rounded once, to the nearest element; with the same arguments on the same kind of
 * device the result is the same to the bit.
 *
 * `workspace`: NULL, or device memory at a multiple of 256 bytes, as many as
 * hopper_gemm_workspace() returns for this type, these extents and these leading dimensions on this
 * device. Its contents do not matter; they change.
 *
 * Returns an enum hopper_gemm_status. */
int hopper_gemm(void *stream, int type, int m, int n, int k, const void *a, int64_t lda,
                const void *b, int64_t ldb, void *d, int64_t ldd, void *workspace);

/* The same in two parts. The arguments mean what they mean above. */
struct hopper_gemm_plan;

/* Makes a plan for matrices of this type and shape on the current device. `workspace_limit`: bytes
 * of workspace that the runs may use; with 0 the plan needs none, with SIZE_MAX it is the one that
 * is predicted to be the fastest. Making a plan may load a kernel, and wait for work on the device.
 * Returns an enum hopper_gemm_status; `*plan` is NULL unless that is HOPPER_GEMM_OK. */
int hopper_gemm_plan_create(struct hopper_gemm_plan **plan, int type, int m, int n, int k,
                            int64_t lda, int64_t ldb, int64_t ldd, size_t workspace_limit);

/* Makes several plans for the same problem: those with the shortest predicted times, the shortest
 * first. The first one is the plan of hopper_gemm_plan_create(). Each has another kernel, or cuts k
 * in another way. The prediction is not always right. A program that runs a shape many times can
 * time the plans on its own matrices, keep the fastest and destroy the others.
 *
 * The plans are independent: each is destroyed by itself, and runs in order at first. Predictions
 * are for runs in order; time the plans as they will run. Two plans may round
 * differently, because they add in different orders.
 *
 * `most`: from 1 to HOPPER_GEMM_MOST_PLANS; `plans` has room for so many. `workspace_limit` is for
 * each plan: runs that do not overlap may share one workspace of the largest
 * hopper_gemm_plan_workspace(). Writes to `*count` how many there are, at least one if it returns
 * HOPPER_GEMM_OK. The other elements of `plans` become NULL. If one plan cannot be made, all are
 * destroyed: then `*count` is 0. If `most` is out of range, or `plans` or `count` is NULL, `plans`
 * is not written. Returns an enum hopper_gemm_status. */
enum { HOPPER_GEMM_MOST_PLANS = 32 };
int hopper_gemm_plans_create(struct hopper_gemm_plan **plans, int most, int *count, int type, int m,
                             int n, int k, int64_t lda, int64_t ldb, int64_t ldd,
                             size_t workspace_limit);

/* Bytes of workspace that a run needs, at most the limit; 0: none, or `plan` is NULL. */
size_t hopper_gemm_plan_workspace(const struct hopper_gemm_plan *plan);

/* Writes a line about a plan to `text`, as snprintf() does, and returns its length: the shape, the
 * kernel, how it cuts the problem (rows and columns of D, or of D transposed, that a CTA computes;
 * CTAs that share rows of A and B; parts of k), and the predicted time of a run in order, with
 * operands that are not in the L2: what the SMs take, beside what memory takes for the operands;
 * then launch, first bytes, stores and sums. Send it along when you report a slow choice. */
int hopper_gemm_plan_describe(const struct hopper_gemm_plan *plan, char *text, size_t bytes);

/* When the runs of a plan begin. */
enum hopper_gemm_early {
    HOPPER_GEMM_IN_ORDER = 0, /* when all that precedes them in the stream is complete */
    /* While the kernel before them in the stream still runs, if there is room. Before a run reads
     * or writes any of its memory, it waits as told above. */
    HOPPER_GEMM_EARLY = 1,
    /* The same, but the run may read B before that. So B must not be written by the kernel before
     * this run, nor by one that may still be running beside that kernel, which is possible if that
     * kernel was itself launched early. Weights that do not change are such a B. */
    HOPPER_GEMM_EARLY_B = 2
};

/* Sets when the plan's runs begin: an enum hopper_gemm_early, HOPPER_GEMM_IN_ORDER in a new plan.
 * Some kernels have no early form: plans with them are as they were, and that is no error. If it
 * fails, the plan is as before. Not while another thread runs the plan. Returns an enum
 * hopper_gemm_status. */
int hopper_gemm_plan_set_early(struct hopper_gemm_plan *plan, int early);

/* Enqueues D = A * B on `stream`, and returns without waiting. The pointers may differ from run to
 * run. Matrices at multiples of 128 bytes cost the least time on the host; others at multiples of
 * 16 work, too. `workspace`: as many bytes as the plan needs; it may be NULL if that is 0. Returns
 * an enum hopper_gemm_status. */
int hopper_gemm_plan_run(const struct hopper_gemm_plan *plan, void *stream, const void *a,
                         const void *b, void *d, void *workspace);

/* Frees a plan, or nothing if it is NULL. Its runs need not have ended on the device. */
void hopper_gemm_plan_destroy(struct hopper_gemm_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
