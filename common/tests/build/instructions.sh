#!/bin/sh
# instructions.sh NVCC: which GPUs have which instructions, as docs/blackwell.md and the question on
# the RTX 5090 say it. ptxas compiles each instruction for each target that it knows: it must accept
# those named here, and refuse the others. `slow` are targets for which it warns of slow multicasts.
set -u
nvcc=$1
ptxas=$(dirname "$nvcc")/ptxas
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
targets="sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_110a sm_120 sm_120a sm_121a"
known=$("$ptxas" --help | tr "'," '\n\n' | grep '^sm_')
version=$("$nvcc" -ptx -x cu /dev/null -o - | sed -n 's/^\.version //p')
failures=0 tried=0

# compile TARGET INSTRUCTION: prints "slow", "yes" or "no".
compile() {
    cat >"$directory/kernel.ptx" <<END
.version $version
.target $1
.address_size 64
.visible .entry kernel() .maxntid 128 .maxnreg 168 {
    .shared .align 1024 .b8 memory[1024];
    .reg .b64 %d<2>; .reg .b32 %r<9>; .reg .f32 %f<5>; .reg .b16 %h; .reg .pred %p;
    mov.u32 %r1, memory; mov.b64 %d1, 0; mov.b16 %h, 3;
    $2
    ret;
}
END
    if "$ptxas" -arch="$1" "$directory/kernel.ptx" -o "$directory/cubin" >"$directory/said" 2>&1; then
        grep -q 'substantially reduced performance' "$directory/said" && echo slow || echo yes
    else
        grep -q 'error' "$directory/said" && echo no
    fi
}

# check INSTRUCTION ACCEPTED SLOW: lists of targets, as patterns.
check() {
    for target in $targets; do
        echo "$known" | grep -qx "$target" || continue
        expected=no
        echo "$target" | grep -Eqx "$2" && expected=yes
        echo "$target" | grep -Eqx "$3" && expected=slow
        found=$(compile "$target" "$1")
        tried=$((tried + 1))
        [ "$found" = "$expected" ] && continue
        echo "for $target: '$found' and not '$expected': $1"
        failures=$((failures + 1))
    done
}

mma='{%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4}'
tensor='cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes'
load='[%r1], [%d1, {%r1, %r1}], [%r1]'
check 'cp.async.cg.shared.global [%r1], [%d1], 16;' '.*' ''
check "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 $mma;" '.*' ''
check "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 $mma;" 'sm_(89|9|1).*' ''
check 'mbarrier.try_wait.parity.shared::cta.b64 %p, [%r1], 0;' 'sm_(9|1).*' ''
check "$tensor $load;" 'sm_(9|1).*' ''
check "$tensor.multicast::cluster $load, %h;" 'sm_(90|100|103|110)a' 'sm_(90|100|120|120a|121a)'
check 'barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;' 'sm_(9|1).*' ''
check 'griddepcontrol.wait;' 'sm_(9|1).*' ''
check 'setmaxnreg.inc.sync.aligned.u32 240;' 'sm_.*a' ''
check 'wgmma.fence.sync.aligned;' 'sm_90a' ''
check 'tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;' 'sm_1[01].*a' ''
check "$tensor.cta_group::2 $load;" 'sm_1[01].*a' ''
check 'clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r1];' \
    'sm_1.*' ''
check "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0 $mma, %r7, {0,0}, %r8, {0,0};" \
    'sm_12.a' ''
echo "$tried compiled, $failures not as written"
[ "$failures" -eq 0 ] && [ "$tried" -gt 0 ]
