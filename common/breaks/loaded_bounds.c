/* loaded_bounds.c: part of every break, which is a shared object: its kernel's launch bounds. */
#include "sim/core/launch_bounds.h"

int broken_launch_bounds(const void *kernel);

int broken_launch_bounds(const void *kernel) { return launch_bounds_here(kernel); }
