#!/bin/bash
# docs_rejects_beyond.sh DIRECTORY CHECK...: as common/tests/book/docs_rejects.sh, what only pages
# of part two have.
set -euo pipefail
dir=$1
shift
command=("$@")
. "$(dirname "$0")/../../../common/tests/book/small_book.sh"

book
printf '<!-- suite: results=gpu timing=burst -->\n<!-- end -->\n' >>"$dir/README.md"
expect 1 'the table is stale'
check --write "$dir" >/dev/null || true
expect 1 'a row has no burst of 10, cublas or cublaslt-best'
sed -i 's/"tflops": 200}}]/"tflops": 200}}, {"name": "cublaslt-best", "burst": {"tflops": 400}}]/' \
    "$dir/docs/results/gpu.jsonl"
check --write "$dir" >/dev/null
grep -qF '| 64³ | `-` | 100 | 200 | 400 | 0.50 | 0.25 |' "$dir/README.md" ||
    { echo 'no row of the suite'; failed=1; }
grep -qF '| *geometric mean, all 1* | | | | | 0.500 | 0.250 |' "$dir/README.md" ||
    { echo 'no mean of the suite'; failed=1; }
printf '<!-- suite-means: results=gpu:burst,none:burst -->\n<!-- end -->\n' >>"$dir/README.md"
expect 1 'the table is stale'
check --write "$dir" >/dev/null
grep -qF '| bf16, burst | 1 | 0.500 | 0.250 | 1 | 0.500 | 0.250 | 0.50, 64³ |' "$dir/README.md" ||
    { echo 'no row of the means'; failed=1; }
grep -qF 'not yet recorded: `none.jsonl`' "$dir/README.md" || { echo 'means of nothing'; failed=1; }
# Shapes that a seed drew: 14393x35x228, 46x24x16120 and 1024x4352x192 are the first of seed 11.
book
mkdir "$dir/docs/figures"
figure=$dir/docs/figures/ten.svg
record=$dir/docs/results/ten.jsonl
printf '<!-- drawn: results=ten figure=ten lowest=1 -->\n<!-- end -->\n' >>"$dir/README.md"
check --write "$dir" >/dev/null
grep -qF 'there is no `docs/results/ten.jsonl`' "$dir/README.md" || { echo 'drawn'; failed=1; }
{
    echo '{"gpu": "GPU", "driver": "1", "toolkit": "2", "date": "today", "command": "run --drawn 11"}'
    algo='{"tile_m": 24, "tile_n": 64, "cluster_m": 4, "cluster_n": 2, "splits": 9}'
    for row in '14393 35 228 40' '46 24 16120 5' '1024 4352 192 8'; do
        read -r m n k speed <<<"$row"
        best="{\"name\": \"cublaslt-best\", \"burst\": {\"tflops\": 10}, \"algo\": $algo}"
        echo "{\"chapter\": \"10_x\", \"selected\": \"own\", \"m\": $m, \"n\": $n, \"k\": $k," \
            "\"dtype\": \"bf16\", \"burst\": {\"tflops\": $speed}, \"baselines\": [$best]}"
    done
} >"$record"
expect 1 'the block is stale'
expect 1 'docs/figures/ten.svg is stale'
check --write "$dir" >/dev/null
expect 0 '2 pages'
grep -qF "of the seed's 120 shapes the first 3 |" "$dir/README.md" || { echo 'not 3'; failed=1; }
for row in 'n and k multiples of 8 | 2 | 0.632 | 0.50 | 0.50, 46×24×16120 |' \
    'n or k not a multiple of 8 | 1 | 4.000 | 4.00 | 4.00, 14393×35×228 |' \
    'all | 3 | 1.170 | 0.50 | 0.50, 46×24×16120 |' \
    '46×24×16120 | 0.50 | `own` | 24×64 | 4×2 | 9 |'; do
    grep -qF "| $row" "$dir/README.md" || { echo "no row of drawn shapes: $row"; failed=1; }
done
[ "$(grep -c '<circle' "$figure")" -eq 2 ] || { echo 'not a circle a shape'; failed=1; }
grep -qF '<title>14393×35×228: 4.00</title></path>' "$figure" || { echo 'no triangle'; failed=1; }
sed -i 's/4.00</4.01</' "$figure"
expect 1 'docs/figures/ten.svg is stale'
rm "$figure"
expect 1 'docs/figures/ten.svg is stale'
check --write "$dir" >/dev/null
expect 0 '2 pages'
sed -i 's/"tflops": 8}/"tflops": 8.3}/' "$record"
expect 1 'the block is stale'
sed -i 's/"tflops": 8.3}/"tflops": 0}/' "$record"
expect 1 'ten.jsonl has a row without burst of the kernel or cublaslt-best'
sed -i 's/"tflops": 0}/"tflops": 8}/; 3d' "$record"
check --write "$dir" >/dev/null
expect 0 '2 pages'
grep -qF "of the seed's 120 shapes without 46×24×16120 the first 3 |" "$dir/README.md" ||
    { echo 'not without one'; failed=1; }
sed -i '2{h;d};3G' "$record"
expect 1 "ten.jsonl has a row that is none of the seed's next shapes"
sed -i 's/ lowest=1//' "$dir/README.md"
expect 1 'drawn shapes need results=, figure= and lowest='
book
marker='<!-- ratios: results=layers kernels=11,11:small against=slow,fast timing=burst -->'
printf '%s\n<!-- end -->\n' "$marker" >>"$dir/README.md"
check --write "$dir" >/dev/null
grep -qF 'there is no `docs/results/layers.jsonl`' "$dir/README.md" || { echo 'ratios'; failed=1; }
{
    echo '{"gpu": "GPU", "driver": "1", "toolkit": "2", "date": "today", "command": "run layers"}'
    for m in 64 128; do
        row="\"chapter\": \"11_x\", \"m\": $m, \"n\": 8, \"k\": 8, \"dtype\": \"e4m3\""
        rivals='{"name": "slow", "burst": {"tflops": 50}}, {"name": "fast", "burst": {"tflops": 100}}'
        echo "{$row, \"variant\": null, \"burst\": {\"tflops\": $((12800 / m))}, \"baselines\": []}"
        echo "{$row, \"variant\": \"small\", \"burst\": {\"tflops\": 25}, \"baselines\": [$rivals]}"
    done
} >"$dir/docs/results/layers.jsonl"
expect 1 'the table is stale'
check --write "$dir" >/dev/null
expect 0 '2 pages'
grep -qF '| 64×8×8 | 200 | 25 | 50 | 100 | 2.00 |' "$dir/README.md" || { echo 'no ratio'; failed=1; }
grep -qF 'mean of 2; the lowest is 1.00* | | | | | 1.414 |' "$dir/README.md" ||
    { echo 'no mean of the ratios'; failed=1; }
sed -i 's/{"tflops": 100}}\]/null}]/; s/{"tflops": 50}/null/' "$dir/docs/results/layers.jsonl"
expect 1 'a shape has no burst of a kernel or a rival'
exit "$failed"
