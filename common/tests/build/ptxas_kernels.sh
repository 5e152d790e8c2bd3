#!/bin/sh
# ptxas_kernels.sh CHECK NVCC INCLUDES SOURCE: the build refuses kernels that ptxas spills,
# gives a stack frame, serializes or strips of setmaxnreg, leaves no object of them behind, and accepts a clean one. The
# same with this toolkit's own words as ptxas_words.sh with written ones.
set -u
check=$1 nvcc=$2 includes=$3 source=$4
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
failures=0

# compile NAME REMARK [OPTION...]: REMARK is what the output must contain, or empty if it must pass.
compile() {
    name=$1 remark=$2
    shift 2
    object=$directory/$name.o
    "$check" "$nvcc" -gencode arch=compute_90a,code=sm_90a -std=c++17 -O3 -Xptxas -v \
        -I"$includes" "$@" -c "$source" -o "$object" >"$directory/$name.txt" 2>&1
    code=$?
    if [ -z "$remark" ]; then
        if [ "$code" -eq 0 ] && [ -s "$object" ]; then return; fi
        echo "$name: a clean kernel was refused (exit $code):"
    elif [ "$code" -ne 0 ] && [ ! -e "$object" ] && grep -q "$remark" "$directory/$name.txt"; then
        return
    else
        echo "$name: exit $code, expected a refusal that names $remark and leaves no object:"
    fi
    cat "$directory/$name.txt"
    failures=$((failures + 1))
}

compile clean ''
compile spilled 'bytes spill stores' -DSPILLED=1
compile stacked 'bytes stack frame' -DSTACKED=1
compile serialized 'C751[0-9]' -DSERIALIZED=1
compile ignored 'C750[4-8]' -DIGNORED=1
[ "$failures" -eq 0 ] || exit 1
echo "1 kernel accepted, 4 refused"
