# shellcheck shell=bash
# sections.sh: the sections of record.sh (common/tools/record) that are about part two alone. It reads
# this file; what it says about sections holds here, too.
#
#   stream_k          60 s   10's kernels beside 08, 09 and the library where the last wave is short, where
#                            D has few tiles, and with few rows
#   fp8               80 s   11 at five shapes in e4m3, burst: with a scale for every block, then with
#                            one for each operand; then its kernels for few rows. Of this and the
#                            next, BASELINES may name more than the libraries: libraries,rivals
#   fp8_layers        60 s   11 on 20 layers of language models
#   fp8_turns         10 s   when the two consumers of 11 promote, from its timeline
#   w4a8             175 s   12 with 16 and 64 rows, and over m; BASELINES may add rivals to ceilings;
#                            11 and 10 at the same shapes in e4m3 and bf16
#   two_gpus          70 s   13's kernels on two GPUs, over m, and 08's persistent.cu, which is the
#                            multiplication of one of them; BASELINES=libraries, and NCCL in a
#                            build with -DHOPPER_NCCL=/usr
#   two_gpus_trace     5 s   13's timeline on two GPUs with their link, as a figure and as a trace
#   fused            100 s   14's kernels, each beside 08's product, the same and a kernel behind it, and
#                            cuBLASLt's epilogues: bias and GELU, and C, over k; SwiGLU; e4m3
#   grouped          170 s   15's forms beside cuBLAS's grouped product, a loop of single ones and 08 or 11 on
#                            as many rows: 8, 32 and 256 groups, even and skewed (the last two need 32
#                            GB of device memory); and with as many changes of maps as tiles, over k
#   attention        100 s   16's steps, d = 128 and 64, with and without a causal mask, beside cuDNN's attention in a build with
#                            HOPPER_CUDNN and FlashAttention-3 in one with HOPPER_FLASH_ATTENTION

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

# Short last waves, or none; few tiles and a long k; few rows.
waves=8192,4096,2816x2304x4096,5000,7616x3056x14976,1536
few_tiles=256x256x16384,512x512x8192,128x4096x4096,512x512x65536
few_rows=1x4096x4096,16x4096x4096,16x14336x4096,64x7168x2048
section_stream_k() {
    begin h200-stream-k.jsonl
    rows h200-stream-k.jsonl "$compare" --iters 3 --shapes $waves \
        --kernels "8:persistent,9,10:equal_parts,10${library:+,hopper_gemm}"
    rows h200-stream-k.jsonl "$compare" --iters 3 --shapes $few_tiles,$few_rows \
        --kernels "8:persistent,10,10:whole,10:split_k,10:split_reduce${library:+,hopper_gemm}"
}

# Training of DeepSeek-V3, a cube, and a layer at decoding.
fp8=4096x7168x16384,4096x4096x7168,4096x24576x1536,8192,128x7168x2048

# With a step in it that has one scale for each operand, a rotation's operands have one scale each: so
# per_tensor has a rotation of its own.
section_fp8() {
    local few=16x7168x2048,16x14336x4096,64x14336x4096,64x24576x1536
    begin h200-fp8.jsonl
    rows h200-fp8.jsonl "$compare" --dtype e4m3 --kernels 11,11:promoted --shapes $fp8 \
        --baselines "${BASELINES:-libraries}" --iters 3
    rows h200-fp8.jsonl "$compare" --dtype e4m3 --kernels 11:per_tensor --shapes $fp8 \
        --baselines "${BASELINES:-libraries}" --iters 3
    rows h200-fp8.jsonl "$compare" --dtype e4m3 --kernels 11:rows16,11:rows64 --shapes $few \
        --baselines "${BASELINES:-libraries}" --iters 3
}

section_fp8_turns() {
    local trace=$build/fp8-turns.json file
    local run="$gpu/11_fp8_scaling --m 4096 --n 7168 --k 16384 --timing none --trace $trace"
    run="$run --trace-sms 32"
    begin h200-fp8-turns.txt
    file=$(record_path h200-fp8-turns.txt)
    echo "+ $run"
    [ -n "$dry" ] && return
    echo "# $(header "$run")" >>"$file"
    $run && beyond/tools/record/turns.py "$trace" >>"$file" &&
        "$gpu/probe" multiply | grep -A 1 '^64 multiply-adds' >>"$file"
    note $? "$run"
}

section_fp8_layers() {
    begin h200-fp8-layers.jsonl
    rows h200-fp8-layers.jsonl "$compare" --dtype e4m3 --kernels 11 --shapes "$(layer_shapes)" \
        --baselines "${BASELINES:-libraries}" --iters 2
}

# 16 rows, 64 rows, and over m, where `read-only` is the ceiling; then the same products of other
# types: 11 in e4m3 and 10 in bf16.
section_w4a8() {
    local of16=16x7168x2048,16x14336x4096,16x8192x8192,16x28672x8192
    local of64=64x14336x4096,64x8192x8192,64x28672x8192
    local over_m=1x14336x4096,8x14336x4096,32x14336x4096,48x14336x4096,96x14336x4096,128x14336x4096
    local other=$over_m,16x14336x4096,64x14336x4096
    begin h200-w4a8.jsonl
    rows h200-w4a8.jsonl "$compare" --dtype w4a8 --iters 2 --kernels 12:through_smem,12 \
        --shapes $of16 --baselines "${BASELINES:-ceilings}"
    rows h200-w4a8.jsonl "$compare" --dtype w4a8 --iters 2 --kernels 12:pairs,12:deep \
        --shapes $of64 --baselines "${BASELINES:-ceilings}"
    rows h200-w4a8.jsonl "$compare" --dtype w4a8 --iters 2 --kernels 12:pairs,12:deep \
        --shapes $over_m --baselines "${BASELINES:-ceilings}"
    rows h200-w4a8.jsonl "$compare" --dtype e4m3 --iters 2 --kernels 11 --shapes $other \
        --baselines none
    rows h200-w4a8.jsonl "$compare" --dtype bf16 --iters 2 --kernels 10 --shapes $other \
        --baselines none
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
    rows $file "$compare" --iters 3 --kernels 13:serial,13:through_tma,13:copy_warps \
        --shapes 8192 --baselines "$libraries"
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

# A chapter's kernels have problems of different kinds, so each has rotations of its own.
section_fused() {
    local k over_k=8192x8192x64
    for k in 256 512 1024 2048 4096 8192; do
        over_k+=,8192x8192x$k
    done
    begin h200-fused.jsonl
    rows h200-fused.jsonl "$compare" --iters 1 --kernels 14:bias_gelu --shapes $over_k
    rows h200-fused.jsonl "$compare" --iters 1 --kernels 14 --shapes $over_k
    rows h200-fused.jsonl "$compare" --iters 1 --kernels 14:swiglu --shapes 8192x14336x4096
    rows h200-fused.jsonl "$compare" --iters 1 --kernels 14:quantize \
        --shapes 8192x8192x1024,8192x8192x4096
}

# Layers with as many groups; the weights of 256; then a change of maps for every tile, and none.
section_grouped() {
    local options file=h200-grouped.jsonl run="$gpu/15_grouped_gemm"
    begin $file
    for options in \
        "--router "{even,skewed}" --groups "{"8 --m 8192 --n 7168 --k 2048","32 --m 8192 --n 4096 --k 7168"}{" --variant one_map"," --variant fp8",}; do
        # shellcheck disable=SC2086 # options, separated by blanks
        rows $file "$run" --json --timing burst --iters 2 $options
    done
    for options in "--router even --groups 8 --m 1024 --n 4096 --k 7168"{" --variant one_map"," --variant fp8",} \
        "--router skewed --groups 8 --m 8192 --n 7168 --k 2048 --variant host_maps" \
        "--router one --groups 1 --m "{129,256}" --n 12672 --k 8192 --variant one_map"; do
        # shellcheck disable=SC2086
        rows $file "$run" --json --timing burst --iters 2 $options
    done
    for options in "--router "{even,skewed}" --groups 256 --m 16384 --n 4096 --k 7168 --variant "{one_map,fp8} \
        "--router even --groups 256 --m 32768 --n 768 --k 64"{" --variant one_map"," --variant host_maps",} \
        "--router one --groups 1 --m 32768 --n 768 --k 64"; do
        # shellcheck disable=SC2086
        rows $file "$run" --json --timing burst --iters 2 $options
    done
}

# As many queries in all at either length: heads stand for heads of a batch, too.
section_attention() {
    local mask run
    begin h200-attention.jsonl
    for mask in none causal; do
        for run in "32 --shapes 8192x8192x128" "16 --shapes 16384x16384x128"; do
            # shellcheck disable=SC2086 # options, separated by blanks
            rows h200-attention.jsonl "$compare" --iters 2 --mask $mask --heads $run \
                --kernels 16:serial,16:pingpong,16
        done
        for run in "64 --shapes 8192x8192x64" "32 --shapes 16384x16384x64"; do
            # shellcheck disable=SC2086
            rows h200-attention.jsonl "$compare" --iters 2 --mask $mask --heads $run \
                --kernels 16:serial_d64,16:pingpong_d64,16:d64
        done
    done
}
