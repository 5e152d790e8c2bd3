#!/bin/sh
# halves.sh FOLDER-OF-COMMON: what the headers of hopper/ and blackwell/ define for nvcc and what their
# halves in sim/hopper/ and sim/blackwell/ define for a C compiler are the same names.
set -u
cd "$1" || exit 2
failed=0
# What a kernel may use: functions and macros of lower-case names, and the words of the language.
# Names that only build others (WGMMA_DEFINE, sim_...) are the halves' own.
words='DEVICE|KERNEL|KERNEL_ARGS|UNROLL|NO_UNROLL|SHARED_MEMORY|VERB|VERB_VALUE|VERB_OF'
names() {
    sed -nE \
        -e 's/^#define ([a-z_][A-Za-z0-9_]*)\(.*/\1/p' \
        -e "s/^#define ($words)([ (].*|)\$/\1/p" \
        -e 's/^DEVICE [^(]*[ *]([a-z_][A-Za-z0-9_]*)\(.*/\1/p' "$@" |
        grep -vE '^(sim_|__|wgmma_descriptor$|tcgen05_instruction$)' | sort -u
}
for theirs in hopper/*.h blackwell/*.h; do
    ours=sim/$theirs
    [ -f "$ours" ] || { echo "$theirs has no half, $ours"; failed=1; continue; }
    # The part under __CUDACC__, to where the other half is included.
    work=$(mktemp) || exit 2
    sed -n '/^#ifdef __CUDACC__$/,/^#include "sim/p' "$theirs" >"$work"
    halves=$ours
    [ "$ours" = sim/hopper/thread.h ] && halves="$ours sim/hopper/call.h"
    nvcc_names=$(names "$work")
    # shellcheck disable=SC2086 # a list of files
    c_names=$(names $halves)
    rm -f "$work"
    [ -n "$nvcc_names" ] || { echo "$theirs defines nothing"; failed=1; }
    [ "$nvcc_names" = "$c_names" ] && continue
    echo "$theirs and $ours differ (< only nvcc, > only C):"
    printf '%s\n' "$nvcc_names" >"/tmp/halves.$$.a"
    printf '%s\n' "$c_names" >"/tmp/halves.$$.b"
    diff "/tmp/halves.$$.a" "/tmp/halves.$$.b" | grep '^[<>]'
    rm -f "/tmp/halves.$$.a" "/tmp/halves.$$.b"
    failed=1
done
for ours in sim/hopper/*.h sim/blackwell/*.h; do
    name=$(basename "$ours")
    [ "$name" = call.h ] || [ "$name" = memory_calls.h ] || [ "$name" = turns.h ] ||
        [ -f "${ours#sim/}" ] ||
        { echo "$ours is the half of nothing"; failed=1; }
done
exit "$failed"
