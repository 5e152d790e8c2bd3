# A kernel is a target: an interface library of which nothing is built, with the properties below. It is
# called kernel_<program>[_<variant>], as is its record in C, without the type. chapter() declares those of
# a house, declare_kernel() one; kernels.json in the build directory tells the same to programs.
define_property(TARGET PROPERTY KERNEL_NAME BRIEF_DOCS "06_wgmma, or of a variant 06_wgmma:rs")
define_property(TARGET PROPERTY KERNEL_HOUSE BRIEF_DOCS "HOPPER_HOUSE, where it was declared")
define_property(TARGET PROPERTY KERNEL_CHAPTER BRIEF_DOCS "The chapter's directory")
define_property(TARGET PROPERTY KERNEL_VARIANT BRIEF_DOCS "Empty: the chapter's own kernel")
define_property(TARGET PROPERTY KERNEL_FILE BRIEF_DOCS "A .cu file, or the .c file of a SELECTION")
define_property(TARGET PROPERTY KERNEL_MACROS BRIEF_DOCS "MACRO=VALUE, a list")
define_property(TARGET PROPERTY KERNEL_TYPES BRIEF_DOCS "The element types that it is compiled for")
define_property(TARGET PROPERTY KERNEL_STEP BRIEF_DOCS "Does a tour run it?")
define_property(TARGET PROPERTY KERNEL_TRACED BRIEF_DOCS "Can it record a timeline?")
define_property(TARGET PROPERTY KERNEL_FROM BRIEF_DOCS "Of a chapter's first kernel, the one before")
define_property(TARGET PROPERTY KERNEL_KIND BRIEF_DOCS "The C file with its struct problem_kind")
define_property(TARGET PROPERTY KERNEL_GPUS BRIEF_DOCS "The number of GPUs that it needs")
define_property(TARGET PROPERTY KERNEL_PTX BRIEF_DOCS
  "The lowest compute capability of the GPUs with code for it; 0: that of KERNEL_ARCH alone")
define_property(TARGET PROPERTY KERNEL_ARCH BRIEF_DOCS "The architecture of its machine code")

# declare_kernel(chapter variant file PROPERTY value...): for example
#
#   declare_kernel(06_wgmma rs 06_wgmma/rs.cu TYPES fp16 bf16 STEP true)
#
# Sets `declared` in the caller: the target.
function(declare_kernel chapter variant file)
  cmake_parse_arguments(PARSE_ARGV 3 ARG "" "STEP;TRACED;FROM;KIND;GPUS;PTX;ARCH" "MACROS;TYPES")
  cmake_path(GET chapter FILENAME name)
  set(kernel kernel_${name})
  if(variant)
    string(APPEND kernel _${variant})
    string(APPEND name :${variant})
  endif()
  add_library(${kernel} INTERFACE)
  set_target_properties(${kernel} PROPERTIES KERNEL_NAME ${name} KERNEL_HOUSE "${HOPPER_HOUSE}"
    KERNEL_CHAPTER ${chapter} KERNEL_VARIANT "${variant}" KERNEL_FILE ${file}
    KERNEL_STEP false KERNEL_TRACED false KERNEL_GPUS 1 KERNEL_PTX 0 KERNEL_ARCH 90a)
  foreach(property IN ITEMS STEP TRACED FROM KIND GPUS PTX ARCH MACROS TYPES)
    if(DEFINED ARG_${property})
      set_property(TARGET ${kernel} PROPERTY KERNEL_${property} "${ARG_${property}}")
    endif()
  endforeach()
  set(declared ${kernel} PARENT_SCOPE)
endfunction()

# Sets in the caller, for each of these properties of a kernel, the variable with its name in small
# letters: get_kernel(${kernel} FILE TYPES) sets file and types.
macro(get_kernel kernel)
  foreach(get_kernel_property IN ITEMS ${ARGN})
    string(TOLOWER ${get_kernel_property} get_kernel_variable)
    get_property(${get_kernel_variable} TARGET ${kernel} PROPERTY KERNEL_${get_kernel_property})
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

# kernels.json: a list with an object for each kernel of every house, in the order of declaration. Its
# members are named after the properties. house is "", "beyond" or "library"; file and kind are paths
# from the root; variant, from and kind may be null.
function(write_kernels)
  set(rows "")
  foreach(house IN ITEMS "" _beyond _library)
    get_property(kernels GLOBAL PROPERTY HOPPER_KERNEL_TARGETS${house})
    foreach(kernel IN LISTS kernels)
      get_kernel(${kernel} NAME HOUSE CHAPTER VARIANT FILE MACROS TYPES STEP TRACED FROM KIND GPUS PTX
        ARCH)
      string(REGEX REPLACE "^_" "" house "${house}")
      foreach(member IN ITEMS variant from kind)
        to_json_word(${member} "${${member}}")
      endforeach()
      foreach(member IN ITEMS macros types)
        to_json_list(${member} "${${member}}")
      endforeach()
      list(APPEND rows "{\"name\": \"${name}\", \"house\": \"${house}\", \"chapter\": \"${chapter}\", \
\"variant\": ${variant}, \"file\": \"${file}\", \"macros\": ${macros}, \"types\": ${types}, \
\"step\": ${step}, \"traced\": ${traced}, \"from\": ${from}, \"kind\": ${kind}, \"gpus\": ${gpus}, \
\"ptx\": ${ptx}, \"arch\": \"${arch}\"}")
    endforeach()
  endforeach()
  list(JOIN rows ",\n " rows)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/kernels.json CONTENT "[${rows}]\n" @ONLY)
endfunction()
