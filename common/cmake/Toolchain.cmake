# Compilers: which are accepted, how they are called, and whether there is a CUDA toolkit.

# The floors, all in one place. gcc 12, clang 14 and CUDA 13.0 are what continuous integration
# compiles with; a floor below is the first version that has what the sources use, and no
# build with it has been tried here.
set(HOPPER_GCC_FLOOR 11)    # the simulator's vector code under -Werror
set(HOPPER_CLANG_FLOOR 14)
set(HOPPER_CUDA_FLOOR 12.5) # cudaGetDriverEntryPointByVersion

# Within another project all of this is for our directories alone, and warnings stay warnings.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# CMake's own flags for this type switch assertions off; here they stay.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
# A warning stops the build; `cmake --compile-no-warning-as-error` lets a compiler newer than ours
# pass.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_COMPILE_WARNING_AS_ERROR)
  set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()

if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS HOPPER_GCC_FLOOR)
  message(FATAL_ERROR "gcc ${CMAKE_C_COMPILER_VERSION} is too old: needs ${HOPPER_GCC_FLOOR}. "
                      "Set CC to a newer compiler and configure in an empty build directory.")
elseif(CMAKE_C_COMPILER_ID STREQUAL "Clang" AND
       CMAKE_C_COMPILER_VERSION VERSION_LESS HOPPER_CLANG_FLOOR)
  message(FATAL_ERROR "clang ${CMAKE_C_COMPILER_VERSION} is too old: needs ${HOPPER_CLANG_FLOOR}. "
                      "Set CC to a newer compiler and configure in an empty build directory.")
elseif(NOT CMAKE_C_COMPILER_ID MATCHES "^(GNU|Clang|AppleClang)$")
  message(WARNING "Only gcc and clang are tried; ${CMAKE_C_COMPILER_ID} may lack GNU C.")
endif()

# -Wno-psabi: gcc's remark that passing vectors changed its ABI once; nothing here crosses a
# library.
set(HOPPER_C_WARNINGS -Wall -Wextra -Wno-psabi)
add_compile_options("$<$<COMPILE_LANGUAGE:C>:${HOPPER_C_WARNINGS}>")

# The live pages: there is no GPU, and of the options below the one that emcc has.
set(HOPPER_GPU_PROGRAMS OFF)
if(EMSCRIPTEN)
  set(CMAKE_C_FLAGS_MINSIZEREL "") # they are the linker's, too
  set(HOPPER_WASM_OPTIONS -Os -msimd128)
  add_compile_options(${HOPPER_WASM_OPTIONS})
  set(HOPPER_SIM_KERNEL_OPTIONS -ftrivial-auto-var-init=pattern)
  set(HOPPER_SIM_WATCH_OPTIONS "")
  set(HOPPER_SIM_KERNEL_WARNINGS -w) # the simulator's build tells them
  return()
endif()

# How the simulator's kernels are compiled, so that it can see into their variables. A variable
# without a value gets a pattern (gcc 12, clang 8). Arithmetic with a signalling NaN, the mark of an
# accumulator that a wgmma owns, is not optimized away: acc * 1.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
set(HOPPER_SIM_KERNEL_OPTIONS "")
set(CMAKE_REQUIRED_FLAGS -Werror)
foreach(option IN ITEMS -ftrivial-auto-var-init=pattern -fsignaling-nans
                        -ffp-exception-behavior=maytrap)
  string(MAKE_C_IDENTIFIER "HOPPER_HAS${option}" has)
  check_c_compiler_flag(${option} ${has})
  if(${has})
    list(APPEND HOPPER_SIM_KERNEL_OPTIONS ${option})
  endif()
endforeach()

# What an experiment leaves unused in a simulated kernel, or without a value, is a warning and does
# not stop the build: whoever takes out a line asks for the simulator's verdict. nvcc still refuses
# an unused variable.
set(HOPPER_SIM_KERNEL_WARNINGS "")
foreach(warning IN ITEMS unused-variable unused-but-set-variable unused-parameter
                         unused-but-set-parameter unused-function unused-value unused-label
                         uninitialized maybe-uninitialized sometimes-uninitialized)
  string(MAKE_C_IDENTIFIER "HOPPER_HAS_NO_ERROR_${warning}" has)
  check_c_compiler_flag(-Wno-error=${warning} ${has})
  if(${has})
    list(APPEND HOPPER_SIM_KERNEL_WARNINGS -Wno-error=${warning})
  endif()
endforeach()
unset(CMAKE_REQUIRED_FLAGS)

# Loads and stores of a kernel's own variables call the simulator (units/registers/calls.c): that is
# how it knows which accumulators plain C has touched. No variable takes the place of another on the
# stack. A division by zero calls it, too, with its line (units/division.c). The compiler's own
# libraries for these options are not linked, as they would be where a tool compiles and links in
# one command: the gallery and the book's checks do without these options.
set(HOPPER_SIM_WATCH_OPTIONS "")
if(NOT HOPPER_SANITIZE)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  foreach(option IN ITEMS "-fsanitize=thread" "--param=tsan-instrument-func-entry-exit=0"
                          "-fstack-reuse=none" "-Xclang -disable-lifetime-markers"
                          "-mllvm -tsan-instrument-func-entry-exit=0"
                          "-fsanitize=integer-divide-by-zero")
    if(HOPPER_BRANCHES AND option STREQUAL "-fsanitize=integer-divide-by-zero")
      continue() # a branch that the kernel has not
    endif()
    string(MAKE_C_IDENTIFIER "HOPPER_HAS${option}" has)
    set(CMAKE_REQUIRED_FLAGS "-Werror ${option}")
    check_c_source_compiles("int one(void) { return 1; }" ${has})
    if(${has})
      separate_arguments(option)
      list(APPEND HOPPER_SIM_WATCH_OPTIONS ${option})
    endif()
  endforeach()
  unset(CMAKE_REQUIRED_FLAGS)
  unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
endif()

if(HOPPER_SANITIZE)
  set(HOPPER_GPU OFF)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# The kernels with gcov's counters in them, each branch counted once, and not wherever gcc has
# inlined its function. Only --check writes what was counted (harness/branches.c).
if(HOPPER_BRANCHES)
  set(HOPPER_GPU OFF)
  find_package(Python3 3.9 COMPONENTS Interpreter REQUIRED)
  string(REGEX MATCH "^[0-9]+" major ${CMAKE_C_COMPILER_VERSION})
  find_program(HOPPER_GCOV NAMES gcov-${major} gcov REQUIRED)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "HOPPER_BRANCHES needs gcc and its gcov: set CC to gcc, and configure in "
                        "an empty build directory")
  endif()
  list(APPEND HOPPER_SIM_WATCH_OPTIONS --coverage -fno-early-inlining -fno-thread-jumps
    -DHOPPER_BRANCHES)
  add_link_options(--coverage -Wl,--wrap=__gcov_exit)
endif()

# The compute capabilities of the PTX that kernels for more than 9.0 get (set_architectures()). A
# toolkit may lack one: kernels for it are then built for 9.0 alone.
set(HOPPER_PTX_CAPABILITIES 80 90)

# CUDA is optional. HOPPER_GPU_PROGRAMS says whether the GPU programs are built, HOPPER_NO_GPU why
# they are not.
if(HOPPER_GPU)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # sm_90a, not sm_90: wgmma and setmaxnreg exist only in the architecture-specific set.
    set(CMAKE_CUDA_ARCHITECTURES 90a-real)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    if(CUDAToolkit_VERSION VERSION_LESS HOPPER_CUDA_FLOOR)
      message(FATAL_ERROR "CUDA ${CUDAToolkit_VERSION} is too old: needs ${HOPPER_CUDA_FLOOR}. Set "
                          "CUDACXX to a newer nvcc, or build the simulator alone: "
                          "-DHOPPER_GPU=OFF.")
    endif()
    set(CMAKE_CUDA_STANDARD 17)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    # The kernels' speed must not depend on the build type of the host's part.
    set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O3")
    set(CMAKE_CUDA_FLAGS_RELEASE "-O3")
    set(HOPPER_GPU_PROGRAMS ON)
    set(missing "")
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch
      OUTPUT_VARIABLE targets RESULT_VARIABLE failed)
    string(REGEX MATCHALL "[0-9]+" HOPPER_CAPABILITIES "${targets}")
    foreach(capability IN LISTS HOPPER_PTX_CAPABILITIES)
      if(failed OR NOT targets MATCHES "compute_${capability}\n")
        list(REMOVE_ITEM HOPPER_PTX_CAPABILITIES ${capability})
        list(APPEND missing compute_${capability})
      endif()
    endforeach()
    if(missing)
      list(JOIN missing ", " missing)
      message(STATUS "CUDA ${CUDAToolkit_VERSION} lacks ${missing}: kernels for it are built for "
                     "9.0 alone")
    endif()
    message(STATUS "CUDA ${CUDAToolkit_VERSION}: building the GPU programs and the simulator")
  else()
    set(HOPPER_NO_GPU "there is no CUDA toolkit: install ${HOPPER_CUDA_FLOOR} or newer, put its \
nvcc in PATH (or name it by CUDACXX), and configure in an empty build directory")
    message(STATUS "No CUDA toolkit (nvcc) found: building the simulator alone")
  endif()
else()
  set(HOPPER_NO_GPU "this build directory is configured without the GPU programs: use another, \
without -DHOPPER_GPU=OFF, HOPPER_SANITIZE or HOPPER_BRANCHES, on a machine with a CUDA toolkit")
  message(STATUS "GPU programs switched off: building the simulator alone")
endif()
