# What the build knows of chapters and kernels. Each is a target, an interface library of which
# nothing is built, with the properties below: chapter_<program>, and kernel_<program>[_<variant>],
# which is the name of the kernel's record in C, too, without the type. chapter() declares those of
# a house; kernels.json in the build directory tells programs of the kernels.
#
# A house's are in the global properties HOPPER_CHAPTERS<house>, names of programs, and
# HOPPER_KERNELS<house>, targets.
define_property(TARGET PROPERTY CHAPTER_DIRECTORY BRIEF_DOCS "From the root")
define_property(TARGET PROPERTY CHAPTER_KERNELS BRIEF_DOCS
  "Targets; the steps first, in their order")
define_property(TARGET PROPERTY CHAPTER_TYPES BRIEF_DOCS
  "Of its kernels, unless one has types of its own")
define_property(TARGET PROPERTY CHAPTER_KIND BRIEF_DOCS "The C file with the struct problem_kind")
define_property(TARGET PROPERTY CHAPTER_RIVALS BRIEF_DOCS "CUDA and C files, and chapters")
define_property(TARGET PROPERTY CHAPTER_FROM BRIEF_DOCS "The kernel before its first")
define_property(TARGET PROPERTY CHAPTER_LIBRARY BRIEF_DOCS "The C file of what other projects call")
define_property(TARGET PROPERTY CHAPTER_LACKS BRIEF_DOCS
  "The architecture for which this CUDA toolkit cannot compile")

define_property(TARGET PROPERTY KERNEL_SYMBOL BRIEF_DOCS "Its record's name, without the type")
define_property(TARGET PROPERTY KERNEL_NAME BRIEF_DOCS "06_wgmma, or of a variant 06_wgmma:rs")
define_property(TARGET PROPERTY KERNEL_CHAPTER BRIEF_DOCS "The chapter's directory")
define_property(TARGET PROPERTY KERNEL_VARIANT BRIEF_DOCS "Empty: the chapter's own kernel")
define_property(TARGET PROPERTY KERNEL_FILE BRIEF_DOCS "A .cu file, or the .c file of a SELECTION")
define_property(TARGET PROPERTY KERNEL_MACROS BRIEF_DOCS "MACRO=VALUE, a list")
define_property(TARGET PROPERTY KERNEL_TYPES BRIEF_DOCS "The element types that it is compiled for")
define_property(TARGET PROPERTY KERNEL_STEP BRIEF_DOCS
  "Is it run where no variant is asked for, as by a tour?")
define_property(TARGET PROPERTY KERNEL_TRACED BRIEF_DOCS "Can it record a timeline?")
define_property(TARGET PROPERTY KERNEL_FROM BRIEF_DOCS
  "Of a chapter's first kernel, the one before")
define_property(TARGET PROPERTY KERNEL_KIND BRIEF_DOCS "The C file with its struct problem_kind")
define_property(TARGET PROPERTY KERNEL_GPUS BRIEF_DOCS "The number of GPUs that it needs")
define_property(TARGET PROPERTY KERNEL_PTX BRIEF_DOCS
  "The lowest compute capability of the GPUs with code for it; 0: that of KERNEL_ARCH alone")
define_property(TARGET PROPERTY KERNEL_ARCH BRIEF_DOCS "The architecture of its machine code")
# Then, for a backend, sim or gpu: the object libraries that it is compiled to,
# KERNEL_OBJECTS_<backend>; those with the recorder in them, KERNEL_TRACES_<backend>; and
# KERNEL_KINDS_<backend>, its kind's and behind that those of the kind's rivals.

# declare_kernel(chapter variant file PROPERTY value...): for example
#
#   declare_kernel(06_wgmma rs 06_wgmma/rs.cu TYPES fp16 bf16 STEP true)
#
# TARGET is what the target is called where that is not the symbol. Sets `declared` in the caller:
# the target.
function(declare_kernel chapter variant file)
  cmake_parse_arguments(PARSE_ARGV 3 ARG ""
    "TARGET;STEP;TRACED;FROM;KIND;GPUS;PTX;ARCH" "MACROS;TYPES")
  cmake_path(GET chapter FILENAME name)
  set(symbol kernel_${name})
  if(variant)
    string(APPEND symbol _${variant})
    string(APPEND name :${variant})
  endif()
  set(kernel ${symbol})
  if(ARG_TARGET)
    set(kernel ${ARG_TARGET})
  endif()
  add_library(${kernel} INTERFACE)
  set_target_properties(${kernel} PROPERTIES KERNEL_SYMBOL ${symbol} KERNEL_NAME ${name}
    KERNEL_CHAPTER ${chapter} KERNEL_VARIANT "${variant}" KERNEL_FILE ${file}
    KERNEL_STEP false KERNEL_TRACED false KERNEL_GPUS 1 KERNEL_PTX 0 KERNEL_ARCH 90a)
  foreach(property IN ITEMS STEP TRACED FROM KIND GPUS PTX ARCH MACROS TYPES)
    if(DEFINED ARG_${property})
      set_property(TARGET ${kernel} PROPERTY KERNEL_${property} "${ARG_${property}}")
    endif()
  endforeach()
  set(declared ${kernel} PARENT_SCOPE)
endfunction()

# Set in the caller, for each of these properties, the variable with its name in small letters:
# get_kernel(${kernel} FILE TYPES) sets file and types, get_chapter(${program} KIND) sets kind.
macro(get_kernel kernel)
  foreach(get_property IN ITEMS ${ARGN})
    string(TOLOWER ${get_property} get_variable)
    get_property(${get_variable} TARGET ${kernel} PROPERTY KERNEL_${get_property})
  endforeach()
endmacro()
macro(get_chapter program)
  foreach(get_property IN ITEMS ${ARGN})
    string(TOLOWER ${get_property} get_variable)
    get_property(${get_variable} TARGET chapter_${program} PROPERTY CHAPTER_${get_property})
  endforeach()
endmacro()

# A list of words as JSON.
function(to_json_list variable words)
  list(TRANSFORM words REPLACE "(.+)" "\"\\1\"")
  list(JOIN words ", " words)
  set(${variable} "[${words}]" PARENT_SCOPE)
endfunction()

# A word as JSON; empty: null.
function(to_json_word variable word)
  set(${variable} null PARENT_SCOPE)
  if(NOT word STREQUAL "")
    set(${variable} "\"${word}\"" PARENT_SCOPE)
  endif()
endfunction()

# kernels.json: a list with an object for each kernel of every house, in the order of declaration.
# Its members are named after the properties. house is "", "beyond" or "library"; file and kind are
# paths from the root; variant, from and kind may be null.
function(write_kernels)
  set(rows "")
  foreach(house IN ITEMS "" _beyond _library)
    get_property(kernels GLOBAL PROPERTY HOPPER_KERNELS${house})
    string(REGEX REPLACE "^_" "" house "${house}")
    foreach(kernel IN LISTS kernels)
      get_kernel(${kernel} NAME CHAPTER VARIANT FILE MACROS TYPES STEP TRACED FROM KIND GPUS PTX
        ARCH)
      foreach(member IN ITEMS variant from kind)
        to_json_word(${member} "${${member}}")
      endforeach()
      foreach(member IN ITEMS macros types)
        to_json_list(${member} "${${member}}")
      endforeach()
      list(APPEND rows
        "{\"name\": \"${name}\", \"house\": \"${house}\", \"chapter\": \"${chapter}\", \
\"variant\": ${variant}, \"file\": \"${file}\", \"macros\": ${macros}, \"types\": ${types}, \
\"step\": ${step}, \"traced\": ${traced}, \"from\": ${from}, \"kind\": ${kind}, \"gpus\": ${gpus}, \
\"ptx\": ${ptx}, \"arch\": \"${arch}\"}")
    endforeach()
  endforeach()
  list(JOIN rows ",\n " rows)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/kernels.json CONTENT "[${rows}]\n" @ONLY)
endfunction()
