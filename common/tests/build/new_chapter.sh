#!/bin/sh
# new_chapter.sh SOURCE WORK OPTIONS...: one line declares a chapter, and what it is not for. OPTIONS
# are cmake's.
#
# In a copy of the project, beyond/14_one and beyond/15_pair are chapter 01 again, the one for fp16
# alone, the other for bf16 and nine GPUs: they build, and run or are refused. 14_one has variants, and
# STEPS puts one of them before its own kernel. They are declared in beyond/CMakeLists.txt, or, where
# there is no part two, in the top one.
set -u
source=$1 work=$2
shift 2

fail() {
    echo "new_chapter: $1" >&2
    exit 1
}
rm -rf "$work"
mkdir -p "$work" || exit 1
cp -r "$source"/[0-9]* "$source/CMakeLists.txt" "$source/CMakePresets.json" "$source/common" \
    "$source/docs" "$work" || exit 1
[ ! -d "$source/beyond" ] || cp -r "$source/beyond" "$work" || exit 1
lists=beyond/CMakeLists.txt
[ -f "$work/$lists" ] || lists=CMakeLists.txt
cp "$work/$lists" "$work/lists"
for name in 14_one 15_pair; do
    mkdir -p "$work/beyond/$name"
    sed "s/01_naive/$name/" "$source/01_naive/kernel.cu" >"$work/beyond/$name/kernel.cu"
done
declare_pair() {
    one='TYPES fp16 PTX 80 between:90 FROM 01_naive STEPS between kernel VARIANTS aside:kernel.cu between:kernel.cu:A=1:B=2'
    awk -v one="$one" -v pair="$1" '
        /^chapter\(/ && !done++ {
            print "chapter(beyond/14_one " one ")\nchapter(beyond/15_pair " pair ")"
        }
        { print }' "$work/lists" >"$work/$lists"
}
for bad in 'TYPES fp32' 'GPUS two' 'GPUS 0' 'GPU 2' 'LIBRARY library.c' 'STEPS kernel absent' \
    'PTX 8.0' 'PTX 80 absent:90' \
    'STEPS between VARIANTS aside:kernel.cu'; do
    declare_pair "$bad"
    cmake -S "$work" -B "$work/build" "$@" >"$work/log" 2>&1 && fail "accepts $bad"
    grep -q 'chapter(beyond/15_pair' "$work/log" || fail "$bad: $(cat "$work/log")"
done
# Behind the programs, where one appends, a chapter would have none.
cp "$work/lists" "$work/$lists"
echo 'chapter(beyond/14_one)' >>"$work/$lists"
cmake -S "$work" -B "$work/build" "$@" >"$work/log" 2>&1 && fail "accepts a chapter at the end"
tr -s ' \n' ' ' <"$work/log" |
    grep -q "Move the line up in $lists, to the other chapters, behind chapter(" ||
    fail "a chapter at the end: $(cat "$work/log")"
declare_pair 'TYPES bf16 GPUS 9'
cmake -S "$work" -B "$work/build" "$@" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
cmake --build "$work/build" --parallel 2 --target sim_14_one sim_15_pair >"$work/log" 2>&1 ||
    fail "$(cat "$work/log")"

# expect CODE TEXT PROGRAM OPTIONS...
expect() {
    code=$1 text=$2 program=$work/build/sim/$3
    shift 3
    said=$("$program" "$@" 2>&1)
    ended=$?
    [ $ended -eq "$code" ] || fail "$program $*: exit code $ended, not $code: $said"
    case $said in *"$text"*) ;; *) fail "$program $*: expected '$text', got: $said" ;; esac
}
expect 0 '14_one' 14_one --size 64
expect 0 '14_one:aside' 14_one --size 64 --variant aside
expect 0 'fp16, the only one' 14_one --help
expect 2 'not compiled for bf16; choose fp16' 14_one --size 64 --dtype bf16
expect 3 'this kernel needs 9 GPUs' 15_pair --size 64
expect 0 'bf16 only; needs 9 GPUs' 15_pair --help

# The registry has the steps first, in their order.
order=$(sed -n 's/^ *{{.*&kernel_\(14_one[a-z_]*\)_fp16.*, 1, \([a-z]*\), \(.*\)},$/\1 \2 \3/p' \
    "$(find "$work/build" -name registry_14_one.c)" | head -n 3 | tr '\n' ,)
[ "$order" = '14_one_between true "01_naive", 90,14_one true NULL, 80,14_one_aside false NULL, 80,' ] ||
    fail "the registry: $order"

# So does kernels.json, which has what the line says of each.
rows=$(grep '"chapter": "beyond/\(14_one\|15_pair\)"' "$work/build/kernels.json")
expect_row() {
    name=$1
    shift
    row=$(echo "$rows" | grep "\"name\": \"$name\"")
    for member; do
        case $row in *"$member"[,}]*) ;; *) fail "kernels.json: $name has no $member: $row" ;; esac
    done
}
order=$(echo "$rows" | sed 's/.*"name": "\([^"]*\)".*/\1/' | tr '\n' ' ')
[ "$order" = '14_one:between 14_one 14_one:aside 15_pair ' ] || fail "kernels.json: $order"
expect_row 14_one:between '"variant": "between"' '"types": ["fp16"]' '"ptx": 90' '"step": true' \
    '"from": "01_naive"' '"macros": ["A=1", "B=2"]' '"gpus": 1'
expect_row 14_one '"variant": null' '"file": "beyond/14_one/kernel.cu"' '"from": null' '"ptx": 80'
expect_row 14_one:aside '"step": false' '"traced": false' '"macros": []'
expect_row 15_pair '"types": ["bf16"]' '"gpus": 9' '"step": true' '"kind": null'
