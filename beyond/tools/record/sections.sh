# shellcheck shell=bash
# sections.sh: the sections of record.sh (common/tools/record) that are about part two alone. It reads
# this file; what it says about sections holds here, too.
#
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
#   two_gpus          70 s   13's kernels on two GPUs, over m, and 08's persistent.cu, which is the
#                            multiplication of one of them; BASELINES=nccl in a build with
#                            -DHOPPER_NCCL=/usr
#   two_gpus_trace     5 s   13's timeline on two GPUs with their link, as a figure and as a trace
#   library           30 s   10 as a library: streams, graphs, threads, every visible device, a reset;
#                            what a call costs the host, beside cuBLAS
#   waves              5 s   the last round of 10's coop256 and stream256, when each SM multiplies;
#                            wants Python

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

section_split_k() {
    begin h200-split-k.jsonl
    rows h200-split-k.jsonl "$compare" --iters 3 \
        --kernels 8:persistent,10:split_reduce,10,10:deep_64x128,10:deep_128x128 \
        --shapes 256x256x16384,512x512x8192,128x4096x4096,256x256x65536,512x512x65536
}

section_ablation() {
    begin h200-ablation.jsonl
    rows h200-ablation.jsonl "$compare" --shapes 4096,8192x8192x512 --iters 3 --kernels \
        10,10:coop256,10:coop256_alone,10:pp192,10:pp192_cluster,10:pp128,10:pp128_cluster
}

# In a graph launches of one form follow one another, each on other matrices of the rotation.
section_early() {
    local forms=10:fitted1,10:fitted1_early,10:fitted1_ahead
    local shapes=43x128x64,16x1024x1024,1x4096x4096,16x4096x4096,64x4096x4096,128x4096x4096
    shapes=$shapes,8x5120x5120,16x7168x2048,64x7168x2048,128x7168x2048,16x14336x4096,64x14336x4096
    begin h200-early.jsonl
    rows h200-early.jsonl "$compare" --shapes $shapes --iters 3 \
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
    rows h200-suite.jsonl "$compare" --kernels 10,10:tuned --shapes "$suite" --iters 2
}

# A shape of each class at which the selection of a former commit was slow.
weak=128x128x32768,768,1536,192x7168x2048,8x5120x5120,96x6144x4096,5000,384x384x8192

section_rivals() {
    begin h200-rivals.jsonl
    rows h200-rivals.jsonl "$compare" --kernels 10 --shapes $weak,$third --iters 2 \
        --baselines libraries,reduced,rivals
}

section_drawn() {
    if [ -z "${SEED:-}" ] && [ -z "$dry" ]; then
        note 2 "drawn: SEED has to be set"
        return
    fi
    begin h200-drawn.jsonl
    rows h200-drawn.jsonl "$compare" --kernels 10,10:tuned --drawn "${SEED:-SEED}" --iters 1
}

section_suite_fp16() {
    begin h200-suite-fp16.jsonl
    rows h200-suite-fp16.jsonl "$compare" --kernels 10,10:tuned --shapes "$suite" \
        --iters 2 --dtype fp16
}

section_suite_sustained() {
    begin h200-suite-sustained.jsonl
    rows h200-suite-sustained.jsonl "$compare" --kernels 10,10:tuned --shapes "$third" \
        --iters 2 --timing sustained
}

# Training of DeepSeek-V3, a cube, and a layer at decoding.
fp8=4096x7168x16384,4096x4096x7168,4096x24576x1536,8192,128x7168x2048

# The steps with one scale for each operand. With them in it, a rotation's operands have one scale
# each: so there are two rotations.
tensor=11:per_tensor,11:pingpong,11:pingpong_small
section_fp8() {
    begin h200-fp8.jsonl
    rows h200-fp8.jsonl "$compare" --dtype e4m3 \
        --kernels 11,11:promoted,11:many_rows,11:ordered,11:whole_turns,11:small,11:small_whole \
        --shapes $fp8 --baselines "${BASELINES:-libraries}" --iters 3
    rows h200-fp8.jsonl "$compare" --dtype e4m3 --kernels $tensor,11 --shapes $fp8 \
        --baselines "${BASELINES:-libraries}" --iters 3
}

section_fp8_rows() {
    local few=16x7168x2048,16x14336x4096,64x6144x4096,64x14336x4096,64x24576x1536
    local more=128x7168x2048,128x7168x16384,128x10240x8192,256x14336x4096,256x8192x28672
    begin h200-fp8-rows.jsonl
    rows h200-fp8-rows.jsonl "$compare" --dtype e4m3 \
        --kernels 11,11:rows16,11:rows32,11:rows64,11:pairs64 --shapes $few \
        --baselines "${BASELINES:-libraries}" --iters 2
    rows h200-fp8-rows.jsonl "$compare" --dtype e4m3 \
        --kernels 11,11:pairs128,11:small_whole,11:square --shapes $more \
        --baselines "${BASELINES:-libraries}" --iters 2
}

section_fp8_layers() {
    begin h200-fp8-layers.jsonl
    rows h200-fp8-layers.jsonl "$compare" --dtype e4m3 --kernels 11,11:small \
        --shapes "$(layer_shapes)" --baselines "${BASELINES:-libraries}" --iters 2
}

# Scales change no speed, so that one rotation has both.
section_fp8_sustained() {
    begin h200-fp8-sustained.jsonl
    rows h200-fp8-sustained.jsonl "$compare" --dtype e4m3 --kernels $tensor,11 \
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
    rows h200-w4a8.jsonl "$compare" --dtype w4a8 --iters 2 --kernels $of16 \
        --shapes 16x14336x4096,16x7168x2048,16x8192x8192,16x28672x8192 \
        --baselines "${BASELINES:-ceilings}"
    rows h200-w4a8.jsonl "$compare" --dtype w4a8 --iters 2 --kernels $of64 \
        --shapes 64x14336x4096,64x8192x8192,64x28672x8192 --baselines "${BASELINES:-ceilings}"
    rows h200-w4a8.jsonl "$compare" --dtype w4a8 --iters 2 --kernels $between --shapes $few \
        --baselines "${BASELINES:-ceilings}"
    rows h200-w4a8.jsonl "$compare" --dtype w4a8 --iters 2 \
        --kernels 12,12:slabs64,12:wide,12:three --shapes $many \
        --baselines "${BASELINES:-ceilings}"
    # The same products of other types: 11 in e4m3 and 10 in bf16.
    local goals=16x14336x4096,64x14336x4096,16x8192x8192,64x8192x8192,16x28672x8192,64x28672x8192
    rows h200-w4a8.jsonl "$compare" --dtype e4m3 --iters 2 --kernels 11 \
        --shapes $few,$goals,$many --baselines none
    rows h200-w4a8.jsonl "$compare" --dtype bf16 --iters 2 --kernels 10 \
        --shapes $few,$goals,$many --baselines none
}
# Of each number of rows the kernels that are selected, their siblings, and their early forms.
section_w4a8_early() {
    early() { # kernels shapes
        rows h200-w4a8-early.jsonl "$compare" --dtype w4a8 --iters 2 --baselines ceilings \
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
# m or k does not change; and the multiplication of one of the two GPUs alone, on each of them,
# because both launches are as long as the slower one's.
section_two_gpus() {
    local m rs=8192 ag=8192x16384x4096 alone=8192x8192x4096 gpu_of
    local file=h200-two-gpus.jsonl libraries=${BASELINES:-none}
    for m in 512 1024 2048 4096 16384; do
        rs+=,${m}x8192x8192 ag+=,${m}x16384x4096 alone+=,${m}x8192x4096
    done
    begin $file
    rows $file "$compare" --iters 3 --kernels 13 --shapes $rs --baselines "$libraries"
    rows $file "$compare" --iters 3 --kernels 13:all_gather --shapes $ag --baselines "$libraries"
    rows $file "$compare" --iters 3 --kernels 13:serial,13:through_tma --shapes 8192 \
        --baselines "$libraries"
    for gpu_of in 0 1; do
        rows $file env CUDA_VISIBLE_DEVICES=$gpu_of "$compare" --iters 3 --kernels 8:persistent \
            --shapes $alone --baselines cublas
    done
}

# Both GPUs and what crosses the link, on one axis: a figure, and the trace that it is drawn from.
section_two_gpus_trace() {
    local run=beyond/tools/book/figures_beyond.sh
    run="$run $gpu/13_two_gpus measured beyond/docs/figures --m 2048 --n 8192 --k 8192"
    run="$run --trace $build/two-gpus.json"
    echo "+ $run"
    [ -n "$dry" ] && return
    $run
    note $? "$run"
}

# Twice, because which device comes first is settled once in a process.
section_library() {
    begin library.txt
    text library.txt "$gpu/library"
    text library.txt "$gpu/library" reversed
    text library.txt "$gpu/library_w4a8"
    text library.txt "$gpu/host_cost"
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
    echo "+ waves.py --record ${traces[*]}"
    [ -n "$dry" ] && return
    { printf '# ' && header "build/gpu/10_stream_k $sizes --variant VARIANT --trace FILE"; } >>"$file"
    "${WAVES:-beyond/tools/book/waves.py}" --record "${traces[@]}" >>"$file"
    note $? waves
    rm -f "${traces[@]}"
}
