# Chapters: what one line chapter(...) means, and the programs made of it.
#
#   chapter(06_wgmma STEPS kernel two_warpgroups VARIANTS two_warpgroups:two_warpgroups.cu rs:rs.cu)
#   chapter(library/hopper_gemm SELECTION select.c LIBRARY library.c VARIANTS ...)
#   chapter(beyond/13_two_gpus TYPES bf16 GPUS 2)
#
# declares a chapter by its directory. Its own kernel is kernel.cu, or with SELECTION the variant
# that this C file picks for a problem; a LIBRARY is the C file of what other projects call, and its
# kernels are in no tour. STEPS
# are the kernels that a tour runs, in the order in which they are read: names of variants, and
# `kernel` for the chapter's own (default: that one). The first of them builds on the step before
# it, or on FROM, such as 08_persistent_pingpong:persistent. Steps can record a timeline, and so can
# the variants in TRACED. TYPES are the element types that its kernels are compiled for (default:
# fp16 bf16; with e4m3 and w4a8, D is bf16), `variant:e4m3` the only one of a variant, GPUS the
# number of GPUs that they need (default: 1). KIND is the C file with the struct problem_kind of a
# chapter whose kernels name one (harness/problem_kind.h), with a path if several share it, RIVALS
# the CUDA and C files with its baselines, to which the kernel of FROM is linked, too (gpu/from_kernel.h), and
# behind them further chapters whose kernels are. PTX is the lowest compute capability of the GPUs
# that the chapter's kernels can run on, such as 80 for 8.0, where these are more than 9.0;
# `variant:90` says so of one. ARCH is the architecture that the kernels' machine code is for, such as
# 100a, where it is not 90a; in the struct gemm_kernel of each, .machine says the same.
#
# There are several houses: part one, declared in the top CMakeLists.txt, and beyond/ and library/,
# each of which may be absent. HOPPER_HOUSE is what the names of a house's targets, tests and
# programs end with: nothing, _beyond or _library; HOPPER_INCLUDES is where its kernels find headers
# besides common/. Each house calls add_chapters() once for each backend, in different directories,
# because there the same .cu files are of different languages, and CMake keeps a source's language
# per directory.
set(HOPPER_HOUSE "")
set(HOPPER_INCLUDES "")

# Changes with every commit: what is made of the book's text (tools/book/book_text.sh) needs it.
set(HOPPER_COMMITS "")
if(PROJECT_IS_TOP_LEVEL AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND git rev-parse --git-path logs/HEAD
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
  cmake_path(ABSOLUTE_PATH log BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(EXISTS ${log} AND NOT IS_DIRECTORY ${log})
    set(HOPPER_COMMITS ${log})
  endif()
endif()

# The element types, in the order of enum gemm_type.
set(HOPPER_TYPES fp16 bf16 e4m3 w4a8)

# Of each house, with its suffix: the chapters' directories, HOPPER_CHAPTERS; the names of their
# programs, which are the last part of these, HOPPER_PROGRAMS; and every kernel to be compiled, as
# directory|label|file|macros, HOPPER_KERNELS. The label is the variant's name, empty for the
# chapter's own kernel. A chapter with a SELECTION has variants only.

function(chapter directory)
  cmake_parse_arguments(ARG "" "SELECTION;LIBRARY;GPUS;FROM;KIND;ARCH" "STEPS;TRACED;TYPES;VARIANTS;PTX;RIVALS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "chapter(${directory}): unexpected ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  get_property(made GLOBAL PROPERTY HOPPER_CHAPTERS_MADE${HOPPER_HOUSE})
  if(made)
    file(RELATIVE_PATH list ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_LIST_FILE})
    message(FATAL_ERROR "chapter(${directory}): too late, because the programs are declared. Move "
                        "the line up in ${list}, to the other chapters, behind ${made}.")
  endif()
  if(NOT ARG_SELECTION AND NOT EXISTS ${PROJECT_SOURCE_DIR}/${directory}/kernel.cu)
    message(FATAL_ERROR "chapter(${directory}): there is no ${directory}/kernel.cu")
  endif()
  if(ARG_LIBRARY AND NOT ARG_SELECTION)
    message(FATAL_ERROR "chapter(${directory}): a LIBRARY needs a SELECTION")
  endif()
  if(NOT PROJECT_IS_TOP_LEVEL AND NOT ARG_LIBRARY)
    return()
  endif()
  if(NOT ARG_TYPES)
    set(ARG_TYPES fp16 bf16)
  endif()
  foreach(word IN LISTS ARG_TYPES)
    string(REGEX REPLACE "^[a-z0-9_]+:" "" type ${word})
    if(NOT type IN_LIST HOPPER_TYPES)
      message(FATAL_ERROR "chapter(${directory}): TYPES ${type}: choose from ${HOPPER_TYPES}")
    endif()
  endforeach()
  if(NOT DEFINED ARG_GPUS)
    set(ARG_GPUS 1)
  elseif(NOT ARG_GPUS MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "chapter(${directory}): GPUS ${ARG_GPUS}: not a number of GPUs")
  endif()
  if(ARG_ARCH AND NOT ARG_ARCH MATCHES "^[1-9][0-9]+a$")
    message(FATAL_ERROR "chapter(${directory}): ARCH ${ARG_ARCH}: not an architecture such as 100a")
  endif()
  if(ARG_ARCH AND ARG_PTX)
    message(FATAL_ERROR "chapter(${directory}): code for ARCH ${ARG_ARCH} has no PTX for other GPUs")
  endif()
  cmake_path(GET directory FILENAME program)
  set_property(GLOBAL APPEND PROPERTY HOPPER_CHAPTERS${HOPPER_HOUSE} ${directory})
  set_property(GLOBAL APPEND PROPERTY HOPPER_PROGRAMS${HOPPER_HOUSE} ${program})
  if(NOT ARG_STEPS AND NOT ARG_LIBRARY)
    set(ARG_STEPS kernel)
  endif()
  set(entry_kernel "${directory}||kernel.cu|")
  if(ARG_SELECTION)
    set(entry_kernel "${directory}||${ARG_SELECTION}|")
  endif()
  set(labels kernel)
  set(file_kernel kernel.cu)
  set(macros_kernel "")
  if(ARG_SELECTION)
    set(file_kernel ${ARG_SELECTION})
  endif()
  set(properties_of_all GPUS ${ARG_GPUS})
  if(ARG_ARCH)
    list(APPEND properties_of_all ARCH ${ARG_ARCH})
  endif()
  if(ARG_KIND)
    set(kind ${ARG_KIND})
    if(NOT kind MATCHES "/") # several chapters share those with a path
      set(kind ${directory}/${kind})
    endif()
    list(APPEND properties_of_all KIND ${kind})
  endif()
  set_property(GLOBAL PROPERTY HOPPER_SELECTION_${directory} "${ARG_SELECTION}")
  set_property(GLOBAL PROPERTY HOPPER_LIBRARY_${directory} "${ARG_LIBRARY}")
  set_property(GLOBAL PROPERTY HOPPER_STEPS_${directory} "${ARG_STEPS}")
  set_property(GLOBAL PROPERTY HOPPER_FROM_${directory} "${ARG_FROM}")
  set_property(GLOBAL PROPERTY HOPPER_KIND_${directory} "${ARG_KIND}")
  set_property(GLOBAL PROPERTY HOPPER_RIVALS_${directory} "${ARG_RIVALS}")
  set_property(GLOBAL PROPERTY HOPPER_TRACED_${directory} "${ARG_TRACED}")
  set_property(GLOBAL PROPERTY HOPPER_PTX_${directory} "${ARG_PTX}")
  set_property(GLOBAL PROPERTY HOPPER_ARCH_${directory} "${ARG_ARCH}")
  set_property(GLOBAL PROPERTY HOPPER_TYPES_${directory} "${ARG_TYPES}")
  set_property(GLOBAL PROPERTY HOPPER_GPUS_${directory} "${ARG_GPUS}")
  foreach(variant IN LISTS ARG_VARIANTS)
    if(NOT variant MATCHES "^([a-z0-9_]+):([a-z0-9_]+\\.cu)((:[A-Za-z0-9_]+=[A-Za-z0-9_]+)*)$")
      message(FATAL_ERROR "chapter(${directory}): '${variant}' is not name:file.cu[:MACRO=VALUE...]")
    endif()
    set(label ${CMAKE_MATCH_1})
    set(file ${CMAKE_MATCH_2})
    string(REGEX REPLACE "^:" "" macros "${CMAKE_MATCH_3}")
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${directory}/${file})
      message(FATAL_ERROR
        "chapter(${directory}): variant ${label}: there is no ${directory}/${file}")
    endif()
    list(APPEND labels ${label})
    set(entry_${label} "${directory}|${label}|${file}|${macros}")
    set(file_${label} ${file})
    string(REPLACE ":" ";" macros_${label} "${macros}")
  endforeach()
  foreach(label IN LISTS ARG_STEPS ARG_TRACED)
    if(NOT label IN_LIST labels)
      message(FATAL_ERROR "chapter(${directory}): there is no variant ${label}")
    endif()
  endforeach()
  foreach(word IN LISTS ARG_PTX)
    string(REGEX MATCH "^(([a-z0-9_]+):)?[0-9]+$" known "${word}")
    if(NOT known OR (CMAKE_MATCH_2 AND NOT CMAKE_MATCH_2 IN_LIST labels))
      message(FATAL_ERROR "chapter(${directory}): PTX ${word} is not 80 or a variant:80")
    endif()
  endforeach()
  foreach(word IN LISTS ARG_TYPES)
    string(REGEX MATCH "^([a-z0-9_]+):" known ${word})
    if(known AND NOT CMAKE_MATCH_1 IN_LIST labels)
      message(FATAL_ERROR "chapter(${directory}): TYPES ${word}: there is no variant ${CMAKE_MATCH_1}")
    endif()
  endforeach()
  # The steps first, in their order.
  list(REMOVE_ITEM labels ${ARG_STEPS})
  set(from FROM ${ARG_FROM})
  foreach(label IN LISTS ARG_STEPS labels)
    set_property(GLOBAL APPEND PROPERTY HOPPER_KERNELS${HOPPER_HOUSE} "${entry_${label}}")
    set(variant ${label})
    if(label STREQUAL "kernel")
      set(variant "")
    endif()
    set(properties "${from}")
    set(from "")
    if(label IN_LIST ARG_STEPS)
      list(APPEND properties STEP true TRACED true)
    elseif(label IN_LIST ARG_TRACED)
      list(APPEND properties TRACED true)
    endif()
    get_types(${directory} "${variant}" types)
    get_ptx(${directory} "${variant}" ptx)
    declare_kernel(${directory} "${variant}" ${directory}/${file_${label}} ${properties}
      ${properties_of_all} TYPES ${types} MACROS ${macros_${label}} PTX ${ptx})
    set_property(GLOBAL APPEND PROPERTY HOPPER_KERNEL_TARGETS${HOPPER_HOUSE} ${declared})
  endforeach()
endfunction()

# The target's kernels get PTX for this compute capability besides 9.0's machine code. A driver
# compiles it for the GPU that it finds, once, and keeps the result. With machine code for each of
# 8.0, 8.6, 8.9 and 12.0 a kernel would take nvcc two or three times as long.
function(add_ptx target capability)
  if(HOPPER_GPU_PROGRAMS AND capability IN_LIST HOPPER_PTX_CAPABILITIES)
    set(architectures 90a-real ${capability}-virtual)
    if(HOPPER_PTX_ONLY)
      set(architectures ${capability}-virtual)
    endif()
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
  endif()
endfunction()

# Sets in the caller: `lacks`, the chapter's ARCH if this toolkit cannot compile for it; else nothing.
function(get_missing_arch directory lacks)
  get_property(arch GLOBAL PROPERTY HOPPER_ARCH_${directory})
  string(REGEX REPLACE "a$" "" capability "${arch}")
  set(${lacks} "" PARENT_SCOPE)
  if(arch AND HOPPER_GPU_PROGRAMS AND NOT capability IN_LIST HOPPER_CAPABILITIES)
    set(${lacks} ${arch} PARENT_SCOPE)
  endif()
endfunction()

# Sets in the caller: `ptx`, the lowest compute capability of the GPUs with code for a kernel; 0: 9.0
# alone.
function(get_ptx directory label ptx)
  get_property(declared GLOBAL PROPERTY HOPPER_PTX_${directory})
  set(found 0)
  foreach(word IN LISTS declared)
    if(word MATCHES "^[0-9]+$")
      set(found ${word})
    endif()
  endforeach()
  foreach(word IN LISTS declared)
    if(label AND word MATCHES "^${label}:([0-9]+)$")
      set(found ${CMAKE_MATCH_1})
    endif()
  endforeach()
  if(NOT found IN_LIST HOPPER_PTX_CAPABILITIES)
    set(found 0)
  endif()
  set(${ptx} ${found} PARENT_SCOPE)
endfunction()

# Sets in the caller: `types`, those that a kernel is compiled for; with the label "", the chapter's.
function(get_types directory label types)
  get_property(declared GLOBAL PROPERTY HOPPER_TYPES_${directory})
  set(found "")
  set(own "")
  foreach(word IN LISTS declared)
    if(NOT word MATCHES "^([a-z0-9_]+):(.*)$")
      list(APPEND found ${word})
    elseif(CMAKE_MATCH_1 STREQUAL label)
      set(own ${CMAKE_MATCH_2})
    endif()
  endforeach()
  if(own)
    set(found ${own})
  endif()
  set(${types} "${found}" PARENT_SCOPE)
endfunction()

# ptxas's remarks on a target's kernels stop the build. Within another project they do not.
function(add_ptxas_check target)
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE -Xptxas -v)
    set_target_properties(${target} PROPERTIES
      CUDA_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/common/cmake/ptxas_check.sh)
  endif()
endfunction()

# An object of a chapter's kernel is there even if its file does not compile, and the chapter's program
# is then refused: compile_kernel.sh. A library's kernels compile, and those within another project.
function(let_compiler_refuse object language directory)
  get_property(library GLOBAL PROPERTY HOPPER_LIBRARY_${directory})
  if(PROJECT_IS_TOP_LEVEL AND NOT library)
    set(launcher ${PROJECT_SOURCE_DIR}/common/cmake/compile_kernel.sh)
    get_target_property(before ${object} ${language}_COMPILER_LAUNCHER)
    if(before)
      list(APPEND launcher ${before})
    endif()
    set_target_properties(${object} PROPERTIES ${language}_COMPILER_LAUNCHER "${launcher}")
  endif()
endfunction()

# Compiles one kernel, an entry of HOPPER_KERNELS, for each type of its chapter; `suffix` is "" or
# "_trace". The record is kernel_<program>[_<label>]<suffix>_<type>, and so is the object library,
# behind <prefix>_. Sets in the caller: <symbol>, the record's name without the type, and
# <symbol>_objects.
function(add_kernel_objects prefix language entry suffix symbol)
  string(REGEX MATCH "^([^|]*)\\|([^|]*)\\|([^|]*)\\|(.*)$" unused "${entry}")
  set(directory "${CMAKE_MATCH_1}")
  set(label "${CMAKE_MATCH_2}")
  set(file "${CMAKE_MATCH_3}")
  string(REPLACE ":" ";" macros "${CMAKE_MATCH_4}")
  cmake_path(GET directory FILENAME program)
  set(name kernel_${program})
  if(label)
    string(APPEND name _${label})
  endif()
  string(APPEND name ${suffix})
  set(source ${PROJECT_SOURCE_DIR}/${directory}/${file})
  file(STRINGS ${source} marks REGEX "timeline/trace.h")
  set_source_files_properties(${source} PROPERTIES LANGUAGE ${language})
  get_types(${directory} "${label}" types)
  set_property(GLOBAL PROPERTY HOPPER_TYPES_OF_${directory}_${name} ${types})
  get_ptx(${directory} "${label}" ptx)
  set_property(GLOBAL PROPERTY HOPPER_PTX_OF_${name} ${ptx})
  set(objects "")
  foreach(type IN LISTS types)
    set(object ${prefix}_${name}_${type})
    list(APPEND objects ${object})
    add_library(${object} OBJECT ${source})
    target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/common ${HOPPER_INCLUDES})
    target_compile_definitions(${object} PRIVATE
      GEMM_KERNEL=${name}_${type} GEMM_BF16_ELEMENTS=$<NOT:$<STREQUAL:${type},fp16>>
      TRACE=$<STREQUAL:${suffix},_trace> ${macros})
    if(label)
      target_compile_definitions(${object} PRIVATE "GEMM_VARIANT=\"${label}\"")
    endif()
    if(language STREQUAL "CUDA")
      add_ptx(${object} ${ptx})
      get_property(arch GLOBAL PROPERTY HOPPER_ARCH_${directory})
      if(arch)
        set_target_properties(${object} PROPERTIES CUDA_ARCHITECTURES ${arch}-real)
      endif()
      # Without exceptions and locked statics, nvcc's host code needs no library of C++.
      target_compile_options(${object} PRIVATE -lineinfo
        -Xcompiler=-fno-exceptions,-fno-threadsafe-statics)
      if(suffix STREQUAL "_trace" AND NOT marks) # the wrappers speak for the kernel
        target_compile_options(${object} PRIVATE
          "SHELL:-include ${PROJECT_SOURCE_DIR}/common/timeline/recorder.h")
      endif()
    else()
      target_compile_options(${object} PRIVATE
        ${HOPPER_SIM_KERNEL_OPTIONS} ${HOPPER_SIM_WATCH_OPTIONS}
        ${HOPPER_SIM_KERNEL_WARNINGS})
    endif()
  endforeach()
  set(${symbol} ${name} PARENT_SCOPE)
  set(${symbol}_objects ${objects} PARENT_SCOPE)
endfunction()

# Compiles a chapter's KIND, if it has one, as the object library `target`; sets `objects` in the
# caller. With KIND_ON_GPU 1 it may use CUDA's libraries, for its baselines.
function(add_kind_object backend directory target objects)
  get_property(kind GLOBAL PROPERTY HOPPER_KIND_${directory})
  set(${objects} "" PARENT_SCOPE)
  if(kind)
    if(kind MATCHES "/") # several chapters share it
      string(MAKE_C_IDENTIFIER ${backend}_kind_${kind} target)
    else()
      set(kind ${directory}/${kind})
    endif()
    if(NOT TARGET ${target})
      add_library(${target} OBJECT ${PROJECT_SOURCE_DIR}/${kind})
      target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/common ${HOPPER_INCLUDES})
      target_compile_definitions(${target} PRIVATE KIND_ON_GPU=$<STREQUAL:${backend},gpu>)
    endif()
    set(found $<TARGET_OBJECTS:${target}>)
    get_property(rivals GLOBAL PROPERTY HOPPER_RIVALS_${directory})
    if(rivals AND backend STREQUAL "gpu")
      set(files ${rivals})
      list(FILTER files INCLUDE REGEX "\\.cu?$")
      list(FILTER rivals EXCLUDE REGEX "\\.cu?$")
      list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/${directory}/)
      add_library(${target}_rivals OBJECT ${files})
      target_include_directories(${target}_rivals PRIVATE ${PROJECT_SOURCE_DIR}/common
        ${HOPPER_INCLUDES})
      target_include_directories(${target}_rivals SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
      target_compile_definitions(${target}_rivals PRIVATE GEMM_BF16_ELEMENTS=1)
      if(HOPPER_NCCL)
        target_compile_definitions(${target}_rivals PRIVATE HOPPER_NCCL)
        target_include_directories(${target}_rivals SYSTEM PRIVATE ${HOPPER_NCCL}/include)
      endif()
      if(HOPPER_DEEPGEMM)
        target_compile_definitions(${target}_rivals PRIVATE HOPPER_DEEPGEMM)
      endif()
      if(HOPPER_CUDNN)
        target_compile_definitions(${target}_rivals PRIVATE "HOPPER_CUDNN=\"${HOPPER_CUDNN}\"")
        target_include_directories(${target}_rivals SYSTEM PRIVATE ${HOPPER_CUDNN}/include
          ${HOPPER_CUDNN_FRONTEND})
      endif()
      if(HOPPER_FLASH_ATTENTION)
        target_compile_definitions(${target}_rivals PRIVATE HOPPER_FLASH_ATTENTION)
        target_include_directories(${target}_rivals SYSTEM PRIVATE ${HOPPER_FLASH_ATTENTION}/hopper
          ${HOPPER_FLASH_ATTENTION}/csrc/cutlass/include)
      endif()
      list(APPEND found $<TARGET_OBJECTS:${target}_rivals>)
      get_property(from GLOBAL PROPERTY HOPPER_FROM_${directory})
      get_types(${directory} "" types)
      string(REPLACE ":" "_" from "${from}")
      foreach(type IN LISTS types)
        string(TOUPPER ${type} TYPE)
        target_compile_definitions(${target}_rivals PRIVATE
          FROM_KERNEL_${TYPE}=kernel_${from}_${type})
        list(APPEND found $<TARGET_OBJECTS:gpu_kernel_${from}_${type}>)
      endforeach()
      foreach(chapter IN LISTS rivals)
        cmake_path(GET chapter FILENAME program)
        get_types(${chapter} "" types)
        foreach(type IN LISTS types)
          list(APPEND found $<TARGET_OBJECTS:gpu_kernel_${program}_${type}>)
        endforeach()
      endforeach()
    endif()
    set(${objects} ${found} PARENT_SCOPE)
  endif()
endfunction()

# Writes the table of kernels that a program is linked with: harness/registry.h declares what is
# defined here. `rows` is a list of directory|symbol|symbol of the traced one, which may be missing|
# is it a step|the source. TARGET is the target that the table is for.
function(write_registry path is_tour rows)
  cmake_parse_arguments(ARG "" TARGET "" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "write_registry(${path}): what is ${ARG_UNPARSED_ARGUMENTS}?")
  endif()
  set(target NULL)
  if(ARG_TARGET)
    set(target "\"${ARG_TARGET}\"")
  endif()
  set(sources "")
  set(declarations "")
  set(from_said "")
  set(entries "")
  set(traced_entries "")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "^([^|]*)\\|([^|]*)\\|([^|]*)\\|([^|]*)\\|?(.*)$" unused "${row}")
    set(symbol "${CMAKE_MATCH_2}")
    set(traced "${CMAKE_MATCH_3}")
    set(step "${CMAKE_MATCH_4}")
    if(CMAKE_MATCH_5)
      string(APPEND sources "    \"${PROJECT_SOURCE_DIR}/${CMAKE_MATCH_5}\",\n")
    else()
      string(APPEND sources "    NULL,\n")
    endif()
    get_property(types GLOBAL PROPERTY HOPPER_TYPES_OF_${CMAKE_MATCH_1}_${symbol})
    if(NOT types) # a selection has the kernels of all of them
      get_types(${CMAKE_MATCH_1} "" types)
    endif()
    get_property(gpus GLOBAL PROPERTY HOPPER_GPUS_${CMAKE_MATCH_1})
    get_property(ptx GLOBAL PROPERTY HOPPER_PTX_OF_${symbol})
    if(NOT ptx) # a selection has no code of its own
      set(ptx 0)
    endif()
    get_property(from GLOBAL PROPERTY HOPPER_FROM_${CMAKE_MATCH_1})
    if(from AND NOT CMAKE_MATCH_1 IN_LIST from_said) # of a chapter's first step
      list(APPEND from_said ${CMAKE_MATCH_1})
      set(from "\"${from}\"")
    else()
      set(from NULL)
    endif()
    set(records "")
    set(traced_records "")
    foreach(type IN LISTS types)
      string(TOUPPER ${type} TYPE)
      string(APPEND declarations "extern const struct gemm_kernel ${symbol}_${type};\n")
      string(APPEND records "[GEMM_${TYPE}] = &${symbol}_${type}, ")
      if(traced)
        if(NOT traced STREQUAL symbol)
          string(APPEND declarations "extern const struct gemm_kernel ${traced}_${type};\n")
        endif()
        string(APPEND traced_records "[GEMM_${TYPE}] = &${traced}_${type}, ")
      endif()
    endforeach()
    string(APPEND entries "    {{${records}}, ${gpus}, ${step}, ${from}, ${ptx}},\n")
    if(NOT traced)
      set(traced_records NULL)
    endif()
    string(APPEND traced_entries "    {{${traced_records}}, ${gpus}, ${step}, ${from}, ${ptx}},\n")
  endforeach()
  list(LENGTH rows count)
  if(count EQUAL 0) # C has no empty arrays
    set(entries "    {{NULL}, 0, false, NULL, 0},\n")
    set(traced_entries "    {{NULL}, 0, false, NULL, 0},\n")
    set(sources "    NULL,\n")
  endif()
  file(CONFIGURE OUTPUT ${path} @ONLY CONTENT [=[/* Generated by common/cmake/Chapters.cmake. */
#include "harness/registry.h"

@declarations@
const struct kernel_entry kernel_registry[] = {
@entries@};
const struct kernel_entry kernel_trace_registry[] = {
@traced_entries@};
const char *const kernel_sources[] = {
@sources@};
const char *const program_target = @target@;
const int kernel_registry_count = @count@;
const bool program_is_tour = @is_tour@;
]=])
endfunction()

# A chapter as a static library: its objects, its LIBRARY file, and the services that they call. For
# the GPU they become one object file in which only the names of the public header are global, those
# that begin with hopper_gemm or w4a8_gemm: a program may have a gemm_launch_kernel or a cuda_ok of
# its own. The simulator's library is for programs that call the simulator, too, so all its names
# stay.
function(add_chapter_library target language directory file objects services)
  add_library(${target}_object OBJECT ${PROJECT_SOURCE_DIR}/${directory}/${file})
  target_include_directories(${target}_object PRIVATE ${PROJECT_SOURCE_DIR}/common
    ${HOPPER_INCLUDES})
  list(APPEND objects $<TARGET_OBJECTS:${target}_object>)
  if(language STREQUAL "CUDA")
    add_library(${target}_open STATIC ${objects} $<TARGET_OBJECTS:${services}>)
    set_target_properties(${target}_open PROPERTIES LINKER_LANGUAGE CUDA)
    set(closed ${CMAKE_CURRENT_BINARY_DIR}/${target}.o)
    add_custom_command(OUTPUT ${closed}
      COMMAND ${CMAKE_LINKER} -r --whole-archive -o ${closed} $<TARGET_FILE:${target}_open>
      COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=hopper_gemm*
        --keep-global-symbol=w4a8_gemm* ${closed}
      DEPENDS ${target}_open VERBATIM COMMENT "Linking ${target}.o")
    add_library(${target} STATIC ${closed})
    get_target_property(needs ${services} LINK_LIBRARIES) # the CUDA runtime, and the system's
    target_link_libraries(${target} PUBLIC ${needs})
    target_include_directories(${target} SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
  else()
    add_library(${target} STATIC ${objects})
    target_link_libraries(${target} PUBLIC ${services})
  endif()
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR}/${directory})
endfunction()

# Makes, in the calling directory, the objects of a house's kernels, the program of every chapter, and
# the house's tour. `libraries`: what a program is linked with besides its kernels; `services`: what
# a library of kernels needs. Targets: <backend>_<program>, <backend>_<program>_library for a chapter
# with a LIBRARY, <backend>_tour<house>, which has the steps alone, so that nothing else is built for
# it, and <backend>_kernels<house>, a library of all the house's kernels with their table, for
# programs with a main of their own. A house's tour has the steps of the houses before it, too, and
# a house without steps has no tour; <backend>_kernels_all<house> has the kernels of the house and of
# those before it. Within another project the library is all there is.
function(add_chapters backend language libraries services)
  set(programs ${PROJECT_BINARY_DIR}/${backend})
  set(registries ${CMAKE_CURRENT_BINARY_DIR})
  get_property(chapters GLOBAL PROPERTY HOPPER_CHAPTERS${HOPPER_HOUSE})
  get_property(kernels GLOBAL PROPERTY HOPPER_KERNELS${HOPPER_HOUSE})
  list(GET chapters -1 last)
  set_property(GLOBAL PROPERTY HOPPER_CHAPTERS_MADE${HOPPER_HOUSE} "chapter(${last} ...)")
  set(all_rows "")
  set(all_objects "")
  set(tour_rows "")
  set(tour_objects "")
  set(kinds "")
  set(files "")
  foreach(chapter IN LISTS chapters)
    cmake_path(GET chapter FILENAME program)
    get_property(steps GLOBAL PROPERTY HOPPER_STEPS_${chapter})
    get_property(traced_labels GLOBAL PROPERTY HOPPER_TRACED_${chapter})
    get_property(selection GLOBAL PROPERTY HOPPER_SELECTION_${chapter})
    get_missing_arch(${chapter} lacks)
    if(lacks AND backend STREQUAL "gpu")
      add_missing_target(${backend}_${program}
        "CUDA ${CUDAToolkit_VERSION} does not compile for sm_${lacks}; a newer one does")
      continue()
    endif()
    set(rows "")
    set(objects "")
    set(own_traced "")
    set(step_rows "")
    set(step_objects "")
    foreach(kernel IN LISTS kernels)
      string(REGEX MATCH "^([^|]*)\\|([^|]*)\\|" unused "${kernel}")
      set(label "${CMAKE_MATCH_2}")
      if(NOT CMAKE_MATCH_1 STREQUAL chapter)
        continue()
      endif()
      set(step false)
      if(label IN_LIST steps OR (label STREQUAL "" AND "kernel" IN_LIST steps))
        set(step true)
      endif()
      if(selection AND label STREQUAL "") # a C file that has the kernels of all types
        set(object ${backend}_kernel_${program})
        add_library(${object} OBJECT ${PROJECT_SOURCE_DIR}/${chapter}/${selection})
        target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/common
          ${HOPPER_INCLUDES})
        list(APPEND rows "${chapter}|kernel_${program}||${step}")
        list(APPEND objects $<TARGET_OBJECTS:${object}>)
        continue()
      endif()
      add_kernel_objects(${backend} ${language} "${kernel}" "" symbol)
      string(REGEX REPLACE "^([^|]*)\\|[^|]*\\|([^|]*)\\|.*$" "\\1/\\2" file "${kernel}")
      if(language STREQUAL "CUDA" AND NOT file IN_LIST files) # the last type of a file's first kernel
        list(APPEND files ${file})
        list(GET symbol_objects -1 object)
        set_property(GLOBAL APPEND PROPERTY HOPPER_GPU_FILES ${object})
      endif()
      foreach(object IN LISTS symbol_objects)
        list(APPEND objects $<TARGET_OBJECTS:${object}>)
        if(language STREQUAL "CUDA")
          add_ptxas_check(${object})
          set_property(GLOBAL APPEND PROPERTY HOPPER_GPU_KERNELS${HOPPER_HOUSE} ${object})
        endif()
        let_compiler_refuse(${object} ${language} ${chapter})
      endforeach()
      # Timelines are drawn of the steps. On the GPU that takes a second
      # compilation, with the recorder in it; the simulator records what any kernel does.
      set(traced "")
      set(traced_objects "")
      if(PROJECT_IS_TOP_LEVEL AND (step OR label IN_LIST traced_labels))
        if(backend STREQUAL "sim")
          set(traced ${symbol})
        elseif(HOPPER_TRACE)
          add_kernel_objects(${backend} ${language} "${kernel}" _trace traced)
          foreach(object IN LISTS traced_objects)
            add_ptxas_check(${object})
            let_compiler_refuse(${object} ${language} ${chapter})
            list(APPEND own_traced $<TARGET_OBJECTS:${object}>)
          endforeach()
        endif()
      endif()
      list(APPEND rows "${chapter}|${symbol}|${traced}|${step}|${file}")
      if(step)
        list(APPEND step_rows "${chapter}|${symbol}|${traced}|${step}|${file}")
        foreach(object IN LISTS symbol_objects traced_objects)
          list(APPEND step_objects $<TARGET_OBJECTS:${object}>)
        endforeach()
      endif()
    endforeach()
    get_property(library GLOBAL PROPERTY HOPPER_LIBRARY_${chapter})
    if(library)
      add_chapter_library(${backend}_${program}_library ${language} ${chapter} ${library}
        "${objects}" ${services})
    endif()
    add_kind_object(${backend} ${chapter} ${backend}_kind_${program} kind_objects)
    list(APPEND objects ${kind_objects})
    list(APPEND step_objects ${kind_objects})
    if(kind_objects)
      list(GET kind_objects 0 kind)
      list(APPEND kinds ${kind})
    endif()
    if(NOT PROJECT_IS_TOP_LEVEL)
      continue()
    endif()
    list(APPEND objects ${own_traced})
    list(APPEND all_rows ${rows})
    list(APPEND all_objects ${objects})
    if(NOT library)
      list(APPEND tour_rows ${step_rows})
      list(APPEND tour_objects ${step_objects})
    endif()
    write_registry(${registries}/registry_${program}.c false "${rows}" TARGET ${backend}_${program})
    add_executable(${backend}_${program} ${registries}/registry_${program}.c ${objects})
    set_target_properties(${backend}_${program} PROPERTIES
      OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${programs} LINKER_LANGUAGE ${language})
    target_link_libraries(${backend}_${program} PRIVATE ${libraries})
    if(NOT library)
      add_custom_command(TARGET ${backend}_${program} POST_BUILD
        COMMAND ${PROJECT_SOURCE_DIR}/common/cmake/chapter_program.sh
                $<TARGET_FILE:${backend}_${program}> ${objects}
        COMMAND_EXPAND_LISTS VERBATIM)
    endif()
    string(REGEX MATCH "^[0-9]+" number ${program})
    if(number AND NOT TARGET ${backend}_${number})
      add_missing_target(${backend}_${number} "did you mean --target ${backend}_${program}?")
    endif()
  endforeach()
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  list(REMOVE_DUPLICATES all_objects) # chapters may share a kind
  list(REMOVE_DUPLICATES tour_objects)
  list(REMOVE_DUPLICATES kinds)
  set(kernels ${backend}_kernels${HOPPER_HOUSE})
  add_library(${kernels}_objects STATIC ${all_objects})
  set_target_properties(${kernels}_objects PROPERTIES LINKER_LANGUAGE ${language})
  add_kernel_table(${kernels} "${all_rows}" ${kernels}_objects ${libraries})
  # A kernel's reference to its kind is weak (gemm_matrices.h): the linker would leave it in a library.
  target_sources(${kernels} INTERFACE ${kinds})
  set_property(GLOBAL APPEND PROPERTY HOPPER_ROWS_${backend} ${all_rows})
  set_property(GLOBAL APPEND PROPERTY HOPPER_OBJECTS_${backend} ${kernels}_objects)
  set_property(GLOBAL APPEND PROPERTY HOPPER_KINDS_${backend} ${kinds})
  get_property(rows GLOBAL PROPERTY HOPPER_ROWS_${backend})
  get_property(objects GLOBAL PROPERTY HOPPER_OBJECTS_${backend})
  get_property(kinds GLOBAL PROPERTY HOPPER_KINDS_${backend})
  add_kernel_table(${backend}_kernels_all${HOPPER_HOUSE} "${rows}" ${objects} ${libraries})
  target_sources(${backend}_kernels_all${HOPPER_HOUSE} INTERFACE ${kinds})
  if(NOT tour_rows)
    return()
  endif()
  set(tour ${backend}_tour${HOPPER_HOUSE})
  set_property(GLOBAL APPEND PROPERTY HOPPER_TOUR_ROWS_${backend} ${tour_rows})
  set_property(GLOBAL APPEND PROPERTY HOPPER_TOUR_OBJECTS_${backend} ${tour_objects})
  get_property(tour_rows GLOBAL PROPERTY HOPPER_TOUR_ROWS_${backend})
  get_property(tour_objects GLOBAL PROPERTY HOPPER_TOUR_OBJECTS_${backend})
  write_registry(${registries}/registry_${tour}.c true "${tour_rows}" TARGET ${tour})
  add_executable(${tour} ${registries}/registry_${tour}.c ${tour_objects})
  set_target_properties(${tour} PROPERTIES OUTPUT_NAME tour${HOPPER_HOUSE}
    RUNTIME_OUTPUT_DIRECTORY ${programs} LINKER_LANGUAGE ${language})
  target_link_libraries(${tour} PRIVATE ${libraries})
endfunction()

# A library of kernels with their table, for the calling directory. The table is compiled into each
# program that asks for it, because nothing in front of the harness refers to it and the linker would
# leave it in a library.
function(add_kernel_table target rows)
  set(table ${CMAKE_CURRENT_BINARY_DIR}/registry_of_${target}.c)
  write_registry(${table} true "${rows}")
  add_library(${target} INTERFACE)
  target_sources(${target} INTERFACE ${table})
  target_link_libraries(${target} INTERFACE ${ARGN})
endfunction()

# Where the GPU programs are not built, their targets say what is missing, instead of being unknown.
function(add_missing_gpu_programs)
  if(HOPPER_GPU_PROGRAMS)
    return()
  endif()
  foreach(program IN LISTS ARGN)
    set(instead "")
    if(TARGET sim_${program})
      set(instead "; without one: --target sim_${program}")
    endif()
    add_missing_target(gpu_${program} "${HOPPER_NO_GPU}${instead}")
  endforeach()
endfunction()

# A target that says what it lacks, and fails.
function(add_missing_target target lacks)
  add_custom_target(${target} COMMAND ${CMAKE_COMMAND} -E echo "${target}: ${lacks}"
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
endfunction()

# Targets tour_programs<house> and tour<house>: the tour of a house, built and run, on the GPU if
# there is one, else simulated. `next`: what a reader may do next; then options of the tour.
function(add_tour_target next)
  set(names sim_tour${HOPPER_HOUSE})
  set(paths ${PROJECT_BINARY_DIR}/sim/tour${HOPPER_HOUSE})
  if(HOPPER_GPU_PROGRAMS)
    list(PREPEND names gpu_tour${HOPPER_HOUSE})
    list(PREPEND paths ${PROJECT_BINARY_DIR}/gpu/tour${HOPPER_HOUSE})
  endif()
  add_custom_target(tour_programs${HOPPER_HOUSE} DEPENDS ${names})
  add_custom_target(tour${HOPPER_HOUSE}
    COMMAND ${PROJECT_SOURCE_DIR}/common/cmake/run_tour.sh
            ${PROJECT_BINARY_DIR}/report${HOPPER_HOUSE} "${next}" ${ARGN} ${paths}
    USES_TERMINAL VERBATIM)
  add_dependencies(tour${HOPPER_HOUSE} tour_programs${HOPPER_HOUSE})
endfunction()
