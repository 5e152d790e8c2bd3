# A live book: kernels with a switch on every call that synchronizes, in one program.
#
#   cmake --build build --target sim_live       as a program, build/sim/live
#   cmake --build build --target live_links     writes the links of the house's pages to it
#
# Those of part two's books end with _beyond and _blackwell. In a build of the preset `wasm` the
# program is the module of a page, which the target live makes. The folder that calls
# add_live_book() has part_one.py or part_two.py, what there is besides the chapters' kernels, and
# the page's first words.

# add_live_book(PAGE NAME name BEGIN file CHAPTERS numbers [CASES file]): of the house's chapters
# those whose numbers match.
function(add_live_book page)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "NAME;BEGIN;CHAPTERS;CASES" "")
  set(here ${PROJECT_SOURCE_DIR}/common/live)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH house)
  set(live ${PROJECT_BINARY_DIR}/live${ARG_NAME})
  set(kernels ${live}/kernels)
  set_property(GLOBAL PROPERTY HOPPER_LIVE_DIRECTORY${ARG_NAME} ${live})
  get_property(programs GLOBAL PROPERTY HOPPER_CHAPTERS${HOPPER_HOUSE})
  list(FILTER programs INCLUDE REGEX "^${ARG_CHAPTERS}_")

  add_switched_sources()
  set(objects "")
  set(registered "")
  foreach(program IN LISTS programs)
    add_switched_chapter()
  endforeach()
  list(REMOVE_DUPLICATES objects) # chapters may share a kind
  write_registry(${live}/registry.c "${registered}" TOUR RECORDED_BY sim)
  add_more_kernels()

  set(program sim_live${ARG_NAME})
  add_executable(${program} ${live}/registry.c ${kernels}/switches.c ${objects})
  add_dependencies(${program} live_kernels${ARG_NAME} live_more_kernels${ARG_NAME})
  set_source_files_properties(${kernels}/switches.c PROPERTIES
    INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/common)
  target_link_libraries(${program} PRIVATE ${live}/more_kernels.a sim_program)
  set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS ${live}/more_kernels.a)
  if(EMSCRIPTEN)
    target_sources(${program} PRIVATE ${here}/checks.c)
    make_module(${program} ${live} module _main,_live_print_checks callMain,FS,ENV)
    add_page(${page} live_page.py ${kernels}/live.json ${live} ${ARG_BEGIN} @OUT@ ${ARG_CASES}
      NEEDS ${live}/module.wasm judge)
    return()
  endif()
  set_target_properties(${program} PROPERTIES
    OUTPUT_NAME live${ARG_NAME} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/sim)
  add_custom_target(live_links${ARG_NAME}
    COMMAND ${Python3_EXECUTABLE} ${here}/run_links.py ${PROJECT_SOURCE_DIR} ${kernels}
    VERBATIM)
  add_dependencies(live_links${ARG_NAME} live_kernels${ARG_NAME})
endfunction()

# The parts of add_live_book(), whose variables they use.

# The sources, switched: the target live_kernels.
function(add_switched_sources)
  set(sources "")
  set(needed "")
  foreach(program IN LISTS programs)
    get_chapter(${program} DIRECTORY KIND)
    list(APPEND sources ${kernels}/${program}/kernel.cu)
    if(kind MATCHES "^${directory}/")
      list(APPEND sources ${kernels}/${program}/kind.c)
    endif()
    file(GLOB more CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${directory}/*.cu
      ${PROJECT_SOURCE_DIR}/${directory}/*.[ch] ${PROJECT_SOURCE_DIR}/${directory}/*.md)
    list(APPEND needed ${more})
  endforeach()
  set(pages ${house})
  if(NOT HOPPER_HOUSE)
    set(pages ${PROJECT_SOURCE_DIR})
  endif()
  set(generator live_book.py more_kernels.py simulate.py switches.py
    ../tools/book/book_text.sh)
  list(TRANSFORM generator PREPEND ${here}/)
  file(GLOB more CONFIGURE_DEPENDS part_*.py ${PROJECT_SOURCE_DIR}/common/breaks/answers/*.diff
    ${PROJECT_SOURCE_DIR}/common/breaks/*.py ${PROJECT_SOURCE_DIR}/common/tools/gallery/*.py
    ${PROJECT_SOURCE_DIR}/common/tools/book/*.py ${house}/breaks/*.py
    ${PROJECT_SOURCE_DIR}/common/building_blocks/*.h
    ${house}/building_blocks/*.h ${pages}/*.md ${pages}/docs/*.md ${pages}/docs/questions/*.md)
  # A page that is edited changes nothing here, unless it breaks a kernel: what is the same is not
  # written, and what is made of it is not made again.
  add_custom_command(
    OUTPUT ${live}/kernels.stamp
    BYPRODUCTS ${sources} ${kernels}/switches.c ${kernels}/switches.h ${kernels}/live.json
               ${kernels}/shown.json
    COMMAND ${Python3_EXECUTABLE} ${here}/switches.py ${PROJECT_SOURCE_DIR} ${kernels}
            ${PROJECT_BINARY_DIR}/kernels.json ${programs}
    COMMAND ${CMAKE_COMMAND} -E touch ${live}/kernels.stamp
    DEPENDS ${generator} ${needed} ${more} ${HOPPER_COMMITS} ${PROJECT_BINARY_DIR}/kernels.json
    COMMENT "Switches on the kernels' synchronizing lines" VERBATIM)
  add_custom_target(live_kernels${ARG_NAME} DEPENDS ${live}/kernels.stamp)
endfunction()

# Adds to `objects` what a chapter's switched kernel and its kind are compiled to, and to
# `registered` the kernel, which is there for the types of all variants but fp16.
macro(add_switched_chapter)
  get_chapter(${program} DIRECTORY KIND)
  get_property(variants TARGET chapter_${program} PROPERTY CHAPTER_KERNELS)
  set(all_types "")
  foreach(variant IN LISTS variants)
    get_kernel(${variant} TYPES)
    list(APPEND all_types ${types})
  endforeach()
  list(REMOVE_DUPLICATES all_types)
  list(REMOVE_ITEM all_types fp16)
  get_kernel(kernel_${program} GPUS PTX)
  declare_kernel(${directory} "" ${directory}/kernel.cu TARGET live_${program} TYPES ${all_types}
    GPUS ${gpus} PTX ${ptx} STEP true TRACED true)
  list(APPEND registered live_${program})

  set_source_files_properties(${kernels}/${program}/kernel.cu PROPERTIES LANGUAGE C)
  add_library(live_kernel_${program} OBJECT ${kernels}/${program}/kernel.cu)
  add_dependencies(live_kernel_${program} live_kernels${ARG_NAME})
  target_include_directories(live_kernel_${program} BEFORE PRIVATE ${kernels}
    ${PROJECT_SOURCE_DIR}/common ${HOPPER_INCLUDES})
  target_compile_definitions(live_kernel_${program} PRIVATE
    GEMM_KERNEL=kernel_${program}_written GEMM_BF16_ELEMENTS=1 TRACE=0)
  target_compile_options(live_kernel_${program} PRIVATE ${HOPPER_SIM_KERNEL_OPTIONS}
    ${HOPPER_SIM_WATCH_OPTIONS} ${HOPPER_SIM_KERNEL_WARNINGS})
  list(APPEND objects $<TARGET_OBJECTS:live_kernel_${program}>)
  if(kind MATCHES "^${directory}/")
    add_library(live_kind_${program} OBJECT ${kernels}/${program}/kind.c)
    add_dependencies(live_kind_${program} live_kernels${ARG_NAME})
    target_include_directories(live_kind_${program} PRIVATE ${kernels} ${PROJECT_SOURCE_DIR}/common
      ${HOPPER_INCLUDES} ${PROJECT_SOURCE_DIR}/${directory})
    list(APPEND objects $<TARGET_OBJECTS:live_kind_${program}>)
  elseif(kind) # shared, and as it is
    list(APPEND objects ${PROJECT_SOURCE_DIR}/${kind})
  endif()
endmacro()

# The other kernels, whose number is known when they have been made: the target live_more_kernels,
# more_kernels.a.
function(add_more_kernels)
  set(chunk 1)
  if(EMSCRIPTEN) # a call of emcc takes longer than compiling a kernel
    set(chunk 60)
  endif()
  set(directories ${kernels} ${PROJECT_SOURCE_DIR}/common ${HOPPER_INCLUDES})
  list(TRANSFORM directories PREPEND -I)
  separate_arguments(options UNIX_COMMAND "${CMAKE_C_FLAGS}")
  if(HOPPER_SANITIZE)
    list(APPEND options -fsanitize=address,undefined)
  endif()
  file(GLOB needed CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/common/*.h
    ${PROJECT_SOURCE_DIR}/common/services/*.h
    ${PROJECT_SOURCE_DIR}/common/hopper/*.h ${PROJECT_SOURCE_DIR}/common/sim/hopper/*.h
    ${PROJECT_SOURCE_DIR}/common/building_blocks/*.h ${house}/building_blocks/*.h)
  add_custom_command(OUTPUT ${live}/more_kernels.a
    COMMAND ${Python3_EXECUTABLE} ${here}/compile_kernels.py ${kernels}/more ${live}/more_kernels.a
            ${CMAKE_AR} ${chunk} ${CMAKE_C_COMPILER_LAUNCHER} ${CMAKE_C_COMPILER} -std=gnu11 ${options}
            ${HOPPER_WASM_OPTIONS} ${HOPPER_SIM_KERNEL_OPTIONS} ${directories} -DGEMM_BF16_ELEMENTS=1 -DTRACE=0 -w
    DEPENDS ${needed} ${kernels}/live.json ${here}/compile_kernels.py ${here}/switches.py
    COMMENT "Variants and breaks of the kernels" VERBATIM)
  add_custom_target(live_more_kernels${ARG_NAME} DEPENDS ${live}/more_kernels.a)
  add_dependencies(live_more_kernels${ARG_NAME} live_kernels${ARG_NAME})
endfunction()
