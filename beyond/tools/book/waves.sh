#!/bin/sh
# waves.sh PAGE PROGRAMS FIGURE [--rewrite]: the block of the page that begins with
# "$ build/sim/10_stream_k" is a recording of waves: its commands, run in order with the programs of
# the folder PROGRAMS, and what the last of them, "$ build/sim/waves", prints. FIGURE is what that
# command draws. --rewrite brings the page and the figure up to date; without it, a difference is an
# error.
page=$1
programs=$(cd "$2" && pwd) || exit 1
figure=$3
made=$(mktemp) && traces=$(mktemp -d) || exit 1
trap 'rm -rf "$made" "$traces"' EXIT
# A figure without its colours, which all figures share.
drawing() { sed '/^<style>/,/^<\/style>/d' "$1"; }
# run COMMAND: one line of the page, in the folder of the traces.
run() {
    # shellcheck disable=SC2086
    (cd "$traces" && "$programs"/${1#\$ build/sim/})
}
block=
while IFS= read -r line; do
    case $line in
    '$ build/sim/10_stream_k '*'--trace '*)
        printf '%s\n' "$line"
        run "$line" >/dev/null || echo "failed: $line" >&2
        ;;
    '$ build/sim/waves '*)
        printf '%s\n' "$line"
        run "$line"
        block=1
        ;;
    '```')
        block=
        printf '%s\n' "$line"
        ;;
    *) [ -n "$block" ] || printf '%s\n' "$line" ;;
    esac
done <"$page" >"$made"
drawn=$(find "$traces" -name '*.svg')
[ -f "$drawn" ] || { echo "$page: no command draws the waves"; exit 1; }
if [ "${4-}" = --rewrite ]; then
    cat "$made" >"$page"
    cat "$drawn" >"$figure"
else
    diff "$page" "$made" && [ "$(drawing "$figure")" = "$(drawing "$drawn")" ] && exit
    echo "$page, or $figure, is not what $programs print and draw; the target figures mends it"
    exit 1
fi
