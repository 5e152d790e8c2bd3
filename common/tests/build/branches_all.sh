#!/bin/sh
# branches_all.sh SOURCE WORK GENERATOR COMPILER PROGRAM=DIRECTORY...: --check takes every branch of
# device code that stands in the directory of a chapter.
set -u
source=$1 work=$2 generator=$3 compiler=$4
shift 4
targets=
for chapter; do
    targets="$targets sim_${chapter%%=*}"
done
rm -rf "$work"
mkdir -p "$work" || exit 1
# shellcheck disable=SC2086 # words
cmake -S "$source" -B "$work" -DHOPPER_BRANCHES=ON -G "$generator" -DCMAKE_C_COMPILER="$compiler" \
    >"$work/log" 2>&1 &&
    cmake --build "$work" --parallel 2 --target $targets >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 1
}
bad=0
for chapter; do
    program=${chapter%%=*}
    if ! "$work/sim/$program" --check >"$work/said" 2>&1; then
        cat "$work/said"
        bad=1
    fi
    sed -n '/branches of device code/,/branches of host code/p' "$work/said" >"$work/device"
    echo "$program:$(head -n 1 "$work/device")"
    grep -q 'branches of device code, ' "$work/device" || bad=1
    grep "^    ${chapter#*=}/" "$work/device" && bad=1
done
exit $bad
