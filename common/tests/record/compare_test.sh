#!/bin/sh
# compare_test.sh COMPARE DIRECTORY: what compare selects, times and prints, with fake kernels.
set -u
compare=$1
mkdir -p "$2" && cd "$2" || exit 2
failures=0

# expect WHAT EXPECTED GOT
expect() {
    [ "$2" = "$3" ] && return
    echo "$1: expected '$2', got '$3'"
    failures=$((failures + 1))
}

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

for bad in '--kernels 2 --shapes 8' '--kernels 1 --shapes 8x8' '--kernels 1:none --shapes 8' '--kernels +trace --shapes 8' \
    '--kernels 1' '--kernels 1 --shapes 8 --order up' '--kernels 1 --shapes 0' '--sms 3'; do
    # shellcheck disable=SC2086
    "$compare" $bad >rows 2>log
    expect "exit code of $bad" 2 $?
    expect "rows of $bad" 0 "$(wc -l <rows | tr -d ' ')"
done
[ "$failures" -eq 0 ]
