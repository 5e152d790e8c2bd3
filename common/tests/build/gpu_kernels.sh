#!/bin/sh
# gpu_kernels.sh OBJECT...: nvcc has compiled these kernels. Where it refuses one, there is an object
# all the same, with nvcc's words beside it: cmake/compile_kernel.sh.
set -u
bad=0
for object in "$@"; do
    [ -s "$object" ] && [ ! -e "$object.refused" ] && continue
    bad=$((bad + 1))
    echo "not compiled: $object"
    [ ! -e "$object.refused" ] || cat "$object.refused"
done
echo "$# kernels, $bad not compiled"
[ $# -gt 8 ] && [ "$bad" -eq 0 ]
