# shellcheck shell=sh
# rival_checks.sh: sourced by rivals.sh and another house's, with $cmake and $work.
failures=0

# refused TEXT CMAKE-ARGUMENTS...
refused() {
    text=$1
    shift
    if "$cmake" "$@" >"$work/log" 2>&1; then
        echo "accepts $*"
        failures=$((failures + 1))
    elif [ "$(grep -c 'CMake Error' "$work/log")" -ne 1 ] ||
        ! tr '\n' ' ' <"$work/log" | tr -s ' ' | grep -qF -e "$text"; then
        echo "$*: expected one error with '$text', got: $(cat "$work/log")"
        failures=$((failures + 1))
    fi
}
accepted() {
    "$cmake" "$@" >"$work/log" 2>&1 && return
    echo "refuses $*: $(cat "$work/log")"
    failures=$((failures + 1))
}
