#!/bin/sh
# figures_beyond.sh PROGRAM KIND DIR [OPTION...]: the timeline of a chapter that is no part of the
# tour, as DIR/<chapter>-KIND.svg, or DIR/<chapter>_<variant>-KIND.svg if OPTIONs name a variant.
# PROGRAM is the chapter's, or the tour with one chapter, whose steps then have one axis; KIND is
# measured or simulated. On two GPUs:
#
#   common/tools/book/figures_beyond.sh build/gpu/13_two_gpus measured docs/figures \
#       --m 2048 --n 8192 --k 8192
set -eu
program=$1 kind=$2 dir=$3
shift 3
command="${program##*/} $*"
report=$(mktemp -d)
trap 'rm -rf "$report"' EXIT
"$program" --timing none --report "$report" "$@" >"$report/log"
set -- "$report"/timeline_*.svg
figure=$1 name=${1##*/timeline_}
[ $# -eq 1 ] || figure=$report/timelines.svg
if grep -q "simulated cycles" "$figure"; then is=simulated; else is=measured; fi
[ "$is" = "$kind" ] || { echo "figures_beyond.sh: $program draws $is timelines" >&2; exit 1; }
# What the chapter is about is in it.
case $program in
*11_fp8_scaling) grep -q 'promotion</text>' "$figure" ;;
*14_fused_epilogue | *tour_beyond) grep -q 'SFU</text>' "$figure" ;;
*13_two_gpus) grep -q 'class="link"' "$figure" && grep -q 'GPU 1' "$figure" ;;
esac
# The command, so that a page can be held to it (common/tools/book/figures.py).
mkdir -p "$dir"
sed "1s|\$|\n<desc>$command</desc>|" "$figure" >"$dir/${name%.svg}-$kind.svg"
