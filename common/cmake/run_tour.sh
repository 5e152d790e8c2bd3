#!/bin/sh
# run_tour.sh REPORT_DIR NEXT [--chapters LIST] PROGRAM...: runs the first tour that finds its
# device; exit code 3 means that one did not. Then it prints NEXT, what a reader may do next, or, if
# not all is well, which kernels are edited.
set -u
report=$1 next=$2
shift 2
chapters=
[ "$1" = --chapters ] && chapters=$2 && shift 2
mkdir -p "$report" || exit 2
code=3
for tour in "$@"; do
    "$tour" --report "$report" ${chapters:+--chapters "$chapters"}
    code=$?
    [ "$code" -eq 3 ] || break
done
if [ "$code" -eq 0 ]; then
    printf '\n%s\n' "$next" | fold -s -w 100
else
    root=$(dirname "$0")/../..
    "$root/common/tools/book/book_text.sh" --note "$root"
fi
exit "$code"
