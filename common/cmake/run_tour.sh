#!/bin/sh
# run_tour.sh REPORT_DIR PROGRAM...: runs the first tour that finds its device; exit code 3 means
# that one did not.
set -u
report=$1
shift
mkdir -p "$report" || exit 2
code=3
for tour in "$@"; do
    "$tour" --report "$report"
    code=$?
    [ "$code" -eq 3 ] || break
done
exit "$code"
