/*
 * drawn_shapes.h: shapes drawn at random, for a benchmark that cannot be tuned to.
 */
#ifndef TOOLS_RECORD_DRAWN_SHAPES_H
#define TOOLS_RECORD_DRAWN_SHAPES_H

#include <stdint.h>

#include "harness/experiment.h"

enum { DRAWN_SHAPES = 60 };

/* Shape number `index` of a seed: m and n from 8 to 16384, k from 64 to 32768, the logarithm of
 * each uniform; at most 4 * 10^12 floating-point operations. Four shapes of five are aligned: n and
 * k are multiples of 8, and in two thirds of these of 64, so that rows begin at lines of 128 bytes;
 * in the other third neither is. The same for the same arguments, everywhere. */
struct problem_size drawn_shape(uint64_t seed, int index);

#endif
