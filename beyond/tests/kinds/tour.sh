#!/bin/bash
# tour.sh TOUR OUT: the tour goes through kernels of every kind of problem and of every type, each
# with a table of its own, and all of them stand on the report's page; a --dtype leaves out those that
# are not compiled for it.
set -u
tour=$1 out=$2
failed=0
fail() { echo "$*"; failed=1; }
mkdir -p "$out"

"$tour" --chapters 10-16 --size 64 --report "$out" >"$out/tables" || fail "exit code $?"
[ "$(grep -c '^Hopper simulator' "$out/tables")" -ge 10 ] || fail 'not a table for each kind and type'
for kernel in 10_stream_k:split_k 11_fp8_scaling 12_w4a8 13_two_gpus 14_fused_epilogue:quantize \
    15_grouped_gemm:fp8 15_grouped_gemm 16_attention; do
    grep -Eq "^$kernel +yes " "$out/tables" || fail "no line of $kernel"
    name=${kernel%%:*} variant=
    [ "$name" = "$kernel" ] || variant=${kernel#*:}
    grep -qF "{\"name\":\"$name\",\"variant\":\"$variant\"" "$out/index.html" ||
        fail "no row of $kernel on the page"
done
grep -Eq '^Hopper simulator.*64 x 64 x 128, bf16' "$out/tables" || fail '16 has its own k'
tables=$(grep -o '"problem":"[^"]' "$out/index.html" | wc -l)
[ "$tables" -eq "$(grep -c '^Hopper simulator' "$out/tables")" ] || fail "$tables tables on the page"

"$tour" --chapters 10-12 --size 64 --dtype fp16 --json >"$out/fp16" 2>"$out/left_out" ||
    fail "fp16: exit code $?"
[ "$(wc -l <"$out/fp16")" -eq 3 ] || fail 'with fp16 there are other lines than those of 10'
grep -q '12_w4a8 is left out: it is not compiled for fp16' "$out/left_out" || fail '12 with fp16'
exit $failed
