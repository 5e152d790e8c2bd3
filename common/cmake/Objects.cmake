# What kernels, kinds of problems and rivals are compiled to: object libraries.

# add_kernel_objects(prefix language kernel suffix objects): compiles a kernel for each of its
# types; `suffix` is "" or "_trace". The record is <symbol><suffix>_<type>, and so is the object
# library, behind <prefix>_. Sets `objects` in the caller: the libraries.
function(add_kernel_objects prefix language kernel suffix objects)
  get_kernel(${kernel} SYMBOL FILE MACROS TYPES VARIANT ARCH PTX)
  set(source ${PROJECT_SOURCE_DIR}/${file})
  set(made "")
  if(NOT file MATCHES "\\.cu$") # a selection, which has the kernels of all types
    set(types "")
    set(made ${prefix}_${symbol})
    add_library(${made} OBJECT ${source})
    target_include_directories(${made} PRIVATE ${PROJECT_SOURCE_DIR}/common ${HOPPER_INCLUDES})
  else()
    set_source_files_properties(${source} PROPERTIES LANGUAGE ${language})
  endif()
  foreach(type IN LISTS types)
    set(object ${prefix}_${symbol}${suffix}_${type})
    list(APPEND made ${object})
    add_library(${object} OBJECT ${source})
    target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/common ${HOPPER_INCLUDES})
    target_compile_definitions(${object} PRIVATE GEMM_KERNEL=${symbol}${suffix}_${type}
      GEMM_BF16_ELEMENTS=$<NOT:$<STREQUAL:${type},fp16>> TRACE=$<STREQUAL:${suffix},_trace>
      ${macros})
    if(variant)
      target_compile_definitions(${object} PRIVATE "GEMM_VARIANT=\"${variant}\"")
    endif()
    if(language STREQUAL "CUDA")
      set_architectures(${object} ${arch} ${ptx})
      # Without exceptions and locked statics, nvcc's host code needs no library of C++.
      target_compile_options(${object} PRIVATE -lineinfo
        -Xcompiler=-fno-exceptions,-fno-threadsafe-statics)
      if(suffix STREQUAL "_trace") # the wrappers speak for the kernel
        target_compile_options(${object} PRIVATE
          "SHELL:-include ${PROJECT_SOURCE_DIR}/common/timeline/recorder.h")
      endif()
    else()
      target_compile_options(${object} PRIVATE ${HOPPER_SIM_KERNEL_OPTIONS}
        ${HOPPER_SIM_WATCH_OPTIONS} ${HOPPER_SIM_KERNEL_WARNINGS})
    endif()
  endforeach()
  set(${objects} ${made} PARENT_SCOPE)
endfunction()

# What a target's kernels are compiled to: machine code, and PTX unless that is 0 or the toolkit
# lacks it. PTX is for a compute capability besides 9.0's machine code. A driver compiles it for the
# GPU that it finds, once, and keeps the result. With machine code for each of 8.0, 8.6, 8.9 and
# 12.0 a kernel would take nvcc two or three times as long.
function(set_architectures target arch ptx)
  set(architectures ${arch}-real)
  if(ptx IN_LIST HOPPER_PTX_CAPABILITIES)
    list(APPEND architectures ${ptx}-virtual)
    if(HOPPER_PTX_ONLY)
      set(architectures ${ptx}-virtual)
    endif()
  endif()
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
endfunction()

# ptxas's remarks on a target's kernels stop the build. Within another project they do not.
function(add_ptxas_check target)
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE -Xptxas -v)
    set_target_properties(${target} PROPERTIES
      CUDA_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/common/cmake/ptxas_check.sh)
  endif()
endfunction()

# An object of a chapter's kernel is there even if its file does not compile, and the chapter's
# program is then refused: compile_kernel.sh.
function(let_compiler_refuse object language)
  set(launcher ${PROJECT_SOURCE_DIR}/common/cmake/compile_kernel.sh)
  get_target_property(before ${object} ${language}_COMPILER_LAUNCHER)
  if(before)
    list(APPEND launcher ${before})
  endif()
  set_target_properties(${object} PROPERTIES ${language}_COMPILER_LAUNCHER "${launcher}")
endfunction()

# Sets in the caller the files of object libraries.
function(files_of variable)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE files)
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

# Compiles the C file `kind` as the object library `target`. With KIND_ON_GPU 1 it may use CUDA's
# libraries, for its baselines.
function(add_kind_object backend kind target)
  add_library(${target} OBJECT ${PROJECT_SOURCE_DIR}/${kind})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/common ${HOPPER_INCLUDES})
  target_compile_definitions(${target} PRIVATE KIND_ON_GPU=$<STREQUAL:${backend},gpu>)
endfunction()

# Compiles a chapter's RIVALS as gpu_rivals_<program>; sets `objects` in the caller: that, and the
# kernels that they call. What they need of checkouts, hopper_rivals has (Rivals.cmake).
function(add_rival_objects program objects)
  get_chapter(${program} DIRECTORY RIVALS FROM TYPES)
  set(files ${rivals})
  list(FILTER files INCLUDE REGEX "\\.cu?$")
  list(FILTER rivals EXCLUDE REGEX "\\.cu?$")
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/${directory}/)
  set(target gpu_rivals_${program})
  add_library(${target} OBJECT ${files})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/common ${HOPPER_INCLUDES})
  target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE GEMM_BF16_ELEMENTS=1)
  target_link_libraries(${target} PRIVATE hopper_rivals)
  set(made ${target})
  string(REPLACE ":" "_" from "${from}")
  foreach(type IN LISTS types)
    string(TOUPPER ${type} TYPE)
    target_compile_definitions(${target} PRIVATE FROM_KERNEL_${TYPE}=kernel_${from}_${type})
    list(APPEND made gpu_kernel_${from}_${type})
  endforeach()
  foreach(chapter IN LISTS rivals)
    cmake_path(GET chapter FILENAME rival)
    get_kernel(kernel_${rival} TYPES)
    list(TRANSFORM types PREPEND gpu_kernel_${rival}_)
    list(APPEND made ${types})
  endforeach()
  set(${objects} ${made} PARENT_SCOPE)
endfunction()
