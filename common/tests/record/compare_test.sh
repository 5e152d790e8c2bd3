#!/bin/sh
# compare_test.sh COMPARE DIRECTORY: what compare selects, times and prints, with fake kernels.
set -u
. "$(dirname "$0")/../support/expect_same.sh"
compare=$1
mkdir -p "$2" && cd "$2" || exit 2

"$compare" --kernels 1,1:truncating --shapes 40x30x20,64 --iters 2 --csv samples.csv >rows 2>log
expect 'exit code' 0 $?
expect 'rows' 4 "$(grep -c '"verified": true' rows)"
expect 'rows with both a speed and cuBLAS' 4 \
    "$(grep -c '"burst": {.*"baselines": \[{"name": "cublas", "burst": {' rows)"
expect 'shapes timed' 2 "$(grep -c ' s$' log)"
expect 'rows of the variant' 2 "$(grep -c '"variant": "truncating"' rows)"
# 2 shapes, 3 contenders, 2 rounds, and a header.
expect 'samples' 13 "$(wc -l <samples.csv | tr -d ' ')"

# The order as listed, in every round.
"$compare" --kernels 1:truncating,1 --shapes 32 --iters 3 --order listed --baselines none \
    --csv samples.csv >rows 2>log
expect 'exit code' 0 $?
expect 'order' 'truncating,,truncating,,truncating,,' \
    "$(tail -n +2 samples.csv | cut -d, -f2 | tr '\n' ',')"
expect 'no baselines' 2 "$(grep -c '"baselines": \[\]' rows)"

# With the same operands in every launch, too.
"$compare" --kernels 1 --shapes 32 --iters 1 --operands warm --baselines none >rows 2>log
expect 'exit code' 0 $?
expect 'timed warm' 1 "$(grep -c '"verified": true.*"burst": {"ms": 19,' rows)"
"$compare" --kernels 1 --shapes 32 --iters 1 --operands lukewarm >rows 2>log
expect 'exit code of another word' 2 $?

# A wrong result is not timed, and the others are.
"$compare" --kernels 1:all --shapes 300x200x100 --iters 1 >rows 2>log
expect 'exit code' 1 $?
expect 'the right one' 1 "$(grep -c '"variant": null.*"verified": true.*"burst": {"ms"' rows)"
expect 'speeds of wrong ones' 0 "$(grep -c '"verified": false.*"burst": {"ms".*"sus.*"base' rows)"

# With and without the recorder in one rotation; a kernel that has none is refused.
"$compare" --kernels 1,1+trace --shapes 32 --iters 1 --baselines none >rows 2>log
expect 'exit code' 0 $?
expect 'the kernel and the one that records' 'null,"+trace",' \
    "$(sed -n 's/.*"variant": \([^,]*,\).*"verified": true.*/\1/p' rows | tr -d '\n')"
"$compare" --kernels 1:truncating+trace --shapes 32 --iters 1 >rows 2>log
expect 'exit code without a recorder' 1 $?
expect 'why' 1 "$(grep -c 'truncating was not compiled with the recorder' log)"

# The fastest of several, which is not the one with the best prediction. Its name tells no variant,
# and there is one at most.
"$compare" --kernels 1,1:tuned --shapes 32,40 --iters 1 --baselines none >rows 2>log
expect 'exit code' 0 $?
expect 'the fastest' 2 "$(grep -c '"variant": "tuned".*"selected": "truncating"' rows)"
expect 'verified' 4 "$(grep -c '"verified": true' rows)"
for twice in 1:tuned,1:tuned 1:tuned+trace 2:tuned; do
    "$compare" --kernels $twice --shapes 32 --iters 1 >rows 2>log
    expect "exit code of $twice" 2 $?
done

# Baselines by name and by group. Only the asked ones are in the rotation, and each says what came of
# its verification and how it divides the work.
fields() { # of the first row's baselines: name, verified
    sed -n '1s/.*"baselines": //p' rows |
        grep -o '"name": "[a-z-]*", "burst"\|"verified": [a-z]*' |
        sed 's/"name": "//; s/".*: //; s/",.*//' | tr '\n' ' '
}
"$compare" --kernels 1 --shapes 40x50x300 --iters 1 --baselines rival,reduced >rows 2>log
expect 'exit code' 0 $?
expect 'chosen baselines' 'rival true rounding true ' "$(fields)"
expect 'an algorithm' 1 "$(grep -c '"algo": {"name": "fake", "id": null, "tile_m": 64' rows)"
expect 'an unknown one' 1 "$(grep -c '"algo": null' rows)"
"$compare" --kernels 1 --shapes 32 --iters 1 --baselines all >rows 2>log
expect 'exit code' 0 $?
expect 'all baselines' 'cublas true rival true rounding true resting null ' "$(fields)"
# Sums that were rounded are accepted of the library that is known to round, also where every other
# must be exact; and of no other.
"$compare" --kernels 1 --shapes 40x50x6000 --iters 1 --input integer --baselines reduced >rows 2>log
expect 'rounded integers' 'rounding true ' "$(fields)"
FAKE_RIVAL=rounded-sums "$compare" --kernels 1 --shapes 40x50x6000 --iters 1 --input integer \
    --baselines rival,reduced >rows 2>log
expect 'exit code of rounded integers' 1 $?
expect 'rounded integers of another' 'rival false rounding true ' "$(fields)"
for defect in transposed unwritten-tile k-tail-dropped nan-output past-last-column; do
    FAKE_ROUNDING=$defect "$compare" --kernels 1 --shapes 130x70x77 --iters 1 --input normal \
        --baselines reduced >rows 2>log
    expect "exit code of $defect" 1 $?
    expect "rounding, but $defect" 'rounding false ' "$(fields)"
done
# A wrong baseline has no speed, the kernel keeps its own; also if it goes wrong when it is timed.
for defect in one-element launch-fails timed-wrong timed-silent; do
    FAKE_RIVAL=$defect "$compare" --kernels 1 --shapes 65x33x40 --iters 1 --baselines rival \
        >rows 2>log
    expect "exit code of $defect" 1 $?
    expect "a baseline with $defect" 'rival false ' "$(fields)"
    expect "speeds with $defect" 1 "$(grep -c '"burst": {"ms".*"name": "rival", "burst": null' rows)"
done
expect 'which buffer was wrong' 1 "$(grep -c 'rival, timed runs, buffer 0: wrong result' log)"
# One scale for all is another product, unless the problem has no other scales.
"$compare" --kernels 1 --shapes 130x270x300 --iters 1 --dtype e4m3 --baselines one-scale >rows 2>log
expect 'exit code' 0 $?
expect 'another product' 'one-scale null ' "$(fields)"
"$compare" --kernels 1:tensor-scales --shapes 130x270x300 --iters 1 --dtype e4m3 \
    --baselines one-scale >rows 2>log
expect 'exit code' 0 $?
expect 'the same product' 'one-scale true ' "$(fields)"
# Weights that are rounded with their scales are compared with a reference of their own, whose sums
# are not promoted.
for input in uniform normal integer zeros; do
    "$compare" --kernels 1 --shapes 130x270x16,130x270x300,40x50x6000 --iters 1 --dtype w4a8 \
        --input $input --baselines lookup >rows 2>log
    expect "exit code of rounded weights, $input" 0 $?
    expect "rounded weights, $input" 'lookup true ' "$(fields)"
done
# Over a long k not even sums of integers are exact.
"$compare" --kernels 1 --shapes 3x64x60000 --iters 1 --dtype w4a8 --input integer \
    --baselines lookup >rows 2>log
expect 'exit code of long sums of integers' 0 $?
expect 'long sums of integers' 'lookup true ' "$(fields)"
# And the Tensor Core's errors are greater than those of the exact product.
FAKE_LOOKUP=none "$compare" --kernels 1 --shapes 130x270x32 --iters 1 --dtype w4a8 \
    --input normal --baselines lookup >rows 2>log
expect 'exit code of weights that are not rounded' 1 $?
expect 'weights that are not rounded' 'lookup false ' "$(fields)"
for defect in other-block other-row other-columns unscaled k-tail-dropped one-element; do
    FAKE_LOOKUP=$defect "$compare" --kernels 1 --shapes 130x270x300 --iters 1 --dtype w4a8 \
        --input normal --baselines lookup >rows 2>log
    expect "exit code of rounded weights, but $defect" 1 $?
    expect "rounded weights, but $defect" 'lookup false ' "$(fields)"
done

# says LIST TEXT: --baselines LIST is refused in one line that contains the text.
says() {
    "$compare" --kernels 1 --shapes 8 --baselines "$1" >rows 2>log
    expect "exit code of --baselines $1" 2 $?
    expect "--baselines $1 says '$2'" 1 "$(grep -cF -e "--baselines: $2" log)"
    expect "lines of --baselines $1" 1 "$(wc -l <log | tr -d ' ')"
}
says libary "'libary' is not known; choose from none, all, libraries, rivals, reduced, ceilings, foreign, cublas, rival,"
says absent "'absent' is not in this build; configure with -DFAKE_ABSENT=DIR"
says foreign "'foreign' is not in this build"
says cublas, "'' is not known"

for bad in '--kernels 2 --shapes 8' '--kernels 1 --shapes 8x8' '--kernels 1:none --shapes 8' '--kernels +trace --shapes 8' \
    '--kernels 1' '--kernels 1 --shapes 8 --order up' '--kernels 1 --shapes 0' '--sms 3'; do
    # shellcheck disable=SC2086
    "$compare" $bad >rows 2>log
    expect "exit code of $bad" 2 $?
    expect "rows of $bad" 0 "$(wc -l <rows | tr -d ' ')"
done
[ "$failures" -eq 0 ]
