#!/bin/bash
# waves_test.sh DIRECTORY WAVES...: the shares of idle time in traces that are worked out by hand,
# and traces that WAVES must reject.
set -u
. "$(dirname "$0")/../../../common/tests/support/expect_same.sh"
mkdir -p "$1" && cd "$1" || exit 2
shift
command=("$@")
waves() { "${command[@]}" "$@"; }

# trace CYCLES SIZE EVENTS: a trace of a kernel with k-tiles of 40 cycles.
trace() {
    printf '{"traceEvents":[%s\n{"ph":"M","name":"trace_end","pid":0,"tid":0,"args":{}}],' "$3"
    printf '"otherData":{"kernel":{"source":"simulated","m":%d,"n":1,"k":1,' "$2"
    printf '"cycles":%s,"k_tile_period":40}}}\n' "$1"
}
# cta PROCESS SM: its two tracks.
cta() {
    printf '{"ph":"M","name":"process_name","pid":%d,"args":{"name":"kernel, SM %d, CTA 0"}},' "$@"
    printf '{"ph":"M","name":"thread_name","pid":%d,"tid":1,"args":{"name":"producer"}},' "$1"
    printf '{"ph":"M","name":"thread_name","pid":%d,"tid":2,"args":{"name":"Tensor Core"}},' "$1"
}
# span PROCESS TRACK BEGIN CYCLES
span() {
    printf '{"ph":"X","pid":%d,"tid":%d,"name":"x","args":{"cycle":%d,"cycles":%d}},' "$@"
}

# Two SMs, 200 cycles. The first multiplies from 20 to 60 and from 100 to 180, the second from 20 to
# 100: 20 and 100 cycles after the last multiplication, 80 and 120 in all. The producer's track does
# not count, nor does the second CTA of an SM.
two="$(cta 1 0)$(span 1 1 0 200)$(span 1 2 20 40)$(span 1 2 100 80)$(cta 2 5)$(span 2 2 20 80)"
two="$two$(cta 3 5)$(span 3 2 20 80)"
trace 200 1 "$two" >two.json
waves waves.svg two.json >table
expect 'exit code' 0 $?
expect 'shares' 'kernel 200 30.0 % 50.0 %' "$(sed -n 2p table | tr -s ' ')"
expect 'lanes' 'SM 0 SM 5' "$(grep -o '>SM [0-9]*' waves.svg | tr -d '>\n' | sed 's/SM/ SM/2')"
expect 'multiplications drawn' 3 "$(grep -c '^<rect class="mma" .*height="13.0"' waves.svg)"

# A pause of less than a quarter of a k-tile is not drawn, and counts all the same.
trace 100 1 "$(cta 1 0)$(span 1 2 0 40)$(span 1 2 45 45)" >pause.json
waves waves.svg pause.json >table
expect 'shares with a pause' 'kernel 100 10.0 % 15.0 %' "$(sed -n 2p table | tr -s ' ')"
expect 'multiplications with a pause' 1 "$(grep -c '^<rect class="mma" .*height="13.0"' waves.svg)"

# Without the cycles of the run, the last span ends it. Both kernels have one axis.
trace null 1 "$(cta 1 0)$(span 1 2 0 40)$(span 1 1 0 50)" >short.json
waves waves.svg short.json two.json >table
expect 'shares without cycles' 'kernel 50 20.0 % 20.0 %' "$(sed -n 2p table | tr -s ' ')"
expect 'the short lane' 175.0 \
    "$(sed -n 's/^<rect class="idle" .*width="\([0-9.]*\)" height="13.0".*/\1/p;' waves.svg | head -n 1)"
expect 'its multiplication' 139.50 \
    "$(sed -n 's/^<rect class="mma" .*width="\([0-9.]*\)" height="13.0".*/\1/p;' waves.svg | head -n 1)"

# Of many SMs each is a line, in the order in which they end; pauses of less than a k-tile do not
# show. SM i ends at 95 + 5 i, and has a pause of 35 cycles and one of 45.
many=
for sm in $(seq 0 19); do
    many="$many$(cta $((sm + 1)) "$sm")$(span $((sm + 1)) 2 0 5)$(span $((sm + 1)) 2 40 5)"
    many="$many$(span $((sm + 1)) 2 90 $((5 + 5 * sm)))"
done
trace 280 1 "$many" >many.json
waves many.svg many.json >table
expect 'lines' 20 "$(grep -c '^<rect class="idle" .*height="2.0"' many.svg)"
expect 'multiplications of many' 40 "$(grep -c '^<rect class="mma" .*height="2.0"' many.svg)"
expect 'label of many' 1 "$(grep -c '>20 SMs<' many.svg)"
first=$(grep -n '^<rect class="mma" .*height="2.0"' many.svg | sed -n '2s/.* width="\([0-9.]*\)".*/\1/p')
last=$(grep -n '^<rect class="mma" .*height="2.0"' many.svg | sed -n '40s/.* width="\([0-9.]*\)".*/\1/p')
expect 'the longest first' yes "$(awk -v a="$first" -v b="$last" 'BEGIN { if (a > 10 * b) print "yes" }')"
expect 'inferred lines' 0 "$(grep -c 'multiplications are inferred' many.svg)"
sed 's/"simulated"/"measured"/; s/"ph":"X"/"ph":"X","cat":"inferred"/g' many.json >gpu.json
waves gpu.svg gpu.json >table
expect 'inferred lines of a GPU' '1 0' \
    "$(grep -c 'multiplications are inferred' gpu.svg) $(grep -c '>hatched' gpu.svg)"
expect 'a measured figure' yes "$(grep -q 'on one time axis, measured' gpu.svg &&
    grep -q 'SM clock cycles' gpu.svg && echo yes)"

# What it must reject: another problem, steps instead of cycles, no trace, no file.
trace 200 2 "$two" >other.json
trace 200 1 "$(cta 1 0)$(span 1 2 0 40 | sed 's/cycle/step/g')" >steps.json
trace 200 1 "$(span 1 2 0 40)" >nothing.json
echo '{"traceEvents":[]}' >no.json
rm -f missing.json
for file in other steps nothing no missing; do
    waves rejected.svg two.json $file.json >log 2>&1
    expect "exit code of $file.json" 2 $?
    expect "its message" 1 "$(grep -c "waves: $file.json " log)"
    expect "a figure of $file.json" no "$([ -e rejected.svg ] && echo yes || echo no)"
done

# Eight kernels at most.
waves rejected.svg two.json two.json two.json two.json two.json two.json two.json two.json two.json \
    >log 2>&1
expect 'exit code of nine kernels' 2 $?
exit $((failures > 0))
