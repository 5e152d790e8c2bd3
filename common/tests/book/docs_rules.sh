#!/bin/bash
# docs_rules.sh DIRECTORY CHECK...: CHECK, check.py with whatever it needs, is run on a small book
# in DIRECTORY. It has to complain about sentences that lead astray: numbers of two runs or of
# cycles and times in one expression, a caption that describes another picture, a summary that its
# chapter does not bear out, a prediction without its measurement, one more number that nothing
# holds.
set -euo pipefail
dir=$1
shift
command=("$@")
. "$(dirname "$0")/small_book.sh"
page=$dir/01_one/more.md

# claims TEXT CLAIM...: the text behind a marker with the claims. Of 01 there are two runs, the
# first and, the last, another, with cycles of both.
claims() {
    local text=$1 header result
    shift
    book
    header=$(sed -n 1p "$dir/docs/results/gpu.jsonl")
    result=$(sed -n 2p "$dir/docs/results/gpu.jsonl")
    printf '%s\n' "${header/\"run\"/\"first\"}" \
        "${result/\"burst\"/\"cycles\": 1000, \"tensor_core_utilization\": 0.5, \"burst\"}" \
        "${header/\"run\"/\"again\"}" \
        "${result/\"burst\": {\"tflops\": 100\}/\"cycles\": 500, \"burst\": {\"tflops\": 160\}}" \
        >"$dir/docs/results/gpu.jsonl"
    {
        printf '# More\n\n<!-- numbers: results=gpu\n'
        printf '     %s\n' "$@" | sed '$s/$/ -->/'
        printf '%s\n' "$text"
    } >"$page"
    check --write "$dir" >/dev/null 2>&1 || true
}

# ---- two runs, cycles and times ----
claims 'It has 1.6.' '1.6 = tflops(01, 64, gpu@again) / tflops(01, 64, gpu@first)'
expect 1 "the number '1.6': numbers of two runs: take them from one, or write apart(...)"
claims 'It has 1.6.' '1.6 = apart(tflops(01, 64, gpu@again) / tflops(01, 64, gpu@first))'
expect 1 'numbers of several runs, and the text does not say so'
claims 'It has 1.6, in two runs.' \
    '1.6 = apart(tflops(01, 64, gpu@again) / tflops(01, 64, gpu@first))'
expect 0 '1 numbers in their prose'
claims 'It saves 500.' '500 = cycles(01, 64, gpu@first) - cycles(01, 64, gpu@again)'
expect 1 'numbers of two runs'
claims 'It gains 1.6.' '1.6 = cublas(01, 64, gpu@again) / cublas(01, 64, gpu@first)'
expect 0 '1 numbers in their prose' # ratios, each of one run
claims 'It has 160.' '160 = beside(tflops(01, 64, gpu@again), tflops(01, 64, gpu@first))'
expect 0 '1 numbers in their prose'
claims 'It is 1.' '1 = tflops(01, 64, gpu@first) / tflops(cublas, 64, gpu@first) /
       (utilization(01, 64, gpu@first) / 100 / cycles(01, 64, gpu@first) * 1000)'
expect 0 '1 numbers in their prose' # a number without a unit by a number with one
claims 'It is 0.1.' '0.1 = tflops(01, 64, gpu@first) / tflops(cublas, 64, gpu@first) /
       (cycles(01, 64, gpu@first) / cycles(01, 64, gpu@first)) - 0.4'
expect 1 'cycles beside times: compare cycles with cycles, times with times'
claims 'It is 900.' '900 = cycles(01, 64, gpu@first) - tflops(01, 64, gpu@first)'
expect 1 'cycles beside times'
claims 'It is 160, then 100.' '160 = tflops(01, 64)' \
    '100 = beside(tflops(01, 64), utilization(01, 64))'
expect 1 '01 at 64 is of two runs of gpu: name one, as in RECORD@TEXT'
claims 'It is 160, then 100.' '160 = tflops(01, 64)' '100 = tflops(01, 64, gpu@first)'
expect 0 '2 numbers in their prose'
# The same in a grid: of a row, and what stands around it.
grid() { # TEXT CELL
    claims 'It has 160.' '160 = tflops(01, 64)'
    printf '\n%s\n\n<!-- grid: results=gpu\n| | |\n|---|---|\n+ | one | %s |\n-->\n<!-- end -->\n' \
        "$1" "$2" >>"$page"
    check --write "$dir" >/dev/null 2>&1 || true
}
two='{{apart(tflops(01, 64, gpu@again) / tflops(01, 64, gpu@first)) | 1}}'
grid 'A table.' "$two"
expect 1 'numbers of several runs, and the text does not say so'
grid 'A table of two runs.' "$two"
expect 0 '1 numbers in their prose'
grid 'A table.' '{{tflops(01, 64) | 0}} {{beside(tflops(01, 64), utilization(01, 64)) | 0}}'
expect 0 '1 numbers in their prose' # one cell, one run
sed -i 's/^+ | one | {{tflops(01, 64) | 0}} /+ | {{tflops(01, 64) | 0}} | /' "$page"
expect 1 '01 at 64 is of two runs of gpu'
# A table's speeds are of one run, its shares need not be.
table() { # COLUMNS
    claims 'It has 160.' '160 = tflops(01, 64)'
    sed -n 1p "$dir/docs/results/gpu.jsonl" >>"$dir/docs/results/gpu.jsonl"
    sed -n '2s/01_one/02_two/p' "$dir/docs/results/gpu.jsonl" >>"$dir/docs/results/gpu.jsonl"
    printf '\n<!-- table: results=gpu kernels=01,02 shapes=64 columns=%s -->\n<!-- end -->\n' "$1" \
        >>"$page"
    check --write "$dir" >/dev/null 2>&1 || true
}
table cublas
expect 0 '1 numbers in their prose'
table burst,cublas
expect 1 '01 at 64³ is of another run than the rest of the table'

# ---- captions ----
book
mkdir -p "$dir/docs/figures"
printf '%s\n' '<svg>' '<desc>one --m 64 --groups 4 --sms 2</desc>' \
    '<text class="note" text-anchor="start">64 x 32 x 16, one CTA over time in simulated cycles' \
    '<text>CTA 0, SM 0</text>' >"$dir/docs/figures/one-simulated.svg"
caption() { # TEXT above the figure, TEXT below it
    printf '# More\n\n%s\n\n<!-- figure: one -->\n<!-- end -->\n\n%s\n' "$1" "$2" >"$page"
    check --write "$dir" >/dev/null 2>&1 || true
}
caption 'One CTA on two SMs, four groups, 64×32×16, n = 32 (simulated):' 'The CTA has 8 of them.'
expect 0 '3 pages'
while IFS='|' read -r complaint above below; do
    caption "$above" "$below"
    expect 1 "$complaint"
done <<'END'
a caption says 'two CTA', and the figure does not: 1|The two CTAs:|
a caption says '3 group', and the figure does not: 4|One CTA, 3 groups:|
a caption says 'one SM', and the figure does not: 2||It is on one SM.
a caption says 'two head', and the figure does not: -||It has two heads.
a caption says '64³', and the figure shows 64×32×16|At 64³:|
a caption says 'k = 1,024', and the figure does not||With k = 1,024 it is short.
a caption says 'measured', and the figure is not|One CTA (measured, H100):|
END
caption 'Elsewhere there are two CTAs.' '> At 64³ there are two CTAs.'
expect 0 '3 pages'

# ---- summaries ----
summary() { # TEXT of the front page's last paragraph; TEXT of the chapter
    book
    printf '\n%s\n' "$1" >>"$dir/README.md"
    printf '\n%s\n' "$2" >>"$dir/01_one/README.md"
}
summary '- [one](01_one/README.md), 1.25 times as fast' 'It is 1.25 times as fast.'
expect 0 '2 pages'
summary '- [one](01_one/README.md), 1.25 times as fast' 'It is 1.24 times as fast.'
expect 1 "README.md:15: '1.25' does not stand in 01_one/README.md"
summary '- [one](01_one/README.md) takes 70 % of it' 'It takes 0.7 of it.'
expect 1 "'70' does not stand in 01_one/README.md"
summary '- Nothing is said of a chapter here: 1.25.' ''
expect 0 '2 pages'
summary "<!-- numbers: results=gpu
     300 = 3 * tflops(01, 64) -->
It takes 300." 'It has 200.'
expect 1 "'300' stands neither in 01_one/README.md"
summary "<!-- numbers: results=gpu
     300 = 3 * tflops(01, 64) -->
It takes 300." 'It has 300.'
expect 0 '1 numbers in their prose'

# ---- predictions ----
prediction() { # heading and rows, one a line
    book
    {
        sed '/^## Measured/q' "$dir/01_one/README.md"
        printf '\n'
        printf '%s\n' "$@"
        printf '\n'
        sed '1,/^## Measured/d' "$dir/01_one/README.md"
    } >"$dir/01_one/README.md.new"
    mv "$dir/01_one/README.md.new" "$dir/01_one/README.md"
}
prediction $'| | predicted | measured |\n|---|---|---|\n| a | 1 | 2 |\n| b | – | |' \
    '| c | 3 | not measured |'
expect 0 '2 pages'
prediction $'| | predicted | measured |\n|---|---|---|\n| a | 1 | 2 |\n| b | 3 | – |'
expect 1 "'b' is predicted: what was measured, or 'not measured'?"
prediction $'| | predicted |\n|---|---|\n| a | 1 |'
expect 1 "a column 'predicted' without one that is 'measured'"
prediction $'| | |\n|---|---|\n| a, predicted | 1 |\n| b | 2 |'
expect 1 "'a, predicted' has no row 'a' beside it"
predicted=$'\n| `kernel` | 1.1 |\n|---|---|\n| bytes | 2 |\n'
prediction $'| | predicted | measured |\n|---|---|---|\n| `kernel.cu` | 1 | 2 |'
sed -i "/^## Prediction/r /dev/stdin" "$dir/01_one/README.md" <<<"$predicted"
expect 0 '2 pages'
sed -i 's/^| `kernel.cu` | 1/| `another.cu` | 1/' "$dir/01_one/README.md"
expect 1 'a table of predictions names `kernel`, and no table of results does'
sed -i 's/^| `kernel` | 1.1 |/| `kernel` | not measured |/' "$dir/01_one/README.md"
expect 0 '2 pages'

# ---- numbers that nothing holds ----
book
mkdir -p "$dir/common/tools/book"
printf '# More\n\nIt takes 2.5 of it, and 30 %% with `1.5` of CUDA 13.0.\n' >"$page"
check --unheld "$dir"
grep -qxF '2 01_one/more.md' "$dir/common/tools/book/unheld.txt" || { echo 'not 2'; failed=1; }
expect 0 '3 pages'
sed -i 's/30 %/&, 31 %/' "$page"
expect 1 'nothing holds 3 numbers of the prose, and 2 are recorded. Put the new one into a marker'
check --write "$dir" >/dev/null 2>&1 || true
expect 1 'nothing holds 3 numbers of the prose, and 2 are recorded' # --write raises no count
marker='<!-- numbers: results=gpu\n     50.0 = 100 * tflops(01, 64) / tflops(cublas, 64) -->'
sed -i "s|^It takes 2.5|$marker\nIt takes 50.0|" "$page"
expect 0 '1 numbers in their prose'
sed -i 's/, 31 %//' "$page"
check --write "$dir" >/dev/null 2>&1 || true
grep -qxF '1 01_one/more.md' "$dir/common/tools/book/unheld.txt" || { echo 'not 1'; failed=1; }
exit "$failed"
