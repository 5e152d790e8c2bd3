#!/bin/sh
# smaller_problem.sh TOUR: in a simulated tour of the usual extents chapter 01 has a smaller problem,
# and says so; with extents of the user's own it has those.
set -u
tour=$1
failed=0
# extents CHAPTER OPTIONS...: m, n and k of the chapter's row.
extents() {
    chapter=$1
    shift
    "$tour" --chapters 1,2 --json "$@" 2>/dev/null |
        sed -n 's/^{"chapter": "'"$chapter"'.*"m": \([0-9]*\), "n": \([0-9]*\), "k": \([0-9]*\), .*/\1 \2 \3/p'
}
expect() {
    [ "$2" = "$3" ] || { echo "$1: expected $2, got $3"; failed=1; }
}
expect '01 of the usual extents' '256 256 512' "$(extents 01)"
expect '02 of the usual extents' '768 1536 512' "$(extents 02)"
expect '01 of its own extents' '64 64 64' "$(extents 01 --size 64)"
expect '01 with one extent given' '64 1536 16' "$(extents 01 --m 64 --k 16)"
"$tour" --chapters 1 | grep -q '^01_naive .* yes .*| 256 x 256 x 512 alone: ' ||
    { echo 'the table does not say it'; failed=1; }
exit $failed
