#!/bin/sh
# matrices.sh HOPPER_CHECK WORK: instructions on matrices, as threads.sh has the others.
check=$1 work=$2
. "$(dirname "$0")/kernels.sh"

# ---- ldmatrix and mma.sync ----
# Row i of a matrix of 16-bit elements holds 8 * i + j: transposed, a lane gets elements of two rows
# and one column.
rows='
    mad.lo.u32 %r3, %r0, 16, %r1;
    mad.lo.u32 %r4, %r0, 0x80008, 0x10000;
    st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};
    bar.sync 0;
    and.b32 %r5, %r0, 3;
    shr.u32 %r6, %r0, 2;'
try 0 clean "$warp" "$rows
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r3];
    mad.lo.u32 %r8, %r6, 0x80008, 0x10000;
    is b32 %r7 %r8
    ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r7, %r9}, [%r3];
    and.b32 %r10, %r6, 1;
    mad.lo.u32 %r10, %r10, 0x10001, 0x80000;
    mad.lo.u32 %r10, %r5, 0x100010, %r10;
    is b32 %r7 %r10
    add.u32 %r10, %r10, 0x400040;
    is b32 %r9 %r10"
try 0 clean "$warp" '
    mov.b32 %r3, 0x01010101;
    mov.b32 %r4, 0xffffffff;
    mov.b32 %r5, 100;
    mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r6, %r7, %r8, %r9}, {%r3, %r3, %r3, %r3},
        {%r4, %r4}, {%r5, %r5, %r5, %r5};
    is b32 %r6 68
    is b32 %r9 68
    mov.b32 %r5, 0x7fffffff;
    mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32 {%r6, %r7, %r8, %r9}, {%r3, %r3, %r3,
        %r3}, {%r4, %r4}, {%r5, %r5, %r5, %r5};
    is b32 %r9 0x7fffffff
    mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%r6, %r7, %r8, %r9}, {%r3, %r3, %r3, %r3},
        {%r4, %r4}, {%r5, %r5, %r5, %r5};
    is b32 %r9 0x80001fdf
    mov.b32 %r3, 0x3c003c00;
    mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r6, %r7}, {%r3, %r3, %r3, %r3}, {%r3,
        %r3}, {%r3, %r3};
    is b32 %r6 0x4c404c40
    mov.b32 %r3, 0x38383838;
    mov.f32 %f1, 0f3f800000;
    mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f2, %f3, %f4, %f5}, {%r3, %r3, %r3,
        %r3}, {%r3, %r3}, {%f1, %f1, %f1, %f1};
    is f32 %f2 0f42040000
    mov.b32 %r3, 0x3f800000;
    mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f2, %f3, %f4, %f5}, {%r3, %r3, %r3,
        %r3}, {%r3, %r3}, {%f1, %f1, %f1, %f1};
    is f32 %f5 0f41100000'
# Row i, column j of a matrix in registers is 8 i + j: transposed, 8 j + i.
try 0 clean "$warp" '
    shr.u32 %r3, %r0, 2; and.b32 %r4, %r0, 3;
    mul.lo.u32 %r5, %r0, 0x20002; add.u32 %r5, %r5, 0x10000;
    movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r5;
    mul.lo.u32 %r7, %r4, 0x100010; mul.lo.u32 %r8, %r3, 0x10001; add.u32 %r7, %r7, %r8;
    add.u32 %r7, %r7, 0x80000;
    is b32 %r6 %r7'

# fp64: A is (row, k) -> row + 32 k, B is (k, column) -> 2^column for k = 0, 1 for k = 3, else 0. D
# is then row 2^column + (row + 96) + C.
# doubles SHAPE REGISTERS-OF-A REGISTERS-OF-B REGISTERS-OF-D ROW-OF-A(i) K-OF-A(i)
doubles() {
    a='' b='' c='' fill='' compare=''
    for i in $(seq 0 $(($2 - 1))); do
        a="$a${a:+, }%g$((10 + i))"
        fill="$fill add.u32 %r5, %r3, $((8 * (i % $5)));
            mad.lo.u32 %r5, %r4, 32, %r5; add.u32 %r5, %r5, $((128 * (i / $5)));
            cvt.rn.f64.u32 %g$((10 + i)), %r5;"
    done
    for i in $(seq 0 $(($3 - 1))); do
        b="$b${b:+, }%g$((20 + i))"
        fill="$fill mov.f64 %g$((20 + i)), 0d0000000000000000;"
    done
    for i in $(seq 0 $(($4 - 1))); do
        c="$c${c:+, }%g$((30 + i))"
        fill="$fill mov.f64 %g$((30 + i)), 0d3fe0000000000000;"
        compare="$compare
            add.u32 %r5, %r3, $((8 * (i / 2)));
            shl.b32 %r6, %r4, 1; add.u32 %r6, %r6, $((i % 2)); shl.b32 %r6, %r5, %r6;
            add.u32 %r6, %r6, %r5; add.u32 %r6, %r6, 96;
            cvt.rn.f64.u32 %g1, %r6; add.f64 %g1, %g1, 0d3fe0000000000000;
            is f64 %g$((30 + i)) %g1"
    done
    try 0 clean "$warp" "
        shr.u32 %r3, %r0, 2; and.b32 %r4, %r0, 3;
        $fill
        shl.b32 %r5, 1, %r3; cvt.rn.f64.u32 %g1, %r5;
        setp.eq.u32 %p1, %r4, 0; @%p1 mov.f64 %g20, %g1;
        setp.eq.u32 %p1, %r4, 3; @%p1 mov.f64 %g20, 0d3ff0000000000000;
        mma.sync.aligned.$1.row.col.f64.f64.f64.f64.rz {$c}, {$a}, {$b}, {$c};
        $compare"
}
doubles m8n8k4 1 1 2 1
doubles m16n8k4 2 1 4 2
doubles m16n8k8 4 2 4 2
doubles m16n8k16 8 4 4 2

# ---- wgmma ----
# Of ones: operands of 2560 bytes without a swizzle.
# multiply CODE TEXT TYPES SHAPE ONES OPTIONS SUMS RESULT
multiply() {
    try "$1" "$2" "$group" "
        mad.lo.u32 %r3, %r0, 4, %r1;
        mov.b32 %r4, $5;
        st.shared.b32 [%r3], %r4; st.shared.b32 [%r3+512], %r4; st.shared.b32 [%r3+1024], %r4;
        st.shared.b32 [%r3+1536], %r4; st.shared.b32 [%r3+2048], %r4;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        shr.u32 %r5, %r1, 4;
        cvt.u64.u32 %d1, %r5;
        or.b64 %d1, %d1, 0x0000001000080000;
        mov.b32 %r6, $start; mov.b32 %r7, 0; mov.b32 %r8, 0; mov.b32 %r9, $start;
        mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3,
            0f00000000;
        setp.ne.u32 %p1, %r5, 0;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.$4.$3 {$7}, $fragment, %d1, %p1$6;
        wgmma.mma_async.sync.aligned.$4.$3 {$7}, $fragment, %d1, %p1$6;
        wgmma.commit_group.sync.aligned;
        $8"
}
fragment=%d1 start=0 # start: in two of the sums of whole numbers
wait='wgmma.wait_group.sync.aligned 0;'
floats='%f0, %f1, %f2, %f3'
whole='%r6, %r7, %r8, %r9'
multiply 0 clean f16.f16.f16 m64n8k16 0x3c003c00 ', 1, 1, 0, 0' '%r6, %r7' \
    "$wait setp.ne.b32 %p9, %r7, 0x50005000; @%p9 trap;"
multiply 0 clean f16.f16.f16 m64n8k16 0x3c003c00 ', -1, 1, 0, 0' '%r6, %r7' \
    "$wait setp.ne.b32 %p9, %r6, 0xd000d000; @%p9 trap;"
multiply 0 clean f32.bf16.bf16 m64n8k16 0x3f803f80 ', -1, -1, 0, 1' "$floats" \
    "$wait setp.ne.f32 %p9, %f3, 0f42000000; @%p9 trap;"
multiply 0 clean f32.e5m2.e4m3 m64n8k32 0x3c3c3c3c ', 1, 1' "$floats" \
    "$wait setp.ne.f32 %p9, %f0, 0f42c00000; @%p9 trap;"
multiply 0 clean f32.tf32.tf32 m64n8k8 0x3f801fff ', -1, 1' "$floats" \
    "$wait setp.ne.f32 %p9, %f2, 0fc1800000; @%p9 trap;"
multiply 4 accumulator-in-use f32.tf32.tf32 m64n8k8 0x3f800000 ', 1, 1' "$floats" \
    "add.f32 %f2, %f2, %f3; $wait"
multiply 0 clean s32.s8.s8 m64n8k32 0xffffffff '' "$whole" \
    "$wait setp.ne.s32 %p9, %r9, 64; @%p9 trap;"
multiply 0 clean s32.u8.s8 m64n8k32 0xffffffff '' "$whole" \
    "$wait setp.ne.s32 %p9, %r6, -16320; @%p9 trap;"
start=0x7fffffff
multiply 0 clean s32.s8.s8.satfinite m64n8k32 0xffffffff '' "$whole" \
    "$wait setp.ne.s32 %p9, %r9, 0x7fffffff; @%p9 trap; setp.ne.s32 %p9, %r8, 64; @%p9 trap;"
multiply 0 clean s32.s8.s8 m64n8k32 0xffffffff '' "$whole" \
    "$wait setp.ne.s32 %p9, %r9, 0x8000003f; @%p9 trap;"
start=-2147483648
multiply 0 clean s32.u8.s8.satfinite m64n8k32 0xffffffff '' "$whole" \
    "$wait setp.ne.s32 %p9, %r6, 0x80000000; @%p9 trap;"
start=0
multiply 4 accumulator-in-flight s32.u8.u8 m64n8k32 0xffffffff '' "$whole" \
    "mov.b32 %r7, 0; $wait"
fragment='{%r10, %r11, %r12, %r13}'
multiply 4 uninitialized-registers s32.s8.s8 m64n8k32 0xffffffff '' "$whole" "$wait"

# ---- wmma: a matrix times the identity, stored transposed ----
# identity CODE TEXT SHAPE TYPES OF-AB OF-D REGISTERS-OF-AB REGISTERS-OF-D SYNC
identity() {
    case $5 in
    f16) convert='cvt.rn.f16.u32 %h1, %r3' one='mov.b16 %h2, 0x3c00' bytes=2 value=%h1 unit=%h2 ;;
    bf16) convert='cvt.rn.bf16.u32 %h1, %r3' one='mov.b16 %h2, 0x3f80' bytes=2 value=%h1 unit=%h2 ;;
    u8) convert='mov.b32 %r4, %r3' one='mov.b32 %r5, 1' bytes=1 value=%r4 unit=%r5 ;;
    esac
    zero=%h3
    [ "$5" = u8 ] && zero=%r8
    case $6 in
    f32) back='cvt.rn.f32.u32 %f9, %r3' wanted=%f9 found=%f8 ;;
    s32) back='mov.b32 %r6, %r3' wanted=%r6 found=%r7 ;;
    esac
    bits=b$((bytes * 8))
    try "$1" "$2" "$warp" "
        mov.u32 %r3, %r0;
        mov.b16 %h3, 0; mov.b32 %r8, 0;
        fill: $convert; $one;
        mad.lo.u32 %r9, %r3, $bytes, %r1;
        st.shared.$bits [%r9], $value;
        st.shared.$bits [%r9+512], $zero;
        rem.u32 %r9, %r3, 17;
        setp.eq.u32 %p1, %r9, 0;
        mad.lo.u32 %r9, %r3, $bytes, %r1;
        @%p1 st.shared.$bits [%r9+512], $unit;
        add.u32 %r3, %r3, 32;
        setp.lt.u32 %p1, %r3, 256;
        @%p1 bra fill;
        mov.f32 %f0, 0f00000000; mov.b32 %r30, 0;
        $9
        wmma.load.a.sync.aligned.row.$3.shared.$5 {$7}, [%r1];
        wmma.load.b.sync.aligned.col.$3.shared.$5 {$(echo "$7" | sed 's/%r1/%r2/g')}, [%r1+512], 16;
        wmma.mma.sync.aligned.row.col.$3.$4 {$8}, {$7}, {$(echo "$7" | sed 's/%r1/%r2/g')},
            {$(echo "$8" | sed 's/%f[0-9]/%f0/g; s/%r[0-9]*/%r30/g')};
        wmma.store.d.sync.aligned.col.$3.shared.$6 [%r1+1024], {$8}, 16;
        bar.warp.sync 0xffffffff;
        mov.u32 %r3, %r0;
        compare: $back;
        and.b32 %r9, %r3, 15; shl.b32 %r9, %r9, 4;
        shr.u32 %r8, %r3, 4; add.u32 %r9, %r9, %r8;
        mad.lo.u32 %r9, %r9, 4, %r1;
        ld.shared.b32 $found, [%r9+1024];
        is $6 $found $wanted
        add.u32 %r3, %r3, 32;
        setp.lt.u32 %p1, %r3, 256;
        @%p1 bra compare;"
}
sync='bar.warp.sync 0xffffffff;'
eight='%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17'
four='%r10, %r11, %r12, %r13'
sums='%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8'
identity 0 clean m16n16k16 f32.f32 f16 f32 "$eight" "$sums" "$sync"
identity 4 data-race m16n16k16 f32.f32 f16 f32 "$eight" "$sums" ''
identity 0 clean m16n16k16 f32.bf16.bf16.f32 bf16 f32 "$four" "$sums" "$sync"
identity 0 clean m16n16k16 s32.u8.u8.s32 u8 s32 '%r10, %r11' \
    '%r31, %r32, %r33, %r34, %r35, %r36, %r37, %r38' "$sync"
# Of ones, in global memory: fp16 sums, tf32, and fp64.
try 0 clean "$warp" '
    mov.b32 %r3, 0x3c003c00;
    mad.wide.u32 %d1, %r0, 4, %d0;
    st.global.b32 [%d1], %r3; st.global.b32 [%d1+128], %r3; st.global.b32 [%d1+256], %r3;
    st.global.b32 [%d1+384], %r3;
    bar.warp.sync 0xffffffff;
    wmma.load.a.sync.aligned.col.m32n8k16.f16 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17},
        [%d0], 8;
    wmma.load.b.sync.aligned.row.m32n8k16.global.f16 {%r20, %r21, %r22, %r23, %r24, %r25, %r26,
        %r27}, [%d0], 16;
    wmma.load.c.sync.aligned.row.m32n8k16.global.f16 {%r30, %r31, %r32, %r33}, [%d0], 8;
    wmma.mma.sync.aligned.col.row.m32n8k16.f16.f16 {%r30, %r31, %r32, %r33}, {%r10, %r11, %r12,
        %r13, %r14, %r15, %r16, %r17}, {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, {%r30,
        %r31, %r32, %r33};
    is b32 %r32 0x4c404c40'
try 0 clean "$warp" '
    mov.f32 %f0, 0f40000000;
    mov.b32 %r10, 0x3f800000;
    wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7,
        %f8}, {%r10, %r10, %r10, %r10}, {%r10, %r10, %r10, %r10}, {%f0, %f0, %f0, %f0, %f0, %f0,
        %f0, %f0};
    is f32 %f8 0f41200000
    mov.f64 %g0, 0d4000000000000000;
    wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%g1, %g2}, {%g0}, {%g0}, {%g0, %g0};
    is f64 %g2 0d4032000000000000'

echo "$number kernels"
exit "$failed"
