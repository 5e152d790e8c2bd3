#!/bin/sh
# judge.sh JUDGE: right and wrong answers under each rule of breaks/judge.h.
judge=$1
failed=0

# expect CODE ARGUMENT...: 0 right, 1 wrong, 3 undecided
expect() {
    code=$1
    shift
    "$judge" "$@"
    got=$?
    [ "$got" -eq "$code" ] || { echo "judge $*: $got, not $code"; failed=1; }
}

expect 2 named
expect 0 named 3 1 3
expect 1 named 2 1 3
expect 1 named 0 -- 0 100
expect 0 repaired 2 2 -- 0 0
expect 1 repaired 2 2 -- 4 0   # it is the one, and its run fails
expect 1 repaired 1 2 -- 0 100 # another, whose run passes
expect 1 repaired 2 2
expect 0 caught 0 -- 4 0
expect 1 caught 0 -- 0 100
expect 0 between 1.1 1 1.1
expect 1 between 1.11 1 1.1
expect 0 fewest 1 -- 0 110 0 100 0 120
expect 1 fewest 0 -- 0 110 0 100 0 120
expect 3 fewest 1 -- 0 104 0 100 # too near
expect 3 fewest 1 -- 0 110 4 0   # one has no cycles
expect 0 most 2 -- 0 110 0 100 0 120
expect 3 most 2 -- 0 116 0 100 0 120
expect 0 alone 1 -- 0 100 4 0 0 90
expect 1 alone 0 -- 0 100 4 0 0 90
expect 3 alone 1 -- 0 100 4 0 1 0
expect 3 alone 0 -- 0 100
exit "$failed"
