/*
 * advice.h: how a program has to be compiled, and what has the rules in doubt.
 */
#ifndef RUNTIME_ADVICE_H
#define RUNTIME_ADVICE_H

#define BUILD_FLAGS "nvcc -gencode arch=compute_90a,code=compute_90a -lineinfo -cudart shared"
#define BUILD_ADVICE "compile it with: " BUILD_FLAGS
#define DOUBT_ADVICE "Only --doubtful on has it."

#endif
