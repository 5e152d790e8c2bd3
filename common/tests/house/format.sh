#!/bin/sh
# format.sh REPOSITORY: clang-format leaves the host's C as it is. Kernels, the headers they are
# written in and tables are laid out by hand, because there the layout is part of the explanation.
set -u
cd "$1" || exit 2
command -v clang-format >/dev/null || { echo "no clang-format"; exit 77; }
clang-format --version | grep -q 'version 14\.' || { clang-format --version; exit 77; }
files=$(find common \( -name '*.c' -o -name '*.h' \) ! -path 'common/hopper/*' \
    ! -path 'common/building_blocks/*' ! -path 'common/sim/hopper/*' | sort)
# shellcheck disable=SC2086 # a list of files
clang-format --dry-run -Werror $files 2>"${TMPDIR:-/tmp}/format.$$"
status=$?
grep 'error:' "${TMPDIR:-/tmp}/format.$$" | sort -u | head -n 20
rm -f "${TMPDIR:-/tmp}/format.$$"
[ "$status" -eq 0 ] || echo "clang-format -i FILE mends it"
exit "$status"
