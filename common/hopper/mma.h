/*
 * mma.h: the warp's Tensor Core instructions: ldmatrix, mma.sync, stmatrix.
 *
 * PTX ISA: "Warp Level Matrix Instructions" (ldmatrix, stmatrix, mma), "Matrix Fragments for
 * mma.m16n8k16".
 */
#ifndef HOPPER_MMA_H
#define HOPPER_MMA_H

#include "hopper/element.h"
#include "hopper/thread.h"

#ifdef __CUDACC__

/* Loads four 8x8 matrices of 16-bit elements. Lane l gives the address of row l % 8 of matrix l
 * / 8 (16 bytes, 16-byte aligned, shared memory) and receives, in r[i], elements (l / 4, 2 * (l
 * % 4)) and the one to its right of matrix i. The whole warp calls. There are no bank conflicts
 * if the eight rows of a matrix lie in different groups of four banks. */
DEVICE void ldmatrix_x4(uint32_t r[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

/* The inverse of ldmatrix_x4: stores four 8x8 matrices. The whole warp calls. sm_90. */
DEVICE void stmatrix_x4(void *row, const uint32_t r[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(shared_address(row)), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
}

/* The same, each matrix transposed: a lane's two elements, neighbours in a row of the matrix, go to
 * two neighbouring rows in memory. The whole warp calls. sm_90. PTX ISA: stmatrix (.trans). */
DEVICE void stmatrix_x4_trans(void *row, const uint32_t r[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(shared_address(row)), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
}

/* stmatrix_x4 with two matrices: lanes 0 to 15 give the addresses. The whole warp calls. sm_90. */
DEVICE void stmatrix_x2(void *row, const uint32_t r[2]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(
                     shared_address(row)),
                 "r"(r[0]), "r"(r[1])
                 : "memory");
}

/* d += a * b on a 16x8 tile, 16 deep: a is 16x16 (row, k), b is 8x16 (column, k), d is fp32.
 * With g = lane / 4 and t = 2 * (lane % 4):
 *   a[0] (g, t..t+1)  a[1] (g+8, t..)  a[2] (g, t+8..)  a[3] (g+8, t+8..)
 *   b[0] (k = t..t+1, column g)        b[1] (k = t+8.., column g)
 *   d[0], d[1] (g, t), (g, t+1)        d[2], d[3] (g+8, t), (g+8, t+1)
 * Synchronous: d can be read at once. The whole warp calls. */
DEVICE void mma_m16n8k16(float d[4], const uint32_t a[4], const uint32_t b[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32." ELEMENT_PTX "." ELEMENT_PTX ".f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#else
#include "sim/hopper/mma.h"
#endif

#endif
