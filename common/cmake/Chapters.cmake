# Chapters: what one line chapter(...) in the top CMakeLists.txt means, and the programs made of it.
#
#   chapter(06_wgmma VARIANTS wait0:kernel.cu:WAIT=0 rs:rs.cu)
#   chapter(09_cluster_multicast SELECTION select.c TRACED coop256 VARIANTS coop256:kernel.cu ...)
#
# remembers a chapter. Its own kernel is kernel.cu, or with SELECTION the variant that this C file
# picks for a problem; TRACED are the variants that can then record a timeline. The directories
# common/sim and common/cuda then each call add_chapters(); they are different directories because
# there the same .cu files are of different languages, and CMake keeps a source's language per
# directory.

# Every kernel to be compiled, as chapter|label|file|macros; label is the variant's name, empty for
# the chapter's own kernel. A chapter with a SELECTION has variants only.
set_property(GLOBAL PROPERTY HOPPER_STAGES "")
set_property(GLOBAL PROPERTY HOPPER_CHAPTERS "")

function(chapter name)
  cmake_parse_arguments(ARG "" "SELECTION" "TRACED;VARIANTS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "chapter(${name}): unexpected ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${name}/kernel.cu)
    message(FATAL_ERROR "chapter(${name}): there is no ${name}/kernel.cu")
  endif()
  if(NOT PROJECT_IS_TOP_LEVEL AND NOT ARG_SELECTION)
    return() # only a chapter with a selection is a library for others
  endif()
  set_property(GLOBAL APPEND PROPERTY HOPPER_CHAPTERS ${name})
  if(NOT ARG_SELECTION)
    set_property(GLOBAL APPEND PROPERTY HOPPER_STAGES "${name}||kernel.cu|")
  endif()
  set_property(GLOBAL PROPERTY HOPPER_SELECTION_${name} "${ARG_SELECTION}")
  set_property(GLOBAL PROPERTY HOPPER_TRACED_${name} "${ARG_TRACED}")
  foreach(variant IN LISTS ARG_VARIANTS)
    if(NOT variant MATCHES "^([a-z0-9_]+):([a-z0-9_]+\\.cu)((:[A-Za-z0-9_]+=[A-Za-z0-9_]+)*)$")
      message(FATAL_ERROR "chapter(${name}): '${variant}' is not name:file.cu[:MACRO=VALUE...]")
    endif()
    set(label ${CMAKE_MATCH_1})
    set(file ${CMAKE_MATCH_2})
    string(REGEX REPLACE "^:" "" macros "${CMAKE_MATCH_3}")
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${name}/${file})
      message(FATAL_ERROR "chapter(${name}): variant ${label}: there is no ${name}/${file}")
    endif()
    set_property(GLOBAL APPEND PROPERTY HOPPER_STAGES "${name}|${label}|${file}|${macros}")
  endforeach()
endfunction()

# ptxas's remarks on a target's kernels stop the build. Within another project they do not.
function(add_ptxas_check target)
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE -Xptxas -v)
    set_target_properties(${target} PROPERTIES
      CUDA_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/common/cmake/ptxas_check.sh)
  endif()
endfunction()

# Compiles one stage for both element types; `suffix` is "" or "_trace". Sets <symbol> in the
# caller: stage_06_wgmma_wait0.
function(add_stage_objects backend language chapter label file macros suffix symbol)
  set(name stage_${chapter})
  if(label)
    string(APPEND name _${label})
  endif()
  string(APPEND name ${suffix})
  string(REPLACE ":" ";" macros "${macros}")
  set(source ${PROJECT_SOURCE_DIR}/${chapter}/${file})
  set_source_files_properties(${source} PROPERTIES LANGUAGE ${language})
  foreach(type IN ITEMS fp16 bf16)
    set(object ${backend}_${name}_${type})
    add_library(${object} OBJECT ${source})
    target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/common)
    target_compile_definitions(${object} PRIVATE
      GEMM_STAGE=${name}_${type} GEMM_BF16_ELEMENTS=$<STREQUAL:${type},bf16>
      TRACE=$<STREQUAL:${suffix},_trace> ${macros})
    if(label)
      target_compile_definitions(${object} PRIVATE "GEMM_VARIANT=\"${label}\"")
    endif()
    if(language STREQUAL "CUDA")
      target_compile_options(${object} PRIVATE -lineinfo)
      add_ptxas_check(${object})
      set_property(GLOBAL APPEND PROPERTY HOPPER_CUDA_STAGES ${object})
    endif()
  endforeach()
  set(${symbol} ${name} PARENT_SCOPE)
endfunction()

# Compiles the C file that picks among a chapter's variants; it has the stages of both types. Sets
# <symbol> in the caller.
function(add_selection_object backend chapter file symbol)
  set(object ${backend}_stage_${chapter})
  add_library(${object} OBJECT ${PROJECT_SOURCE_DIR}/${chapter}/${file})
  target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/common)
  set(${symbol} stage_${chapter} PARENT_SCOPE)
endfunction()

# Writes the table of stages that a program is linked with: harness/registry.h declares what is
# defined here. `stages` and `traced` are lists of symbols of the same length; NULL stands for none.
function(write_registry path is_tour stages traced)
  set(declarations "")
  foreach(table IN ITEMS stages traced)
    set(${table}_entries "")
    foreach(stage IN LISTS ${table})
      if(stage STREQUAL "NULL")
        string(APPEND ${table}_entries "    {NULL, NULL},\n")
      else()
        string(APPEND declarations "extern const struct gemm_stage ${stage}_fp16, ${stage}_bf16;\n")
        string(APPEND ${table}_entries "    {&${stage}_fp16, &${stage}_bf16},\n")
      endif()
    endforeach()
  endforeach()
  list(LENGTH stages count)
  if(count EQUAL 0) # C has no empty arrays
    set(stages_entries "    {NULL, NULL},\n")
    set(traced_entries "    {NULL, NULL},\n")
  endif()
  file(CONFIGURE OUTPUT ${path} @ONLY CONTENT [=[/* Generated by common/cmake/Chapters.cmake. */
#include "harness/registry.h"

@declarations@
const struct stage_entry stage_registry[] = {
@stages_entries@};
const struct stage_entry stage_trace_registry[] = {
@traced_entries@};
const int stage_registry_count = @count@;
const bool program_is_tour = @is_tour@;
]=])
endfunction()

# Makes, in the calling directory, the objects of all stages, the program of every chapter, and the
# tour. `libraries`: what a program is linked with besides its stages. Targets: <backend>_<chapter>,
# <backend>_<chapter>_library for a chapter with a SELECTION, <backend>_tour, and <backend>_stages, a
# library of all stages with the tour's table, for tests with a main of their own. Within another
# project the library is all there is.
function(add_chapters backend language libraries)
  set(programs ${PROJECT_BINARY_DIR}/${backend})
  set(registries ${CMAKE_CURRENT_BINARY_DIR})
  get_property(chapters GLOBAL PROPERTY HOPPER_CHAPTERS)
  get_property(stages GLOBAL PROPERTY HOPPER_STAGES)
  set(all_symbols "")
  set(all_traced "")
  set(all_objects "")
  foreach(chapter IN LISTS chapters)
    get_property(traced_labels GLOBAL PROPERTY HOPPER_TRACED_${chapter})
    get_property(selection GLOBAL PROPERTY HOPPER_SELECTION_${chapter})
    set(symbols "")
    set(traced "")
    set(objects "")
    set(traced_objects "")
    if(selection)
      add_selection_object(${backend} ${chapter} ${selection} symbol)
      list(APPEND symbols ${symbol})
      list(APPEND traced NULL)
      list(APPEND objects $<TARGET_OBJECTS:${backend}_${symbol}>)
    endif()
    foreach(stage IN LISTS stages)
      string(REGEX MATCH "^([^|]*)\\|([^|]*)\\|([^|]*)\\|(.*)$" unused "${stage}")
      set(label "${CMAKE_MATCH_2}")
      set(file "${CMAKE_MATCH_3}")
      set(macros "${CMAKE_MATCH_4}")
      if(NOT CMAKE_MATCH_1 STREQUAL chapter)
        continue()
      endif()
      add_stage_objects(${backend} ${language} ${chapter} "${label}" ${file} "${macros}" "" symbol)
      list(APPEND symbols ${symbol})
      list(APPEND objects $<TARGET_OBJECTS:${backend}_${symbol}_fp16>
                          $<TARGET_OBJECTS:${backend}_${symbol}_bf16>)
      # Timelines are drawn of the chapters' own kernels. On the GPU that takes a second
      # compilation, with the recorder in it; the simulator records what any kernel does.
      if(NOT PROJECT_IS_TOP_LEVEL OR
         (NOT label STREQUAL "" AND NOT label IN_LIST traced_labels))
        list(APPEND traced NULL)
      elseif(backend STREQUAL "sim")
        list(APPEND traced ${symbol})
      elseif(HOPPER_TRACE)
        add_stage_objects(${backend} ${language} ${chapter} "${label}" ${file} "${macros}" _trace
                          symbol)
        list(APPEND traced ${symbol})
        list(APPEND traced_objects $<TARGET_OBJECTS:${backend}_${symbol}_fp16>
                                   $<TARGET_OBJECTS:${backend}_${symbol}_bf16>)
      else()
        list(APPEND traced NULL)
      endif()
    endforeach()
    if(selection)
      add_library(${backend}_${chapter}_library STATIC ${objects})
      set_target_properties(${backend}_${chapter}_library PROPERTIES LINKER_LANGUAGE ${language})
      target_include_directories(${backend}_${chapter}_library
        INTERFACE ${PROJECT_SOURCE_DIR}/${chapter})
      target_link_libraries(${backend}_${chapter}_library PUBLIC ${libraries})
    endif()
    if(NOT PROJECT_IS_TOP_LEVEL)
      continue()
    endif()
    list(APPEND objects ${traced_objects})
    list(APPEND all_symbols ${symbols})
    list(APPEND all_traced ${traced})
    list(APPEND all_objects ${objects})
    write_registry(${registries}/registry_${chapter}.c false "${symbols}" "${traced}")
    add_executable(${backend}_${chapter} ${registries}/registry_${chapter}.c ${objects})
    set_target_properties(${backend}_${chapter} PROPERTIES
      OUTPUT_NAME ${chapter} RUNTIME_OUTPUT_DIRECTORY ${programs} LINKER_LANGUAGE ${language})
    target_link_libraries(${backend}_${chapter} PRIVATE ${libraries})
  endforeach()
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  write_registry(${registries}/registry_tour.c true "${all_symbols}" "${all_traced}")
  add_library(${backend}_kernels STATIC ${all_objects})
  set_target_properties(${backend}_kernels PROPERTIES LINKER_LANGUAGE ${language})
  # The table is compiled into each program that asks for it, because nothing in front of the
  # harness refers to it and the linker would leave it in a library.
  add_library(${backend}_stages INTERFACE)
  target_sources(${backend}_stages INTERFACE ${registries}/registry_tour.c)
  target_link_libraries(${backend}_stages INTERFACE ${backend}_kernels ${libraries})
  add_executable(${backend}_tour)
  set_target_properties(${backend}_tour PROPERTIES
    OUTPUT_NAME tour RUNTIME_OUTPUT_DIRECTORY ${programs} LINKER_LANGUAGE ${language})
  target_link_libraries(${backend}_tour PRIVATE ${backend}_stages)
endfunction()
