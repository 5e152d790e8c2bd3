#!/bin/bash
# record.sh [--dry] [--build DIR] [--out DIR] SECTION...: everything that runs on the GPU and is
# recorded, section by section; see docs/results/README.md. Builds nothing: wants the GPU programs
# in DIR/gpu (build), and the targets gpu_sweep_delays for the section delays, of another house the same
# with its suffix, such as _beyond. Writes a record where
# it lies already, into docs/results of its house. --dry only prints the commands. Each section says
# what it took; the seconds here are estimates for an H200. Where beyond/ and library/ are, their
# kernels take part in the sections for all kernels, and tools/record/sections.sh of each has further
# sections.
#
#   tour             105 s   the ladder at 4096^3, 8192^3, 8192x8192x512, bf16; 8192^3 in fp16
#   sustained        180 s   05 to 10 with all baselines at 8192^3, 08 and 09 also at 4096^3 and
#                            8192x8192x512, and 10's configurations at 8192^3
#   stages            95 s   variants of 03, 04, 06 and 07: stage counts, CTAs per SM, waits, stores
#   steps             70 s   the steps of the ladder from 06 on
#   schedules         65 s   the same, and two configurations of 10, over k = 256 ... 8192
#   order             30 s   the same kernel first and last in the rotation
#   big               15 s   more than 2^31 elements in A, and in D, through the ladder
#   sweep             60 s   2000 random shapes through all chapters and a third of the variants in turn
#   repeat            50 s   1000 runs of one problem, bit for bit
#   delays            35 s   random shapes and repeated runs with random delays in every kernel
#   sanitizer         60 s   memcheck, racecheck, synccheck, initcheck
#   probe             20 s   the constants of the simulator's timing model
#   trace             50 s   the ladder with the timeline recorder in it, beside itself without
#   ncu               30 s   hardware counters of the ladder, of 08 over k, of 08 and 09 at 8192^3
#   lrc               10 s   where the L2 merges requests: its request coalescer in 08 and 09
#   ncu_full          10 s   Nsight Compute's full set of counters in 07, as an example
#   nsys             105 s   the kernels in the NVTX ranges of all chapters, as Nsight Systems sees them
#   sass              15 s   what the compiler made of the main loops; needs no GPU
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 2
tools=common/tools/record

dry=
build=build
out=
sections=
while [ $# -gt 0 ]; do
    case $1 in
    --dry) dry=1 ;;
    --build) build=$2 && shift ;;
    --out) out=$2 && shift ;;
    -*) echo "record.sh: unknown option $1" >&2 && exit 2 ;;
    *) sections="$sections $1" ;;
    esac
    shift
done
gpu=$build/gpu
failures=0
# With part two and the libraries: a program that compares the kernels of all, and a sweep of each.
beyond=
library=
compare=$gpu/compare
[ ! -d beyond ] || { beyond=1 && compare=$gpu/compare_beyond; }
[ ! -d library ] || { library=1 && compare=$gpu/compare_library; }

# ---- what a record says about itself ----

of_gpu() {
    nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -n 1
}
gpu_name=
[ -n "$dry" ] || {
    gpu_name=$(of_gpu name)
    driver=$(of_gpu driver_version)
    power_limit=$(of_gpu power.limit)
    toolkit=$(nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')
    commit=${COMMIT:-$(git rev-parse --short HEAD 2>/dev/null)}
}

# Where, when and how: one JSON line before the rows of a command.
header() {
    printf '{"gpu": "%s", "driver": "%s", "toolkit": "%s", "power_limit": "%s", ' \
        "$gpu_name" "$driver" "$toolkit" "$power_limit"
    printf '"date": "%s", "commit": "%s", "command": "%s"}\n' "$(date -u +%Y-%m-%d)" "$commit" "$*"
}

# Counts a command that did not end well; the section goes on.
note() {
    [ "$1" -eq 0 ] && return
    failures=$((failures + 1))
    shift
    echo "record.sh: FAILED: $*" >&2
}

# record_path FILE: where a section's file is put. The names are an H200's; another GPU's begin with its
# own, as in h100-tour.jsonl and h100-probe.txt.
record_path() {
    local name=${gpu_name,,} file=$1 there=${out:-docs/results} house
    name=${name#nvidia }
    case $name in
    '' | h200*) ;;
    *) file=${name%% *}-${file#h200-} ;;
    esac
    for house in beyond library; do
        [ -n "$out" ] || [ ! -e "$house/docs/results/$file" ] || there=$house/docs/results
    done
    echo "$there/$file"
}

# begin FILE: a file of a section, empty.
begin() {
    [ -n "$dry" ] && return
    mkdir -p "$(dirname "$(record_path "$1")")" && : >"$(record_path "$1")"
}

# rows FILE COMMAND...: the JSON lines of a command behind its header.
rows() {
    local file
    file=$(record_path "$1")
    shift
    echo "+ $*"
    [ -n "$dry" ] && return
    header "$@" >>"$file"
    "$@" >>"$file"
    note $? "$@"
}

# shorten COMMAND: what a record keeps of a command's output: of lines that say that all is well, how
# many there are; of the others the first and the last; of compute-sanitizer each once, whatever the
# thread, the offset in the function and the number of hazards. Paths begin at the repository's root.
shorten() {
    sed "s|$PWD/||g" | awk -v once="$([ "$1" = compute-sanitizer ] && echo 1)" '
        (at = index($0, " is left out: ")) { ++left_out[substr($0, at + 14)]; next }
        / triples, 0 failures, 0 hazards$/ { ++right; triples += $(NF - 5); next }
        / runs, all bitwise identical$/ { ++identical; next }
        /: ok$/ { ++ok; next }
        /, 0 of [0-9]+ launches wrong$/ { ++series; next }
        once && /^=========  *$/ { next }
        once { gsub(/\+0x[0-9a-f]+/, ""); sub(/ \[[0-9]+ hazards?\]$/, "")
               sub(/by thread \(.*/, "by threads") }
        once && seen[$0]++ { next }
        { last = $0 }
        ++lines <= (once ? 200 : 400)
        END {
            if (lines > (once ? 200 : 400)) print "... " lines - 401 + 200 * once " lines ...\n" last
            if (right) print "counted: " right " kernels right in " triples " triples"
            if (identical) print "counted: " identical " kernels bitwise identical in all runs"
            if (series) print "counted: " series " series of launches right"
            if (ok) print "counted: " ok " checks ok"
            for (why in left_out) print "counted: " left_out[why] " kernels left out: " why
        }'
}

# into FILE COMMAND...: appends a header, the output and the exit code.
into() {
    local file=$1 status
    shift
    { printf '# ' && header "$@"; } >>"$file"
    "$@" 2>&1 | shorten "$1" >>"$file"
    status=${PIPESTATUS[0]}
    printf '# exit code %d\n\n' "$status" >>"$file"
    return "$status"
}

# text FILE COMMAND...: a command's output behind its header.
text() {
    local file
    file=$(record_path "$1")
    shift
    echo "+ $*"
    [ -n "$dry" ] && return
    into "$file" "$@"
    note $? "$@"
}

# together FILE JOBS: the same of the commands on stdin, JOBS at a time, for those that leave the
# GPU idle most of the time. Stdin is no pipe, so that failures are counted here. A report of
# racecheck, exit code 9, is no failure: docs/debugging.md.
together() {
    local file parts jobs=$2 command status part=0
    file=$(record_path "$1")
    parts=$file.parts
    local -a commands
    mapfile -t commands
    printf '+ %s\n' "${commands[@]}"
    [ -n "$dry" ] && return
    mkdir -p "$parts"
    for command in "${commands[@]}"; do
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
        part=$((part + 1))
        # shellcheck disable=SC2086
        { into "$parts/$part" $command; echo $? >"$parts/$part.status"; } &
    done
    wait
    part=0
    for command in "${commands[@]}"; do
        part=$((part + 1))
        cat "$parts/$part" >>"$file"
        status=$(cat "$parts/$part.status")
        [[ $command = *racecheck* ]] && [ "$status" -eq 9 ] && status=0
        # shellcheck disable=SC2086
        note "$status" $command
    done
    rm -rf "$parts"
}

# ---- sections ----

section_tour() {
    begin h200-tour.jsonl
    rows h200-tour.jsonl "$gpu/tour" --json --size 4096 --input normal --timing burst --iters 5
    rows h200-tour.jsonl "$gpu/tour" --json --size 8192 --input normal --timing burst --iters 5
    rows h200-tour.jsonl "$gpu/tour" --json --m 8192 --n 8192 --k 512 --input normal --timing burst --iters 5
    rows h200-tour.jsonl "$gpu/tour" --json --size 8192 --input normal --timing burst \
        --dtype fp16 --chapters 2-9 --iters 3
}

# The ladder with all baselines in one rotation; where it forks, at other shapes; and what the
# library picks from, with and without a cluster.
section_sustained() {
    begin h200-sustained.jsonl
    rows h200-sustained.jsonl "$compare" --shapes 8192 --baselines libraries,ceilings \
        --timing both --iters 2 \
        --kernels "5,6,6:two_warpgroups,7,8:persistent,8,9${library:+,hopper_gemm}"
    rows h200-sustained.jsonl "$compare" --shapes 4096,8192x8192x512 --timing both --iters 2 \
        --kernels 8:persistent,8,9
    [ -z "$library" ] || rows h200-sustained.jsonl "$compare" --shapes 8192 \
        --baselines libraries,ceilings --timing both --iters 2 \
        --kernels hopper_gemm,hopper_gemm:coop256,hopper_gemm:pp192,hopper_gemm:pp128
}

section_stages() {
    begin h200-stages.jsonl
    rows h200-stages.jsonl "$gpu/compare" --kernels 2,3:all,4:all --shapes 4096,8192 \
        --baselines libraries,ceilings --iters 3
    rows h200-stages.jsonl "$gpu/compare" --shapes 4096,8192,8192x8192x512 --iters 5 \
        --kernels 5,6,6:narrow,6:wait0,6:rs,6:two_warpgroups,6:two_wait0,7,7:wait0
}

section_steps() {
    begin h200-steps.jsonl
    rows h200-steps.jsonl "$gpu/compare" --kernels 6,6:two_warpgroups,7,8:persistent,8,9,9:unicast \
        --shapes 2048,4096,8192,8192x8192x512 --iters 5
}

section_schedules() {
    local shapes=8192x8192x256 k
    for k in 512 1024 2048 4096; do
        shapes=$shapes,8192x8192x$k
    done
    begin h200-k-sweep.jsonl
    rows h200-k-sweep.jsonl "$compare" --shapes "$shapes,8192,4096" --iters 3 \
        --kernels "6:two_warpgroups,7,8:persistent,8,9${library:+,hopper_gemm:coop256,hopper_gemm:pp192}"
}

# Median milliseconds of a chapter in the rows on stdin.
median_ms() {
    sed -n "s/.*\"chapter\": \"$1\".*\"burst\": {\"ms\": \([0-9.e-]*\).*\"sustained\".*\"baselines\".*/\1/p"
}

section_order() {
    local stage
    begin order.jsonl
    # Listed order, then the same backwards: another neighbour, the other end of every round.
    rows order.jsonl "$gpu/compare" --kernels 9,8,7,6,2 --shapes 8192 --order listed --iters 9 \
        --baselines none
    rows order.jsonl "$gpu/compare" --kernels 2,6,7,8,9 --shapes 8192 --order listed --iters 9 \
        --baselines none
    [ -n "$dry" ] && return
    for stage in 09_cluster_multicast 02_smem_tiled; do
        median_ms $stage <"$(record_path order.jsonl)" | awk -v stage=$stage '
            { ms[NR] = $1 }
            END {
                if (NR != 2) { print stage ": not measured twice"; exit 1 }
                gap = 100 * (ms[1] / ms[2] - 1)
                printf "%s at one end of the rotation %.4f ms, at the other %.4f ms: %+.2f %%\n",
                    stage, ms[1], ms[2], gap
                exit gap > 2 || gap < -2
            }'
        note $? "order: $stage differs by 2 % or more"
    done
}

section_big() {
    begin big.jsonl
    # A: 2.2e9 elements, then D: 2.3e9 elements.
    rows big.jsonl "$gpu/tour" --json --m 270000 --n 128 --k 8192 --timing none
    rows big.jsonl "$gpu/tour" --json --m 70000 --n 32776 --k 64 --timing none
}

# The sweeps of all houses: each with the options that follow.
sweeps() {
    echo "$gpu/sweep $*"
    [ -z "$beyond" ] || echo "$gpu/sweep_beyond $*"
    [ -z "$library" ] || echo "$gpu/sweep_library $*"
}

section_sweep() {
    local seed
    begin sweep.txt
    together sweep.txt 4 < <(for seed in 1 2 3 4; do
        sweeps --variant all --rotate 3 --random 500 --seed $seed
    done)
}

# What adds to D in no fixed order, and says so.
may_differ='--may-differ 10_stream_k:split_reduce'

# In e4m3 and w4a8 a scale is for 128 of k; here the last one is for 8.
section_repeat() {
    begin repeat.txt
    together repeat.txt 3 < <(
        sweeps --variant all --repeat 1000 --size 1024x1152x640 --dtype fp16 "$may_differ"
        sweeps --variant all --repeat 1000 --size 1024x1152x640 --dtype bf16 "$may_differ"
        repeat='--variant all --repeat 1000'
        [ -z "$library" ] || echo "$gpu/sweep_library $repeat --size 1024x1152x648 --dtype w4a8"
        [ -n "$beyond" ] || exit 0
        repeat="$gpu/sweep_beyond $repeat"
        echo "$repeat --chapter 10_stream_k --size 136x264x8200 --dtype bf16 $may_differ"
        echo "$repeat --size 1024x1152x648 --dtype e4m3"
        echo "$repeat --size 1024x1152x648 --dtype w4a8"
    )
}

section_delays() {
    local delayed
    begin delays.txt
    together delays.txt 3 < <(
        for delayed in sweep_delays ${beyond:+sweep_delays_beyond} ${library:+sweep_delays_library}; do
            echo "$gpu/$delayed --variant all --random 100 --seed 2"
            echo "$gpu/$delayed --variant all --random 100 --seed 3"
            echo "$gpu/$delayed --variant all --repeat 100 --size 520x776x648 --dtype bf16 $may_differ"
        done
        for delayed in ${beyond:+beyond:e4m3 beyond:w4a8} ${library:+library:w4a8}; do
            echo "$gpu/sweep_delays_${delayed%:*} --variant all --repeat 100 --size 520x776x648" \
                "--dtype ${delayed#*:}"
        done
    )
}

# What compute-sanitizer runs. Of a minimal handoff: correct by mbarriers, correct by barriers,
# wrong; and of a minimal exchange in a cluster: correct, wrong.
sanitizer_commands() {
    local tool order stage
    for tool in memcheck racecheck synccheck initcheck; do
        tool="compute-sanitizer --tool $tool --error-exitcode 9"
        sweeps --variant all --triples 3 --dtype bf16 --seed 5 | sed "s|^|$tool |"
        sweeps --variant all --triples 1 --long-k --dtype fp16 --seed 5 | sed "s|^|$tool |"
        [ -z "$library" ] ||
            echo "$tool $gpu/sweep_library --variant all --triples 3 --dtype w4a8 --seed 5"
        [ -n "$beyond" ] || continue
        echo "$tool $gpu/sweep_beyond --variant all --triples 3 --dtype e4m3 --seed 5"
        echo "$tool $gpu/sweep_beyond --variant all --triples 3 --dtype w4a8 --seed 5"
        for stage in 10_stream_k:split_reduce 10_stream_k:split_k; do
            echo "$tool $gpu/sweep_beyond --chapter ${stage%:*} --variant ${stage#*:} --triples 4" \
                "--long-k --dtype bf16 --seed 6"
        done
    done
    tool='compute-sanitizer --tool racecheck --error-exitcode 9'
    for order in mbarrier barrier none cluster cluster_none alone alone_none; do
        echo "$tool $gpu/racecheck_minimal $order"
    done
}

section_sanitizer() {
    begin sanitizer.txt
    together sanitizer.txt 6 < <(sanitizer_commands)
}

section_probe() {
    begin probe.txt
    text probe.txt "$gpu/probe"
}

# Pairs of one kernel, in rotations of their own: the fast ones, and those that would make them wait.
section_trace() {
    local stage pairs=
    begin h200-trace-overhead.jsonl
    for stage in 5 6 6:two_warpgroups 7 8:persistent 8 9; do
        pairs=$pairs,$stage,$stage+trace
    done
    rows h200-trace-overhead.jsonl "$gpu/compare" --kernels "${pairs#,}" --shapes 4096 --iters 9 \
        --baselines none
    rows h200-trace-overhead.jsonl "$gpu/compare" \
        --kernels 1,1+trace,2,2+trace,3,3+trace,4,4+trace --shapes 4096 --iters 3 --baselines none
}

section_ncu() {
    begin ncu.txt
    text ncu.txt "$tools/ncu.sh" "$gpu/tour" --json --size 4096 --input normal --timing none
    # Both consumers on one tile, or each on its own, over k; and what a cluster asks the L2 for:
    # 8:persistent is 9 without one.
    text ncu.txt "$tools/ncu.sh" "$gpu/compare" --timing none --baselines none \
        --kernels 8:persistent,8 --shapes 8192x8192x512,8192x8192x1024,8192x8192x4096,8192
    text ncu.txt "$tools/ncu.sh" "$gpu/compare" --timing none --baselines none \
        --kernels 8:persistent,8,9 --shapes 8192
}

# What the SMs request, and what is left of it when it reaches the slices of the L2.
section_lrc() {
    begin lrc.txt
    text lrc.txt "$tools/ncu.sh" --coalescer "$gpu/tour" --json --size 4096 --timing none \
        --chapters 8-9
}

section_ncu_full() {
    local report=$gpu/07.ncu-rep
    begin ncu-full.txt
    text ncu-full.txt ncu --set full --import-source yes --kernel-name regex:'^kernel$' \
        --clock-control none --force-overwrite --export "$report" \
        "$gpu/07_warp_specialized" --size 4096 --timing none
    text ncu-full.txt ncu --import "$report" --page details
}

section_nsys() {
    begin nsys.txt
    text nsys.txt "$tools/nsys.sh" "$gpu/compare" --kernels 1,2,3,4,5,6,7,8,9 --shapes 4096 \
        --iters 1 --baselines none
    text nsys.txt ncu --nvtx --nvtx-include 08_persistent_pingpong/ --metrics gpu__time_duration.sum \
        "$gpu/compare" --kernels 7,8,9 --shapes 4096 --timing none --baselines none
}

section_sass() {
    begin sass.txt
    text sass.txt "$tools/sass.sh" "$build" 02_smem_tiled 03_cp_async_multistage 04_rf_double_buffer \
        05_tma_mbarrier 06_wgmma 06_wgmma_narrow 06_wgmma_wait0 06_wgmma_rs 06_wgmma_two_warpgroups \
        06_wgmma_two_wait0 07_warp_specialized 07_warp_specialized_wait0 \
        08_persistent_pingpong_persistent 08_persistent_pingpong 09_cluster_multicast
}

# shellcheck source=beyond/tools/record/sections.sh
[ -z "$beyond" ] || . beyond/tools/record/sections.sh
# shellcheck source=library/tools/record/sections.sh
[ -z "$library" ] || . library/tools/record/sections.sh

known=$(declare -F | sed -n 's/^declare -f section_//p' | tr '\n' ' ')
[ -n "$sections" ] || { echo "record.sh: choose sections: $known" >&2 && exit 2; }
for section in $sections; do
    case " $known " in
    *" $section "*) ;;
    *) echo "record.sh: no section $section; choose from: $known" >&2 && exit 2 ;;
    esac
done
for section in $sections; do
    start=$SECONDS
    "section_$section"
    echo "$section: $((SECONDS - start)) s"
done
[ "$failures" -eq 0 ] || echo "record.sh: $failures commands failed" >&2
[ "$failures" -eq 0 ]
