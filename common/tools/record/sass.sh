#!/bin/bash
# sass.sh BUILD KERNEL...: what the compiler made of kernels (06_wgmma, 06_wgmma_wait0): of its main
# loop, which is the loop with the most multiplications, and whether setmaxnreg has survived.
#
# Per k-tile: a warp of 02 to 05 needs WM / 16 * WN / 8 * BK / 16 HMMA instructions for its part of a
# k-tile; the loop may have been unrolled to several k-tiles, or hold a part of one.
set -uo pipefail
build=$1
shift
command -v cuobjdump >/dev/null || { echo "sass.sh: there is no cuobjdump" >&2 && exit 3; }

# A constant of a chapter's enum.
constant() {
    sed -n "s/.*\b$2 = \([0-9]*\).*/\1/p" "$1" | head -n 1
}

echo '| kernel | loop | HMMA | HGMMA | ldmatrix | cp.async | TMA | mbarrier | bar | per k-tile | setmaxnreg |'
echo '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|'
missing=0
for kernel in "$@"; do
    object=$(find "$build" -path "*gpu_kernel_${kernel}_bf16.dir*" -name '*.o' | head -n 1)
    if [ -z "$object" ]; then
        echo "sass.sh: no object of $kernel under $build" >&2
        missing=1
        continue
    fi
    source=$(ls -d "${kernel%%_*}"_*/kernel.cu beyond/"${kernel%%_*}"_*/kernel.cu 2>/dev/null)
    wm=$(constant "$source" WM) wn=$(constant "$source" WN) bk=$(constant "$source" BK)
    per_tile=0
    # shellcheck disable=SC2017 # tiles are whole numbers of these
    [ -z "$wm" ] || per_tile=$((wm / 16 * (wn / 8) * (bk / 16)))
    cuobjdump -sass "$object" | awk -f "$(dirname "$0")/sass_loop.awk" -v kernel="$kernel" \
        -v per_tile=$per_tile
done
exit $missing
