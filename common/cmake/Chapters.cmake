# Chapters: what one line chapter(...) means.
#
#   chapter(06_wgmma STEPS kernel two_warpgroups VARIANTS two_warpgroups:two_warpgroups.cu rs:rs.cu)
#   chapter(library/hopper_gemm SELECTION select.c LIBRARY library.c VARIANTS ...)
#   chapter(beyond/13_two_gpus TYPES bf16 GPUS 2)
#
# declares a chapter by its directory. Its own kernel is kernel.cu, or with SELECTION the variant
# that this C file picks for a problem; a LIBRARY is the C file of what other projects call, and its
# kernels are in no tour. STEPS are the kernels that a tour runs, in the order in which they are
# read: names of variants, and `kernel` for the chapter's own (default: that one). The first of them
# builds on the step before it, or on FROM, such as 08_persistent_pingpong:persistent. Steps can
# record a timeline, and so can the variants in TRACED. TYPES are the element types that its kernels
# are compiled for (default: fp16 bf16; with e4m3 and w4a8, D is bf16), `variant:e4m3` the only one
# of a variant, GPUS the number of GPUs that they need (default: 1). KIND is the C file with the
# struct problem_kind of a chapter whose kernels name one (harness/problem_kind.h), with a path if
# several share it, RIVALS the CUDA and C files with its baselines, to which the kernel of FROM is
# linked, too (gpu/from_kernel.h), and behind them further chapters whose kernels are. PTX is the
# lowest compute capability of the GPUs that the chapter's kernels can run on, such as 80 for 8.0,
# where these are more than 9.0; `variant:90` says so of one. ARCH is the architecture that the
# kernels' machine code is for, such as 100a, where it is not 90a; in the struct gemm_kernel of
# each, .machine says the same.
#
# There are several houses: part one, declared in the top CMakeLists.txt, and beyond/ and library/,
# each of which may be absent. HOPPER_HOUSE is what the names of a house's targets, tests and
# programs end with: nothing, _beyond or _library; HOPPER_INCLUDES is where its kernels find headers
# besides common/. Each house calls add_chapters() (Programs.cmake) once for each backend, in
# different directories, because there the same .cu files are of different languages, and CMake
# keeps a source's language per directory.
set(HOPPER_HOUSE "")
set(HOPPER_INCLUDES "")

# The element types, in the order of enum gemm_type.
set(HOPPER_TYPES fp16 bf16 e4m3 w4a8)

function(chapter directory)
  cmake_parse_arguments(PARSE_ARGV 1 ARG ""
    "SELECTION;LIBRARY;GPUS;FROM;KIND;ARCH" "STEPS;TRACED;TYPES;VARIANTS;PTX;RIVALS")
  check_chapter_words()
  if(NOT PROJECT_IS_TOP_LEVEL AND NOT ARG_LIBRARY)
    return()
  endif()
  # Of each kernel its label, `kernel` for the chapter's own, file_<label> and macros_<label>.
  set(labels kernel)
  set(file_kernel kernel.cu)
  if(ARG_SELECTION)
    set(file_kernel ${ARG_SELECTION})
  endif()
  set(macros_kernel "")
  foreach(variant IN LISTS ARG_VARIANTS)
    if(NOT variant MATCHES "^([a-z0-9_]+):([a-z0-9_]+\\.cu)((:[A-Za-z0-9_]+=[A-Za-z0-9_]+)*)$")
      refuse_chapter("'${variant}' is not name:file.cu[:MACRO=VALUE...]")
    endif()
    set(label ${CMAKE_MATCH_1})
    list(APPEND labels ${label})
    set(file_${label} ${CMAKE_MATCH_2})
    string(REPLACE ":" ";" macros_${label} "${CMAKE_MATCH_3}")
    list(REMOVE_ITEM macros_${label} "")
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${directory}/${file_${label}})
      refuse_chapter("variant ${label}: there is no ${directory}/${file_${label}}")
    endif()
  endforeach()
  check_chapter_labels()
  declare_chapter()
  # The steps first, in their order.
  list(REMOVE_ITEM labels ${ARG_STEPS})
  set(from "")
  if(ARG_FROM) # of the first
    set(from FROM ${ARG_FROM})
  endif()
  foreach(label IN LISTS ARG_STEPS labels)
    declare_chapter_kernel()
    set(from "")
  endforeach()
endfunction()

# The parts of chapter(), whose variables they use.

macro(refuse_chapter text)
  message(FATAL_ERROR "chapter(${directory}): ${text}")
endmacro()

function(check_chapter_words)
  if(ARG_UNPARSED_ARGUMENTS)
    refuse_chapter("unexpected ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  get_property(made GLOBAL PROPERTY HOPPER_CHAPTERS_MADE${HOPPER_HOUSE})
  if(made)
    file(RELATIVE_PATH list ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_LIST_FILE})
    refuse_chapter("too late, because the programs are declared. Move the line up in ${list}, to \
the other chapters, behind ${made}.")
  endif()
  if(NOT ARG_SELECTION AND NOT EXISTS ${PROJECT_SOURCE_DIR}/${directory}/kernel.cu)
    refuse_chapter("there is no ${directory}/kernel.cu")
  endif()
  if(ARG_LIBRARY AND NOT ARG_SELECTION)
    refuse_chapter("a LIBRARY needs a SELECTION")
  endif()
  if(DEFINED ARG_GPUS AND NOT ARG_GPUS MATCHES "^[1-9][0-9]*$")
    refuse_chapter("GPUS ${ARG_GPUS}: not a number of GPUs")
  endif()
  if(ARG_ARCH AND NOT ARG_ARCH MATCHES "^[1-9][0-9]+a$")
    refuse_chapter("ARCH ${ARG_ARCH}: not an architecture such as 100a")
  endif()
  if(ARG_ARCH AND ARG_PTX)
    refuse_chapter("code for ARCH ${ARG_ARCH} has no PTX for other GPUs")
  endif()
endfunction()

# What is said of variants, or of one as variant:word.
function(check_chapter_labels)
  foreach(label IN LISTS ARG_STEPS ARG_TRACED)
    if(NOT label IN_LIST labels)
      refuse_chapter("there is no variant ${label}")
    endif()
  endforeach()
  foreach(list IN ITEMS PTX TYPES)
    foreach(word IN LISTS ARG_${list})
      if(word MATCHES "^(.*):" AND NOT CMAKE_MATCH_1 IN_LIST labels)
        refuse_chapter("${list} ${word}: there is no variant ${CMAKE_MATCH_1}")
      endif()
      string(REGEX REPLACE "^.*:" "" word ${word})
      if(list STREQUAL "PTX" AND NOT word MATCHES "^[0-9]+$")
        refuse_chapter("PTX ${word} is not a capability such as 80")
      elseif(list STREQUAL "TYPES" AND NOT word IN_LIST HOPPER_TYPES)
        refuse_chapter("TYPES ${word}: choose from ${HOPPER_TYPES}")
      endif()
    endforeach()
  endforeach()
endfunction()

# Sets `variable` in the caller: of `words`, those said of one label, or else of all.
function(words_of_label variable label words)
  set(own ${words})
  list(FILTER own INCLUDE REGEX "^${label}:")
  list(TRANSFORM own REPLACE "^.*:" "")
  list(FILTER words EXCLUDE REGEX ":")
  if(own)
    set(words ${own})
  endif()
  set(${variable} "${words}" PARENT_SCOPE)
endfunction()

# Adds to `properties` what the chapter's kernels have in common.
macro(declare_chapter)
  cmake_path(GET directory FILENAME program)
  if(NOT ARG_STEPS AND NOT ARG_LIBRARY)
    set(ARG_STEPS kernel)
  endif()
  if(NOT ARG_TYPES)
    set(ARG_TYPES fp16 bf16)
  endif()
  if(ARG_KIND AND NOT ARG_KIND MATCHES "/") # several chapters share those with a path
    string(PREPEND ARG_KIND ${directory}/)
  endif()
  words_of_label(types "" "${ARG_TYPES}")
  string(REGEX REPLACE "a$" "" capability "${ARG_ARCH}")
  set(lacks "")
  if(ARG_ARCH AND HOPPER_GPU_PROGRAMS AND NOT capability IN_LIST HOPPER_CAPABILITIES)
    set(lacks ${ARG_ARCH})
  endif()
  add_library(chapter_${program} INTERFACE)
  set_target_properties(chapter_${program} PROPERTIES CHAPTER_DIRECTORY ${directory}
    CHAPTER_TYPES "${types}" CHAPTER_KIND "${ARG_KIND}" CHAPTER_RIVALS "${ARG_RIVALS}"
    CHAPTER_FROM "${ARG_FROM}" CHAPTER_LIBRARY "${ARG_LIBRARY}" CHAPTER_LACKS "${lacks}")
  set_property(GLOBAL APPEND PROPERTY HOPPER_CHAPTERS${HOPPER_HOUSE} ${program})
endmacro()

macro(declare_chapter_kernel)
  string(REGEX REPLACE "^kernel$" "" variant ${label})
  set(properties ${from})
  foreach(word IN ITEMS GPUS ARCH KIND)
    if(ARG_${word})
      list(APPEND properties ${word} ${ARG_${word}})
    endif()
  endforeach()
  if(file_${label} STREQUAL "${ARG_SELECTION}")
    list(APPEND properties STEP true)
  elseif(label IN_LIST ARG_STEPS)
    list(APPEND properties STEP true TRACED true)
  elseif(label IN_LIST ARG_TRACED)
    list(APPEND properties TRACED true)
  endif()
  words_of_label(types ${label} "${ARG_TYPES}")
  words_of_label(ptx ${label} "${ARG_PTX}")
  if(NOT ptx IN_LIST HOPPER_PTX_CAPABILITIES)
    set(ptx 0)
  endif()
  declare_kernel(${directory} "${variant}" ${directory}/${file_${label}} ${properties}
    TYPES ${types} PTX ${ptx} MACROS ${macros_${label}})
  set_property(GLOBAL APPEND PROPERTY HOPPER_KERNELS${HOPPER_HOUSE} ${declared})
  set_property(TARGET chapter_${program} APPEND PROPERTY CHAPTER_KERNELS ${declared})
endmacro()
