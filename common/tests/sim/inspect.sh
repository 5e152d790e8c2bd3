#!/bin/sh
# inspect.sh PROGRAM: the inspect tool's tables against lines written out by hand, and its answers to bad usage.
inspect=$1
failed=0

# has 'line' arguments...: the output contains the line, spaces squeezed
has() {
    expected=$1
    shift
    if ! "$inspect" "$@" | sed 's/  */ /g; s/^ //' | grep -qxF -- "$expected"; then
        echo "inspect $*: no line \"$expected\" in:"
        "$inspect" "$@"
        failed=1
    fi
}

# refuses arguments...: exit code 2 and a message
refuses() {
    message=$("$inspect" "$@" 2>&1 >/dev/null)
    code=$?
    if [ $code != 2 ] || [ -z "$message" ]; then
        echo "inspect $*: exit code $code, \"$message\""
        failed=1
    fi
}

has '0x180 3.3 3.2 3.1 3.0 3.7 3.6 3.5 3.4' swizzle
has '0x80 2.1 2.0 2.3 2.2 3.1 3.0 3.3 3.2' swizzle --mode 64 --rows 4
has '0x80 4.1 4.0 5.1 5.0 6.1 6.0 7.1 7.0' swizzle --swizzle 32
has '0x80 1.0 1.1 1.2 1.3 1.4 1.5 1.6 1.7' swizzle --swizzle 0
has 'descriptor 0x4000004000010000' descriptor --lbo 16
has 'bits 32-45 stride byte offset 1024' descriptor --hex 4000004000010040
has 'bits 0-13 start address 0x400' descriptor --hex 4000004000010040
has '9 0x890 0x880' descriptor --sbo 2048
has '2 0x90 0x80 0xb0 0xa0 0x890 0x880 0x8b0 0x8a0' descriptor --sbo 512 --swizzle 64 --major mn --lbo 2048
has 'shared-memory port: 4 cycles, 4 without conflicts; bank conflicts: 0' tile
has 'shared-memory port: 32 cycles, 4 without conflicts; bank conflicts: 28' tile --swizzle 0 --pitch 128
has 'shared-memory port: 4 cycles, 4 without conflicts; bank conflicts: 0' tile --swizzle 0 --pitch 144
has '0x80 61,0 0 61,16 61,8 61,32 61,24 61,48 61,40' tensor-map --at 60,-8
has '0x80 61,8 61,0 61,24 61,16 61,40 61,32 61,56* 61,48' tensor-map --at 60,0 --matrix 64x60
has '0x480 0 2,32 0 0 0 3,32 0 0' tensor-map --at 0,32 --swizzle 64 --box 8x32 --matrix 5x40 --base 0x400
has '0.25 x 0.25 0.0625 -4 0.5 0' sum --element e4m3 --products 0.25x0.25 --accumulator 1024
has 'result, cut to 13 bits after its leading one: 1024 (0x44800000)' \
    sum --element e4m3 --products 0.25x0.25,0.25x0.25 --accumulator 1024
has 'result, cut to 13 bits after its leading one: 1024.125 (0x44800400)' \
    sum --element e4m3 --products 0.25x0.5 --accumulator 1024
has 'result, cut to 23 bits after its leading one: 1024.0625 (0x44800200)' \
    sum --element bf16 --products 0.25x0.25 --accumulator 1024

"$inspect" --help | grep -q '^usage: inspect' || { echo "--help"; failed=1; }
"$inspect" descriptor --hex 4000 >/dev/null && { echo "a reserved bit is accepted"; failed=1; }
refuses
refuses banana
refuses swizzle --rows 0
refuses swizzle --rows 8x
refuses swizzle --swizzle 48
refuses swizzle --at 0,0
refuses swizzle extra
refuses swizzle --base 8
refuses tile --pitch 24
refuses descriptor --hex zz
refuses tensor-map --box 8x128
refuses tensor-map --box 8
refuses tensor-map --ld 36
refuses tensor-map --at 96,4
refuses tensor-map --at 0,-4
refuses tensor-map --at 0,8 --type e4m3 --box 8x128 --matrix 64x128
refuses sum --element fp32
refuses sum --products 1
refuses sum --products 1x2,
refuses sum --accumulator 1e39
refuses sum --svg /tmp/none.svg
refuses sum --products 1x1,1x1,1x1,1x1,1x1,1x1,1x1,1x1,1x1,1x1,1x1,1x1,1x1,1x1,1x1,1x1,1x1

figure=$(mktemp) || exit 1
"$inspect" tile --svg "$figure" >/dev/null
grep -q '^<svg ' "$figure" && grep -q '^</svg>$' "$figure" &&
    [ "$(grep -c '<rect class="grid ' "$figure")" = 128 ] || { echo "--svg: no figure of 16 x 8 cells"; failed=1; }
rm -f "$figure"
"$inspect" tile --svg /nonexistent/figure.svg >/dev/null 2>&1 && { echo "an unwritable figure"; failed=1; }
exit $failed
