#!/bin/sh
# figures.sh TOUR KIND DIR [OPTION...]: the timelines of all stages as the READMEs show them.
#
# Runs TOUR with OPTIONs, recording every stage, and puts DIR/<stage>-KIND.svg for each and
# DIR/all-KIND.svg for all of them on one axis. KIND is measured (TOUR is build/gpu/tour) or
# simulated. On the card:
#
#   common/cmake/figures.sh build/gpu/tour measured docs/figures --size 4096
#
# (there chapter 09 chooses a configuration with a cluster)
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

# The figures say themselves where they come from; a simulated one must not get a measured one's
# name.
if grep -q "simulated cycles" "$report/timelines.svg"; then is=simulated; else is=measured; fi
if [ "$is" != "$kind" ]; then
    echo "figures.sh: $tour has drawn $is timelines, not $kind ones" >&2
    exit 1
fi
mkdir -p "$dir"
cp "$report/timelines.svg" "$dir/all-$kind.svg"
for figure in "$report"/timeline_*.svg; do
    stage=${figure##*/timeline_}
    cp "$figure" "$dir/${stage%.svg}-$kind.svg"
done
echo "figures: $(ls "$dir"/*-"$kind".svg | wc -l) in $dir"
