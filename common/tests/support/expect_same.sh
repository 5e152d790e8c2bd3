# expect_same.sh: for tests that compare values. Sets failures=0, and counts there.
# shellcheck shell=sh
failures=0

# expect WHAT EXPECTED GOT
expect() {
    [ "$2" = "$3" ] && return
    echo "$1: expected '$2', got '$3'"
    failures=$((failures + 1))
}
