#!/bin/bash
# record.sh [--dry] [--build DIR] [--out DIR] SECTION...: everything that runs on the GPU and is
# recorded, section by section; see docs/results/README.md. Builds nothing: wants the GPU programs
# in DIR/gpu (build), and the targets gpu_sweep_delays for the section delays and gpu_mutants for the
# section mutants. Writes into docs/results. --dry only prints the commands. Each section says what
# it took; the seconds here are estimates for an H200.
#
#   tour             105 s   the ladder at 4096^3, 8192^3, 8192x8192x512, bf16; 8192^3 in fp16
#   sustained        180 s   05 to 10 with all baselines at 8192^3, 08 and 09 also at 4096^3 and
#                            8192x8192x512, and 10's configurations at 8192^3
#   stages            95 s   variants of 03, 04, 06 and 07: stage counts, CTAs per SM, waits, stores
#   steps             70 s   the steps of the ladder from 06 on
#   schedules         65 s   the same, and two configurations of 10, over k = 256 ... 8192
#   split_k           30 s   10's ways of splitting k where k is long, beside 08 unsplit
#   ablation          20 s   10's configurations at 4096^3 and 8192x8192x512
#   early             60 s   10's fitted kernels launched in order and early, on 1 to 128 rows
#   suite             95 s   10 on 28 shapes in bf16, burst
#   suite_fp16        95 s   the same in fp16
#   suite_sustained  110 s   a third of them under sustained load
#   rivals            90 s   10 beside all that computes the same: the libraries with and without sums
#                            rounded to 16 bits, and, in a build with their checkouts, CUTLASS and
#                            DeepGEMM
#   drawn            480 s   10 on 120 shapes drawn by the seed SEED, which has to be set: choose it
#                            when the selection does not change any more
#   fp8               80 s   11 at five shapes in e4m3, burst: with a scale for every block, then with
#                            one for each operand; of this and the next three, BASELINES may name more
#                            than the libraries: libraries,rivals
#   fp8_rows          70 s   11's configurations at 16 to 256 rows
#   fp8_layers        85 s   11 on 20 layers of language models
#   fp8_sustained    110 s   the five shapes under sustained load
#   w4a8             175 s   12 with 16 and 64 rows, and over m; BASELINES may add rivals to ceilings;
#                            11 and 10 at the same shapes in e4m3 and bf16
#   w4a8_early        45 s   12's kernels for few rows launched in order and early, with what reading
#                            the weights takes in both
#   two_gpus         130 s   13 with launches in flight, of which each is verified, with delays, and
#                            under memcheck; repeats, random shapes; then its speed on two GPUs and,
#                            alone, on each; BASELINES=nccl in a build with -DHOPPER_NCCL=/usr
#   two_gpus_trace     5 s   13's timelines on two GPUs with their link, as figures and as traces
#   order             30 s   the same kernel first and last in the rotation
#   big               15 s   more than 2^31 elements in A, and in D, through the ladder
#   sweep             60 s   2000 random shapes through all chapters and a third of the variants in turn
#   repeat            50 s   1000 runs of one problem, bit for bit
#   delays            35 s   random shapes and repeated runs with random delays in every kernel
#   library           30 s   10 as a library: streams, graphs, threads, every visible device, a reset;
#                            what a call costs the host, beside cuBLAS
#   sanitizer         60 s   memcheck, racecheck, synccheck, initcheck
#   mutants          135 s   broken kernels by themselves, with delays, and under all four tools
#   museum           120 s   real bugs, broken and fixed, by themselves and under three tools
#   probe             20 s   the constants of the simulator's timing model
#   trace             50 s   the ladder with the timeline recorder in it, beside itself without
#   waves              5 s   the last round of 10's coop256 and stream256, when each SM multiplies;
#                            wants DIR/sim/waves too
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
out=docs/results
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

# place FILE: where a section's file is put. The names are an H200's; another GPU's begin with its
# own, as in h100-tour.jsonl and h100-probe.txt.
place() {
    local name=${gpu_name,,}
    name=${name#nvidia }
    case $name in
    '' | h200*) echo "$out/$1" ;;
    *) echo "$out/${name%% *}-${1#h200-}" ;;
    esac
}

# begin FILE: a file of a section, empty.
begin() {
    [ -n "$dry" ] && return
    mkdir -p "$out" && : >"$(place "$1")"
}

# rows FILE COMMAND...: the JSON lines of a command behind its header.
rows() {
    local file
    file=$(place "$1")
    shift
    echo "+ $*"
    [ -n "$dry" ] && return
    header "$@" >>"$file"
    "$@" >>"$file"
    note $? "$@"
}

# shorten COMMAND: what a record keeps of a command's output: the first lines and the last; of
# compute-sanitizer each line once, without the empty ones. Paths begin at the repository's root.
shorten() {
    sed "s|$PWD/||g" | if [ "$1" = compute-sanitizer ]; then
        awk '!/^=========  *$/ && !seen[$0]++ && ++lines <= 200'
    else
        awk 'NR <= 400 { print } { last = $0 }
            END { if (NR > 400) print "... " NR - 401 " lines ...\n" last }'
    fi
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
    file=$(place "$1")
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
    file=$(place "$1")
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

# The ladder with all baselines in one rotation; where it forks, at other shapes; and what 10 picks
# from, with and without a cluster.
section_sustained() {
    begin h200-sustained.jsonl
    rows h200-sustained.jsonl "$gpu/compare" --shapes 8192 --baselines libraries,ceilings \
        --timing both --iters 2 \
        --kernels 5,6,6:two_warpgroups,7,8:persistent,8,9,10
    rows h200-sustained.jsonl "$gpu/compare" --shapes 4096,8192x8192x512 --timing both --iters 2 \
        --kernels 8:persistent,8,9
    rows h200-sustained.jsonl "$gpu/compare" --shapes 8192 --baselines libraries,ceilings \
        --timing both --iters 2 \
        --kernels 10,10:coop256,10:coop256_alone,10:pp192,10:pp192_cluster,10:pp128
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
    rows h200-k-sweep.jsonl "$gpu/compare" --shapes "$shapes,8192,4096" --iters 3 \
        --kernels 6:two_warpgroups,7,8:persistent,8,9,10:coop256,10:pp192
}

section_split_k() {
    begin h200-split-k.jsonl
    rows h200-split-k.jsonl "$gpu/compare" --iters 3 \
        --kernels 8:persistent,10:split_reduce,10,10:deep_64x128,10:deep_128x128 \
        --shapes 256x256x16384,512x512x8192,128x4096x4096,256x256x65536,512x512x65536
}

section_ablation() {
    begin h200-ablation.jsonl
    rows h200-ablation.jsonl "$gpu/compare" --shapes 4096,8192x8192x512 --iters 3 --kernels \
        10,10:coop256,10:coop256_alone,10:pp192,10:pp192_cluster,10:pp128,10:pp128_cluster
}

# In a graph launches of one form follow one another, each on other matrices of the rotation.
section_early() {
    local forms=10:fitted1,10:fitted1_early,10:fitted1_ahead
    local shapes=43x128x64,16x1024x1024,1x4096x4096,16x4096x4096,64x4096x4096,128x4096x4096
    shapes=$shapes,8x5120x5120,16x7168x2048,64x7168x2048,128x7168x2048,16x14336x4096,64x14336x4096
    begin h200-early.jsonl
    rows h200-early.jsonl "$gpu/compare" --shapes $shapes --iters 3 \
        --kernels $forms,10:fitted2,10:fitted2_early,10:fitted2_ahead,10
}

# Squares; the projections of a 7 B and a 70 B transformer at several token counts; tall, wide, deep;
# sizes that are no multiple of anything.
suite=512,1024,2048,4096,8192,16384
suite=$suite,16x12288x4096,16x22016x4096,64x12288x4096,128x4096x4096,128x4096x11008,512x22016x4096
suite=$suite,2048x4096x11008,8192x12288x4096
suite=$suite,16x57344x8192,64x8192x28672,128x10240x8192,512x10240x8192,2048x57344x8192
suite=$suite,8192x10240x8192,32768x512x1024,512x32768x1024,256x256x65536,512x512x65536
suite=$suite,4095x4097x4104,8191,1000x3000x5000,8192x8192x512
# The third of it that is measured sustained.
third=2048,4096,8192,128x10240x8192,2048x4096x11008,8192x10240x8192,512x512x65536,8191
third=$third,8192x8192x512

section_suite() {
    begin h200-suite.jsonl
    rows h200-suite.jsonl "$gpu/compare" --kernels 10,10:tuned --shapes "$suite" --iters 2
}

# A shape of each class at which the selection of a former commit was slow.
weak=128x128x32768,768,1536,192x7168x2048,8x5120x5120,96x6144x4096,5000,384x384x8192

section_rivals() {
    begin h200-rivals.jsonl
    rows h200-rivals.jsonl "$gpu/compare" --kernels 10 --shapes $weak,$third --iters 2 \
        --baselines libraries,reduced,rivals
}

section_drawn() {
    if [ -z "${SEED:-}" ] && [ -z "$dry" ]; then
        note 2 "drawn: SEED has to be set"
        return
    fi
    begin h200-drawn.jsonl
    rows h200-drawn.jsonl "$gpu/compare" --kernels 10,10:tuned --drawn "${SEED:-SEED}" --iters 1
}

section_suite_fp16() {
    begin h200-suite-fp16.jsonl
    rows h200-suite-fp16.jsonl "$gpu/compare" --kernels 10,10:tuned --shapes "$suite" \
        --iters 2 --dtype fp16
}

section_suite_sustained() {
    begin h200-suite-sustained.jsonl
    rows h200-suite-sustained.jsonl "$gpu/compare" --kernels 10,10:tuned --shapes "$third" \
        --iters 2 --timing sustained
}

# Training of DeepSeek-V3, a cube, and a layer at decoding.
fp8=4096x7168x16384,4096x4096x7168,4096x24576x1536,8192,128x7168x2048

# The steps with one scale for each operand. With them in it, a rotation's operands have one scale
# each: so there are two rotations.
tensor=11:per_tensor,11:pingpong,11:pingpong_small
section_fp8() {
    begin h200-fp8.jsonl
    rows h200-fp8.jsonl "$gpu/compare" --dtype e4m3 \
        --kernels 11,11:promoted,11:many_rows,11:ordered,11:whole_turns,11:small,11:small_whole \
        --shapes $fp8 --baselines "${BASELINES:-libraries}" --iters 3
    rows h200-fp8.jsonl "$gpu/compare" --dtype e4m3 --kernels $tensor,11 --shapes $fp8 \
        --baselines "${BASELINES:-libraries}" --iters 3
}

section_fp8_rows() {
    local few=16x7168x2048,16x14336x4096,64x6144x4096,64x14336x4096,64x24576x1536
    local more=128x7168x2048,128x7168x16384,128x10240x8192,256x14336x4096,256x8192x28672
    begin h200-fp8-rows.jsonl
    rows h200-fp8-rows.jsonl "$gpu/compare" --dtype e4m3 \
        --kernels 11,11:rows16,11:rows32,11:rows64,11:pairs64 --shapes $few \
        --baselines "${BASELINES:-libraries}" --iters 2
    rows h200-fp8-rows.jsonl "$gpu/compare" --dtype e4m3 \
        --kernels 11,11:pairs128,11:small_whole,11:square --shapes $more \
        --baselines "${BASELINES:-libraries}" --iters 2
}

# Layers whose weights are quantized, as n x k, and the numbers of tokens that they are run with.
layers='
    DeepSeek-V3:q_a         1536x7168    4096
    DeepSeek-V3:q_b         24576x1536   64 8192
    DeepSeek-V3:kv_b        32768x512    2048
    DeepSeek-V3:o           7168x16384   128 1024
    DeepSeek-V3:gate_up     36864x7168   256
    DeepSeek-V3:down        7168x18432   4096
    DeepSeek-V3:expert_up   4096x7168    512
    DeepSeek-V3:expert_down 7168x2048    1024
    Llama-3-8B:qkv          6144x4096    64 8192
    Llama-3-8B:down         4096x14336   2048
    Llama-3-70B:qkv         10240x8192   128
    Llama-3-70B:o           8192x8192    512
    Llama-3-70B:gate_up     57344x8192   1024
    Llama-3-70B:down        8192x28672   256 4096
    Qwen2.5-7B:gate_up      37888x3584   2048
    Qwen2.5-32B:down        5120x27648   8192'

# The shapes m x n x k of all layers.
layer_shapes() {
    awk '{ for (i = 3; i <= NF; ++i) { printf "%s%sx%s", comma, $i, $2; comma = "," } }' \
        <<<"$layers"
}

section_fp8_layers() {
    begin h200-fp8-layers.jsonl
    rows h200-fp8-layers.jsonl "$gpu/compare" --dtype e4m3 --kernels 11,11:small \
        --shapes "$(layer_shapes)" --baselines "${BASELINES:-libraries}" --iters 2
}

# Scales change no speed, so that one rotation has both.
section_fp8_sustained() {
    begin h200-fp8-sustained.jsonl
    rows h200-fp8-sustained.jsonl "$gpu/compare" --dtype e4m3 --kernels $tensor,11 \
        --shapes $fp8 --baselines "${BASELINES:-libraries}" --iters 2 --timing sustained
}

# Few rows, where `read-only` is the ceiling; then from one row to many. Each number of rows with the
# kernels that may be the fastest there.
section_w4a8() {
    local few=1x14336x4096,8x14336x4096,32x14336x4096,48x14336x4096,96x14336x4096,128x14336x4096
    local many=256x14336x4096,512x14336x4096,1024x14336x4096
    many=$many,2048x14336x4096,4096x14336x4096,8192x14336x4096
    local of16=12,12:through_smem,12:table,12:rows16,12:teams16,12:quads16,12:pairs16_two
    local of64=12,12:through_smem,12:pairs64,12:halves64,12:slabs64,12:pairs64_short
    local between=12,12:teams32,12:pairs48,12:pairs64,12:slabs64,12:teams32_short,12:pairs48_short
    of16=$of16,12:teams16_short,12:quads16_short,12:pairs16_two_short
    of64=$of64,12:slabs64_short
    begin h200-w4a8.jsonl
    rows h200-w4a8.jsonl "$gpu/compare" --dtype w4a8 --iters 2 --kernels $of16 \
        --shapes 16x14336x4096,16x7168x2048,16x8192x8192,16x28672x8192 \
        --baselines "${BASELINES:-ceilings}"
    rows h200-w4a8.jsonl "$gpu/compare" --dtype w4a8 --iters 2 --kernels $of64 \
        --shapes 64x14336x4096,64x8192x8192,64x28672x8192 --baselines "${BASELINES:-ceilings}"
    rows h200-w4a8.jsonl "$gpu/compare" --dtype w4a8 --iters 2 --kernels $between --shapes $few \
        --baselines "${BASELINES:-ceilings}"
    rows h200-w4a8.jsonl "$gpu/compare" --dtype w4a8 --iters 2 \
        --kernels 12,12:slabs64,12:wide,12:three --shapes $many \
        --baselines "${BASELINES:-ceilings}"
    # The same products of other types: 11 in e4m3 and 10 in bf16.
    local goals=16x14336x4096,64x14336x4096,16x8192x8192,64x8192x8192,16x28672x8192,64x28672x8192
    rows h200-w4a8.jsonl "$gpu/compare" --dtype e4m3 --iters 2 --kernels 11 \
        --shapes $few,$goals,$many --baselines none
    rows h200-w4a8.jsonl "$gpu/compare" --dtype bf16 --iters 2 --kernels 10 \
        --shapes $few,$goals,$many --baselines none
}
# Of each number of rows the kernels that are selected, their siblings, and their early forms.
section_w4a8_early() {
    early() { # kernels shapes
        rows h200-w4a8-early.jsonl "$gpu/compare" --dtype w4a8 --iters 2 --baselines ceilings \
            --kernels "12,$1" --shapes "$2"
    }
    begin h200-w4a8-early.jsonl
    early 12:teams16,12:teams16_short,12:teams16_ahead,12:quads16_ahead 1x14336x4096,16x14336x4096
    early 12:quads16,12:quads16_short,12:quads16_ahead,12:teams16_ahead 16x7168x2048,16x8192x8192
    early 12:pairs16_two,12:pairs16_two_short,12:pairs16_two_ahead,12:teams16_ahead 16x28672x8192
    early 12:teams32,12:teams32_short,12:teams32_ahead 32x14336x4096
    early 12:quads32,12:quads32_ahead 32x8192x8192
    early 12:pairs48,12:pairs48_short,12:pairs48_ahead 48x14336x4096
    early 12:halves48,12:halves48_ahead 48x8192x8192
    early 12:pairs64,12:pairs64_short,12:pairs64_ahead 64x14336x4096
    early 12:halves64,12:halves64_ahead 64x7168x2048,64x8192x8192
    early 12:slabs64,12:slabs64_short,12:slabs64_ahead 64x28672x8192,128x14336x4096
}

# Slices of k of 4096 for the reduce-scatter, 8192 columns on each GPU for the all-gather, as far as
# m or k does not change; and the multiplication of one of the two GPUs alone, by each kernel:
# the movers of kernel.cu cost time even then.
section_two_gpus() {
    local rs=512x8192x8192,1024x8192x8192,2048x8192x8192,4096x8192x8192,16384x8192x8192
    local ag=512x16384x4096,1024x16384x4096,2048x16384x4096,4096x16384x4096,16384x16384x4096
    local alone=512x8192x4096,1024x8192x4096,2048x8192x4096,4096x8192x4096,16384x8192x4096
    local file=h200-two-gpus-curve.jsonl libraries=${BASELINES:-none} gpu_of
    local sweep="$gpu/sweep --chapter 13_two_gpus --dtype bf16" all="--variant all"
    # 80 s: every launch of those in flight is verified; then with random delays; the kernels that
    # a caller would take, 1000 times; random shapes; memcheck.
    begin two-gpus-flight.txt
    together two-gpus-flight.txt 1 <<END
$sweep --variant all --flight 6 --repeat 20 --size 1024x1152x640
$sweep --variant all --flight 4 --random 30 --seed 1
$gpu/sweep_delays --chapter 13_two_gpus --dtype bf16 --variant all --flight 4 --random 10 --seed 2
$sweep --repeat 1000 --size 1024x1152x640 --launches 3
$sweep --variant all_gather --repeat 1000 --size 1024x1152x640 --launches 3
$sweep --variant all_gather_pingpong --repeat 1000 --size 1024x1152x640 --launches 3
$sweep --variant all --random 60 --seed 3 --launches 3
compute-sanitizer --tool memcheck --error-exitcode 9 $sweep --variant all --flight 3 --random 2 --seed 5
END
    begin $file
    # 15 s: the goals, and the multiplication alone on each of the two GPUs: both launches are as
    # long as the slower one's.
    rows $file "$gpu/compare" --gpus 2 --iters 3 --shapes 8192 --baselines "$libraries" \
        --kernels 13
    rows $file "$gpu/compare" --gpus 2 --iters 3 --shapes 8192x16384x4096 \
        --kernels 13:all_gather,13:all_gather_pingpong,13:all_gather_copy \
        --baselines "$libraries"
    for gpu_of in 0 1; do
        rows $file env CUDA_VISIBLE_DEVICES=$gpu_of "$gpu/compare" --gpus 1 --iters 3 \
            --kernels 13,13:all_gather,13:all_gather_pingpong \
            --shapes 8192x8192x4096 --baselines cublas
    done
    # 35 s: over m, and what the other steps take.
    rows $file "$gpu/compare" --gpus 2 --iters 2 --kernels 13 --shapes $rs \
        --baselines "$libraries"
    rows $file "$gpu/compare" --gpus 2 --iters 2 --baselines "$libraries" --shapes $ag \
        --kernels 13:all_gather,13:all_gather_pingpong,13:all_gather_copy
    rows $file "$gpu/compare" --gpus 1 --iters 2 --shapes $alone --baselines cublas \
        --kernels 13,13:all_gather,13:all_gather_pingpong
    rows $file "$gpu/compare" --gpus 2 --iters 2 --kernels 13:serial,13:through_tma,13:fp32 \
        --shapes 8192,2048x8192x8192 --baselines "$libraries"
}

# Both GPUs and what crosses the link, on one axis: a figure, and the trace that it is drawn from.
section_two_gpus_trace() {
    local variant run draw=common/tools/book/figures_beyond.sh
    for variant in "" all_gather; do
        run="$draw $gpu/13_two_gpus measured docs/figures --m 2048 --n 8192 --k 8192"
        run="$run ${variant:+--variant $variant} --trace $build/two-gpus-$variant.json"
        echo "+ $run"
        [ -n "$dry" ] && continue
        $run
        note $? "$run"
    done
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
        median_ms $stage <"$(place order.jsonl)" | awk -v stage=$stage '
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

section_sweep() {
    local seed
    begin sweep.txt
    together sweep.txt 4 < <(for seed in 1 2 3 4; do
        echo "$gpu/sweep --variant all --rotate 3 --random 500 --seed $seed"
    done)
}

# What adds to D in no fixed order, and says so.
may_differ='--may-differ 10_stream_k:split_reduce'

# In e4m3 and w4a8 a scale is for 128 of k; here the last one is for 8.
section_repeat() {
    local repeat="$gpu/sweep --variant all --repeat 1000"
    begin repeat.txt
    together repeat.txt 3 <<END
$repeat --size 1024x1152x640 --dtype fp16 $may_differ
$repeat --size 1024x1152x640 --dtype bf16 $may_differ
$repeat --chapter 10_stream_k --size 136x264x8200 --dtype bf16 $may_differ
$repeat --size 1024x1152x648 --dtype e4m3
$repeat --size 1024x1152x648 --dtype w4a8
END
}

section_delays() {
    begin delays.txt
    together delays.txt 3 <<END
$gpu/sweep_delays --variant all --random 100 --seed 2
$gpu/sweep_delays --variant all --random 100 --seed 3
$gpu/sweep_delays --variant all --repeat 100 --size 520x776x648 --dtype bf16 $may_differ
$gpu/sweep_delays --variant all --repeat 100 --size 520x776x648 --dtype e4m3
$gpu/sweep_delays --variant all --repeat 100 --size 520x776x648 --dtype w4a8
END
}

# Twice, because which device comes first is settled once in a process.
section_library() {
    begin library.txt
    text library.txt "$gpu/library"
    text library.txt "$gpu/library" reversed
    text library.txt "$gpu/library_w4a8"
    text library.txt "$gpu/host_cost"
}

# What compute-sanitizer runs. Of a minimal handoff: correct by mbarriers, correct by barriers,
# wrong; and of a minimal exchange in a cluster: correct, wrong.
sanitizer_commands() {
    local tool order stage sweep=$gpu/sweep
    for tool in memcheck racecheck synccheck initcheck; do
        tool="compute-sanitizer --tool $tool --error-exitcode 9"
        echo "$tool $sweep --variant all --triples 3 --dtype bf16 --seed 5"
        echo "$tool $sweep --variant all --triples 1 --long-k --dtype fp16 --seed 5"
        echo "$tool $sweep --variant all --triples 3 --dtype e4m3 --seed 5"
        echo "$tool $sweep --variant all --triples 3 --dtype w4a8 --seed 5"
        for stage in 10_stream_k:split_reduce 10_stream_k:split2_128x64; do
            echo "$tool $sweep --chapter ${stage%:*} --variant ${stage#*:} --triples 4 --long-k" \
                "--dtype bf16 --seed 6"
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

section_mutants() {
    local file command="python3 common/tools/mutants/gpu_sample.py @$gpu/mutants.args"
    echo "+ $command"
    [ -n "$dry" ] && return
    begin mutants-card.tsv
    file=$(place mutants-card.tsv)
    { printf '# ' && header "$command"; } >>"$file"
    $command >>"$file"
    note $? "$command"
}

section_museum() {
    local file command="python3 common/tools/museum/gpu_record.py $gpu/museum"
    echo "+ $command"
    [ -n "$dry" ] && return
    begin museum.tsv
    file=$(place museum.tsv)
    { printf '# ' && header "$command"; } >>"$file"
    $command >>"$file"
    note $? "$command"
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

# Of 66 clusters of two CTAs 33 have a second pair of tiles.
section_waves() {
    local variant file run traces=() sizes='--m 2816 --n 2304 --k 4096'
    file=$(place h200-waves.txt)
    begin h200-waves.txt
    for variant in coop256 stream256; do
        traces+=("$build/waves-$variant.json")
        run="$gpu/10_stream_k $sizes --variant $variant --timing none --trace-sms 264"
        echo "+ $run --trace $build/waves-$variant.json"
        [ -n "$dry" ] && continue
        $run --trace "$build/waves-$variant.json"
        note $? "$run"
    done
    echo "+ $build/sim/waves --record ${traces[*]}"
    [ -n "$dry" ] && return
    { printf '# ' && header "build/gpu/10_stream_k $sizes --variant VARIANT --trace FILE"; } >>"$file"
    "$build/sim/waves" --record "${traces[@]}" >>"$file"
    note $? waves
    rm -f "${traces[@]}"
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
        08_persistent_pingpong_persistent 08_persistent_pingpong 09_cluster_multicast \
        10_stream_k_coop256 10_stream_k_pp192
}

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
