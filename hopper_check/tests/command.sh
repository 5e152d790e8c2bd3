#!/bin/sh
# command.sh HOPPER_CHECK WORK: the exit codes of hopper_check, and what it says about bad input, one
# clear error each.
set -u
check=$1 work=$2
here=$(cd "$(dirname "$0")" && pwd)/ptx
. "$(dirname "$0")/expect.sh"
rm -rf "$work"
mkdir -p "$work" || exit 2
failed=0

vectors="--input x=u32:1x64:integers:1 --buffer y=u32:1x64:integers:2"
# shellcheck disable=SC2086 # lists of options
{
expect 0 'clean: 4 runs' run "$here/sum.ptx" --block 64 $vectors --write y="$work/y.npy" x y 64
expect 0 'clean: 1 run' run "$here/sum.ptx" --block 64 $vectors --schedule late \
    --expect y="$work/y.npy" x y 64
expect 1 'y[0][63] differs' run "$here/sum.ptx" --block 64 $vectors --schedule early \
    --expect y="$work/y.npy" x y 63
expect 0 'clean' run "$here/sum.ptx" --block 64,1,1 $vectors x y 64

# Findings, and their JSON.
expect 4 'hazard: data-race: source/kernel.cu:7:' run "$here/race.ptx" --block 64 \
    --buffer y=u32:1x64 --json "$work/race.json" y
expect 4 ', source/kernel.cu:7: in put (library/verb.h:20), called at line 7' run "$here/race.ptx" --block 64 \
    --buffer y=u32:1x64 y
grep -q '"section": "PTX ISA, Memory Consistency Model' "$work/race.json" || failed=1
grep -q '"rule": "data-race"' "$work/race.json" && grep -q '"verdict": "findings"' "$work/race.json" ||
    { echo "no finding in race.json"; failed=1; }
expect 4 'global-bounds' run "$here/sum.ptx" --block 64 --input x=u32:1x64 --buffer y=u32:1x60 x y 64
expect 4 'global-read-only' run "$here/sum.ptx" --block 64 --input x=u32:1x64 --input y=u32:1x64 x y 64
expect 4 'local-bounds' run "$here/local.ptx" --block 1
expect 4 'deadlock' run "$here/spin.ptx" --block 1 --buffer y=u32:1x1 --schedule late y
expect 4 'has branched 1001 times' run "$here/endless.ptx" --block 1 --branch-limit 1000

# A rule in doubt is off; where it is on its report says why.
sed 's/%tid.x;/0;/;s/ld.shared.u32 %r5, .*/mov.u32 %r5, 1;/' "$here/race.ptx" >"$work/one_word.ptx"
expect 0 'clean' run "$work/one_word.ptx" --block 32 --buffer y=u32:1x64 y
expect 4 'in doubt: one-instruction-of-a-warp. Only --doubtful on has it.' run "$work/one_word.ptx" \
    --block 32 --buffer y=u32:1x64 --doubtful on y

# Registers of a wgmma: as compilers leave them, and then with one line more or less.
registers() {
    wanted=$1 text=$2
    sed "$3" "$here/wgmma.ptx" >"$work/wgmma.ptx"
    expect "$wanted" "$text" run "$work/wgmma.ptx" --block 128 --buffer y=f32:1x128 y
}
registers 0 'clean' ''
registers 4 'accumulator-in-use' 's|//:use ||'
registers 4 'accumulator-in-use' 's|//:read ||'
registers 4 'accumulator-in-use' 's|//:store ||;/wait_group/d'
registers 4 'missing-wgmma-fence' 's|//:touch ||'
registers 4 'missing-wgmma-fence' '/wgmma.fence/d'
registers 0 'clean' 's|//:add ||'
registers 4 'wgmma_fence() is wgmma.fence' '/wgmma.fence/d'
registers 4 'rule: PTX ISA, wgmma.wait_group' '/wait_group/d;/add.f32 %f6/d'
registers 4 'unwaited-wgmma' '/wait_group/d;/add.f32 %f6/d'
registers 4 'missing-proxy-fence' '/fence.proxy/d'

# No verdict.
expect 5 'multimem.red.relaxed.gpu.global.add.u32 (1 times, PTX line 13): multicast memory' \
    run "$here/unsupported.ptx" --block 64 --buffer y=u32:1x1 y
expect 4 'leaves out the lane that executes it' run "$here/half_warp.ptx" --block 32 0xffff
expect 0 'clean' run "$here/half_warp.ptx" --block 32 0xffffffff
expect 5 'not modelled' list "$here/unsupported.ptx"
expect 0 'everything is modelled' list "$here/sum.ptx"

# The README's table is this one.
"$check" summary >"$work/summary" || failed=1
while read -r row; do
    grep -qxF "$row" "$here/../../README.md" || { echo "README.md lacks: $row"; failed=1; }
done <"$work/summary"
expect 0 'mbarrier.arrive_drop' instructions

# Bad input.
expect 2 'which command' 
expect 2 'no program frobnicate, and no command' frobnicate x
expect 2 'cannot be read' run "$work/nothing.ptx"
sed 's/sm_90a/sm_100a/' "$here/sum.ptx" >"$work/other.ptx"
expect 2 'is for sm_100a; targets up to sm_90a' run "$work/other.ptx" --block 64 $vectors x y 64
head -c 400 "$here/sum.ptx" >"$work/cut.ptx"
expect 2 'cut.ptx:' run "$work/cut.ptx" --block 64 $vectors x y 64
printf '\177ELF\002' >"$work/cubin.ptx"
expect 2 'PTX begins with .version' run "$work/cubin.ptx"
expect 2 'no kernel product; it has sum' run "$here/sum.ptx" --entry product
expect 2 'has 3 parameters, and 2 are given' run "$here/sum.ptx" --block 64 $vectors x y
expect 2 'no number that fits' run "$here/sum.ptx" --block 64 $vectors x y 0x100000000
expect 2 'no number that fits' run "$here/sum.ptx" --block 64 $vectors x z 64
expect 2 'unknown option' run "$here/sum.ptx" --blocks 64
expect 2 'expected X, X,Y or X,Y,Z' run "$here/sum.ptx" --block 64x2
expect 2 'a type is' run "$here/sum.ptx" --block 64 --buffer x=u33:1x1
cp "$here/sum.ptx" "$work/race.npy"
expect 1 'how many threads' run "$here/sum.ptx" $vectors x y 64
expect 1 'needs as many SMs' run "$here/sum.ptx" --block 64 --grid 8 --cluster 8 $vectors x y 64
expect 0 'clean' run "$here/sum.ptx" --block 64 --shared 16 $vectors x y 64
}
exit "$failed"
