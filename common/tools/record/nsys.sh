#!/bin/bash
# nsys.sh COMMAND...: the kernels inside the NVTX ranges of each chapter that a command of ours runs,
# as one table. The harness opens a range for the verified run, and one for each burst. Nsight
# Systems records the first two of a chapter, so the command runs once for each chapter.
set -uo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)

for program in nsys "$1"; do
    command -v "$program" >/dev/null || { echo "nsys.sh: there is no $program" >&2 && exit 3; }
done
output=$(mktemp -d) || exit 2
trap 'rm -rf "$output"' EXIT

# Ranges are opened by their names; nsys would only look at those registered before.
export NSYS_NVTX_PROFILER_REGISTER_ONLY=0
nsys --version
echo
echo "| range | kernel | launches | mean, us |"
echo "|---|---|---:|---:|"
failures=0
for chapter in "$root"/0[1-9]_*; do
    chapter=${chapter##*/}
    report=$output/$chapter
    nsys profile --trace cuda,nvtx --capture-range nvtx --nvtx-capture "$chapter" \
        --capture-range-end repeat:2 --sample none --cpuctxsw none --output "$report" \
        "$@" >"$report.log" 2>&1
    for range in 1 2; do
        nsys stats --quiet --report nvtx_kern_sum --format csv --output - \
            "$report.$range.nsys-rep" >"$report.csv" 2>>"$report.log"
        # Columns are found by their names; our kernels' names have no commas.
        awk -F, -v chapter="$chapter" -v range="$([ $range = 1 ] && echo verified || echo burst)" '
            !heading && /^"?NVTX Range/ {
                heading = 1
                for (i = 1; i <= NF; ++i) at[$i] = i
                next
            }
            heading && index($1, chapter) {
                ++rows
                printf "| %s, %s | `%s` | %d | %.1f |\n", chapter, range, $at["Kernel Name"],
                    $at["Kern Inst"], $at["Avg (ns)"] / 1000
            }
            END { exit rows == 0 }' "$report.csv" && continue
        tail -n 5 "$report.log" >&2
        echo "nsys.sh: nothing recorded in range $range of $chapter" >&2
        failures=$((failures + 1))
    done
done
[ "$failures" -eq 0 ]
