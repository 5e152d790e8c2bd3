#!/bin/sh
# names.sh FOLDER-OF-COMMON: no two files of common/ have one name, unless they are halves of one
# header, mains of programs, or files that a tool wants under that name.
set -u
cd "$1" || exit 2
twice=$(find . -type f ! -path './sim/hopper/*' ! -path './sim/blackwell/*' ! -name main.c ! -name CMakeLists.txt \
    ! -name __pycache__ | sed 's|.*/||' | sort | uniq -d)
[ -z "$twice" ] && exit 0
for name in $twice; do
    echo "one name for several files:" $(find . -name "$name")
done
exit 1
