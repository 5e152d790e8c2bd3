#!/bin/bash
# docs_rejects_library.sh DIRECTORY CHECK...: as common/tests/book/docs_rejects.sh, what only the
# page of the libraries has.
set -euo pipefail
dir=$1
shift
command=("$@")
. "$(dirname "$0")/../../../common/tests/book/small_book.sh"
page=$dir/01_one/more.md # its lines may be longer than the front page's

book && echo "# More" >"$page"
printf '<!-- suite: results=gpu -->\n<!-- end -->\n' >>"$page"
expect 1 'the table is stale'
check --write "$dir" >/dev/null || true
expect 1 'a row has no burst of the library, cublas or cublaslt-best'
sed -i 's/"tflops": 200}}]/"tflops": 200}}, {"name": "cublaslt-best", "burst": {"tflops": 400}}]/' \
    "$dir/docs/results/gpu.jsonl"
check --write "$dir" >/dev/null
grep -qF '| 64³ | `-` | 100 | 200 | 400 | 0.50 | 0.25 | – |' "$page" ||
    { echo 'no row of the suite'; failed=1; }
grep -qF '| *geometric mean, all 1* | | | | | 0.500 | 0.250 | – |' "$page" ||
    { echo 'no mean of the suite'; failed=1; }
# The libraries' results in records that have them as chapter 10's and 12's: what was selected, and
# the libraries' configurations.
book && echo "# More" >"$page"
mkdir -p "$dir/beyond"
{
    echo '{"gpu": "GPU", "driver": "1", "toolkit": "2", "date": "today", "command": "run ten"}'
    speed=10
    for of in '"10_stream_k", "variant": null, "selected": "pp192"' \
        '"10_stream_k", "variant": "fitted1"' '"10_stream_k", "variant": "split_k"' \
        '"12_w4a8", "variant": "teams16"' '"12_w4a8", "variant": "pairs"'; do
        echo "{\"chapter\": $of, \"m\": 8, \"n\": 8, \"k\": 8, \"dtype\": \"bf16\"," \
            "\"burst\": {\"tflops\": $((speed += 1))}, \"baselines\": []}"
    done
} >"$dir/docs/results/ten.jsonl"
words=hopper_gemm,hopper_gemm:fitted1,10:split_k,w4a8_gemm:teams16,12:pairs
printf '<!-- table: results=ten kernels=%s shapes=8 columns=burst -->\n<!-- end -->\n' $words \
    >>"$page"
check --write "$dir" >/dev/null
for row in 'hopper_gemm | 11' 'hopper_gemm, fitted1 | 12' 'beyond/10_stream_k, split_k | 13' \
    'w4a8_gemm, teams16 | 14' 'beyond/12_w4a8, pairs | 15'; do
    grep -qF "| $row |" "$page" || { echo "no row of a library: $row"; failed=1; }
done
# Shapes that a seed drew: 14393x35x228, 46x24x16120 and 1024x4352x192 are the first of seed 11.
book && echo "# More" >"$page"
mkdir "$dir/docs/figures"
figure=$dir/docs/figures/ten.svg
record=$dir/docs/results/ten.jsonl
printf '<!-- drawn: results=ten figure=ten lowest=1 -->\n<!-- end -->\n' >>"$page"
check --write "$dir" >/dev/null
grep -qF 'there is no `docs/results/ten.jsonl`' "$page" || { echo 'drawn'; failed=1; }
{
    echo '{"gpu": "GPU", "driver": "1", "toolkit": "2", "date": "today", "command": "run --drawn 11"}'
    algo='{"tile_m": 24, "tile_n": 64, "cluster_m": 4, "cluster_n": 2, "splits": 9}'
    for row in '14393 35 228 40 own' '46 24 16120 5 direct_16x8' '1024 4352 192 8 own'; do
        read -r m n k speed selected <<<"$row"
        best="{\"name\": \"cublaslt-best\", \"burst\": {\"tflops\": 10}, \"algo\": $algo}"
        shape="\"m\": $m, \"n\": $n, \"k\": $k, \"dtype\": \"bf16\", \"baselines\": [$best]"
        echo "{\"chapter\": \"lib\", \"selected\": \"$selected\", $shape," \
            "\"burst\": {\"tflops\": $speed}}"
        echo "{\"chapter\": \"lib\", \"variant\": \"tuned\", $shape, \"burst\": {\"tflops\": 9}}"
    done
} >"$record"
expect 1 'the block is stale'
expect 1 'docs/figures/ten.svg is stale'
check --write "$dir" >/dev/null
expect 0 '3 pages'
grep -qF "of the seed's 60 shapes, the first 3 |" "$page" || { echo 'not 3'; failed=1; }
for row in 'shapes | 2 | 1 | 3 |' 'geometric mean of the ratios | 0.632 | 0.800 | 1.170 |' \
    'the same, tuned | 0.900 | 0.900 | 0.900 |' '5th percentile¹ | 0.50 | 0.80 | 0.50 |' \
    'lowest | 0.50, 46×24×16120 | 0.80, 1024×4352×192 | 0.50, 46×24×16120 |' \
    '46×24×16120 | 0.50 | `direct_16x8` | 24×64 | 4×2 | 9 |'; do
    grep -qF "| $row" "$page" || { echo "no row of drawn shapes: $row"; failed=1; }
done
[ "$(grep -c '<circle' "$figure")" -eq 2 ] || { echo 'not a circle a shape'; failed=1; }
grep -qF '<title>14393×35×228: 4.00</title></path>' "$figure" || { echo 'no triangle'; failed=1; }
sed -i 's/4.00</4.01</' "$figure"
expect 1 'docs/figures/ten.svg is stale'
rm "$figure"
expect 1 'docs/figures/ten.svg is stale'
check --write "$dir" >/dev/null
expect 0 '3 pages'
sed -i 's/"tflops": 8}/"tflops": 8.3}/' "$record"
expect 1 'the block is stale'
sed -i 's/"tflops": 8.3}/"tflops": 0}/' "$record"
expect 1 'ten.jsonl has a row without burst of the kernel or cublaslt-best'
sed -i 's/"tflops": 0}/"tflops": 8}/; 4,5d' "$record"
check --write "$dir" >/dev/null
expect 0 '3 pages'
grep -qF "of the seed's 60 shapes without 46×24×16120, the first 3 |" "$page" ||
    { echo 'not without one'; failed=1; }
sed -i '2{h;d};4G' "$record"
expect 1 "ten.jsonl has a row that is none of the seed's next shapes"
sed -i 's/ lowest=1//' "$page"
expect 1 'drawn shapes need results=, figure= and lowest='
exit "$failed"
