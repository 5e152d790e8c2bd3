#!/bin/sh
# figures.sh TOUR KIND DIR [OPTION...]: the timelines of all steps as the READMEs show them.
#
# Runs TOUR with OPTIONs, recording every step, and puts DIR/<chapter>-KIND.svg or
# DIR/<chapter>_<variant>-KIND.svg for each and DIR/all-KIND.svg for all of them on one axis; then a
# variant, by its chapter's program beside TOUR. KIND is measured (TOUR is build/gpu/tour) or simulated. On the
# GPU:
#
#   common/tools/book/figures.sh build/gpu/tour measured docs/figures --size 4096
#
# The size has to be one at which a CTA of 08 computes several tiles.
set -eu

if [ $# -lt 3 ]; then
    echo "usage: figures.sh TOUR measured|simulated DIR [OPTION...]" >&2
    exit 2
fi
tour=$1 kind=$2 dir=$3
shift 3
case $kind in
measured | simulated) ;;
*)
    echo "figures.sh: KIND is measured or simulated, not '$kind'" >&2
    exit 2
    ;;
esac

report=$(mktemp -d)
trap 'rm -rf "$report"' EXIT
trap 'exit 1' HUP INT TERM
"$tour" --timing none --report "$report" "$@"
for variant in 06_wgmma:wait0; do
    "$(dirname "$tour")/${variant%:*}" --variant "${variant#*:}" --timing none \
        --report "$report/variant" "$@"
    mv "$report"/variant/timeline_*.svg "$report"
done

# Nothing is put into DIR unless all of it is what its name will say. The figures say themselves
# where they come from.
fail() {
    echo "figures.sh: $1" >&2
    exit 1
}
for figure in "$report"/timelines.svg "$report"/timeline_*.svg; do
    if grep -q "simulated cycles" "$figure"; then is=simulated; else is=measured; fi
    [ "$is" = "$kind" ] || fail "$tour has drawn $is timelines, not $kind ones"
done
count=$(find "$report" -maxdepth 1 -name 'timeline_0*.svg' | wc -l)
[ "$count" -eq 12 ] || fail "$count timelines were drawn, not those of eleven steps and a variant"
grep -q 'class="multicast"' "$report"/timeline_09*.svg ||
    fail "09 shows no multicast"

mkdir -p "$dir"
cp "$report/timelines.svg" "$dir/all-$kind.svg"
for figure in "$report"/timeline_*.svg; do
    name=${figure##*/timeline_}
    cp "$figure" "$dir/${name%.svg}-$kind.svg"
done
echo "figures: $(ls "$dir"/*-"$kind".svg | wc -l) in $dir"
