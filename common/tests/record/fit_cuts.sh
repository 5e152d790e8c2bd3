#!/bin/bash
# fit_cuts.sh FIT_CUTS RESULTS COST_H DIRECTORY: what cost.h's comment says of the records is what
# they have; the excess of a choice, worked out by hand; a search for constants; and records that
# cannot be read.
set -u
fit_cuts=$1 results=$2 cost_h=$3
mkdir -p "$4" && cd "$4" || exit 2
failures=0

# expect WHAT EXPECTED GOT
expect() {
    [ "$2" = "$3" ] && return
    echo "$1: expected '$2', got '$3'"
    failures=$((failures + 1))
}

# The comment's numbers end with two zeros, as 4,300 does.
for record in h200-cuts h100-cuts-before-start h100-cuts; do
    "$fit_cuts" "$results/$record.txt" >$record-summary
    expect "exit code, $record" 0 $?
done
sum() { awk '{ n += $1 } END { n = int(n / 100 + 0.5) * 100; printf "%d,%03d", n / 1000, n % 1000 }'; }
cuts=$(sed -n 's/^\([0-9]*\) cuts of .*/\1/p' h200-cuts-summary h100-cuts-before-start-summary | sum)
others=$(cat "$results/h200-cuts.txt" "$results/h100-cuts-before-start.txt" |
    grep -cE '^[0-9]+ [0-9]+ [0-9]+ [a-z]' | sum)
shapes=$(sed -n 's/^[0-9]* cuts of \([0-9]*\) shapes;.*/\1/p' h200-cuts-summary h100-cuts-before-start-summary |
    awk '{ n += $1 } END { print n }')
comment=$(sed -n '/^\/\* These are fitted together/,/\*\/$/p' "$cost_h" | tr -d '*' | tr -s ' \n' ' ')
text="$cuts cuts and $others other ways to compute $shapes shapes"
expect "'$text' in $cost_h" yes "$(grep -qF "$text" <<<"$comment" && echo yes)"
# The rates of the GPU count: those of an H100 are not an H200's.
sed 's/NVIDIA H100/NVIDIA H200/; /^# rates/d' "$results/h100-cuts.txt" >another.txt
expect 'predictions with other rates' different \
    "$(cmp -s h100-cuts-summary <("$fit_cuts" another.txt) && echo same || echo different)"

# Of the first shape the formula prefers the wide tile, which takes 20 % longer here; of the second,
# too, and there it is the fastest.
cat >two.txt <<'END'
# 132 SMs; resident clusters of 1, 2, 4 and 8 CTAs: 264 132 60 28 with one slab, 132 66 30 14 with more
# m n k slabs width sharing_side sharing_fitted splits transposed us mhz
1024 1024 1024 2 64 1 1 1 0 12.0 1800
1024 1024 1024 1 8 1 1 1 0 10.0 1800
1024 1024 512 2 64 1 1 1 0 6.0 1800
1024 1024 512 1 8 1 1 1 0 7.0 1800
END
"$fit_cuts" two.txt --worst 1 >out
expect 'summary' '4 cuts of 2 shapes; the cut with the smallest prediction takes 10.0 % longer than the fastest, in the mean; more than 10 % at 1 shapes, 20 % at most' \
    "$(sed -n 1p out)"
tail -n 3 out >worst
expect 'the worst' '1024 x 1024 x 1024: 20.0 %' "$(sed -n 1p worst)"
expect 'chosen' yes "$(sed -n 2p worst | grep -q 'chosen .* 12.00 us, .*: 2 slabs, width 64,' && echo yes)"
expect 'fastest' yes "$(sed -n 3p worst | grep -q 'fastest .* 10.00 us, .*: 1 slabs, width 8,' && echo yes)"
# Several kernels, and of each the cut with the smallest prediction: not the second one's fastest.
{ cat two.txt && echo '1024 1024 1024 2 8 1 1 1 0 9.0 1800'; } >tuned.txt
expect 'the fastest of several' 'the fastest of the 8 kernels with the smallest predictions: 5.6 %; 11 % at the 95th percentile, 11 % at most' \
    "$("$fit_cuts" tuned.txt | sed -n 3p)"
# Rows of a shape need not follow one another.
{ sed -n '1,3p;5p' two.txt && sed -n '4p;6p' two.txt; } >mixed.txt
"$fit_cuts" mixed.txt >mixed
expect 'mixed rows' "$(sed '/^1024 x/,$d' out)" "$(cat mixed)"
# Fewer clusters at once: the choice depends on them.
sed 's/# 132 SMs\(.*\) 264 132 60 28\(.*\) 132 66 30 14/# 16 SMs\1 32 16 8 4\2 16 8 4 2/' two.txt >few.txt
"$fit_cuts" few.txt --worst 1 >few
expect 'predictions with 16 SMs' different \
    "$(cmp -s worst <(tail -n 3 few) && echo same || echo different)"

# Seen: the formula is wrong about parts of k only because of a constant. The search finds one with
# which the choice is the fastest, and does not touch what is measured.
cat >parts_of_k.txt <<'END'
# 132 SMs; resident clusters of 1, 2, 4 and 8 CTAs: 264 132 60 28 with one slab, 132 66 30 14 with more
# m n k slabs width sharing_side sharing_fitted splits transposed us mhz
64 64 1024 1 64 1 1 1 0 7.0
64 64 1024 1 64 1 1 2 0 5.0
64 64 960 1 64 1 1 1 0 7.0
64 64 960 1 64 1 1 2 0 5.0
END
"$fit_cuts" parts_of_k.txt --fit 1 --rounds 3000 >out
expect 'before' yes "$(sed -n 1p out | grep -q ' takes 40.0 % longer' && echo yes)"
expect 'after' yes "$(grep '^fitted to all' out | grep -q ' takes 0.0 % longer' && echo yes)"
expect 'halves' 2 "$(grep -c '^fitted to half, .* 2 cuts of 1 shapes' out)"
expect 'constants' "$(grep -oE '^    COST_[A-Z0-9_]+ = [0-9]+, *\/\*' "$cost_h" | cut -d= -f1 |
    sed -n '/PORT_BYTES/,/SUMS_HELD/p')" "$(grep -oE '^    COST_[A-Z0-9_]+ = [0-9]+,$' out | cut -d= -f1)"
expect 'measured ones' 0 "$(grep -cE 'COST_(TENSOR_CORE|L2_BYTES) = ' out)"

# Configurations: with room for one cluster at once coop256 is predicted to be slow, and of the first
# shape it is the fastest, of the second pp192. The choices are those above. Without coop256 the best
# takes 10.0 instead of 8.0 us at one of two shapes; without pp192, 6.0 instead of 5.0. What select.c
# does not have, as `former`, does not count.
{
    sed -n 1,2p two.txt
    echo '# configuration coop256: tiles of 128 x 256 x 64, clusters of 2, 1 at once'
    echo '# configuration pp192: tiles of 128 x 192 x 64, clusters of 1, 132 at once'
    echo '# configuration former: tiles of 128 x 192 x 64, clusters of 1, 132 at once'
    sed -n '3,$p' two.txt
    echo '1024 1024 1024 coop256 8.0 1800'
    echo '1024 1024 1024 former 1.0 1800'
    echo '1024 1024 512 pp192 5.0 1800'
} >selection.txt
"$fit_cuts" selection.txt --worst 2 >selection
expect 'cuts among configurations' "$("$fit_cuts" two.txt | sed -n 1p)" "$(sed -n 1p selection)"
expect 'configurations' 'with 2 configurations: the choice takes 35.0 % longer than the fastest way, in the mean over 2 shapes; 50 % at the 95th percentile, 50 % at most' \
    "$(sed -n 2p selection)"
expect 'worth' 'fitted1 2 0 0.00 fitted2 2 0 0.00 coop256 1 1 12.50 pp192 1 1 10.00 ' \
    "$(sed -nE 's/^ +([a-z0-9_]+) +timed for +([0-9]+) shapes, the fastest at +([0-9]+); .* takes ([0-9.]+) % longer$/\1 \2 \3 \4/p' \
        selection | grep -E '^(fitted[12]|coop256|pp192) ' | tr '\n' ' ')"
expect 'the fastest configuration' 1 "$(grep -c 'fastest .* 8.00 us, .*: coop256$' selection)"

# Parts that clusters add up: 12/4 is three clusters' of four, and what has no / is as before. The
# cuts differ in nothing else; without room for clusters of four, or of three, the one is infinite.
# The one without clusters joins at the end: where the others are finite, it would be chosen.
{
    sed -n 1p two.txt
    echo '# resident clusters of 3, 5, 6 and 7 CTAs: 84 48 40 36 with one slab, 42 24 20 18 with more'
    sed -n 2p two.txt
    echo '64 64 65536 1 64 1 1 12/4 0 20.0 1800'
    echo '64 64 65536 1 64 1 1 12/3 0 40.0 1800'
} >parts.txt
"$fit_cuts" parts.txt --worst 1 >parts
expect 'parts of clusters' '64 x 64 x 65536: 0.0 %' "$(tail -n 3 parts | sed -n 1p)"
expect 'their number' 2 "$(tail -n 2 parts | grep -c ' 20.00 us, .* 12 parts, 4 of a cluster$')"
sed 's/ 132 60 28 / 132 0 28 /' parts.txt >room.txt
"$fit_cuts" room.txt --worst 1 >room
expect 'without room for four' 1 "$(tail -n 2 room | grep -c 'chosen .* 40.00 us, .* 3 of a cluster$')"
{ sed 's/: 84 48/: 0 48/' room.txt && echo '64 64 65536 1 64 1 1 12 0 30.0 1800'; } >none.txt
"$fit_cuts" none.txt --worst 1 >none
expect 'without room for three' 1 "$(tail -n 2 none | grep -c 'chosen .* 30.00 us, .* 1 of a cluster$')"

# What is no record.
sed '4s/ 8 1 1 1 0/ 12 1 1 1 0/' two.txt >width.txt
sed '4s/ 8 1 1 1 0/ 8 1 4 1 0/' two.txt >four.txt
sed '4s/ 8 1 1 1 0/ 8 3 1 1 0/' two.txt >clusters.txt
sed '4s| 12/4 | 12/5 |' parts.txt >rest.txt
sed '4s| 12/4 | 18/9 |' parts.txt >nine.txt
sed 's/ former 1.0/ other 1.0/' selection.txt >name.txt
sed 1d two.txt >residents.txt
sed '4s/ 10.0 1800//' two.txt >time.txt
sed '2s/ us / cycles /' two.txt >cycles.txt
sed -n 1,2p two.txt >empty.txt
rm -f missing.txt
for file in width four clusters rest nine name residents time cycles empty missing; do
    "$fit_cuts" $file.txt >out 2>log
    expect "exit code of $file.txt" 2 $?
    expect "message of $file.txt" 1 "$(grep -c "^fit_cuts: $file.txt" log)"
    expect "output of $file.txt" '' "$(cat out)"
done
[ "$failures" -eq 0 ]
