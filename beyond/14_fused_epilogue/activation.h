/*
 * activation.h: GELU and SiLU of a value in fp32.
 *
 * Both are x times a logistic function, and take one exponential and one reciprocal on the
 * special-function unit:
 *
 *     silu(x) = x / (1 + exp(-x))
 *     gelu(x) = x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3)))
 *
 * The second is the form of GELU with a hyperbolic tangent, since (1 + tanh(u)) / 2 = 1 / (1 +
 * exp(-2 u)). The exact one has erf; the two differ by 4.8e-4 at most. For a large negative x,
 * tanh.approx leaves an error of up to 2^-11 beside 1, of which x is then a multiple; the form here
 * keeps the relative error of its result small, because nothing cancels.
 */
#ifndef FUSED_EPILOGUE_ACTIVATION_H
#define FUSED_EPILOGUE_ACTIVATION_H

#include "hopper/special_function.h"

/* x / (1 + 2^exponent). The power may be infinite, and its reciprocal zero. */
DEVICE float activation_logistic(float x, float exponent) {
    const float power = exp2_approx(exponent);
    const float share = reciprocal_approx(1 + power);
    return x * share;
}

DEVICE float gelu(float x) {
    const float scale = -2.302208198f; /* -2 sqrt(2 / pi) log2(e) */
    const float cubic = 0.044715f * -2.302208198f;
    return activation_logistic(x, x * fmaf(cubic, x * x, scale));
}

DEVICE float silu(float x) { return activation_logistic(x, -1.442695041f * x); /* log2(e) */ }

#endif
