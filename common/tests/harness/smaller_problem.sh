#!/bin/sh
# smaller_problem.sh TOUR: in a simulated tour of the usual extents chapter 01 has a smaller problem,
# and says so; with extents of the user's own it has those.
set -u
tour=$1
failed=0
json=$(mktemp) && table=$(mktemp) || exit 1
trap 'rm -f "$json" "$table"' EXIT
# extents CHAPTER: m, n and k of the chapter's row.
extents() {
    sed -n 's/^{"chapter": "'"$1"'.*"m": \([0-9]*\), "n": \([0-9]*\), "k": \([0-9]*\), .*/\1 \2 \3/p' "$json"
}
expect() {
    [ "$2" = "$3" ] || { echo "$1: expected $2, got $3"; failed=1; }
}
"$tour" --chapters 1,2 --json >"$json" 2>/dev/null
expect '01 of the usual extents' '256 256 512' "$(extents 01)"
expect '02 of the usual extents' '768 1536 512' "$(extents 02)"
"$tour" --chapters 1,2 --json --size 64 >"$json" 2>/dev/null
expect '01 of its own extents' '64 64 64' "$(extents 01)"
"$tour" --chapters 1,2 --json --m 64 --k 16 >"$json" 2>/dev/null
expect '01 with two extents given' '64 1536 16' "$(extents 01)"
"$tour" --chapters 1 >"$table" 2>/dev/null
grep -q '^01_naive .* yes .*| 256 x 256 x 512 alone: ' "$table" || { echo 'the table does not say it'; failed=1; }
exit $failed
