#!/bin/sh
# library_links.sh PROGRAM: a program of chapter 10's library alone. It needs no library of the
# toolkit at run time, and nothing of the harness, the simulator or the timelines was linked into it.
set -u
program=$1

fail() {
    echo "library_links: $1" >&2
    exit 1
}
needed=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p') || fail "no readelf"
foreign=$(echo "$needed" | grep -Ei 'cublas|nvrtc|cudart|libcuda')
[ -z "$foreign" ] || fail "it needs at run time: $foreign"
inside=$(nm "$program" | grep -E ' [TDB] (cublas|backend_|experiment_|timeline_|sim_|nvml_)')
[ -z "$inside" ] || fail "it contains:
$inside"
