# shellcheck shell=bash
# sections.sh: the sections of record.sh (common/tools/record) that are about the libraries alone. It
# reads this file; what it says about sections holds here, too.
#
#   suite             95 s   the library on 28 shapes in bf16, burst
#   drawn            300 s   the library on 60 shapes drawn by the seed SEED, which has to be set: choose
#                            it when the selection does not change any more; with operands that are
#                            not in the L2, then (drawn-warm) with those of the launch before
#   early             20 s   the library's fitted1 on few rows, in order and launched early
#   w4a8_library      60 s   the library for 4-bit weights, in order and launched early, with what reading
#                            the weights takes in both; BASELINES may add rivals to ceilings
#   library           30 s   the libraries: streams, graphs, threads, every visible device, a reset; what a
#                            call costs the host, beside cuBLAS

# Squares; the projections of a 7 B and a 70 B transformer at several token counts; tall, wide, deep;
# sizes that are no multiple of anything.
suite=512,1024,2048,4096,8192,16384
suite=$suite,16x12288x4096,16x22016x4096,64x12288x4096,128x4096x4096,128x4096x11008,512x22016x4096
suite=$suite,2048x4096x11008,8192x12288x4096
suite=$suite,16x57344x8192,64x8192x28672,128x10240x8192,512x10240x8192,2048x57344x8192
suite=$suite,8192x10240x8192,32768x512x1024,512x32768x1024,256x256x65536,512x512x65536
suite=$suite,4095x4097x4104,8191,1000x3000x5000,8192x8192x512
section_suite() {
    begin h200-suite.jsonl
    rows h200-suite.jsonl "$compare" --kernels hopper_gemm,hopper_gemm:tuned --shapes "$suite" \
        --iters 2
}

section_drawn() {
    if [ -z "${SEED:-}" ] && [ -z "$dry" ]; then
        note 2 "drawn: SEED has to be set"
        return
    fi
    begin h200-drawn.jsonl
    rows h200-drawn.jsonl "$compare" --kernels hopper_gemm,hopper_gemm:tuned --iters 1 \
        --baselines cublaslt-best --drawn "${SEED:-SEED}"
    begin h200-drawn-warm.jsonl
    rows h200-drawn-warm.jsonl "$compare" --kernels hopper_gemm,hopper_gemm:tuned --iters 1 \
        --baselines cublaslt-best --operands warm --drawn "${SEED:-SEED}"
}

# In a graph, each launch on other matrices of the rotation than the one ahead.
section_early() {
    local when shapes=43x128x64,16x1024x1024,1x4096x4096,16x4096x4096,64x7168x2048,16x14336x4096
    begin h200-early.jsonl
    for when in order early early-b order early early-b; do
        rows h200-early.jsonl "$compare" --shapes $shapes --iters 2 --launch $when \
            --kernels hopper_gemm:fitted1,hopper_gemm:fitted1_early --baselines none
    done
}

section_w4a8_library() {
    local when shapes=1x14336x4096,16x14336x4096,16x7168x2048,16x8192x8192,16x28672x8192
    shapes=$shapes,32x14336x4096,32x8192x8192,48x14336x4096,48x8192x8192,64x7168x2048
    shapes=$shapes,64x14336x4096,64x8192x8192,64x28672x8192,128x14336x4096
    begin h200-w4a8-library.jsonl
    rows h200-w4a8-library.jsonl "$compare" --dtype w4a8 --iters 2 --kernels w4a8_gemm \
        --shapes $shapes,256x14336x4096,512x14336x4096,1024x14336x4096 \
        --baselines "${BASELINES:-ceilings}"
    for when in order early-b; do
        rows h200-w4a8-library.jsonl "$compare" --dtype w4a8 --iters 2 --kernels w4a8_gemm \
            --shapes $shapes --launch $when --baselines ceilings
    done
}

# Twice, because which device comes first is settled once in a process.
section_library() {
    begin library.txt
    text library.txt "$gpu/library"
    text library.txt "$gpu/library" reversed
    text library.txt "$gpu/library_w4a8"
    text library.txt "$gpu/host_cost"
}
