#!/bin/sh
# no_gpu.sh BUILD_DIRECTORY PROGRAM: without a GPU, a GPU program ends with 3 and one line that
# says what is missing and names the program that needs none; and that program is there.
set -u
build=$1 program=$2
output=$(mktemp -d) || exit 1
trap 'rm -rf "$output"' EXIT
# An empty list hides every GPU, so that this is the same test on a machine that has one.
CUDA_VISIBLE_DEVICES='' "$build/gpu/$program" --size 64 >"$output/out" 2>"$output/err"
code=$?

fail() {
    echo "$program: $1; exit code $code, stdout and stderr:"
    cat "$output/out" "$output/err"
    exit 1
}
[ "$code" -eq 3 ] || fail "expected exit code 3"
[ ! -s "$output/out" ] || fail "expected nothing on stdout"
[ "$(wc -l <"$output/err")" -eq 1 ] || fail "expected one line on stderr"
grep -q 'no CUDA device' "$output/err" || fail "does not say that there is no CUDA device"
named=$(grep -o '[^ ;]*/sim/[0-9a-z_]*' "$output/err") || fail "names no simulator program"
[ "$named" = "$build/sim/$program" ] || fail "names $named instead of $build/sim/$program"
[ -x "$named" ] || fail "$named is not there"
