#!/bin/bash
# docs_record.sh [--append] FILE PROGRAM [OPTION...]: runs PROGRAM --json with these options and
# keeps its lines in FILE (docs/results/NAME.jsonl), behind a line that says where, when and how
# they were made; with --append, behind what FILE has.
set -euo pipefail
append=0
[ "$1" != --append ] || { append=1 && shift; }
file=$1
program=$2
shift 2

# One field of nvidia-smi; nothing without a GPU.
gpu_field() {
    nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -n 1 || true
}

lines=$("$program" --json "$@")
case $lines in
*'"backend": "sim"'*) gpu=simulator driver="" toolkit="" limit="" ;;
*)
    gpu=$(gpu_field name) driver=$(gpu_field driver_version) limit=$(gpu_field power.limit)
    toolkit=$({ nvcc --version 2>/dev/null || true; } | sed -n 's/.*release \([0-9.]*\).*/\1/p')
    ;;
esac
shown=$(printf '%s' "${program#"$PWD"/}" | sed 's#^.*/\(sim\|gpu\)/#build/\1/#') # wherever built
command="$shown --json $*"
[ "$append" -eq 1 ] || : >"$file"
{
    printf '{"gpu": "%s", "driver": "%s", "toolkit": "%s", "power_limit": "%s", ' \
        "$gpu" "$driver" "$toolkit" "$limit"
    printf '"date": "%s", "commit": "%s", "command": "%s"}\n' \
        "$(date -u +%Y-%m-%d)" "$(git rev-parse --short HEAD 2>/dev/null || true)" "$command"
    printf '%s\n' "$lines"
} >>"$file"
