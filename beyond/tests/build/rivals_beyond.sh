#!/bin/sh
# rivals_beyond.sh SOURCE WORK CMAKE: part two's checkouts and libraries, as rivals.sh has it.
set -u
source=$1 work=$2 cmake=$3
rm -rf "$work"
for file in cudnn/include/cudnn.h flash/hopper/flash_fwd_launch_template.h nccl/include/nccl.h; do
    mkdir -p "$work/${file%/*}" && : >"$work/$file" || exit 1
done
. "$source/common/tests/build/rival_checks.sh"

check=$source/beyond/cmake/RivalsBeyond.cmake
accepted -P "$check"
accepted "-DHOPPER_NCCL=$work/nccl" -P "$check"
refused "HOPPER_NCCL=$work/none: there is no include/nccl.h" "-DHOPPER_NCCL=$work/none" -P "$check"
refused "HOPPER_CUDNN=$work/none: there is no include/cudnn.h" "-DHOPPER_CUDNN=$work/none" \
    "-DHOPPER_CUDNN_FRONTEND=$work" -P "$check"
refused 'HOPPER_CUDNN needs HOPPER_CUDNN_FRONTEND' "-DHOPPER_CUDNN=$work/cudnn" -P "$check"
refused "HOPPER_FLASH_ATTENTION=$work/none: there is no hopper/flash_fwd" \
    "-DHOPPER_FLASH_ATTENTION=$work/none" -P "$check"
refused 'git submodule update --init csrc/cutlass' "-DHOPPER_FLASH_ATTENTION=$work/flash" \
    -P "$check"
refused 'HOPPER_NCCL needs the GPU programs: this build directory is configured without' \
    -S "$source" -B "$work/build" -DHOPPER_GPU=OFF "-DHOPPER_NCCL=$work/nccl"
[ "$failures" -eq 0 ]
