#!/bin/sh
# step_lines.sh SOURCE: the last column of the front page's table of steps is the number of lines in
# which each step's file differs from that of the step before.
set -u
cd "$1" || exit 1
status=0
checked=0

# step ROW OLD NEW: the row begins with this link text.
step() {
    lines=$(diff "$2" "$3" | grep -c '^[<>]')
    said=$(sed -n "/^| step | hides/,/^\$/s/^| \[$1\].* | \([0-9]*\) |\$/\1/p" README.md)
    checked=$((checked + 1))
    [ "$lines" = "$said" ] && return
    echo "README.md says '$said' lines for $1, and diff $2 $3 shows $lines"
    status=1
}

tiled=02_smem_tiled/kernel.cu ring=03_cp_async_multistage/kernel.cu
fragments=04_rf_double_buffer/kernel.cu tma=05_tma_mbarrier/kernel.cu wgmma=06_wgmma/kernel.cu
two=06_wgmma/two_warpgroups.cu specialized=07_warp_specialized/kernel.cu
persistent=08_persistent_pingpong/persistent.cu

step 02_smem_tiled 01_naive/kernel.cu "$tiled"
step 03_cp_async_multistage "$tiled" "$ring"
step 04_rf_double_buffer "$ring" "$fragments"
step 05_tma_mbarrier "$fragments" "$tma"
step 06_wgmma "$tma" "$wgmma"
step '06: two_warpgroups.cu' "$wgmma" "$two"
step 07_warp_specialized "$two" "$specialized"
step '08: persistent.cu' "$specialized" "$persistent"
step 08_persistent_pingpong "$persistent" 08_persistent_pingpong/kernel.cu
step 09_cluster_multicast "$persistent" 09_cluster_multicast/kernel.cu
rows=$(sed -n '/^| step | hides/,/^$/p' README.md | grep -c '^| \[.* | [0-9]* |$')
[ "$rows" -eq "$checked" ] || { echo "the table has $rows such rows, not $checked" && status=1; }
exit $status
