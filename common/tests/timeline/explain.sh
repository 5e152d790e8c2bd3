#!/bin/sh
# explain.sh FLIPS PASSES BYTES COMMAND...: the life of an mbarrier that COMMAND prints obeys the
# rules of mbarriers, runs forwards and stands in its columns. FLIPS phases are shown complete, each
# after BYTES bytes, and threads pass PASSES times.
flips=$1 passes=$2 bytes=$3
shift 3
output=$("$@") || exit 1
printf '%s\n' "$output" | awk -v flips_due="$flips" -v passes_due="$passes" -v bytes="$bytes" '
function fail(what) { print "line " NR ": " what ": " $0; failed = 1 }
# Behind two blanks, a word of `line` begins at place `at`.
function begins(line, at) { return substr(line, at - 2, 3) ~ /^  [^ ]/ }
$NF == "who" {
    table = 1
    what_at = index($0, "what happens"); who_at = index($0, "who")
    for (i = 1; i <= 5; ++i) ends[i] = index($0, $i) + length($i) - 1
    next
}
!NF { table = 0 }
!table || $1 == "..." { next }
{
    if (!begins($0, what_at) || !begins($0, who_at)) fail("a column of words begins elsewhere")
    for (i = 1; i <= 5; ++i)
        if (substr($0, ends[i], 2) !~ /[0-9] /) fail("column " i " ends elsewhere")
    if ($1 + 0 < cycle + 0) fail("earlier than the step before, " cycle)
    cycle = $1
    phase = $2; parity = $3; pending = $4; missing = $5
    ++lines
    if (parity != phase % 2) fail("parity of phase " phase)
    if ($6 == "init:" && lines != 1) fail("not the first step")
    if ($6 == "expect_tx:") announced += $7
    if ($6 == "complete_tx:") landed += $7
    if ($6 == "init:") expected = pending
    if ($6 == "arrive:" && before_pending != pending + ($7 == "one" ? 1 : $7))
        fail("pending arrivals")
    if ($6 == "flip:") {
        ++flips
        if (before_pending != 0 || before_missing != 0) fail("flips too early")
        if (phase != before_phase + 1 || pending != expected || missing != 0) fail("the next phase")
        if (announced != bytes * flips || landed != announced) fail("bytes")
    } else if (lines > 1 && phase != before_phase)
        fail("a phase ends without a flip")
    if ($6 == "try_wait:" && ($7 == "pass," || $7 == "passes,")) {
        if ($9 == parity) fail("passes the phase under way")
        if ($0 ~ / thread [0-9]/) passed += 1
        else if (match($0, /threads [0-9]+ to [0-9]+/)) {
            split(substr($0, RSTART, RLENGTH), word, " ")
            passed += word[4] - word[2] + 1
        }
    }
    before_phase = phase; before_pending = pending; before_missing = missing
}
END {
    if (flips != flips_due || passed != passes_due) {
        print flips " flips, " passed " passes"
        failed = 1
    }
    exit failed
}' || { printf '%s\n' "$output"; exit 1; }
