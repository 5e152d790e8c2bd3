/*
 * cuts_wrong.c: a fault between fitted.cu and the simulator, so that some cuts compute something
 * else: with tiles 40 wide nothing is launched, and with tiles 24 wide the last k-tile is left out.
 *
 * The program's calls of gemm_launch_kernel come here (ld --wrap).
 */
#include "gemm.h"

enum gemm_status __real_gemm_launch_kernel(const struct gemm_launch *launch,
                                           const struct gemm_args *args);
enum gemm_status __wrap_gemm_launch_kernel(const struct gemm_launch *launch,
                                           const struct gemm_args *args);

enum gemm_status __wrap_gemm_launch_kernel(const struct gemm_launch *launch,
                                           const struct gemm_args *args) {
    struct gemm_args wrong = *args;
    if (args->fit.width == 40) return GEMM_OK;
    if (args->fit.width == 24) --wrong.fit.k_tiles;
    return __real_gemm_launch_kernel(launch, &wrong);
}
