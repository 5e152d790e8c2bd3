#!/bin/sh
# architectures.sh PTXAS_CHECK NVCC SOURCE ARCHITECTURES FILE...: the kernels for Blackwell compile for
# each of these architectures, "100a 103a 110a", without a remark of ptxas, in both types. What the
# toolkit does not know is said, and left out.
set -u
check=$1 nvcc=$2 source=$3 architectures=$4
shift 4
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
known=$("$nvcc" --list-gpu-code) || exit 1
failures=0 compiled=0
for architecture in $architectures; do
    echo "$known" | grep -qx "sm_${architecture%a}" ||
        { echo "not tried, this toolkit lacks it: sm_$architecture" && continue; }
    for file in "$@"; do
        for bf16 in 0 1; do
            if "$check" "$nvcc" -cubin -arch="sm_$architecture" -std=c++17 -O3 -Xptxas -v \
                -I"$source/common" -I"$source/beyond" -DGEMM_KERNEL=kernel_test \
                -DGEMM_BF16_ELEMENTS=$bf16 -DTRACE=0 "$source/$file" -o "$directory/kernel.cubin"; then
                compiled=$((compiled + 1))
            else
                echo "$file for sm_$architecture"
                failures=$((failures + 1))
            fi
        done
    done
done
echo "$compiled compiled, $failures failed"
[ "$failures" -eq 0 ] || exit 1
[ "$compiled" -gt 0 ] || exit 77
