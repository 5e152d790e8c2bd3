# Rivals: kernels of other projects that join the rotation, compiled from checkouts that the user
# names. Nothing of them is in this repository.
#
#   HOPPER_DEEPGEMM=DIR   https://github.com/deepseek-ai/DeepGEMM, with its submodule
#                         third-party/cutlass
#   HOPPER_CUTLASS=DIR    https://github.com/NVIDIA/cutlass
#   HOPPER_RIVAL_SHAPES   NxK;NxK…: DeepGEMM's kernels with these n and k as constants besides those
#                         with any
#
# Needs CMake alone, so that a wrong DIR is found before any compiler is looked for:
# cmake -DHOPPER_CUTLASS=DIR -P common/cmake/Rivals.cmake.
set(HOPPER_DEEPGEMM "" CACHE PATH "A checkout of DeepGEMM, whose kernels join the rotation")
set(HOPPER_CUTLASS "" CACHE PATH "A checkout of CUTLASS, whose kernels join the rotation")
set(HOPPER_RIVAL_SHAPES "7168x16384;4096x7168;24576x1536;8192x8192;7168x2048" CACHE STRING
  "n x k for which DeepGEMM's kernels are compiled with both as constants")

# A file by which a checkout is known, and what to do if it is not there.
function(check_rival option file advice)
  if(${option} AND NOT EXISTS "${${option}}/${file}")
    message(FATAL_ERROR "${option}=${${option}}: there is no ${file} in it; ${advice}")
  endif()
  if(${option} AND DEFINED HOPPER_GPU_PROGRAMS AND NOT HOPPER_GPU_PROGRAMS)
    message(FATAL_ERROR "${option} needs the GPU programs: ${HOPPER_NO_GPU}")
  endif()
endfunction()
check_rival(HOPPER_DEEPGEMM deep_gemm/include/deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh
  "name a checkout of https://github.com/deepseek-ai/DeepGEMM")
check_rival(HOPPER_DEEPGEMM third-party/cutlass/include/cute/tensor.hpp
  "fetch its submodule: git submodule update --init third-party/cutlass")
check_rival(HOPPER_CUTLASS include/cutlass/gemm/collective/collective_builder.hpp
  "name a checkout of https://github.com/NVIDIA/cutlass, version 3.8 or newer")
check_rival(HOPPER_CUTLASS tools/util/include/cutlass/util/mixed_dtype_utils.hpp
  "name a complete checkout of https://github.com/NVIDIA/cutlass, version 3.8 or newer")
foreach(shape IN LISTS HOPPER_RIVAL_SHAPES)
  if(NOT shape MATCHES "^[1-9][0-9]*x[1-9][0-9]*$")
    message(FATAL_ERROR "HOPPER_RIVAL_SHAPES: '${shape}' is not NxK, such as 7168x16384")
  endif()
endforeach()
