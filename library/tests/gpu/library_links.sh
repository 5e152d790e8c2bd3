#!/bin/sh
# library_links.sh PROGRAM ARCHIVE: the library hopper_gemm, and a program of it alone.
#
# The archive's global names all begin with hopper_gemm, and every function of the header is among
# them. The program needs no library of the toolkit at run time and none of C++, and nothing of the
# harness, the simulator or the timelines was linked into it.
set -u
program=$1 archive=$2

fail() {
    echo "library_links: $1" >&2
    exit 1
}
globals=$(nm --defined-only --extern-only "$archive" | sed -n 's/^[0-9a-f]* [A-Z] //p') ||
    fail "no nm"
others=$(echo "$globals" | grep -v '^hopper_gemm')
[ -z "$others" ] || fail "names that others may have, too:
$others"
for name in hopper_gemm hopper_gemm_workspace hopper_gemm_plan_create hopper_gemm_plans_create \
    hopper_gemm_plan_set_early hopper_gemm_plan_run hopper_gemm_plan_workspace \
    hopper_gemm_plan_destroy; do
    echo "$globals" | grep -qx $name || fail "the archive has no $name"
done
needed=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p') || fail "no readelf"
foreign=$(echo "$needed" | grep -Ei 'cublas|nvrtc|cudart|libcuda|c\+\+')
[ -z "$foreign" ] || fail "it needs at run time: $foreign"
inside=$(nm "$program" | grep -E ' [TDB] (cublas|backend_|experiment_|timeline_|sim_|nvml_)')
[ -z "$inside" ] || fail "it contains:
$inside"
