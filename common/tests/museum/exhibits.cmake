# The exhibits of the museum as sources of a program. Included by tests/museum and by tests/gpu: a
# .cu file is C in the one directory and CUDA in the other.
#
#   add_exhibits(sim C sources)
#
# compiles each exhibit in both forms, and sets `sources` to their objects and a list of them.
# list_exhibits(FILE exhibits [HOPPER]) writes that list, and sets `exhibits` to the sources; with
# HOPPER without those for Blackwell, which no compiler for Hopper takes.
function(list_exhibits list out)
  file(GLOB exhibits CONFIGURE_DEPENDS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/[0-9]*.cu)
  foreach(exhibit IN LISTS exhibits)
    file(STRINGS ${exhibit} blackwell REGEX "^BLACKWELL_EXHIBIT")
    if(blackwell AND "HOPPER" IN_LIST ARGN)
      list(REMOVE_ITEM exhibits ${exhibit})
    endif()
  endforeach()
  set(declared "")
  set(rows "")
  foreach(exhibit IN LISTS exhibits)
    cmake_path(GET exhibit STEM name)
    string(APPEND declared "extern const struct museum_form museum_${name}_0, museum_${name}_1;\n")
    string(APPEND rows "    {\"${name}\", {&museum_${name}_0, &museum_${name}_1}},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${list} CONTENT "#include \"tests/museum/museum.h\"

${declared}
const struct museum_exhibit museum_exhibits[] = {
${rows}};
const int museum_exhibit_count = sizeof museum_exhibits / sizeof *museum_exhibits;
")
  set(${out} ${exhibits} PARENT_SCOPE)
endfunction()

function(add_exhibits backend language out)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/museum_exhibits.c)
  set(machine "")
  if(language STREQUAL CUDA)
    set(machine HOPPER)
  endif()
  list_exhibits(${list} exhibits ${machine})
  set_source_files_properties(${exhibits} PROPERTIES LANGUAGE ${language})
  set(sources ${list})
  foreach(exhibit IN LISTS exhibits)
    cmake_path(GET exhibit STEM name)
    foreach(fixed IN ITEMS 0 1)
      set(objects ${backend}_museum_${name}_${fixed})
      add_library(${objects} OBJECT ${exhibit})
      target_link_libraries(${objects} PRIVATE ${backend}_program) # its options
      target_compile_options(${objects} PRIVATE
        $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>) # compute-sanitizer names lines
      target_compile_definitions(${objects} PRIVATE
        GEMM_BF16_ELEMENTS=1 FIXED=${fixed} MUSEUM_FORM=museum_${name}_${fixed})
      list(APPEND sources $<TARGET_OBJECTS:${objects}>)
    endforeach()
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
