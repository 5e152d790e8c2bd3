#!/bin/bash
# predict.sh PREDICT RESULTS DIRECTORY: the ranking is complete and in order, and depends on the
# GPU's rates; and what is no shape or no record.
set -u
predict=$1 results=$2
mkdir -p "$3" && cd "$3" || exit 2
failures=0

# expect WHAT EXPECTED GOT
expect() {
    [ "$2" = "$3" ] && return
    echo "$1: expected '$2', got '$3'"
    failures=$((failures + 1))
}

"$predict" "$results/h200-cuts.txt" 4096x4096x4096 40x64x512 >out
expect 'exit code' 0 $?
expect 'shapes' '4096 x 4096 x 4096,40 x 64 x 512,' "$(grep -v '^ ' out | tr '\n' ',')"
# Every kernel has a place, if it is for the problem: kernel.cu is not for 64 rows or fewer.
expect 'kernels at 4096' 1 "$(sed '/^40 x/,$d' out | grep -c ' pp192$')"
expect 'none of kernel.cu at 40 rows' 0 "$(sed '1,/^40 x/d' out | grep -c ' pp192$')"
expect 'fitted kernels' 8 "$(grep -c ' fitted[1-4]: width\| fitted[1-4]: transposed' out)"
sed '1,/^40 x/d' out | awk '{ print $1 }' >cycles
expect 'order' "$(sort -n cycles | tr '\n' ' ')" "$(tr '\n' ' ' <cycles)"

# Memory decides at 16 rows, and an H100 has two thirds of it.
first() { "$predict" "$1" 16x22016x4096 | awk 'NR == 2 { print $1 }'; }
sed 's/NVIDIA H100/NVIDIA H200/; /^# rates/d' "$results/h100-cuts.txt" >as-h200.txt
expect 'an H100 is slower' yes \
    "$(awk -v a="$(first "$results/h100-cuts.txt")" -v b="$(first as-h200.txt)" \
        'BEGIN { print((a > 1.3 * b && a < 1.5 * b) ? "yes" : "no, " a " and " b) }')"
# So do the rates that a record names itself.
sed '2s/^/# rates of an H200: memory 0.6818, L2 0.8437\n/' as-h200.txt >named.txt
expect 'rates in the record' "$(first "$results/h100-cuts.txt")" "$(first named.txt)"

for arguments in "$results/h200-cuts.txt" "$results/h200-cuts.txt 4096" \
    "$results/h200-cuts.txt 0x1x1" "$results/h200-cuts.txt 1x2x3x" "missing.txt 1x2x3"; do
    # shellcheck disable=SC2086 # several arguments
    "$predict" $arguments >out 2>log
    expect "exit code of predict $arguments" 2 $?
    expect "message of predict $arguments" 1 "$(wc -l <log)"
    expect "output of predict $arguments" '' "$(cat out)"
done
[ "$failures" -eq 0 ]
