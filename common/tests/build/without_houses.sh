#!/bin/sh
# without_houses.sh SOURCE WORK HOUSES TARGETS OPTIONS...: a copy of the project without these of its
# houses configures, knows its tests, and builds these targets, of which check_... run tests; a
# chapter of part one builds and runs. OPTIONS are cmake's.
set -u
source=$1 work=$2 houses=$3 targets=$4
shift 4

fail() {
    echo "without $houses: $1" >&2
    exit 1
}
rm -rf "$work"
mkdir -p "$work" || exit 1
cp -r "$source"/[0-9]* "$source/README.md" "$source/CMakeLists.txt" "$source/CMakePresets.json" \
    "$source/common" "$source/docs" "$work" || exit 1
for house in beyond library hopper_check; do
    case " $houses " in
    *" $house "*) ;;
    *) [ ! -d "$source/$house" ] || cp -r "$source/$house" "$work" || exit 1 ;;
    esac
done
cmake -S "$work" -B "$work/build" "$@" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
ctest --test-dir "$work/build" -N >"$work/log" 2>&1 || fail "$(cat "$work/log")"
# shellcheck disable=SC2086 # a list of words
cmake --build "$work/build" --parallel 2 --target $targets sim_05_tma_mbarrier >"$work/log" 2>&1 ||
    fail "$(cat "$work/log")"
"$work/build/sim/05_tma_mbarrier" --size 128 >"$work/log" 2>&1 || fail "$(cat "$work/log")"
