#!/bin/sh
# run_tour.sh REPORT_DIR [--chapters LIST] PROGRAM...: runs the first tour that finds its device; exit
# code 3 means that one did not.
set -u
report=$1
shift
chapters=
[ "$1" = --chapters ] && chapters=$2 && shift 2
mkdir -p "$report" || exit 2
code=3
for tour in "$@"; do
    "$tour" --report "$report" ${chapters:+--chapters "$chapters"}
    code=$?
    [ "$code" -eq 3 ] || break
done
exit "$code"
