#!/bin/sh
# ptxas_words.sh CHECK: the judge of ptxas's remarks (ptxas_check.sh) accepts and rejects the right
# ones.
set -u
check=$1
failures=0

# expect REJECTED|ACCEPTED TEXT [--foreign]
expect() {
    # shellcheck disable=SC2086 # none or one
    if printf '%s\n' "$2" | "$check" ${3-} --judge 2>/dev/null; then got=ACCEPTED; else got=REJECTED; fi
    if [ "$got" != "$1" ]; then
        echo "expected $1, got $got: $2"
        failures=$((failures + 1))
    fi
}

expect ACCEPTED ''
expect ACCEPTED 'ptxas info    : 0 bytes gmem'
expect ACCEPTED 'ptxas info    : Used 168 registers, used 10 barriers'
expect ACCEPTED '    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'
expect REJECTED '    48 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'
expect REJECTED '    8 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads'
expect REJECTED '    120 bytes stack frame, 0 bytes spill stores, 100 bytes spill loads'
expect REJECTED "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored"
expect REJECTED "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async serialized"
expect REJECTED "ptxas info    : (C7519) Potential Performance Loss: wgmma.mma_async serialized"
expect REJECTED 'ptxas warning : Unresolved extern variable'
expect REJECTED 'kernel.cu(10): warning #177-D: variable "x" was declared but never referenced'
# The good lines around a bad one do not hide it.
expect REJECTED 'ptxas info    : Used 168 registers
    0 bytes stack frame, 16 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 40 registers'
# Of another project's kernels only what changes the instructions.
expect ACCEPTED '    8 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads' --foreign
expect ACCEPTED 'gemm.hpp(10): warning #177-D: variable "x" was declared but never referenced' \
    --foreign
expect REJECTED "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored" --foreign
expect REJECTED "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async serialized" \
    --foreign

[ "$failures" -eq 0 ] || exit 1
echo "17 remarks judged as they should be"
