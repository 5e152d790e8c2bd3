#!/bin/sh
# times.sh CHAPTER DIR: --trace and --report say where they wrote, and call the times cycles where
# they are, and steps under a schedule that keeps no time.
set -eu
chapter=$1 dir=$2
mkdir -p "$dir"
fail() { echo "$1" >&2; exit 1; }
for schedule in time early late random; do
    tick=step other=cycle times="steps of the simulator"
    if [ $schedule = time ]; then tick=cycle other=step times="simulated cycles"; fi
    trace=$dir/$schedule.json
    "$chapter" --size 128 --schedule $schedule --trace "$trace" --report "$dir/$schedule" \
        >"$dir/said"
    grep -qF ", in $times: $trace" "$dir/said" || fail "$schedule: $(cat "$dir/said")"
    grep -qF "$dir/$schedule/index.html" "$dir/said" || fail "$schedule: $(cat "$dir/said")"
    grep -q "\"args\":{\"$tick\":[0-9]*,\"${tick}s\":" "$trace" || fail "$trace: no ${tick}s"
    ! grep -q "{\"$other\":" "$trace" || fail "$trace: ${other}s"
    grep -q "\"times\":\"$times\",\"tick\":\"$tick\"" "$dir/$schedule/index.html" ||
        fail "$schedule: the page does not say $times"
    for figure in "$dir/$schedule"/*.svg; do
        grep -q "in $times" "$figure" || fail "$figure does not say $times"
        ! grep -q "in simulated ${other}s\|every [0-9]* ${other}s" "$figure" || fail "$figure: $other"
    done
    # The stack of a program with one step, and its own figure.
    [ "$(ls "$dir/$schedule"/*.svg | wc -l)" -eq 2 ] || fail "$schedule: figures"
done
rm -r "$dir"
