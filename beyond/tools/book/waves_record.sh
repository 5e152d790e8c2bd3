#!/bin/sh
# waves_record.sh WAVES RECORD FIGURE [--rewrite]: FIGURE is what WAVES draws of the record of waves,
# and is not there as long as the record is not. --rewrite makes it so; without it, a difference is
# an error.
waves=$1 record=$2 figure=$3
fail() {
    echo "$1; the target figures mends it"
    exit 1
}
if [ ! -e "$record" ]; then
    [ "${4-}" != --rewrite ] || rm -f "$figure"
    [ ! -e "$figure" ] || fail "$figure is there, but not $record"
    exit 0
fi
drawn=$(mktemp -d) || exit 1
trap 'rm -rf "$drawn"' EXIT
"$waves" "$drawn/waves.svg" "$record" >"$drawn/table" || exit 1
[ "${4-}" != --rewrite ] || cp "$drawn/waves.svg" "$figure"
# Without the colours, which all figures share.
colourless() { sed '/^<style>/,/^<\/style>/d' "$1"; }
[ -e "$figure" ] || fail "there is no $figure of $record"
[ "$(colourless "$figure")" = "$(colourless "$drawn/waves.svg")" ] ||
    fail "$figure is not what $waves draws of $record"
