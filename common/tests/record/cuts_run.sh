#!/bin/bash
# cuts_run.sh CUTS CUTS_WRONG CUTS_FAKE FIT_CUTS DIRECTORY SELECT_C: build/gpu/cuts as far as the simulator and
# a fake GPU can run it: its rows, its options, and what becomes of a cut that computes something
# else.
set -u
select=$6
cuts=$1 wrong=$2 fake=$3 fit_cuts=$4
mkdir -p "$5" && cd "$5" || exit 2
failures=0

# expect WHAT EXPECTED GOT
expect() {
    [ "$2" = "$3" ] && return
    echo "$1: expected '$2', got '$3'"
    failures=$((failures + 1))
}
rows() { grep -v '^#' "$1"; }

"$cuts" --shapes 70x136x200,9x24x264 >right 2>log
expect 'exit code' 0 $?
# Two CTAs of one slab share an SM.
expect 'clusters' 1 "$(sed -n 1p right | grep -cE \
    '^# 4 SMs; resident clusters of 1, 2, 4 and 8 CTAs: 8 4 2 0 with one slab, 4 2 1 0 with more$')"
expect 'more clusters' 1 "$(sed -n 2p right | grep -cE \
    '^# resident clusters of 3, 5, 6 and 7 CTAs: 2 0 0 0 with one slab, 1 0 0 0 with more$')"
expect 'headings' '# m n k slabs width sharing_side sharing_fitted splits transposed cycles mhz;# m n k configuration cycles mhz;' \
    "$(grep '^# m' right | tr '\n' ';')"
expect 'rows' "$(sed -n 's/^# \([0-9]*\) cuts of 2 shapes$/\1/p' right)" "$(rows right | wc -l | tr -d ' ')"
expect 'numbers in a row' '6 11 ' "$(rows right | awk '{ print NF }' | sort -nu | tr '\n' ' ')"
expect 'shapes' '70 136 200;9 24 264;' "$(rows right | cut -d' ' -f1-3 | uniq | tr '\n' ';')"
expect 'kernels' '1 2 3 4 ' "$(rows right | awk 'NF == 11 { print $4 }' | sort -u | tr '\n' ' ')"
expect 'rows twice' '' "$(rows right | awk '{ NF -= 2; print }' | sort | uniq -d)"
expect 'rows without a time' '' "$(rows right | awk '!($(NF - 1) > 0)')"
# All configurations of select.c are linked.
expect 'configurations' "$(sed -n '/^#define CONFIGURATIONS/,/^$/p' "$select" | grep -oE 'f\([a-z0-9_]+,' |
    tr -d 'f(,' | sort)" "$(sed -n 's/^# configuration \([a-z0-9_]*\): tiles of [1-9].*/\1/p' right | tr -d f | sort)"
expect 'their rows' yes "$(rows right | grep -qE '^70 136 200 direct_16x32 [0-9.]+ 0$' && echo yes)"
"$fit_cuts" right >out 2>log
expect 'exit code of fit_cuts for simulated times' 2 $?
expect 'its message' 1 "$(grep -c 'right has no cuts timed in us' log)"

# The same with the fault, and without configurations: what is wrong is reported and has no row; the other rows stay.
"$wrong" --shapes 70x136x200,9x24x264 >some 2>log
expect 'exit code with the fault' 1 $?
rows right | awk 'NF == 11 && $5 != 40 && $5 != 24' >expected
rows some >got
expect 'cuts of these widths' yes "$(rows right | awk 'NF == 11 && $5 == 40' | grep -q . &&
    rows right | awk 'NF == 11 && $5 == 24' | grep -q . && echo yes)"
expect 'rows with the fault' '' "$(diff expected got)"
expect 'cuts reported' "$(rows right | awk 'NF == 11 && ($5 == 40 || $5 == 24)' | wc -l | tr -d ' ')" \
    "$(grep -cE 'width (40|24), .*: (its result is wrong|copy 0 of D is not)' log)"

# On the fake GPU, whose operands rotate, each launch takes 20 ms at 1000 MHz. What is wrong in later
# copies alone is reported, and so is a launch that fails.
"$fake" --shapes 70x136x16,9x24x264 >timed 2>log
expect 'exit code on a GPU' 1 $?
expect 'clusters on a GPU' '# 132 SMs; resident clusters of 1, 2, 4 and 8 CTAs: 264 132 60 32 with one slab, 132 66 30 16 with more' \
    "$(sed -n 1p timed)"
expect 'headings on a GPU' '# m n k slabs width sharing_side sharing_fitted splits transposed us mhz;# m n k configuration us mhz;' \
    "$(grep '^# m' timed | tr '\n' ';')"
expect 'times' '20000.000 1000' "$(rows timed | awk '{ print $(NF - 1), $NF }' | sort -u)"
expect 'rows of wrong widths' '' "$(rows timed | awk 'NF == 11 && ($5 == 32 || $5 == 24)')"
expect 'the right configuration' 2 "$(rows timed | grep -c ' direct_16x32 ')"
expect 'rows of the wrong one' '' "$(rows timed | grep direct_16x16)"
expect 'the wrong one' 2 "$(grep -c ': direct_16x16: \(its result is wrong\|copy 0 of D is not what\)' log)"
expect 'shapes on a GPU' '70 136 16;9 24 264;' "$(rows timed | cut -d' ' -f1-3 | uniq | tr '\n' ';')"
expect 'wrong copies' yes "$(grep -q 'width 32, .*: copy 1 of D is not what' log && echo yes)"
expect 'failed launches' yes "$(grep -q 'width 24, .*: cannot be timed' log && echo yes)"
wrong_cuts=$(grep -cE 'width (24|32), |: direct_16x16: ' log)
expect 'all cuts' "$(sed -nE 's/.*: [0-9]+ of ([0-9]+) cuts, .*/\1/p' log | awk "{ n += \$1 } END { print n }")" \
    "$(($(rows timed | wc -l) + wrong_cuts))"
"$fit_cuts" timed >out 2>log
expect 'exit code of fit_cuts' 0 $?
expect 'its summary' yes "$(grep -q ' of 2 shapes; .* takes 0.0 % longer' out && echo yes)"

# Time runs out after the first shape; the drawn ones are left out. Of seed 9, 118 are short enough.
"$cuts" --shapes 100x160x3000 --drawn 9 --seconds 1 >short 2>log
expect 'exit code with a limit' 0 $?
expect 'its last line' 1 \
    "$(tail -n 1 short | grep -cE '^# [0-9]+ cuts of 1 shapes; 118 shapes were left out for time$')"

for options in '' '--shapes' '--shapes 5' '--shapes 5x5x5x5' '--drawn x' '--seconds 0' '--cuts 1'; do
    # shellcheck disable=SC2086
    "$cuts" $options >out 2>log
    expect "exit code of '$options'" 2 $?
    expect "its output" '' "$(cat out)"
done
[ "$failures" -eq 0 ]
