/*
 * wgmma.h: the warpgroup's asynchronous Tensor Core instruction.
 *
 * Four warps issue it together. Later, the Tensor Core reads the operands, from the shared memory
 * that descriptors name or A from registers, and writes the accumulators. Until a wait covers the
 * group in which the instruction was committed, no thread may write the operands or touch the
 * accumulators.
 *
 * PTX ISA: "Asynchronous Warpgroup Level Matrix Instructions" (wgmma.mma_async, wgmma.fence,
 * commit_group, wait_group), "Matrix Descriptor", "Strides", "Register Fragments".
 */
#ifndef HOPPER_WGMMA_H
#define HOPPER_WGMMA_H

#include "hopper/element.h"
#include "hopper/thread.h"

/*
 * The place of an operand tile in shared memory, as 64 bits:
 *
 *   bits  0-13  start address / 16        bits 16-29  leading dimension byte offset (LBO) / 16
 *   bits 32-45  stride byte offset (SBO) / 16
 *   bits 49-51  base offset: always 0 here; the swizzle's pattern starts at a multiple of its size
 *   bits 62-63  0 no swizzle, 1 128 B, 2 64 B, 3 32 B
 *
 * For a K-major operand with the 128 B swizzle, a row is 128 bytes (64 elements of k), eight rows
 * make the repeating pattern of 1024 bytes, SBO is the distance from eight rows to the next eight,
 * and LBO is not used. To go 16 elements along k inside the 128 bytes, add 32 bytes to the start
 * address: the swizzle acts on absolute address bits. Any thread.
 *
 * All of this counts bytes. Of 8-bit elements there are twice as many: 128 of k in a row, 32 in the
 * 32 bytes of one instruction.
 */
static inline
#ifdef __CUDACC__
    __device__ __host__
#endif
        uint64_t wgmma_descriptor(uint32_t shared_address, uint32_t lbo_bytes, uint32_t sbo_bytes,
                                  enum gemm_swizzle swizzle) {
    return (uint64_t)((shared_address & 0x3ffff) >> 4) |
           (uint64_t)((lbo_bytes & 0x3ffff) >> 4) << 16 |
           (uint64_t)((sbo_bytes & 0x3ffff) >> 4) << 32 | (uint64_t)((4 - swizzle) & 3) << 62;
}

#ifdef __CUDACC__

/* Orders this warp's register accesses (accumulators, A fragments) before the wgmmas that
 * follow. Needed before the first wgmma, and whenever anything but a wgmma of the same shape has
 * accessed one of these registers. All four warps. */
DEVICE void wgmma_fence(void) { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

/* Makes all wgmmas since the last commit one group. All four warps. */
DEVICE void wgmma_commit_group(void) {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most the `pending` youngest groups (a constant) are under way. The registers
 * and the shared memory of all older groups may be used again. All four warps. */
#define wgmma_wait_group(pending)                                                                  \
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory")

/* Keeps the compiler from moving accesses to the accumulators across a wait; emits nothing. For
 * code that uses them right after a wait. If ptxas made such a move, it would serialize the wgmmas,
 * and its remark would stop the build (common/cmake/ptxas_check.sh). Every thread that holds
 * them. */
#define wgmma_use_registers(acc, count)                                                            \
    do {                                                                                           \
        UNROLL for (int i_ = 0; i_ < (count); ++i_)                                                \
            asm volatile("" : "+f"((acc)[i_])::"memory");                                          \
    } while (0)

/* The same for A fragments, of which `count` registers are named: after the wait that covers their
 * wgmma, before others are computed or loaded. To the compiler a fragment's registers are free as
 * soon as the instruction is issued. The Tensor Core reads them until the wait, and ptxas 13.0
 * makes no remark if it has put something else there by then; common/tests/build/fragments_kept.py
 * looks. */
#define wgmma_use_fragments(a, count)                                                              \
    do {                                                                                           \
        UNROLL for (int i_ = 0; i_ < (count); ++i_)                                                \
            asm volatile("" : "+r"((a)[i_])::"memory");                                            \
    } while (0)

/* Promotes the sums of a wgmma that has been waited for: sum[i] += acc[i] * scale[r], r = 0 for the
 * thread's accumulators of its upper row, 4 j and 4 j + 1, and 1 for those of the row eight below.
 * `count`, a constant, is the number of fma.rn.f32; each takes an issue slot of its scheduler.
 * The simulator does not see ordinary arithmetic: here it checks the accumulators and charges the
 * slots. Whole warps call. */
DEVICE void wgmma_promote(float *sum, float *acc, const float scale[2], int count) {
    wgmma_use_registers(acc, count);
    UNROLL for (int i = 0; i < count; ++i) sum[i] = fmaf(acc[i], scale[i % 4 / 2], sum[i]);
}

/* The same with a scale for each of the thread's columns, which a transposed product needs: sum[i]
 * += acc[i] * scale[c], c = 2 j + i % 2 for accumulators 4 j to 4 j + 3; `scale` has count / 2. */
DEVICE void wgmma_promote_columns(float *sum, float *acc, const float *scale, int count) {
    wgmma_use_registers(acc, count);
    UNROLL for (int i = 0; i < count; ++i)
        sum[i] = fmaf(acc[i], scale[i / 4 * 2 + i % 2], sum[i]);
}

/* The numbers of the accumulator registers, 4 for every 8 columns of N. Everything below is built
 * from this table. */
// clang-format off
#define ACC_4(first, next) first(0) next(1) next(2) next(3)
#define ACC_8(first, next) ACC_4(first, next) next(4) next(5) next(6) next(7)
#define ACC_12(first, next) ACC_8(first, next) next(8) next(9) next(10) next(11)
#define ACC_16(first, next) ACC_12(first, next) next(12) next(13) next(14) next(15)
#define ACC_20(first, next) ACC_16(first, next) next(16) next(17) next(18) next(19)
#define ACC_24(first, next) ACC_20(first, next) next(20) next(21) next(22) next(23)
#define ACC_28(first, next) ACC_24(first, next) next(24) next(25) next(26) next(27)
#define ACC_32(first, next) ACC_28(first, next) next(28) next(29) next(30) next(31)
#define ACC_36(first, next) ACC_32(first, next) next(32) next(33) next(34) next(35)
#define ACC_40(first, next) ACC_36(first, next) next(36) next(37) next(38) next(39)
#define ACC_44(first, next) ACC_40(first, next) next(40) next(41) next(42) next(43)
#define ACC_48(first, next) ACC_44(first, next) next(44) next(45) next(46) next(47)
#define ACC_52(first, next) ACC_48(first, next) next(48) next(49) next(50) next(51)
#define ACC_56(first, next) ACC_52(first, next) next(52) next(53) next(54) next(55)
#define ACC_60(first, next) ACC_56(first, next) next(56) next(57) next(58) next(59)
#define ACC_64(first, next) ACC_60(first, next) next(60) next(61) next(62) next(63)
#define ACC_68(first, next) ACC_64(first, next) next(64) next(65) next(66) next(67)
#define ACC_72(first, next) ACC_68(first, next) next(68) next(69) next(70) next(71)
#define ACC_76(first, next) ACC_72(first, next) next(72) next(73) next(74) next(75)
#define ACC_80(first, next) ACC_76(first, next) next(76) next(77) next(78) next(79)
#define ACC_84(first, next) ACC_80(first, next) next(80) next(81) next(82) next(83)
#define ACC_88(first, next) ACC_84(first, next) next(84) next(85) next(86) next(87)
#define ACC_92(first, next) ACC_88(first, next) next(88) next(89) next(90) next(91)
#define ACC_96(first, next) ACC_92(first, next) next(92) next(93) next(94) next(95)
#define ACC_100(first, next) ACC_96(first, next) next(96) next(97) next(98) next(99)
#define ACC_104(first, next) ACC_100(first, next) next(100) next(101) next(102) next(103)
#define ACC_108(first, next) ACC_104(first, next) next(104) next(105) next(106) next(107)
#define ACC_112(first, next) ACC_108(first, next) next(108) next(109) next(110) next(111)
#define ACC_116(first, next) ACC_112(first, next) next(112) next(113) next(114) next(115)
#define ACC_120(first, next) ACC_116(first, next) next(116) next(117) next(118) next(119)
#define ACC_124(first, next) ACC_120(first, next) next(120) next(121) next(122) next(123)
#define ACC_128(first, next) ACC_124(first, next) next(124) next(125) next(126) next(127)
/* For every shape: N, accumulators, and the numbers of the operands that follow them. */
#define WGMMA_SHAPES(f) \
    f(8, 4, 4, 5, 6, 7, 8, 9) \
    f(16, 8, 8, 9, 10, 11, 12, 13) \
    f(24, 12, 12, 13, 14, 15, 16, 17) \
    f(32, 16, 16, 17, 18, 19, 20, 21) \
    f(40, 20, 20, 21, 22, 23, 24, 25) \
    f(48, 24, 24, 25, 26, 27, 28, 29) \
    f(56, 28, 28, 29, 30, 31, 32, 33) \
    f(64, 32, 32, 33, 34, 35, 36, 37) \
    f(72, 36, 36, 37, 38, 39, 40, 41) \
    f(80, 40, 40, 41, 42, 43, 44, 45) \
    f(88, 44, 44, 45, 46, 47, 48, 49) \
    f(96, 48, 48, 49, 50, 51, 52, 53) \
    f(104, 52, 52, 53, 54, 55, 56, 57) \
    f(112, 56, 56, 57, 58, 59, 60, 61) \
    f(120, 60, 60, 61, 62, 63, 64, 65) \
    f(128, 64, 64, 65, 66, 67, 68, 69) \
    f(136, 68, 68, 69, 70, 71, 72, 73) \
    f(144, 72, 72, 73, 74, 75, 76, 77) \
    f(152, 76, 76, 77, 78, 79, 80, 81) \
    f(160, 80, 80, 81, 82, 83, 84, 85) \
    f(168, 84, 84, 85, 86, 87, 88, 89) \
    f(176, 88, 88, 89, 90, 91, 92, 93) \
    f(184, 92, 92, 93, 94, 95, 96, 97) \
    f(192, 96, 96, 97, 98, 99, 100, 101) \
    f(200, 100, 100, 101, 102, 103, 104, 105) \
    f(208, 104, 104, 105, 106, 107, 108, 109) \
    f(216, 108, 108, 109, 110, 111, 112, 113) \
    f(224, 112, 112, 113, 114, 115, 116, 117) \
    f(232, 116, 116, 117, 118, 119, 120, 121) \
    f(240, 120, 120, 121, 122, 123, 124, 125) \
    f(248, 124, 124, 125, 126, 127, 128, 129) \
    f(256, 128, 128, 129, 130, 131, 132, 133)
// clang-format on
#define WGMMA_FIRST_NAME(i) "%" #i
#define WGMMA_NEXT_NAME(i) ", %" #i
#define WGMMA_FIRST_REGISTER(i) "+f"(acc[i])
#define WGMMA_NEXT_REGISTER(i) , "+f"(acc[i])
#define WGMMA_ISSUE(n, r, a, b, accumulate, majors)                                                \
    "{ .reg .pred p; setp.ne.b32 p, %" #accumulate ", 0;\n\t"                                      \
    "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." ELEMENT_PTX "." ELEMENT_PTX " {"             \
    ACC_##r(WGMMA_FIRST_NAME, WGMMA_NEXT_NAME) "}, " a ", %" #b ", p, 1, 1, " majors "; }"

/* One function of each kind for every shape. SS: both operands from shared memory, K-major. MN:
 * the same, both operands MN-major (contiguous along m and n). RS: A from registers, four per
 * thread, as in mma_m16n8k16. RS MN: the same, B MN-major. */
#define WGMMA_DEFINE(n, r, o0, o1, o2, o3, o4, o5)                                                 \
    DEVICE void wgmma_ss_##n(float *acc, uint64_t a, uint64_t b, int accumulate) {                 \
        asm volatile(WGMMA_ISSUE(n, r, "%" #o0, o1, o2, "0, 0")                                    \
                     : ACC_##r(WGMMA_FIRST_REGISTER, WGMMA_NEXT_REGISTER)                          \
                     : "l"(a), "l"(b), "r"(accumulate));                                           \
    }                                                                                              \
    DEVICE void wgmma_mn_##n(float *acc, uint64_t a, uint64_t b, int accumulate) {                 \
        asm volatile(WGMMA_ISSUE(n, r, "%" #o0, o1, o2, "1, 1")                                    \
                     : ACC_##r(WGMMA_FIRST_REGISTER, WGMMA_NEXT_REGISTER)                          \
                     : "l"(a), "l"(b), "r"(accumulate));                                           \
    }                                                                                              \
    DEVICE void wgmma_rs_##n(float *acc, const uint32_t a[4], uint64_t b, int accumulate) {        \
        asm volatile(WGMMA_ISSUE(n, r, "{%" #o0 ", %" #o1 ", %" #o2 ", %" #o3 "}", o4, o5, "0")    \
                     : ACC_##r(WGMMA_FIRST_REGISTER, WGMMA_NEXT_REGISTER)                          \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));       \
    }                                                                                              \
    DEVICE void wgmma_rs_mn_##n(float *acc, const uint32_t a[4], uint64_t b, int accumulate) {     \
        asm volatile(WGMMA_ISSUE(n, r, "{%" #o0 ", %" #o1 ", %" #o2 ", %" #o3 "}", o4, o5, "1")    \
                     : ACC_##r(WGMMA_FIRST_REGISTER, WGMMA_NEXT_REGISTER)                          \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));       \
    }
WGMMA_SHAPES(WGMMA_DEFINE)

/* SS and RS for e4m3, 64 x n x 32. Operands in shared memory are K-major: PTX has no bits here that
 * say otherwise, because only 16-bit elements are transposed on the way from shared memory. */
#define WGMMA_DEFINE_E4M3(n, r, o0, o1, o2, o3, o4, o5)                                            \
    DEVICE void wgmma_e4m3_##n(float *acc, uint64_t a, uint64_t b, int accumulate) {               \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #o2 ", 0;\n\t"                             \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k32.f32.e4m3.e4m3 {"                  \
                     ACC_##r(WGMMA_FIRST_NAME, WGMMA_NEXT_NAME) "}, %" #o0 ", %" #o1               \
                     ", p, 1, 1; }"                                                                \
                     : ACC_##r(WGMMA_FIRST_REGISTER, WGMMA_NEXT_REGISTER)                          \
                     : "l"(a), "l"(b), "r"(accumulate));                                           \
    }                                                                                              \
    DEVICE void wgmma_rs_e4m3_##n(float *acc, const uint32_t a[4], uint64_t b, int accumulate) {   \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #o5 ", 0;\n\t"                             \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k32.f32.e4m3.e4m3 {"                  \
                     ACC_##r(WGMMA_FIRST_NAME, WGMMA_NEXT_NAME) "}, {%" #o0 ", %" #o1 ", %" #o2    \
                     ", %" #o3 "}, %" #o4 ", p, 1, 1; }"                                           \
                     : ACC_##r(WGMMA_FIRST_REGISTER, WGMMA_NEXT_REGISTER)                          \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));       \
    }
WGMMA_SHAPES(WGMMA_DEFINE_E4M3)

#define WGMMA_PASTE(kind, n) wgmma_##kind##_##n
#define WGMMA_CALL(kind, n) WGMMA_PASTE(kind, n)

/* Issues acc = a * b, or acc += a * b if `accumulate`, for a 64 x n x 16 product; n from 8 to
 * 256 in steps of 8, a literal or a macro. `a` and `b` are descriptors of K-major tiles,
 * [64][16] and [n][16]. acc[n / 2]: with w the warp in the warpgroup, g = lane / 4 and t = 2 *
 * (lane % 4), acc[4 * j + i] is row 16 * w + g + 8 * (i / 2), column 8 * j + t + i % 2. All
 * four warps of a warpgroup call, with the same arguments. */
#define wgmma_m64nNk16(n, acc, a, b, accumulate) WGMMA_CALL(ss, n)(acc, a, b, accumulate)

/* The same for MN-major operands, [16][64] and [16][n]. */
#define wgmma_m64nNk16_mn_major(n, acc, a, b, accumulate) WGMMA_CALL(mn, n)(acc, a, b, accumulate)

/* The same with A in registers: a[4] of each thread holds rows 16 * w .. 16 * w + 15 in the layout
 * of mma_m16n8k16. These registers must not change before the wait, either. */
#define wgmma_m64nNk16_rs(n, acc, a, b, accumulate) WGMMA_CALL(rs, n)(acc, a, b, accumulate)

/* The same with an MN-major B, [16][n]. */
#define wgmma_m64nNk16_rs_mn_major(n, acc, a, b, accumulate)                                       \
    WGMMA_CALL(rs_mn, n)(acc, a, b, accumulate)

/* acc = a * b, or acc += a * b, for a 64 x n x 32 product of e4m3, whichever 16-bit type the file
 * is compiled for. The descriptors' tiles, [64][32] and [n][32], are as many bytes as those of a
 * 64 x n x 16 product of 16-bit elements, and take as many cycles. Accumulators and callers are the
 * same, too. */
#define wgmma_m64nNk32_e4m3(n, acc, a, b, accumulate) WGMMA_CALL(e4m3, n)(acc, a, b, accumulate)

/* The same with A in registers. With w the warp in the warpgroup, g = lane / 4 and t = lane % 4,
 * a[i] of a thread holds row 16 * w + g + 8 * (i % 2), columns 16 * (i / 2) + 4 * t and the three
 * that follow, the first in the lowest byte. These registers must not change before the wait. */
#define wgmma_m64nNk32_e4m3_rs(n, acc, a, b, accumulate)                                           \
    WGMMA_CALL(rs_e4m3, n)(acc, a, b, accumulate)

#else
#include "sim/hopper/wgmma.h"
#endif

#endif
