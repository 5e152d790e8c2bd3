#!/bin/sh
# numerics.sh PAGE PROGRAMS [--rewrite]: every block of the page that begins with "$ build/sim/..." is
# what the program in the folder PROGRAMS prints, and its figure is what the program draws. The
# figure has the measured errors, too; they have to be the simulated ones, bit by bit.
page=$1
programs=$2
docs=$(dirname "$page")
figure=$docs/figures/error-of-long-sums.svg
made=$(mktemp) && drawn=$(mktemp) || exit 1
trap 'rm -f "$made" "$drawn"' EXIT
# A figure without its colours, which all figures share.
drawing() { sed '/^<style>/,/^<\/style>/d' "$1"; }
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
record=$docs/results/h200-error.txt
"$programs/inspect" error --record "$record" --svg "$drawn" || exit 1
# A record with another sum is refused.
sed 's/^\(all sums, bit by bit: \)./\1f/' "$record" >"$drawn.wrong"
"$programs/inspect" error --record "$drawn.wrong" >/dev/null 2>&1 && wrong=1
rm -f "$drawn.wrong"
[ -z "${wrong-}" ] || { echo "a record with another hash passes"; exit 1; }
grep -qF "${figure##*/}" "$page" || { echo "$page: ${figure##*/} is missing"; exit 1; }
if [ "${3-}" = --rewrite ]; then
    cat "$made" >"$page"
    cat "$drawn" >"$figure"
else
    diff "$page" "$made" && [ -n "$(drawing "$figure")" ] &&
        [ "$(drawing "$figure")" = "$(drawing "$drawn")" ] && exit
    echo "$page, or $figure, is not what $programs print and draw; --rewrite mends it"
    exit 1
fi
