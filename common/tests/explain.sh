#!/bin/sh
# explain.sh PROGRAM OPTIONS...: the life of 05_tma_mbarrier's first mbarrier, as --explain prints
# it, obeys the rules of mbarriers. With k of 5 k-tiles and a ring of 3, it brings k-tiles 0 and 3,
# of 32768 bytes each.
program=$1
shift
output=$("$program" --m 128 --n 128 --k 320 --explain mbarrier "$@") || exit 1
printf '%s\n' "$output" | awk '
function fail(what) { print "line " NR ": " what ": " $0; failed = 1 }
$NF == "who" { table = 1; next }
!NF { table = 0 }
!table { next }
{
    phase = $2; parity = $3; pending = $4; missing = $5
    ++lines
    if (parity != phase % 2) fail("parity of phase " phase)
    if ($6 == "init:" && lines != 1) fail("not the first step")
    if ($6 == "expect_tx:") announced += $7
    if ($6 == "complete_tx:") landed += $7
    if ($6 == "arrive:" && before_pending != pending + 1) fail("pending arrivals")
    if ($6 == "flip:") {
        ++flips
        if (before_pending != 0 || before_missing != 0) fail("flips too early")
        if (phase != before_phase + 1 || pending != 1 || missing != 0) fail("the next phase")
        if (announced != 32768 * flips || landed != announced) fail("bytes")
    } else if (lines > 1 && phase != before_phase)
        fail("a phase ends without a flip")
    if ($6 == "try_wait:" && ($7 == "pass," || $7 == "passes,")) {
        if ($9 == parity) fail("passes the phase under way")
        if ($0 ~ /threads 0 to 127/) passed += 128
        else if ($0 ~ / thread [0-9]/) passed += 1
        else if (match($0, /threads [0-9]+ to [0-9]+/)) {
            split(substr($0, RSTART, RLENGTH), word, " ")
            passed += word[4] - word[2] + 1
        }
    }
    before_phase = phase; before_pending = pending; before_missing = missing
}
END {
    if (flips != 2 || passed != 256) { print flips " flips, " passed " passes"; failed = 1 }
    exit failed
}' || { printf '%s\n' "$output"; exit 1; }
