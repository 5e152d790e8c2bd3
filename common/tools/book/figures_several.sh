#!/bin/sh
# figures_several.sh PROGRAM KIND DIR [OPTION...]: the timeline of a chapter for several GPUs, as
# DIR/<chapter>-KIND.svg. PROGRAM is the chapter's; KIND is simulated: on GPUs only the first one
# records.
set -eu
program=$1 kind=$2 dir=$3
shift 3
report=$(mktemp -d)
trap 'rm -rf "$report"' EXIT
"$program" --timing none --report "$report" "$@" >"$report/log"
name=$(basename "$program")
grep -q "$kind" "$report/timeline_$name.svg"
grep -q 'class="link"' "$report/timeline_$name.svg"
cp "$report/timeline_$name.svg" "$dir/$name-$kind.svg"
