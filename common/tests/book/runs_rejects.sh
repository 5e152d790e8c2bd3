#!/bin/bash
# runs_rejects.sh DIRECTORY RUNS...: what runs.py says of a page that shows a program's output, and of
# mistakes in it. RUNS are the words that start it.
set -u
dir=$1
shift
rm -rf "$dir"
mkdir -p "$dir/book/docs" "$dir/sim" || exit 2
printf '#!/bin/sh\nshift $(($# - 1))\necho "says $1"; echo; echo second >&2; echo\nexit 4\n' \
    >"$dir/sim/01_one"
chmod +x "$dir/sim/01_one"
page=$dir/book/docs/page.md
failed=0

# page OPTIONS: a page with this run, and an output of nothing.
page() { printf '%s\n' "<!-- run: 01_one $1 -->" '```text' nothing '```' after >"$page"; }
# expect CODE TEXT [--write]
expect() {
    local code=$1 text=$2 out said
    shift 2
    out=$("${runs[@]}" "$@" "$dir/book" "$dir/sim" 2>&1)
    said=$?
    [ "$said" -eq "$code" ] && grep -qF -- "$text" <<<"$out" && return
    echo "expected exit code $code and '$text', got $said and: $out"
    failed=1
}
runs=("$@")

page "--size 'two words'"
expect 1 'it prints something else'
expect 0 '1 runs, 0 complaints' --write
expect 0 '1 runs, 0 complaints'
[ "$(sed -n '3,5p' "$page" | tr '\n' '|')" = 'says two words||second|' ] || { cat "$page" && failed=1; }
[ "$(tail -n 1 "$page")" = after ] || failed=1
page '--size 1 lines=3-3'
expect 0 '1 runs' --write
[ "$(sed -n 3p "$page")" = second ] || { cat "$page" && failed=1; }
sed -i 's/^second/third/' "$page"
expect 1 'docs/page.md:1: it prints something else'
sed -i 's/01_one/02_two/' "$page"
expect 1 'it does not run'
sed -i '/^```/d' "$page"
expect 1 'a run needs a ```text block'
exit "$failed"
