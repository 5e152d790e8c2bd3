#!/bin/sh
# format.sh REPOSITORY: no line of C or CUDA is longer than 100 characters, and clang-format leaves the
# host's C as it is. Kernels, the headers they are
# written in and tables are laid out by hand, because there the layout is part of the explanation.
set -u
cd "$1" || exit 2
long=$(find [0-9]* beyond library common hopper_check \( -name '*.c' -o -name '*.h' -o -name '*.cu' \) 2>/dev/null |
    xargs grep -nE '^.{101,}$' /dev/null)
[ -z "$long" ] || { echo "longer than 100 characters:"; echo "$long"; exit 1; }
command -v clang-format >/dev/null || { echo "no clang-format"; exit 77; }
clang-format --version | grep -q 'version 14\.' || { clang-format --version; exit 77; }
files=$(find common beyond/tests beyond/tools library/tests library/tools hopper_check \( -name '*.c' -o -name '*.h' \) ! -path 'common/hopper/*' \
    ! -path 'common/blackwell/*' ! -path 'common/sim/blackwell/*' \
    ! -path 'common/building_blocks/*' ! -path 'common/sim/hopper/*' 2>/dev/null | sort)
# shellcheck disable=SC2086 # a list of files
clang-format --dry-run -Werror $files 2>"${TMPDIR:-/tmp}/format.$$"
status=$?
grep 'error:' "${TMPDIR:-/tmp}/format.$$" | sort -u | head -n 20
rm -f "${TMPDIR:-/tmp}/format.$$"
[ "$status" -eq 0 ] || echo "clang-format -i FILE mends it"
exit "$status"
