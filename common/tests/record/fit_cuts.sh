#!/bin/bash
# fit_cuts.sh FIT_CUTS RECORD FIT_H DIRECTORY: what fit.h's comment says of its constants is what the
# record yields; the excess of a choice, worked out by hand; a search for constants; and records
# that cannot be read.
set -u
fit_cuts=$1 record=$2 fit_h=$3
mkdir -p "$4" && cd "$4" || exit 2
failures=0

# expect WHAT EXPECTED GOT
expect() {
    [ "$2" = "$3" ] && return
    echo "$1: expected '$2', got '$3'"
    failures=$((failures + 1))
}

# The comment's number of cuts ends with two zeros, as 4,300 does.
"$fit_cuts" "$record" >summary
expect 'exit code' 0 $?
read -r cuts shapes mean < <(sed -n \
    's/^\([0-9]*\) cuts of \([0-9]*\) shapes; .* takes \([0-9.]*\) % longer.*/\1 \2 \3/p' summary)
rounded=$(awk -v cuts="$cuts" 'BEGIN { n = int(cuts / 100 + 0.5) * 100; printf "%d,%03d", n / 1000, n % 1000 }')
comment=$(sed -n '/^ \* Of an H200/,/^ \*\//s/^ \* //p' "$fit_h" | tr '\n' ' ')
for text in "$rounded cuts of $shapes shapes" "takes $mean % longer than the fastest, in the mean"; do
    expect "'$text' in $fit_h" yes "$(grep -qF "$text" <<<"$comment" && echo yes)"
done

# Of the first shape the formula prefers the wide tile, which takes 20 % longer here; of the second,
# too, and there it is the fastest.
cat >two.txt <<'END'
# resident clusters of 1, 2 and 4 CTAs: 132 66 30
# m n k slabs width cluster splits transposed us mhz
1024 1024 1024 2 64 1 1 0 12.0 1800
1024 1024 1024 1 8 1 1 0 10.0 1800
1024 1024 512 2 64 1 1 0 6.0 1800
1024 1024 512 1 8 1 1 0 7.0 1800
END
"$fit_cuts" two.txt --worst 1 >out
expect 'summary' '4 cuts of 2 shapes; the cut with the smallest prediction takes 10.0 % longer than the fastest, in the mean; more than 10 % at 1 shapes, 20 % at most' \
    "$(sed -n 1p out)"
expect 'the worst' '1024 x 1024 x 1024: 20.0 %' "$(sed -n 2p out)"
expect 'chosen' yes "$(sed -n 3p out | grep -q 'chosen .* 12.00 us, .*: 2 slabs, width 64,' && echo yes)"
expect 'fastest' yes "$(sed -n 4p out | grep -q 'fastest .* 10.00 us, .*: 1 slabs, width 8,' && echo yes)"
# Rows of a shape need not follow one another.
{ sed -n '1,3p;5p' two.txt && sed -n '4p;6p' two.txt; } >mixed.txt
"$fit_cuts" mixed.txt >mixed
expect 'mixed rows' "$(sed -n 1p out)" "$(cat mixed)"
# Fewer clusters at once: the choice depends on them.
sed 's/132 66 30/16 8 4/' two.txt >few.txt
"$fit_cuts" few.txt --worst 1 >few
expect 'predictions with 16 SMs' different \
    "$(cmp -s <(sed 1d out) <(sed 1d few) && echo same || echo different)"

# Seen: the formula is wrong about clusters of 4 only because of a constant. The search finds one
# with which the choice is the fastest, and does not touch what the hardware gives.
cat >cluster.txt <<'END'
# m n k slabs width cluster splits transposed us
16 12288 4096 3 8 1 1 1 38.5
16 12288 4096 3 8 2 1 1 27.6
16 12280 4096 3 8 1 1 1 38.5
16 12280 4096 3 8 2 1 1 27.6
END
"$fit_cuts" cluster.txt --fit 1 --rounds 3000 >out
expect 'before' yes "$(sed -n 1p out | grep -q ' takes 39.5 % longer' && echo yes)"
expect 'after' yes "$(grep '^fitted to all' out | grep -q ' takes 0.0 % longer' && echo yes)"
expect 'halves' 2 "$(grep -c '^fitted to half, .* 2 cuts of 1 shapes' out)"
expect 'constants' "$(grep -oE '^    FIT_[A-Z0-9_]+ = [0-9]+, *\/\*' "$fit_h" | cut -d= -f1 |
    sed -n '/TENSOR_CORE/,/SUMS_BYTES/p')" "$(grep -oE '^    FIT_[A-Z0-9_]+ = [0-9]+,$' out | cut -d= -f1)"
expect 'given ones' 2 "$(grep -cE 'FIT_TENSOR_CORE = 4096,|FIT_LINE_BYTES = 128,' out)"

# What is no record.
sed '4s/ 8 1 1 0/ 12 1 1 0/' two.txt >width.txt
sed '4s/ 8 1 1 0/ 8 3 1 0/' two.txt >clusters.txt
sed '4s/ 10.0 1800//' two.txt >time.txt
sed '2s/ us / cycles /' two.txt >cycles.txt
sed -n 1,2p two.txt >empty.txt
rm -f missing.txt
for file in width clusters time cycles empty missing; do
    "$fit_cuts" $file.txt >out 2>log
    expect "exit code of $file.txt" 2 $?
    expect "message of $file.txt" 1 "$(grep -c "^fit_cuts: $file.txt" log)"
    expect "output of $file.txt" '' "$(cat out)"
done
[ "$failures" -eq 0 ]
