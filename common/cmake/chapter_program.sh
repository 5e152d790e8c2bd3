#!/bin/sh
# chapter_program.sh PROGRAM OBJECT...: the program of a chapter is linked. If the compiler refused
# one of its kernels (compile_kernel.sh), that is an error, now and in the next build. With
# HOPPER_KEEP_GOING in the environment, as the presets of tests have it, it stops no other program:
# this one says what it lacks, and its tests fail.
set -u
program=$1
shift
refused=
for object in "$@"; do
    [ -e "$object.refused" ] || continue
    [ -n "$refused" ] || grep -m 5 error "$object.refused" >&2 || cat "$object.refused" >&2
    refused="$refused $object"
done
[ -n "$refused" ] || exit 0
echo "$(basename "$program"): a kernel of it does not compile" >&2
# What is older than its source is made again.
if [ -n "${HOPPER_KEEP_GOING-}" ]; then
    touch -t 200001010000 "$program"
    exit 0
fi
rm -f "$program"
for object in $refused; do
    touch -t 200001010000 "$object"
done
exit 1
