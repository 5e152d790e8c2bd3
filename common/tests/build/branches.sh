#!/bin/sh
# branches.sh SOURCE WORK OPTIONS...: in a build with HOPPER_BRANCHES, --check says which branches
# were taken. In a copy of the project, 06_wgmma gets two that never are, one in its device code and
# one on the host. OPTIONS are cmake's.
set -u
source=$1 work=$2
shift 2

fail() {
    echo "branches: $1" >&2
    exit 1
}
rm -rf "$work"
mkdir -p "$work/temporary" || exit 1
cp -r "$source"/[0-9]* "$source/CMakeLists.txt" "$source/CMakePresets.json" "$source/common" \
    "$source/docs" "$work" || exit 1
kernel=06_wgmma/kernel.cu
awk '{ print }
     /^    SHARED_MEMORY/ { print "    if (args.m > 5000) return;" }
     /^    struct gemm_args args = / { print "    if (p->m > 5000) return GEMM_UNSUPPORTED;" }' \
    "$source/$kernel" >"$work/$kernel"
cmake -S "$work" -B "$work/build" -DHOPPER_BRANCHES=ON "$@" >"$work/log" 2>&1 ||
    fail "$(cat "$work/log")"
cmake --build "$work/build" --parallel 2 --target sim_06_wgmma sim_07_warp_specialized \
    >"$work/log" 2>&1 || fail "$(cat "$work/log")"

export TMPDIR="$work/temporary"
said=$("$work/build/sim/06_wgmma" --check) || fail "06_wgmma --check: $said"
expect() {
    case $said in *"$1"*) ;; *) fail "expected '$1', got: $said" ;; esac
}
line_of() {
    grep -n -F "$1" "$work/$kernel" | cut -d : -f 1
}
expect 'branches of device code, 1 of them never taken:
    06_wgmma/kernel.cu:'"$(line_of 'if (args.m > 5000)')"'  1 of 2 ways: if (args.m > 5000) return;
'
expect "06_wgmma/kernel.cu:$(line_of 'if (p->m > 5000)')  1 of 2 ways: if (p->m > 5000)"

# Of a kernel as it is, --check takes every branch.
said=$("$work/build/sim/07_warp_specialized" --check) || fail "07_warp_specialized --check: $said"
expect 'branches of device code, all taken
'

# A source that is newer than the program is not spoken of.
touch "$work/07_warp_specialized/kernel.cu"
said=$("$work/build/sim/07_warp_specialized" --check 2>&1) && fail "speaks of a source that changed"
expect '07_warp_specialized/kernel.cu has changed: build again'

# Neither leaves anything behind, and no other run does.
"$work/build/sim/07_warp_specialized" --size 64 >"$work/log" 2>&1 || fail "$(cat "$work/log")"
left=$(ls "$TMPDIR"; find "$work/build" -name '*.gcda')
[ -z "$left" ] || fail "left behind: $left"
said=$(TMPDIR=$work/absent "$work/build/sim/07_warp_specialized" --check 2>&1)
code=$?
[ $code -eq 2 ] || fail "without a directory for the counts: exit code $code: $said"
expect 'no directory'
