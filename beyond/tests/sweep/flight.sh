#!/bin/sh
# flight.sh SWEEP: --flight verifies every launch of those in flight. SWEEP is linked with
# registry_flight.c. A kernel whose later launches compute what the first one did passes all other
# checks, with several launches, too, and fails this one.
set -u
sweep=$1
. "$(dirname "$0")/../../../common/tests/support/expect_run.sh"

common='--chapter 13_two_gpus --dtype bf16 --sms 2'
for variant in '' '--variant through_tma' '--variant copy_warps' '--variant all_gather'; do
    expect 0 '3 in flight: 3 launches, 0 failures, 0 hazards' "$sweep" $common $variant \
        --flight 3 --size 200x300x192
done
expect 0 '2 in flight: 4 launches, 0 failures' "$sweep" $common --flight 2 --random 2 --largest 200
expect 0 '2 in flight: 4 launches, 0 failures' "$sweep" $common --flight 2 --repeat 2 \
    --size 136x264x130
expect 0 '0 failures' "$sweep" $common --variant stale --repeat 2 --launches 3 --size 136x264x130
expect 1 'launch 2 of 3 is wrong' "$sweep" $common --variant stale --flight 3 --size 136x264x130
expect 2 'usage' "$sweep" $common --flight 0
exit $failed
