#!/bin/sh
# refusals.sh SOURCE WORK OPTIONS...: what cannot be done is refused with what to do instead.
# OPTIONS are cmake's. In a copy of the project: a build in the source directory; without Python,
# the targets that need it; a chapter's number for its target.
set -u
source=$1 work=$2
shift 2

fail() {
    echo "refusals: $1" >&2
    exit 1
}
rm -rf "$work"
mkdir -p "$work" || exit 1
cp -r "$source"/[0-9]* "$source/CMakeLists.txt" "$source/CMakePresets.json" "$source/common" \
    "$source/docs" "$work" || exit 1
[ ! -d "$source/beyond" ] || cp -r "$source/beyond" "$work" || exit 1

(cd "$work" && find . | sort >"$work.before" && cmake . && echo accepted) >"$work.log" 2>&1
grep -q accepted "$work.log" && fail "cmake . in the source directory is accepted"
grep -q 'cmake --preset default' "$work.log" || fail "cmake . says: $(cat "$work.log")"
rm -r "$work/CMakeCache.txt" "$work/CMakeFiles"
(cd "$work" && find . | sort) | cmp - "$work.before" || fail "cmake . leaves more than it says"

cmake -S "$work" -B "$work/build" -DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON "$@" >"$work.log" 2>&1 ||
    fail "without Python it does not configure: $(cat "$work.log")"
for target in live sim_practice sim_live site docs; do
    cmake --build "$work/build" --target "$target" >"$work.log" 2>&1 && fail "$target is built"
    grep -q "^$target: needs Python 3" "$work.log" || fail "$target says: $(cat "$work.log")"
done
cmake --build "$work/build" --target sim_05 >"$work.log" 2>&1 && fail "sim_05 is built"
grep -q '^sim_05: did you mean --target sim_05_tma_mbarrier?' "$work.log" ||
    fail "sim_05 says: $(cat "$work.log")"
