#!/bin/sh
# workflow.sh SOURCE PRESET: the workflow of another preset, skipped without its compiler.
set -u
cd "$1" || exit 2
[ "$2" != clang ] || command -v clang >/dev/null || { echo "no clang"; exit 77; }
exec cmake --workflow --preset "$2"
