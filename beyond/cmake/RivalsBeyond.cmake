# The rivals of part two's chapters besides those that common/cmake/Rivals.cmake names.
#
#   HOPPER_NCCL=DIR       where include/nccl.h and its library are, such as /usr: cuBLAS with NCCL's
#                         collectives, for the chapter on several GPUs
#   HOPPER_CUDNN=DIR      where include/cudnn.h and lib/libcudnn.so.9 are, and
#   HOPPER_CUDNN_FRONTEND=DIR  where cudnn_frontend.h is, the include directory of
#                         https://github.com/NVIDIA/cudnn-frontend: cuDNN's attention
#   HOPPER_FLASH_ATTENTION=DIR  https://github.com/Dao-AILab/flash-attention, with its submodule
#                         csrc/cutlass: FlashAttention-3
set(HOPPER_NCCL "" CACHE PATH "Where include/nccl.h is; NCCL's collectives join the rotation")
set(HOPPER_CUDNN "" CACHE PATH "Where include/cudnn.h is; cuDNN's attention joins the rotation")
set(HOPPER_CUDNN_FRONTEND "" CACHE PATH "Where cudnn_frontend.h is, which HOPPER_CUDNN needs")
set(HOPPER_FLASH_ATTENTION "" CACHE PATH
  "A checkout of FlashAttention; FlashAttention-3 joins the rotation")

include(${CMAKE_CURRENT_LIST_DIR}/../../common/cmake/Rivals.cmake)
check_rival(HOPPER_NCCL include/nccl.h "name the directory that NCCL is installed in")
check_rival(HOPPER_CUDNN include/cudnn.h "name the directory that cuDNN is installed in")
check_rival(HOPPER_CUDNN_FRONTEND cudnn_frontend.h
  "name the include directory of a checkout of https://github.com/NVIDIA/cudnn-frontend")
check_rival(HOPPER_FLASH_ATTENTION hopper/flash_fwd_launch_template.h
  "name a checkout of https://github.com/Dao-AILab/flash-attention")
check_rival(HOPPER_FLASH_ATTENTION csrc/cutlass/include/cute/tensor.hpp
  "fetch its submodule: git submodule update --init csrc/cutlass")
if(HOPPER_CUDNN AND NOT HOPPER_CUDNN_FRONTEND)
  message(FATAL_ERROR "HOPPER_CUDNN needs HOPPER_CUDNN_FRONTEND: the headers of its front end")
endif()

# What the chapters' RIVALS need of them. NCCL is a library to link; cuDNN's is loaded at run time.
function(add_rivals_beyond)
  if(HOPPER_NCCL)
    target_compile_definitions(hopper_rivals INTERFACE HOPPER_NCCL)
    target_include_directories(hopper_rivals SYSTEM INTERFACE ${HOPPER_NCCL}/include)
    find_library(nccl_library NAMES nccl libnccl.so.2 PATHS ${HOPPER_NCCL}/lib
      ${HOPPER_NCCL}/lib/x86_64-linux-gnu ${HOPPER_NCCL}/lib64 NO_DEFAULT_PATH REQUIRED NO_CACHE)
    target_link_libraries(hopper_gpu PUBLIC ${nccl_library})
  endif()
  if(HOPPER_CUDNN)
    target_compile_definitions(hopper_rivals INTERFACE "HOPPER_CUDNN=\"${HOPPER_CUDNN}\"")
    target_include_directories(hopper_rivals SYSTEM INTERFACE ${HOPPER_CUDNN}/include
      ${HOPPER_CUDNN_FRONTEND})
  endif()
  # FlashAttention-3's own files of kernels, and options as its setup.py has them. What the chapter
  # does not ask for is switched off, or each file would have many times as many kernels.
  if(HOPPER_FLASH_ATTENTION)
    set(includes ${HOPPER_FLASH_ATTENTION}/hopper ${HOPPER_FLASH_ATTENTION}/csrc/cutlass/include)
    target_compile_definitions(hopper_rivals INTERFACE HOPPER_FLASH_ATTENTION)
    target_include_directories(hopper_rivals SYSTEM INTERFACE ${includes})
    set(options -std=c++17 --use_fast_math --expt-relaxed-constexpr)
    set(definitions CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED CUTLASS_ENABLE_GDC_FOR_SM90
      CUTLASS_DEBUG_TRACE_LEVEL=0)
    foreach(feature IN ITEMS APPENDKV LOCAL SM8x VARLEN)
      list(APPEND definitions FLASHATTENTION_DISABLE_${feature})
    endforeach()
    unset(CMAKE_CUDA_STANDARD) # an option, as in common/gpu/rivals
    foreach(kernels IN ITEMS hdim128_bf16 hdim128_fp16 hdim64_bf16 hdim64_fp16)
      add_rival(flash_${kernels}
        ${HOPPER_FLASH_ATTENTION}/hopper/instantiations/flash_fwd_${kernels}_sm90.cu ${definitions})
    endforeach()
  endif()
endfunction()
