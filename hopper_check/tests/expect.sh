# shellcheck shell=sh
# expect.sh: what scripts of whole commands share. They set `check`, and end with `failed`.

# expect CODE TEXT ARGUMENTS...: ends with CODE, and says TEXT.
expect() {
    wanted=$1 text=$2
    shift 2
    said=$("$check" "$@" 2>&1)
    code=$?
    [ "$code" -eq "$wanted" ] || { echo "$*: exit code $code, expected $wanted: $said"; failed=1; }
    case $said in *"$text"*) ;; *) echo "$*: expected '$text', got: $said"; failed=1 ;; esac
}
