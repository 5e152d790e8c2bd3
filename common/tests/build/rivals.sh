#!/bin/sh
# rivals.sh SOURCE WORK CMAKE: a checkout that is not there, is another project's or lacks its
# submodule, and a shape that is none, are refused in one message that names the option, the missing
# file and what to do; good ones pass. The adapters themselves need the checkouts and a CUDA
# toolkit, and are not built here.
set -u
source=$1 work=$2 cmake=$3
rm -rf "$work"
for file in DeepGEMM/deep_gemm/include/deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh \
    DeepGEMM/third-party/cutlass/include/cute/tensor.hpp \
    bare/deep_gemm/include/deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh \
    cutlass/include/cutlass/gemm/collective/collective_builder.hpp \
    cutlass/tools/util/include/cutlass/util/mixed_dtype_utils.hpp \
    wheel/include/cutlass/gemm/collective/collective_builder.hpp; do
    mkdir -p "$work/${file%/*}" && : >"$work/$file" || exit 1
done

. "$source/common/tests/build/rival_checks.sh"

check=$source/common/cmake/Rivals.cmake
accepted -P "$check"
accepted "-DHOPPER_DEEPGEMM=$work/DeepGEMM" "-DHOPPER_CUTLASS=$work/cutlass" -P "$check"
refused "HOPPER_DEEPGEMM=$work/none: there is no deep_gemm/include" \
    "-DHOPPER_DEEPGEMM=$work/none" -P "$check"
refused 'name a checkout of https://github.com/deepseek-ai/DeepGEMM' \
    "-DHOPPER_DEEPGEMM=$work/cutlass" -P "$check"
refused 'git submodule update --init third-party/cutlass' "-DHOPPER_DEEPGEMM=$work/bare" -P "$check"
refused "HOPPER_CUTLASS=$work/DeepGEMM: there is no include/cutlass" \
    "-DHOPPER_CUTLASS=$work/DeepGEMM" -P "$check"
refused 'mixed_dtype_utils.hpp in it; name a complete checkout' "-DHOPPER_CUTLASS=$work/wheel" \
    -P "$check"
refused "HOPPER_RIVAL_SHAPES: '7168' is not NxK" '-DHOPPER_RIVAL_SHAPES=4096x512;7168' -P "$check"
# The project itself asks, and without the GPU programs a good checkout is of no use.
refused "HOPPER_CUTLASS=$work/none: there is no include/cutlass" -S "$source" -B "$work/build" \
    -DHOPPER_GPU=OFF "-DHOPPER_CUTLASS=$work/none"
refused 'HOPPER_CUTLASS needs the GPU programs: this build directory is configured without' \
    -S "$source" -B "$work/build" -DHOPPER_GPU=OFF "-DHOPPER_CUTLASS=$work/cutlass"
[ "$failures" -eq 0 ]
