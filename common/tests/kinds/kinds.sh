#!/bin/sh
# kinds.sh DIRECTORY FAKE_GPU: the dummy kind of problem, 90_bias. The right kernel is verified and
# reported; each broken one, and the right one against a broken reference, is found. FAKE_GPU is the
# program with a kernel on the host, and a backend that "measures": it is timed, too.
set -u
. "$(dirname "$0")/../support/expect_run.sh"
bias=$1/90_bias fake=$2
for input in integer uniform normal zeros; do
    for type in bf16 fp16; do
        expect 0 'bias: D = A * B + bias, --bias drawn' "$bias" --m 70 --n 45 --k 96 --input $input \
            --dtype $type
    done
done
expect 0 '"kind": "bias", "bias": "zero", ' "$bias" --size 40 --bias zero --json
expect 1 'wrong result' "$bias" --check --variant missing
# A NaN in the padding hides what a number there shows.
expect 0 'yes' "$bias" --m 9 --n 45 --k 8 --input integer --variant drops_nan --padding nan
expect 1 'wrong result: 9 of ' "$bias" --m 9 --n 45 --k 8 --input integer --variant drops_nan \
    --padding finite
expect 1 ' --padding finite ' "$bias" --check --variant drops_nan
expect 2 'bias: an option has no struct kind_choice' "$bias"_no_choices --size 8
expect 0 'The problem: D = A * B + bias' "$bias" --help
expect 0 '--bias KIND' "$bias" --help
expect 2 "choose drawn or zero" "$bias" --bias none
for input in integer uniform; do
    set -- --m 70 --n 45 --k 96 --input $input
    expect 1 'wrong result: ' "$bias" "$@" --variant neighbour
    expect 1 ', column 32: ' "$bias" "$@" --variant missing
    expect 1 'wrong result in column 0: 1 of 70 elements' "$bias" "$@" --variant unwritten
    expect 1 'wrote outside of column 0: ' "$bias" "$@" --variant padding
    expect 1 'wrong result: ' "$bias"_neighbour "$@"
done
# Rounding twice, and a bound that accepts anything: integers allow no error.
expect 1 'exact sum; allowed error 0' "$bias" --size 96 --input integer --variant twice
expect 0 'yes' "$bias"_lax --size 96 --variant neighbour
expect 1 'exact sum; allowed error 0' "$bias"_lax --size 96 --input integer --variant neighbour

for input in integer uniform; do
    expect 0 'bias: D = A * B + bias, --bias drawn' "$fake" --m 70 --n 45 --k 96 --input $input
    # 20 ms for (2 k + 1) m n FLOPs
    expect 0 '"burst": {"ms": 20, "tflops": 3.03975e-05, ' "$fake" --m 70 --n 45 --k 96 --input $input --json
    expect 1 'timed runs, buffer' "$fake" --size 40 --input $input --variant timed
    expect 1 'timed runs, buffer 0: wrote outside of column 0: ' "$fake" --size 40 --input $input \
        --variant around
done
exit "$failed"
