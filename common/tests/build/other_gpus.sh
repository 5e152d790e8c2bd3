#!/bin/sh
# other_gpus.sh NVCC SOURCE CAPABILITY=FILE...: what a driver has to do with the PTX of the kernels
# for more than Hopper. Each file, relative to the directory SOURCE, is compiled to PTX of that
# compute capability, and ptxas compiles this for every GPU from there on that the toolkit knows. No
# GPU ran the result. Spilled registers are shown, and are no error: only 9.0's are chosen by hand.
set -u
nvcc=$1 source=$2
shift 2
ptxas=$(dirname "$nvcc")/ptxas
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
known=$("$nvcc" --list-gpu-code) || exit 1
failures=0 compiled=0 lacks=

for target in 80 86 89 90 100 103 120; do
    echo "$known" | grep -qx "sm_$target" || lacks="$lacks sm_$target"
done
for pair in "$@"; do
    capability=${pair%%=*} file=${pair#*=}
    "$nvcc" -ptx -arch="compute_$capability" -std=c++17 -O3 -I"$source/common" \
        -DGEMM_KERNEL=kernel_test -DGEMM_BF16_ELEMENTS=1 -DTRACE=0 -DCEILING_TYPE=bf16 \
        "$source/$file" -o "$directory/kernel.ptx" || { failures=$((failures + 1)) && continue; }
    for target in 80 86 89 90 100 103 120; do
        [ "$target" -ge "$capability" ] || continue
        echo "$known" | grep -qx "sm_$target" || continue
        if "$ptxas" -v -arch="sm_$target" "$directory/kernel.ptx" -o "$directory/kernel.cubin" \
            >"$directory/said" 2>&1; then
            compiled=$((compiled + 1))
            spilled=$(grep -o '[0-9]* bytes spill stores' "$directory/said")
            case $spilled in 0*) ;; *) echo "$file for sm_$target: $spilled" ;; esac
        else
            echo "$file: PTX of compute_$capability for sm_$target:"
            cat "$directory/said"
            failures=$((failures + 1))
        fi
    done
done
[ -z "$lacks" ] || echo "not tried, this toolkit lacks them:$lacks"
echo "$compiled compiled, $failures failed"
[ "$failures" -eq 0 ] && [ "$compiled" -gt 0 ]
