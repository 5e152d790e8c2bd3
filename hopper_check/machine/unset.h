/*
 * unset.h: what memory holds that a program has not written: a block that is new, local memory.
 *
 * No number that it may have expected, and the same in every run: with every byte so, fp16, bf16,
 * fp32 and int32 are large and negative, and none is NaN, with which a comparison may pass.
 */
#ifndef MACHINE_UNSET_H
#define MACHINE_UNSET_H

enum { UNSET_BYTE = 0xfb };

#endif
