#!/bin/sh
# numerics.sh PAGE PROGRAMS [--rewrite]: every block of the page that begins with "$ build/sim/..." is
# what the program in the folder PROGRAMS prints.
page=$1
programs=$2
made=$(mktemp) || exit 1
trap 'rm -f "$made"' EXIT
block=
while IFS= read -r line; do
    case $line in
    '$ build/sim/'*)
        printf '%s\n' "$line"
        # shellcheck disable=SC2086
        "$programs"/${line#\$ build/sim/}
        block=1
        ;;
    '```')
        block=
        printf '%s\n' "$line"
        ;;
    *) [ -n "$block" ] || printf '%s\n' "$line" ;;
    esac
done <"$page" >"$made"
[ "$(grep -c '^\$ build/sim/' "$made")" -ge 4 ] || { echo "$page: its commands are missing"; exit 1; }
if [ "${3-}" = --rewrite ]; then
    cat "$made" >"$page"
else
    diff "$page" "$made"
fi
