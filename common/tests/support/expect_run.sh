# expect_run.sh: for tests that run programs and read what they say. Sets failed=0; a miss, 1.
# shellcheck shell=sh
failed=0

# expect CODE TEXT COMMAND...: ends so, and says so.
expect() {
    code=$1 text=$2
    shift 2
    said=$("$@" 2>&1)
    ended=$?
    if [ $ended -ne "$code" ]; then
        echo "$*: exit code $ended, not $code: $said"
        failed=1
    fi
    case $said in *"$text"*) ;; *) echo "$*: expected '$text', got: $said"; failed=1 ;; esac
}
