#!/bin/sh
# hopper_gemm_outside.sh WORK OPTIONS...: a project that contains this one. OPTIONS are cmake's.
#
# It configures, builds by default its own programs, of ours the library alone, and has only its own
# tests; they pass.
set -u
work=$1
shift

fail() {
    echo "hopper_gemm_outside: $1" >&2
    exit 1
}
rm -rf "$work"
cmake -S "$(dirname "$0")/outside" -B "$work" "$@" || fail "it does not configure"
cmake --build "$work" --parallel 2 || fail "it does not build"

[ -f "$work/hopper/library/programs/sim/libsim_hopper_gemm_library.a" ] || fail "there is no library"
others=$(cd "$work/hopper" && find . -path '*kernel_0[1-9]_*' -o -name '*.o' -path './*/tests/*' \
    -o -name 'registry_*' -o -type f -perm -u+x ! -path '*/CMakeFiles/*')
[ -z "$others" ] || fail "more than the library was built:
$others"

cd "$work" || exit 1
ctest --output-on-failure >ctest.log 2>&1 || { cat ctest.log; fail "its tests do not pass"; }
cat ctest.log
foreign=$(ctest -N | sed -n 's/.*Test *#[0-9]*: //p' | grep -vx 'outside\(_cxx\)\?')
[ -z "$foreign" ] || fail "tests of ours among its own: $foreign"
