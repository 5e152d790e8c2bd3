#!/bin/sh
# library_names.sh ARCHIVE HEADER: the archive's global names are the functions of the header.
set -u
archive=$1 header=$2
names=$(nm --defined-only --extern-only "$archive" | sed -n 's/^[0-9a-f]* [A-Z] //p' | sort -u) || exit 1
declared=$(sed -nE 's/^(int|size_t|void) ([a-z0-9_]+)\(.*/\2/p' "$header" | sort -u)
[ -n "$declared" ] && [ "$names" = "$declared" ] && exit 0
echo "library_names: $archive has"
echo "$names"
echo "and $header declares"
echo "$declared"
exit 1
