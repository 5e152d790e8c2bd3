#!/bin/sh
# without_beyond.sh SOURCE WORK OPTIONS...: a copy of the project without part two and hopper_check
# configures, and a chapter of part one builds and runs. OPTIONS are cmake's.
set -u
source=$1 work=$2
shift 2

fail() {
    echo "without_beyond: $1" >&2
    exit 1
}
rm -rf "$work"
mkdir -p "$work" || exit 1
cp -r "$source"/[0-9]* "$source/README.md" "$source/CMakeLists.txt" "$source/CMakePresets.json" \
    "$source/common" "$source/docs" "$work" || exit 1
cmake -S "$work" -B "$work/build" "$@" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
cmake --build "$work/build" --parallel 2 --target sim_05_tma_mbarrier >"$work/log" 2>&1 ||
    fail "$(cat "$work/log")"
"$work/build/sim/05_tma_mbarrier" --size 128 >"$work/log" 2>&1 || fail "$(cat "$work/log")"
