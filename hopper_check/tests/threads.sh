#!/bin/sh
# threads.sh HOPPER_CHECK WORK: instructions of threads together, each in a kernel that stops itself
# (trap) where a value is wrong. Most have a break, which violates one rule.
check=$1 work=$2
. "$(dirname "$0")/kernels.sh"

# ---- strong accesses: one thread passes a word to another ----
pass() {
    try "$3" "$4" "$two" "
        setp.eq.u32 %p1, %r0, 32;
        @%p0 st.shared.u32 [%r1+64], 0;
        bar.sync 0;
        @%p0 st.$5.u32 [$6], 7;
        @%p0 st.$1.u32 [%r1+64], 1;
        @!%p1 bra done;
        wait: ld.$2.u32 %r3, [%r1+64];
        setp.eq.u32 %p2, %r3, 0;
        @%p2 bra wait;
        ld.$5.u32 %r3, [$6];
        is u32 %r3 7
        done:"
}
pass release.cta.shared acquire.cta.shared 0 clean shared %r1
pass release.cta.shared acquire.cta.shared 0 clean global %d0
pass relaxed.cta.shared acquire.cta.shared 4 data-race shared %r1
pass release.cta.shared relaxed.cta.shared 4 data-race global %d0
pass volatile.shared volatile.shared 4 data-race shared %r1
# Of 64 bits, between two CTAs, in global memory.
flag() {
    try "$3" "$4" "--block 1 --grid 2 $buffers" "
        mov.u32 %r3, %ctaid.x;
        setp.eq.u32 %p1, %r3, 0;
        @!%p1 bra reader;
        st.global.u32 [%d0], 7;
        st.$1.global.u64 [%d0+64], 0x100000000;
        bra done;
        reader: ld.$2.global.u64 %d1, [%d0+64];
        setp.eq.u64 %p2, %d1, 0;
        @%p2 bra reader;
        ld.global.u32 %r3, [%d0];
        is u32 %r3 7
        done:"
}
flag release.gpu acquire.gpu 0 clean
flag release.cta acquire.gpu 4 data-race

# The bits of a generic address that a descriptor of wgmma has are those of the shared one.
try 0 clean "$two" '
    cvt.u64.u32 %d1, %r1;
    cvta.shared.u64 %d2, %d1;
    xor.b64 %d1, %d1, %d2;
    and.b64 %d1, %d1, 0x3ffff;
    is u64 %d1 0'

# ---- atomics ----
try 0 clean "$two" '
    @%p0 st.shared.u32 [%r1], 0;
    bar.sync 0;
    atom.shared.add.u32 %r3, [%r1], 2;
    red.shared.add.u32 [%r1], 1;
    bar.sync 0;
    ld.shared.u32 %r3, [%r1];
    is u32 %r3 192'
try 4 data-race "$two" '
    @%p0 st.shared.u32 [%r1], 0;
    bar.sync 0;
    red.shared.add.u32 [%r1], 1;
    ld.shared.u32 %r3, [%r1];'
# atomic OPERATION TYPE BEFORE OPERANDS AFTER: in global and in shared memory.
atomic() {
    case $2 in
    *64) register=%d5 bits=b64 ;;
    *) register=%r5 bits=b32 ;;
    esac
    for space in global shared; do
        at=%d0
        [ $space = global ] || at=%r1
        try 0 clean "$one" "
            mov.$bits $register, $3;
            st.$space.$bits [$at], $register;
            atom.$space.$1.$2 $register, [$at], $4;
            is $bits $register $3
            ld.$space.$bits $register, [$at];
            is $bits $register $5"
    done
}
atomic add s32 5 -7 0xfffffffe
atomic add u64 0xffffffff 1 0x100000000
atomic add f32 0x3f800000 0f40000000 0x40400000
atomic add f64 0x3ff0000000000000 0d4000000000000000 0x4008000000000000
atomic min s32 5 -7 0xfffffff9
atomic max u32 5 0xfffffff9 0xfffffff9
atomic and b32 12 10 8
atomic or b32 12 10 14
atomic xor b64 12 10 6
atomic exch b32 12 10 10
atomic inc u32 3 3 0
atomic dec u32 0 9 9
atomic cas b32 12 '12, 99' 99
atomic cas b64 12 '13, 99' 12
try 0 clean "$one" '
    mov.b32 %r3, 0x3c003c00;
    mov.b32 %r4, 0x40003c00;
    st.global.b32 [%d0], %r3;
    atom.global.add.noftz.f16x2 %r5, [%d0], %r4;
    ld.global.b32 %r5, [%d0];
    is b32 %r5 0x42004000
    st.global.v2.f32 [%d0+16], {0f3f800000, 0f40000000};
    mov.f32 %f1, 0f3f800000;
    red.global.add.v2.f32 [%d0+16], {%f1, %f1};
    ld.global.b32 %r5, [%d0+20];
    is b32 %r5 0x40400000'

# ---- the shared memory of another CTA ----
remote() {
    try "$1" "$2" "$pair" "
        xor.b32 %r3, %r2, 1;
        mapa.shared::cluster.u32 %r4, %r1, %r3;
        st.shared.u32 [%r1+4], 0;
        barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
        @%p0 st.shared::cluster.u32 [%r4], %r2;
        red.relaxed.cluster.shared::cluster.add.u32 [%r4+4], 1;
        $3
        @!%p0 bra done;
        ld.shared.u32 %r5, [%r1];
        is u32 %r5 %r3
        ld.shared::cluster.u32 %r5, [%r4+4];
        is u32 %r5 32
        done: $4"
}
sync='barrier.cluster.arrive.release; barrier.cluster.wait.acquire;'
remote 0 clean "$sync" "$sync"
remote 4 exit-before-remote-read "$sync" ''
try 4 data-race "$pair" "
    xor.b32 %r3, %r2, 1;
    mapa.shared::cluster.u32 %r4, %r1, %r3;
    barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
    @%p0 st.shared::cluster.u32 [%r4], %r2;
    @%p0 ld.shared.u32 %r5, [%r1];
    $sync"
try 4 exit-before-remote-write "$pair" '
    xor.b32 %r3, %r2, 1;
    mapa.shared::cluster.u32 %r4, %r1, %r3;
    barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
    @%p0 st.shared::cluster.u32 [%r4], %r2;'

# Of CTA 1 to CTA 0, by a word of that one's shared memory.
signal() {
    try "$1" "$2" "$pair" "
        mapa.shared::cluster.u32 %r4, %r1, 0;
        setp.eq.u32 %p1, %r2, 0;
        and.pred %p2, %p0, %p1;
        not.pred %p3, %p1;
        and.pred %p3, %p3, %p0;
        @%p2 st.shared.u32 [%r1], 0;
        $sync
        @%p3 st.relaxed.$3.shared::cluster.u32 [%r4], 1;
        @!%p2 bra done;
        wait: ld.relaxed.$4.shared::cta.u32 %r5, [%r1];
        setp.ne.u32 %p4, %r5, 1;
        @%p4 bra wait;
        done: $sync"
}
signal 0 clean cluster cluster
signal 0 clean gpu sys
signal 4 'the scope of one is .cta' cta cluster
signal 4 data-race cluster cta

# ---- mbarriers: counts, states, bytes ----
# initialized N: the mbarrier at %r1 expects N arrivals.
initialized() {
    echo "@%p0 mbarrier.init.shared::cta.b64 [%r1], $1; fence.proxy.async;
        fence.mbarrier_init.release.cluster; bar.sync 0;"
}
try 0 clean "$two" "$(initialized 66)
    mbarrier.arrive.shared::cta.b64 %d1, [%r1];
    @%p0 mbarrier.arrive.shared::cta.b64 _, [%r1], 2;
    wait: mbarrier.try_wait.shared::cta.b64 %p1, [%r1], %d1;
    @!%p1 bra wait;
    mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r1], 0;
    @!%p1 trap;"
try 4 mbarrier-arrivals "$two" "$(initialized 65)
    mbarrier.arrive.shared::cta.b64 _, [%r1], 2;"
try 0 clean "$one" "$(initialized 3)
    mbarrier.arrive_drop.shared::cta.b64 %d1, [%r1];
    mbarrier.pending_count.b64 %r3, %d1;
    is u32 %r3 3
    mbarrier.arrive.shared::cta.b64 _, [%r1], 2;
    mbarrier.arrive.shared::cta.b64 %d1, [%r1], 2;
    mbarrier.pending_count.b64 %r3, %d1;
    is u32 %r3 2
    mbarrier.test_wait.shared::cta.b64 %p1, [%r1], %d1;
    @!%p1 trap;"
# Relaxed arrivals and waits, with fences and without: one thread passes a word to another, in its
# own CTA and from another one.
# relay CODE TEXT FENCE ARRIVAL WAIT FENCE
relay() {
    try "$1" "$2" "$two" "$(initialized 1)
        setp.eq.u32 %p1, %r0, 32;
        @%p0 st.shared.u32 [%r1+64], 7;
        $3
        @%p0 mbarrier.arrive.$4.shared::cta.b64 _, [%r1];
        @!%p1 bra done;
        wait: mbarrier.try_wait.parity.$5.shared::cta.b64 %p2, [%r1], 0;
        @!%p2 bra wait;
        $6
        ld.shared.u32 %r3, [%r1+64];
        is u32 %r3 7
        done:"
}
relay 0 clean '' release.cta acquire.cta ''
relay 0 clean 'fence.acq_rel.cta;' relaxed.cta relaxed.cta 'fence.acq_rel.cta;'
relay 0 clean 'fence.release.cta;' relaxed.cluster relaxed.cta 'fence.acquire.cta;'
relay 0 clean 'fence.release.sync_restrict::shared::cta.cluster;' relaxed.cta acquire.cta ''
relay 4 data-race '' relaxed.cta acquire.cta ''
relay 4 data-race '' release.cta relaxed.cta ''
relay 4 data-race '' release.cta relaxed.cta 'fence.release.cta;'
relay 4 data-race 'fence.acquire.cta;' relaxed.cta acquire.cta ''
# remote CODE TEXT FENCE ARRIVAL WAIT FENCE
relay_remote() {
    try "$1" "$2" "$pair" "$(initialized 1)
        xor.b32 %r3, %r2, 1;
        mapa.shared::cluster.u32 %r4, %r1, %r3;
        barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
        @%p0 st.shared::cluster.u32 [%r4+64], %r2;
        $3
        @%p0 mbarrier.arrive.$4.shared::cluster.b64 _, [%r4];
        wait: mbarrier.try_wait.parity.$5.shared::cta.b64 %p1, [%r1], 0;
        @!%p1 bra wait;
        $6
        ld.shared.u32 %r5, [%r1+64];
        is u32 %r5 %r3
        barrier.cluster.arrive.release; barrier.cluster.wait.acquire;"
}
relay_remote 0 clean '' release.cluster acquire.cluster ''
relay_remote 0 clean 'fence.release.sync_restrict::shared::cta.cluster;' relaxed.cluster \
    relaxed.cluster 'fence.acquire.sync_restrict::shared::cluster.cluster;'
relay_remote 4 data-race 'fence.release.cta;' relaxed.cluster acquire.cluster ''
relay_remote 4 data-race '' release.cluster relaxed.cluster ''
relay_remote 4 data-race '' release.cluster relaxed.cluster 'fence.acquire.cta;'
relay_remote 4 data-race '' release.cluster relaxed.cta 'fence.acquire.cluster;'
# What a copy has brought, behind a relaxed wait.
lands() {
    try "$1" "$2" "$one" "$(initialized 1)
        mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 %d1, [%r1], 256;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+1024], [%d0], 256,
            [%r1];
        wait: mbarrier.test_wait.relaxed.cta.shared::cta.b64 %p1, [%r1], %d1;
        @!%p1 bra wait;
        $3
        ld.shared.u32 %r3, [%r1+1028];"
}
lands 0 clean 'fence.acquire.cta;'
lands 4 read-before-landed ''
# A buffer that one CTA frees and the TMA of another fills: proxies in one direction.
frees() {
    try "$1" "$2" "$pair" "@%p0 mbarrier.init.shared::cta.b64 [%r1+8], 1; $(initialized 1)
        setp.eq.u32 %p1, %r2, 0;
        and.pred %p2, %p0, %p1;
        not.pred %p3, %p1; and.pred %p3, %p3, %p0;
        mapa.shared::cluster.u32 %r4, %r1, 0;
        mov.b16 %h1, 2;
        @%p3 st.shared.u32 [%r1+1024], 1;
        barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
        @%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+8], 16;
        @!%p3 bra producer;
        ld.shared.u32 %r5, [%r1+1024];
        $3
        mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r4];
        full: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r1+8], 0;
        @!%p4 bra full;
        ld.shared.u32 %r5, [%r1+1024];
        producer: @!%p2 bra done;
        wait: mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p4, [%r1], 0;
        @!%p4 bra wait;
        $4
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
            [%r1+1024], [%d0], 16, [%r1+8], %h1;
        done: barrier.cluster.arrive.release; barrier.cluster.wait.acquire;"
}
release='fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;'
acquire='fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;'
frees 0 clean "$release" "$acquire"
frees 4 overwritten-while-read "$release" ''
frees 4 missing-proxy-fence 'fence.release.cluster;' "$acquire"

# bulk CODE TEXT BEFORE-THE-STORE TYPE-OF-STORE
bulk() {
    try "$1" "$2" "$one" "$(initialized 1)
        st.global.u32 [%d0+4], 0x40400000;
        fence.proxy.async.global;
        mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 256;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+1024], [%d0], 256,
            [%r1];
        mbarrier.arrive.shared::cta.b64 %d1, [%r1];
        wait: mbarrier.try_wait.shared::cta.b64 %p1, [%r1], %d1;
        @!%p1 bra wait;
        ld.shared.u32 %r3, [%r1+1028];
        is u32 %r3 0x40400000
        st.shared.u32 [%r1+1028], 0x3f800000;
        $3
        $4
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        ld.global.u32 %r3, [%d0+4];
        is u32 %r3 $5"
}
store='cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1+1024], 256;'
reduce='cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d0], [%r1+1024], 256;'
bulk 0 clean 'fence.proxy.async.shared::cta;' "$store" 0x3f800000
bulk 0 clean 'fence.proxy.async;' "$reduce" 0x40800000
bulk 4 'hazard: missing-proxy-fence: ' '' "$store" 0x3f800000
refill() {
    load='mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 256;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+1024], [%d0], 256,
            [%r1];
        mbarrier.arrive.shared::cta.b64 %d1, [%r1];'
    try "$1" "$2" "$one" "$(initialized 1)
        $load
        first: mbarrier.try_wait.shared::cta.b64 %p1, [%r1], %d1;
        @!%p1 bra first;
        ld.shared.u32 %r3, [%r1+1028];
        $3
        $load
        second: mbarrier.try_wait.shared::cta.b64 %p1, [%r1], %d1;
        @!%p1 bra second;"
}
refill 0 clean 'fence.proxy.async.shared::cta;'
refill 4 'hazard: missing-proxy-fence-after-read: ' ''
refill 4 'Data Movement: Async Proxy' ''
try 0 clean "$pair" "$(initialized 1)
    xor.b32 %r3, %r2, 1;
    mapa.shared::cluster.u32 %r4, %r1, %r3;
    add.u32 %r5, %r4, 1024;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16;
    @%p0 st.shared.v4.u32 [%r1+2048], {%r2, %r2, %r2, %r2};
    fence.proxy.async;
    $sync
    @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5],
        [%r1+2048], 16, [%r4];
    wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], 0;
    @!%p1 bra wait;
    ld.shared.u32 %r5, [%r1+1024];
    is u32 %r5 %r3
    $sync"

# A load into the other CTA of a pair, whose mbarrier counts it there.
into() {
    try "$1" "$2" "$pair" "$(initialized 1)
        setp.eq.u32 %p1, %r2, 0;
        and.pred %p2, %p0, %p1; not.pred %p3, %p1; and.pred %p3, %p3, %p0;
        mapa.shared::cluster.u32 %r4, %r1, 1;
        @%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16;
        $sync
        @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4+1024], [%d0], 16,
            [$3];
        @!%p3 bra done;
        wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [%r1], 0;
        @!%p4 bra wait;
        ld.shared.u32 %r5, [%r1+1024];
        is u32 %r5 0
        done: $sync"
}
into 0 clean %r4
into 5 'in another CTA than what it brings' %r1
# A store that its thread does not wait for before it ends.
unwaited() {
    try "$1" "$2" "$one $3" '
        st.shared.v4.u32 [%r1], {1, 2, 3, 4};
        fence.proxy.async;
        cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], 16;
        cp.async.bulk.commit_group;'
}
unwaited 0 clean ''
unwaited 4 store-read-before-exit '--doubtful on'

# ---- writes without order: of the same bytes, and of others ----
both() {
    try "$1" "$2" "$two $3" "
        and.b32 %r3, %r0, 31;
        setp.eq.u32 %p1, %r3, 0;
        mov.u32 %r4, $4;
        @%p1 st.$5.v2.u32 [$6], {1, %r4};
        bar.sync 0;
        ld.$5.u32 %r3, [$6];
        is u32 %r3 1"
}
for place in 'shared %r1' 'shared::cta %r1' 'global %d0'; do
    # shellcheck disable=SC2086 # two words
    set -- $place
    both 0 clean '' 7 "$1" "$2"
    both 4 equal-values '--doubtful on' 7 "$1" "$2"
    both 4 'not ordered after the write' '' %r0 "$1" "$2"
done
# The same store of the TMA by two threads, or one that brings something else.
twice() {
    try "$1" "$2" "$two $3" "
        mad.lo.u32 %r3, %r0, 4, %r1;
        st.shared.u32 [%r3], $4;
        fence.proxy.async;
        bar.sync 0;
        and.b32 %r3, %r0, 31;
        setp.eq.u32 %p1, %r3, 0;
        and.b32 %r3, %r0, 32;
        mad.lo.u32 %r3, %r3, 4, %r1;
        @%p1 cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r3], 128;
        @%p1 cp.async.bulk.commit_group;
        @%p1 cp.async.bulk.wait_group 0;"
}
twice 0 clean '' 5
twice 4 equal-values '--doubtful on' 5
twice 4 'not ordered after the write by TMA store' '' %r0

# st.async, waited for or not.
send() {
    try "$1" "$2" "$pair" "$(initialized 1)
    xor.b32 %r3, %r2, 1;
    mapa.shared::cluster.u32 %r4, %r1, %r3;
    add.u32 %r5, %r4, 1024;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 8;
    $sync
    @%p0 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32
        [%r5], {%r2, 9}, [%r4];
    $3
    ld.shared.v2.u32 {%r5, %r6}, [%r1+1024];
    $4
    $sync"
}
send 0 clean 'wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], 0;
    @!%p1 bra wait;' '
    is u32 %r5 %r3
    is u32 %r6 9'
send 4 read-before-landed '' ''
# By generic addresses.
try 0 clean "$pair" "$(initialized 1)
    xor.b32 %r3, %r2, 1;
    cvt.u64.u32 %d1, %r1; cvta.shared.u64 %d1, %d1; mapa.u64 %d1, %d1, %r3;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 8;
    @%p0 st.shared.u32 [%r1+1028], 5;
    $sync
    @%p0 st.async.mbarrier::complete_tx::bytes.u32 [%d1+1024], %r2, [%d1];
    @%p0 red.async.relaxed.cluster.mbarrier::complete_tx::bytes.max.u32 [%d1+1028], 9, [%d1];
    wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], 0;
    @!%p1 bra wait;
    ld.shared.v2.u32 {%r5, %r6}, [%r1+1024];
    is u32 %r5 %r3
    is u32 %r6 9
    $sync"

# red.async from both CTAs of a pair to the first one, on one mbarrier or on two.
add() {
    try "$1" "$2" "$pair" "@%p0 mbarrier.init.shared::cta.b64 [%r1+8], 1; $(initialized 1)
    mapa.shared::cluster.u32 %r4, %r1, 0;
    setp.eq.u32 %p1, %r2, 0;
    and.pred %p2, %p0, %p1;
    @%p2 st.shared.u32 [%r1+1024], 7;
    @%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], $3;
    @%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+8], 128;
    $sync
    mad.lo.u32 %r6, %r2, $4, %r4;
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32
        [%r4+1024], 1, [%r6];
    @!%p1 bra done;
    $5
    ld.shared.u32 %r5, [%r1+1024];
    $6
    done: $sync"
}
landed='wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r1], 0; @!%p3 bra wait;'
both='again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r1+8], 0;
    @!%p3 bra again;'
add 0 clean 256 0 "$landed" 'is u32 %r5 71'
add 4 read-before-landed 256 0 '' ''
add 0 clean 128 8 "$landed $both" 'is u32 %r5 71'
add 4 read-before-landed 128 8 "$both" ''

# reduces FUNCTION.TYPE BEFORE VALUE AFTER: of 32 or 64 bits; by red.async, in shared memory, in
# global memory, in the elements of a tensor map.
reduces() {
    case $1 in
    *64) register=%d5 bits=b64 ;;
    *16) register=%h5 bits=b16 ;;
    *) register=%r5 bits=b32 ;;
    esac
    wait='wait: mbarrier.try_wait.shared::cta.b64 %p1, [%r1], %d1; @!%p1 bra wait;'
    begin="$(initialized 1) mov.b32 %r6, 0;
        st.shared.v4.b32 [%r1+1024], {%r6, %r6, %r6, %r6};
        st.shared.v4.b32 [%r1+2048], {%r6, %r6, %r6, %r6}; mov.$bits $register, $2; st.shared.$bits [%r1+1024], $register;
        setp.eq.u32 %p3, %r2, 0; @%p3 st.global.$bits [%d0], $register; mov.$bits $register, $3;
        st.shared.$bits [%r1+2048], $register; fence.proxy.async;"
    groups='cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;'
    for where in $5; do
        case $where in
        async) do="xor.b32 %r7, %r2, 1;
            mapa.shared::cluster.u32 %r7, %r1, %r7;
            $sync
            red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.$1
            [%r7+1024], $register, [%r7];" at='shared %r1+1024' bytes=$((${bits#b} / 8)) ;;
        shared) do="cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.$1
            [%r1+1024], [%r1+2048], 16, [%r1];" at='shared %r1+1024' bytes=16 ;;
        global) do="cp.reduce.async.bulk.global.shared::cta.bulk_group.$1 [%d0], [%r1+2048], 16;" \
            at='global %d0' bytes=0 ;;
        map) do="mov.b64 %d2, map; cvta.param.u64 %d2, %d2;
            cp.reduce.async.bulk.tensor.1d.global.shared::cta.${1%%.*}.tile.bulk_group
            [%d2, {0}], [%r1+2048];" at='global %d0' bytes=0 ;;
        esac
        if [ $where = map ]; then
            y=$(echo "${1##*.}" | sed 's/^s/i/; s/^b\([0-9]\)/u\1/') map=y:$((16 * 8 / ${bits#b}))
        else
            y=u32 map=f:1x32
        fi
        grid="$one"
        [ $where = async ] && grid="--block 1 --grid 2 --cluster 2 $buffers"
        try 0 clean "$grid" "$begin
            mbarrier.arrive.expect_tx.shared::cta.b64 %d1, [%r1], $bytes;
            $do
            $wait $groups
            ld.${at% *}.$bits $register, [${at#* }];
            is $bits $register $4
            $sync"
    done
}
reduces add.u32 0xffffffff 3 2 'async shared global map'
reduces add.s32 -1 -3 -4 'async shared global map'
reduces add.u64 0xffffffff 1 0x100000000 'async shared global map'
reduces min.s32 5 -7 -7 'async shared global map'
reduces max.u32 5 -7 -7 'async shared global map'
reduces inc.u32 3 3 0 'async shared global map'
reduces dec.u32 0 9 9 'async shared global map'
reduces and.b32 12 10 8 'async shared global map'
reduces or.b32 12 10 14 'async shared global map'
reduces xor.b32 12 10 6 'async shared global map'
reduces xor.b64 12 10 6 'global map'
reduces max.s64 -1 3 3 'global map'
reduces min.u64 -1 3 3 'global map'
reduces add.f32 0x3f800000 0x40000000 0x40400000 'global map'
reduces add.f64 0x3ff0000000000000 0x4000000000000000 0x4008000000000000 'global map'
reduces add.noftz.f16 0x3c00 0x4000 0x4200 'global map'
reduces add.noftz.bf16 0x3f80 0x4000 0x4040 'global map'
reduces max.f16 0x3c00 0xc000 0x3c00 'global map'
reduces min.bf16 0x3f80 0xc000 0xc000 'global map'
y=u16 map=y:8
try 4 'there is none of elements of this type' "$one" '
    mov.b64 %d2, map; cvta.param.u64 %d2, %d2;
    cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%d2, {0}], [%r1];'
y=u32 map=f:2x8x32:0:4x16x32:512,32

# ---- cp.async of 4 bytes, zeros, left out ----
try 0 clean "$one" '
    st.global.v2.u32 [%d0], {3, 5};
    setp.eq.u32 %p1, %r0, 0;
    cp.async.ca.shared.global [%r1], [%d0], 4;
    cp.async.ca.shared.global [%r1+8], [%d0], 8, 4;
    cp.async.ca.shared.global [%r1+16], [%d0], 4, %p1;
    cp.async.wait_all;
    ld.shared.u32 %r3, [%r1];
    is u32 %r3 3
    ld.shared.v2.u32 {%r3, %r4}, [%r1+8];
    is u32 %r3 3
    is u32 %r4 0
    ld.shared.u32 %r3, [%r1+16];
    is u32 %r3 0'
try 4 read-before-landed "$one" '
    cp.async.ca.shared.global [%r1], [%d0], 4;
    ld.shared.u32 %r3, [%r1];
    cp.async.wait_all;'

# ---- boxes of three dimensions: 2 x 8 x 32 of 4 x 16 x 32 fp32, at (1, 2, 0) ----
try 0 clean "$one" "$(initialized 1)
    mbarrier.arrive.expect_tx.shared::cta.b64 %d1, [%r1], 2048;
    mov.b64 %d2, map;
    cvta.param.u64 %d2, %d2;
    cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1+1024],
        [%d2, {0, 2, 1}], [%r1];
    wait: mbarrier.try_wait.shared::cta.b64 %p1, [%r1], %d1;
    @!%p1 bra wait;
    fence.proxy.async;
    cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%d2, {0, 10, 3}], [%r1+1024];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;"
try 4 'the instruction names 2 dimensions' "$one" "$(initialized 1)
    mov.b64 %d2, map;
    cvta.param.u64 %d2, %d2;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1+1024],
        [%d2, {0, 2}], [%r1];"

# ---- lanes of a mask ----
try 0 clean "$warp" '
    setp.lt.u32 %p1, %r0, 16;
    @!%p1 bra upper;
    shfl.sync.down.b32 %r3, %r0, 8, 31, 0xffff;
    add.u32 %r4, %r0, 8;
    setp.lt.u32 %p2, %r0, 8;
    @!%p2 bra others;
    is u32 %r3 %r4
    others: vote.sync.ballot.b32 %r3, %p2, 0xffff;
    is b32 %r3 0xff
    elect.sync %r3|%p3, 0xffff;
    @!%p0 bra done;
    @!%p3 trap;
    bra done;
    upper: redux.sync.add.u32 %r3, 1, 0xffff0000;
    is u32 %r3 16
    and.b32 %r3, %r0, 1;
    match.any.sync.b32 %r4, %r3, 0xffff0000;
    shl.b32 %r3, 0x55550000, %r3;
    is b32 %r4 %r3
    done: bar.warp.sync 0xffffffff;'
try 4 'leaves out the lane that executes it' "$warp" 'shfl.sync.idx.b32 %r3, %r0, 0, 31, 0xffff;'
half() {
    try "$1" "$2" "$warp" "
        setp.lt.u32 %p1, %r0, 2;
        @!%p1 bra done;
        @%p0 st.shared.u32 [%r1], 7;
        $3
        ld.shared.u32 %r3, [%r1];
        is u32 %r3 7
        done:"
}
half 0 clean 'bar.warp.sync 3;'
half 4 data-race ''

# ---- registers are exchanged between two accesses, which bar.warp.sync alone orders ----
exchange() {
    try "$1" "$2" "$warp $3" "
        @%p0 st.shared.u32 [%r1], 7;
        $4
        ld.shared.u32 %r3, [%r1];
        is u32 %r3 7"
}
for instruction in 'shfl.sync.idx.b32 %r4, %r0, 0, 31, 0xffffffff;' \
    'vote.sync.ballot.b32 %r4, %p0, 0xffffffff;' 'match.any.sync.b32 %r4, %r0, 0xffffffff;' \
    'redux.sync.add.u32 %r4, 1, 0xffffffff;'; do
    exchange 0 clean '' "$instruction"
    exchange 4 'in doubt: exchange-releases-nothing' '--doubtful on' "$instruction"
done

# ---- lanes that have ended: which instructions wait for those that are left ----
left() {
    try "$1" "$2" "$warp $4" "
        setp.gt.u32 %p1, %r0, 7;
        @%p1 ret;
        $3"
}
for mask in 0xffffffff 0xffff; do
    left 0 clean "
        shfl.sync.idx.b32 %r3, %r0, 7, 31, $mask;
        is u32 %r3 7
        vote.sync.ballot.b32 %r3, 1, $mask;
        is b32 %r3 0xff
        redux.sync.add.u32 %r3, %r0, $mask;
        is u32 %r3 28
        match.all.sync.b32 %r3|%p2, %r1, $mask;
        is b32 %r3 0xff
        @!%p2 trap;
        bar.warp.sync $mask;" ''
    left 4 'reads from lane 8' "shfl.sync.idx.b32 %r3, %r0, 8, 31, $mask;" ''
    left 4 diverged-warp "elect.sync %r3|%p3, $mask;" ''
    left 4 barrier-after-exit "bar.warp.sync $mask;" '--doubtful on'
done

# ---- barriers with a value, time, hints ----
try 0 clean "$two" '
    setp.lt.u32 %p1, %r0, 40;
    bar.red.popc.u32 %r3, 0, %p1;
    is u32 %r3 40
    barrier.cta.red.popc.aligned.u32 %r3, 0, !%p1;
    is u32 %r3 24
    bar.red.or.pred %p2, 0, %p0;
    @!%p2 trap;
    bar.red.and.pred %p2, 0, 64, %p0;
    @%p2 trap;
    nanosleep.u32 100;
    prefetch.global.L2 [%d0];
    mov.u64 %d1, %globaltimer;'

# ---- calls ----
try 0 '7 1.50!' "$one" '
    { .param .b32 a; .param .b32 b; .param .b32 c;
    st.param.b32 [a], 20; st.param.b32 [b], 2;
    call.uni (c), twice, (a, b);
    ld.param.b32 %r3, [c]; }
    is u32 %r3 42
    .local .align 8 .b8 values[16];
    mov.b64 %d1, values;
    st.local.u32 [values], 7;
    st.local.f64 [values+8], 0d3ff8000000000000;
    mov.b64 %d2, text;
    { .param .b64 a; .param .b64 b; .param .b32 c;
    st.param.b64 [a], %d2; st.param.b64 [b], %d1;
    call.uni (c), vprintf, (a, b);
    ld.param.b32 %r3, [c]; }
    is u32 %r3 2'
try 4 'bytes deep' "$one" 'call again;'
# The kernels' heap.
heap() {
    try "$1" "$2" "$one" "
    { .param .b64 a; .param .b64 b;
    st.param.b64 [a], 24;
    call.uni (b), malloc, (a);
    ld.param.b64 %d1, [b]; }
    st.global.u32 [%d1+20], 3;
    ld.u32 %r3, [%d1+20];
    is u32 %r3 3
    $3
    { .param .b64 a;
    st.param.b64 [a], %d1;
    call.uni free, (a); }
    $4"
}
heap 0 clean 'ld.global.u32 %r3, [%d1];
    is u32 %r3 0xfbfbfbfb
    .local .align 4 .b8 unset[4];
    ld.local.u32 %r3, [unset];
    is u32 %r3 0xfbfbfbfb' ''
heap 4 bad-free 'add.u64 %d1, %d1, 8;' ''
heap 4 bad-free '' '{ .param .b64 a;
    st.param.b64 [a], %d1;
    call.uni free, (a); }'

# Shared memory of the system's, of either CTA of a cluster, and behind the kernel's own.
try 0 clean "$pair" '
    mov.u32 %r3, %reserved_smem_offset_begin;
    mov.u32 %r4, %reserved_smem_offset_end;
    mov.u32 %r5, %reserved_smem_offset_cap;
    sub.u32 %r4, %r4, %r3;
    is u32 %r4 %r5
    add.u32 %r4, %r1, 8191;
    setp.le.u32 %p1, %r3, %r4; @%p1 trap;
    mov.u32 %r3, %reserved_smem_offset_1;
    mad.lo.u32 %r3, %r0, 4, %r3;
    st.shared.u32 [%r3+128], %r0;
    ld.shared.u32 %r4, [%r3+128];
    is u32 %r4 %r0'
try 4 shared-bounds "$one" 'mov.u32 %r3, %reserved_smem_offset_end; st.shared.u32 [%r3], 1;'

# Dynamic shared memory that the kernel does not declare lies behind what it does.
try 0 clean "$one --shared 256" 'st.shared.u32 [%r1+8444], 1;'
try 4 shared-bounds "$one" 'st.shared.u32 [%r1+8192], 1;'

# Through a pointer: the function's address from an instruction, and from a variable.
pointer() {
    try "$1" "$2" "$one" "
    $3
    { .param .b32 a; .param .b32 b; .param .b32 c;
    st.param.b32 [a], 20; st.param.b32 [b], 2;
    prototype: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
    call (c), %d1, (a, b), prototype;
    ld.param.b32 %r3, [c]; }
    is u32 %r3 42"
}
pointer 0 clean 'mov.b64 %d1, twice;'
pointer 0 clean 'ld.global.b64 %d1, [functions+8];'
pointer 4 'bad-call' 'ld.global.b64 %d1, [functions];'
pointer 4 'bad-call' 'mov.b64 %d1, text;'

# ---- indirect branches ----
branch() {
    try "$1" "$2" "$two" "
        and.b32 %r3, %r0, 3;
        add.u32 %r3, %r3, $3;
        targets: .branchtargets zero, one, more, more;
        brx.idx %r3, targets;
        zero: mov.b32 %r4, 5;
        bra done;
        one: mov.b32 %r4, 6;
        bra done;
        more: mov.b32 %r4, 7;
        done: min.u32 %r5, %r3, 2;
        add.u32 %r5, %r5, 5;
        is u32 %r4 %r5"
}
branch 0 clean 0
branch 4 'branches to target 4 of a list that has 4' 1

# ---- a call of nothing, another name of a function, an address with an offset, constant memory ----
try 0 clean "$one" '
    call.uni nothing, ();
    { .param .b32 a; .param .b32 b; .param .b32 c;
    st.param.b32 [a], 20; st.param.b32 [b], 2;
    call.uni (c), again_twice, (a, b);
    ld.param.b32 %r3, [c]; }
    is u32 %r3 42
    ld.global.b64 %d1, [behind];
    ld.u8 %r3, [%d1];
    is u32 %r3 46
    ld.global.b64 %d1, [bytes];
    ld.u8 %r3, [%d1+4];
    is u32 %r3 46
    mov.u64 %d1, constants;
    cvta.const.u64 %d1, %d1;
    isspacep.const %p1, %d1; @!%p1 trap;
    isspacep.global %p1, %d1; @%p1 trap;
    isspacep.const %p1, %d0; @%p1 trap;'

# ---- which lanes are there ----
try 0 clean "$warp" '
    activemask.b32 %r3;
    shfl.sync.idx.b32 %r4, %r0, 0, 31, %r3;
    shl.b32 %r5, 1, %r0;
    and.b32 %r3, %r3, %r5;
    is b32 %r3 %r5'

# ---- 128 bits, and the CTA of an address ----
try 0 clean "$one" '
    .reg .b128 %q<3>;
    st.shared.v4.u32 [%r1], {1, 2, 3, 4};
    ld.shared.b128 %q1, [%r1];
    mov.b128 %q2, %q1;
    mov.b128 {%d1, %d2}, %q2;
    is b64 %d2 0x400000003
    mov.b128 %q0, {%d2, %d1};
    st.global.b128 [%d0], %q0;
    ld.global.u32 %r3, [%d0+8];
    is u32 %r3 1'
try 0 clean "$two" '
    .reg .b128 %q<4>;
    mov.b64 %d1, 5; mov.b64 %d2, 7;
    mov.b128 %q1, {%d1, %d2}; mov.b128 %q2, {%d2, %d1};
    @%p0 st.shared.b128 [%r1], %q1;
    bar.sync 0;
    @%p0 atom.acq_rel.gpu.global.exch.b128 %q3, [%d0], %q2;
    bar.sync 0;
    atom.global.cas.b128 %q3, [%d0], %q2, %q1;
    atom.shared.cas.b128 %q0, [%r1], %q2, %q1;
    mov.b128 {%d3, %d4}, %q0;
    is b64 %d3 5
    bar.sync 0;
    ld.global.b64 %d3, [%d0];
    is b64 %d3 5'
try 0 clean "$pair" '
    mapa.shared::cluster.u32 %r3, %r1, 1;
    getctarank.shared::cluster.u32 %r4, %r3;
    is u32 %r4 1
    cvt.u64.u32 %d1, %r1;
    mapa.shared::cluster.u64 %d1, %d1, 1;
    cvt.u64.u32 %d2, %r3;
    is u64 %d1 %d2
    getctarank.shared::cluster.u64 %r4, %d1;
    is u32 %r4 1
    cvta.shared::cluster.u64 %d1, %d1;
    getctarank.u64 %r4, %d1;
    is u32 %r4 1'

# ---- parameters and local memory by addresses of 32 bits ----
try 0 clean "$one" '
    .local .align 4 .b8 local[8];
    mov.b32 %r3, map;
    ld.param.u32 %r4, [%r3+4];
    cvt.u64.u32 %d1, %r3;
    cvta.param.u64 %d1, %d1;
    ld.u32 %r5, [%d1+4];
    is b32 %r4 %r5
    mov.b32 %r3, local;
    st.local.b32 [%r3+4], {%r4};
    mov.b64 %d1, local;
    ld.local.b32 {%r5}, [%d1+4];
    is b32 %r4 %r5'

# ---- editing a tensor map ----
try 0 clean "$warp" '
    mad.lo.u32 %r3, %r0, 4, %r1;
    mov.b64 %d2, map;
    cvt.u64.u32 %d3, %r0;
    shl.b64 %d3, %d3, 2;
    add.u64 %d2, %d2, %d3;
    ld.param.u32 %r4, [%d2];
    st.shared.u32 [%r3], %r4;
    bar.warp.sync 0xffffffff;
    @%p0 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 2, 3;
    @%p0 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1], %d0;
    bar.warp.sync 0xffffffff;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d0],
        [%r1], 128;
    fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;'

# In global memory, for a load behind it: what lies behind the map is read into 2 x 8 x 32 fp32.
edit() {
    try "$1" "$2" "$warp" "$(initialized 1)
        mov.b64 %d2, map;
        cvt.u64.u32 %d3, %r0; shl.b64 %d3, %d3, 2;
        add.u64 %d2, %d2, %d3; add.u64 %d3, %d0, %d3;
        ld.param.u32 %r4, [%d2];
        st.global.u32 [%d3], %r4;
        bar.warp.sync 0xffffffff;
        @!%p0 bra done;
        add.u64 %d4, %d0, 4096;
        tensormap.replace.tile.global_address.global.b1024.b64 [%d0], %d4;
        mbarrier.arrive.expect_tx.shared::cta.b64 %d1, [%r1], 2048;
        $3
        cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1+1024],
            [%d0, {0, 0, 0}], [%r1];
        wait: mbarrier.try_wait.shared::cta.b64 %p1, [%r1], %d1;
        @!%p1 bra wait;
        ld.shared.u32 %r5, [%r1+1024];
        is u32 %r5 0
        done:"
}
edit 0 clean 'fence.proxy.tensormap::generic.release.gpu;
    fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;'
edit 4 tensor-map '' # it is not acquired

# By the lanes of another CTA, each with a fence of its own; lane 0 tells of them all. The release by
# the reader covers what fence.sc orders.
edit_apart() {
    try "$1" "$2" "--grid 2 $warp" "$(initialized 1)
        mov.u32 %r3, %ctaid.x;
        setp.eq.u32 %p1, %r3, 0;
        @!%p1 bra reader;
        mov.b64 %d2, map;
        cvt.u64.u32 %d3, %r0; shl.b64 %d3, %d3, 2;
        add.u64 %d2, %d2, %d3; add.u64 %d3, %d0, %d3;
        ld.param.u32 %r4, [%d2];
        st.global.u32 [%d3], %r4;
        $3
        bar.warp.sync 0xffffffff;
        @%p0 st.relaxed.gpu.global.u32 [%d0+2048], 1;
        bra done;
        reader: @!%p0 bra done;
        again: ld.relaxed.gpu.global.u32 %r5, [%d0+2048];
        setp.eq.u32 %p2, %r5, 0;
        @%p2 bra again;
        fence.sc.gpu;
        fence.proxy.tensormap::generic.release.gpu;
        fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;
        mbarrier.arrive.expect_tx.shared::cta.b64 %d1, [%r1], 2048;
        cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1+1024],
            [%d0, {0, 0, 0}], [%r1];
        wait: mbarrier.try_wait.shared::cta.b64 %p3, [%r1], %d1;
        @!%p3 bra wait;
        done:"
}
edit_apart 0 clean 'fence.sc.gpu;'
edit_apart 4 data-race '@%p0 fence.sc.gpu;'

# ---- refused by name ----
refused() { try 5 "$1" "$one" "$2"; }
refused 'red.async.relaxed.cluster.global.add.u32 (1 times' \
    'red.async.relaxed.cluster.global.add.u32 [%d1], %r3;'
refused 'is no .param variable' 'call (%r3), %d1, (%r4), prototype;'
refused 'its list of targets is missing' 'brx.idx %r3, list;'
refused 'this shape, or these types' \
    'wgmma.mma_async.sync.aligned.m64n8k16.f32.tf32.tf32 {%f0, %f1, %f2, %f3}, %d1, %d2, %p1, 1, 1;'
refused 'a mode of Blackwell' \
    'cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [%r1],
        [%d1, {0, 0, 0}], [%r1], {%h1, %h2};'
refused 'there is no such reduction' \
    'cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f64 [%d0], [%r1], 16;'

echo "$number kernels"
exit "$failed"
