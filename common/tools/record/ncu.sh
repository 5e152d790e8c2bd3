#!/bin/bash
# ncu.sh [--coalescer] COMMAND...: the hardware counters of the kernels that a command of ours
# launches, as one table. The command prints a JSON line for each launch, in order: tour or compare,
# with --timing none. --coalescer takes the counters of the L2's request coalescer in place of the
# usual ones: requests before it and after it.
# Nsight Compute replays each kernel once per group of counters; the clock is left alone, because cycles
# and shares do not depend on it. Only counters that this ncu knows are asked for.
set -uo pipefail

# counter | heading | what it is divided by
counters='gpu__time_duration.sum|us|1000
sm__cycles_active.avg|SM cycles|1
sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active|tensor pipe %|1
launch__registers_per_thread|registers|1
lts__t_sectors_op_read.sum|L2 read MB|31250
lts__t_sector_hit_rate.pct|L2 hits %|1
dram__bytes_read.sum|DRAM read MB|1000000
dram__bytes_write.sum|DRAM written MB|1000000
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum|conflicts, loads|1
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum|conflicts, stores|1
smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio|stall: memory|1
smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio|stall: barrier|1
smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio|stall: shared memory queue|1
smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio|stall: mma pipe|1
smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio|stall: wgmma|1
smsp__average_warps_issue_stalled_wait_per_issue_active.ratio|stall: fixed latency|1'
about="Nsight Compute's counters. A stall: cycles that warps spent waiting for this reason, summed over
the warps of a scheduler, per cycle in which the scheduler issued an instruction."

# One unit, lrc, between the crossbar (xbar) and a slice of the L2 (lts). A sector has 32 bytes.
# Programmatic: a TMA multicast. Hardware: requests of several SMs that the unit has merged.
if [ "${1-}" = --coalescer ]; then
    shift
    counters='gpu__time_duration.sum|us|1000
lrc__xbar2lrc_requests_op_read.sum|requests in|1
lrc__xbar2lrc_requests_op_read_coalescing_type_programmatic.sum|multicasts among them|1
lrc__request_sectors_op_read_coalescable.sum|MB in|31250
lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum|MB merged|31250
lrc__lts2lrc_sectors_op_read.sum|MB from the slices|31250
lrc__lrc2xbar_sectors_op_read.sum|MB out|31250
lrc__xbar2gpc_sectors_op_read.sum|MB delivered|31250
lrc__average_xbar2gpc_sectors_op_read.ratio|delivered per sector out|1
lrc__average_xbar2gpc_sectors_op_read_coalescing_achieved_type_hardware.ratio|merged reads only|1
lrc__average_xbar2gpc_sectors_op_read_coalescing_achieved_type_programmatic.ratio|multicasts only|1'
    about="Nsight Compute's counters of the L2's request coalescer (lrc). In: reads that arrive from
the crossbar. Merged: sectors that it does not read again, because another request reads them. Out:
sectors sent back to the crossbar. Delivered: sectors that the crossbar then sends to the GPCs."
fi

for program in ncu "$1"; do
    command -v "$program" >/dev/null || { echo "ncu.sh: there is no $program" >&2 && exit 3; }
done
output=$(mktemp -d) || exit 2
trap 'rm -rf "$output"' EXIT

# Names of launch__ counters are not listed.
ncu --query-metrics --chips gh100 2>/dev/null | awk '{ print $1 }' >"$output/known"
metrics=
while IFS='|' read -r counter heading _; do
    case $counter in
    launch__*) ;;
    *)
        if [ -s "$output/known" ] && ! grep -qxF "${counter%%.*}" "$output/known"; then
            echo "ncu.sh: this ncu has no ${counter%%.*} ($heading)" >&2
            continue
        fi
        ;;
    esac
    metrics=$metrics${metrics:+,}$counter
done <<<"$counters"

# The chapters' kernels have one name; what the library launches has others.
ncu --metrics "$metrics" --kernel-name regex:'^kernel$' --clock-control none --csv --page raw \
    --print-units base --log-file "$output/csv" \
    "$@" >"$output/rows" 2>"$output/errors"
status=$?
if [ $status -ne 0 ] || ! grep -q '^"0",' "$output/csv"; then
    tail -n 20 "$output/errors" "$output/csv" >&2
    echo "ncu.sh: profiling failed (exit code $status)" >&2
    exit 1
fi

sed -n 's/^{"chapter": "\([^"]*\)", "variant": \("\([^"]*\)"\|null\), .*"m": \([0-9]*\), "n": \([0-9]*\), "k": \([0-9]*\),.*/\1 \3 | \4 x \5 x \6/p' \
    "$output/rows" >"$output/names"
printf '%s\n' "$counters" >"$output/counters"
printf '%s\n\n' "$about"
awk -v names="$output/names" -v counters="$output/counters" '
    # The fields of a CSV line in which all are quoted.
    function fields(line, out) {
        sub(/^"/, "", line)
        sub(/"[\r]?$/, "", line)
        return split(line, out, /","/)
    }
    BEGIN {
        while ((getline line < names) > 0) name[++kernels] = line
        while ((getline line < counters) > 0) {
            split(line, part, "|")
            counter[++wanted] = part[1]
            heading[wanted] = part[2]
            divisor[wanted] = part[3]
        }
    }
    /^"ID"/ {
        count = fields($0, column)
        for (i = 1; i <= count; ++i) at[column[i]] = i
        printf "| kernel | size |"
        for (w = 1; w <= wanted; ++w) if (counter[w] in at) printf " %s |", heading[w]
        printf "\n|---|---|"
        for (w = 1; w <= wanted; ++w) if (counter[w] in at) printf "---:|"
        printf "\n"
    }
    /^"[0-9]+"/ {
        fields($0, value)
        printf("| %s |", (++row in name) ? name[row] : "kernel " row " | ")
        for (w = 1; w <= wanted; ++w) {
            if (!(counter[w] in at)) continue
            text = value[at[counter[w]]]
            gsub(/,/, "", text)
            number = text / divisor[w]
            if (text == "" || text ~ /[^-+.0-9eE]/) printf " %s |", text == "" ? "-" : text
            else printf((number >= 100 || number == int(number) ? " %.0f |" : " %.2f |"), number)
        }
        printf "\n"
    }
    END { if (row != kernels) { print row " kernels profiled, " kernels " named"; exit 1 } }
' "$output/csv"
