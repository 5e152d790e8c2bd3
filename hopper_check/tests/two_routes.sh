#!/bin/sh
# two_routes.sh TWO_ROUTES NVCC SOURCE WORK CHAPTER[:VARIANT] FILE [MACRO=VALUE...]: a kernel of the
# book as C and as nvcc's PTX, in runs of --check: the same bytes and the same verdicts. Skipped without
# nvcc.
set -u
program=$1 nvcc=$2 source=$3 work=$4 kernel=$5 file=$6
shift 6
command -v "$nvcc" >/dev/null || { echo "there is no nvcc: nothing to compare"; exit 77; }
rm -rf "$work"
mkdir -p "$work" || exit 2
for macro; do
    shift
    set -- "$@" "-D$macro"
done
"$nvcc" -std=c++17 -O3 -lineinfo -ptx -arch=sm_90a -I"$source/common" -I"$source/beyond" -I"$source/library" \
    -DGEMM_KERNEL=kernel_of_chapter -DGEMM_BF16_ELEMENTS=1 "$@" "$source/$file" -o "$work/kernel.ptx" || exit 2
# The first shapes by late, early, random and time, and an edge.
"$program" "$kernel" "$work/kernel.ptx" 1 2 3 6 12
