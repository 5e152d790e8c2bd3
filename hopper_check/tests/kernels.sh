# kernels.sh: what scripts of kernels share. They set `check` and `work`.
set -u
rm -rf "$work"
mkdir -p "$work" || exit 2
failed=0

# Of every kernel: %r0 the thread, %r1 its shared memory, %r2 the CTA in its cluster, %d0 the buffer
# y.
head='.version 8.4
.target sm_90a
.address_size 64
.global .align 4 .b8 text[10] = {37, 100, 32, 37, 46, 50, 102, 33, 10, 0}; // "%d %.2f!\n"
.func (.param .b32 result) twice(.param .b32 a, .param .b32 b)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [a];
    ld.param.u32 %r2, [b];
    mad.lo.u32 %r1, %r1, 2, %r2;
    st.param.b32 [result], %r1;
    ret;
}
.func again()
{
    call again;
    ret;
}
.func nothing() { ret; }
.func (.param .b32 result) again_twice(.param .b32 a, .param .b32 b);
.alias again_twice, twice;
.global .align 8 .u64 functions[2] = {again, twice};
.global .align 8 .u64 behind = generic(text)+4;
.global .align 8 .u8 bytes[8] = {0xff(text), 0xff00(text), 0xff0000(text), 0xff000000(text),
    0xff00000000(generic(text)), 0xff0000000000(text), 0xff000000000000(text),
    0xff00000000000000(text)};
.const .align 4 .u32 constants[2] = {1, 2};
.extern .func (.param .b64 block) malloc(.param .b64 bytes);
.extern .func free(.param .b64 block);
.extern .func (.param .b32 result) vprintf(.param .b64 text, .param .b64 values);
.visible .entry k(.param .u64 y, .param .align 64 .b8 map[128])
{
    .reg .pred %p<10>;
    .reg .b16 %h<10>;
    .reg .b32 %r<40>;
    .reg .b64 %d<20>;
    .reg .f32 %f<10>;
    .reg .f64 %g<40>;
    .shared .align 1024 .b8 s[8192];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, s;
    mov.u32 %r2, %cluster_ctarank;
    ld.param.u64 %d0, [y];
    setp.eq.u32 %p0, %r0, 0;'

y=u32 map=f:2x8x32:0:4x16x32:512,32 # the elements of y, and what the map describes

# try CODE TEXT OPTIONS BODY: is what the run ends with, and what it says. A line "is TYPE REGISTER
# VALUE" of the body stops the kernel where the value is another.
number=0
try() {
    number=$((number + 1))
    file=$work/$number.ptx
    {
        printf '%s\n' "$head"
        printf '%s\n' "$4" |
            sed 's/^ *is \([a-z0-9]*\) \([^ ]*\) \(.*\)$/setp.ne.\1 %p9, \2, \3; @%p9 trap;/'
        echo 'ret; }'
    } >"$file"
    # shellcheck disable=SC2086 # a list of options
    said=$("$check" run "$file" --entry k $3 --buffer "y=$y:64x64:zeros" --map "m=$map" y m 2>&1)
    code=$?
    [ "$code" -eq "$1" ] ||
        { echo "$file: exit code $code, expected $1: $said"; failed=1; }
    case $said in *"$2"*) ;; *) echo "$file: expected '$2': $said"; failed=1 ;; esac
}
buffers='--buffer f=f32:64x32:integers'
one="--block 1 $buffers"
warp="--block 32 $buffers"
two="--block 64 $buffers"
group="--block 128 $buffers"
pair="--block 32 --grid 2 --cluster 2 $buffers"
