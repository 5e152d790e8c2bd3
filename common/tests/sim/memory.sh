#!/bin/sh
# memory.sh WHAT PROGRAM ARGUMENTS...: the program in an address space that grows from run to run. It is never a hazard
# if it is too small: one line says what there is no memory for, nothing is printed as a result, and the exit code is 3.
# Ends when what is missing is WHAT; if WHAT is "nothing", when the result is verified.
what=$1
shift
err=$(mktemp) || exit 1
trap 'rm -f "$err"' EXIT
kilobytes=8000
said=0 # has it begun?
while [ $kilobytes -lt 1000000 ]; do
    kilobytes=$((kilobytes + kilobytes / 16))
    (ulimit -v $kilobytes && exec "$1" --help) >/dev/null 2>&1 || continue # too little for the loader
    out=$(ulimit -v $kilobytes && exec "$@" 2>"$err")
    code=$?
    if [ $code = 0 ] && [ ! -s "$err" ]; then
        [ "$what" = nothing ] && exit 0
        echo "there was always enough memory for $what"
        exit 1
    fi
    [ $code = 139 ] && [ $said = 0 ] && [ ! -s "$err" ] && continue # nor for its stack
    said=1
    if [ $code != 3 ] || [ -n "$out" ] || [ "$(wc -l <"$err")" != 1 ] ||
        ! grep -q ': no memory for .*; choose smaller sizes' "$err"; then
        echo "with $kilobytes KB: exit code $code, and it says:"
        cat "$err"
        printf '%s\n' "$out"
        exit 1
    fi
    grep -q ": no memory for $what;" "$err" && exit 0
done
echo "too little memory, even with $kilobytes KB"
exit 1
