# A live book: kernels with a switch on every call that synchronizes, in one program.
#
#   cmake --build build --target sim_live       as a program, build/sim/live
#   cmake --build build --target live_module    the same as WebAssembly: build/live/module.js, .wasm
#   cmake --build build --target live_links     writes the links of the house's pages to it
#
# Those of part two's books end with _beyond and _blackwell. The folder that calls add_live_book() has
# part_one.py or part_two.py, what there is besides the chapters' kernels, and the page's first words.

# add_live_book(PAGE NAME name BEGIN file CHAPTERS numbers [CASES file]): of the house's chapters those
# whose numbers match.
function(add_live_book page)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "NAME;BEGIN;CHAPTERS;CASES" "")
  set(here ${PROJECT_SOURCE_DIR}/common/live)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH house)
  set(pages ${house})
  if(NOT HOPPER_HOUSE)
    set(pages ${PROJECT_SOURCE_DIR})
  endif()
  set(live ${PROJECT_BINARY_DIR}/live${ARG_NAME})
  set(kernels ${live}/kernels)
  set_property(GLOBAL PROPERTY HOPPER_LIVE_DIRECTORY${ARG_NAME} ${live})
  # Of bf16, or the one type that a chapter has.
  get_property(programs GLOBAL PROPERTY HOPPER_CHAPTERS${HOPPER_HOUSE})
  list(FILTER programs INCLUDE REGEX "^${ARG_CHAPTERS}_")
  set(registered "")
  set(plain "")
  set(kinds "")
  set(shared_kinds "") # as they are
  set(sources "")
  foreach(program IN LISTS programs)
    list(APPEND sources ${kernels}/${program}/kernel.cu)
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
    if(kind MATCHES "^${directory}/")
      list(APPEND kinds ${directory})
      list(APPEND sources ${kernels}/${program}/kind.c)
    elseif(kind)
      list(APPEND shared_kinds ${PROJECT_SOURCE_DIR}/${kind})
    endif()
    file(GLOB more CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${directory}/*.cu
      ${PROJECT_SOURCE_DIR}/${directory}/*.[ch] ${PROJECT_SOURCE_DIR}/${directory}/*.md)
    list(APPEND plain ${more})
  endforeach()

  # ---- the sources, switched ----

  set(generator live_book.py repairs.py simulate.py switches.py versions.py
    ../tools/book/book_text.sh)
  list(TRANSFORM generator PREPEND ${here}/)
  file(GLOB more CONFIGURE_DEPENDS part_*.py answers/*.diff
    ${PROJECT_SOURCE_DIR}/common/breaks/*.py ${PROJECT_SOURCE_DIR}/common/tools/mutants/*.py
    ${PROJECT_SOURCE_DIR}/common/tools/book/*.py ${house}/breaks/*.py
    ${house}/tools/mutants/*.py ${PROJECT_SOURCE_DIR}/common/building_blocks/*.h
    ${house}/building_blocks/*.h ${pages}/*.md ${pages}/docs/*.md ${pages}/docs/questions/*.md)
  list(APPEND plain ${more} ${HOPPER_COMMITS} ${PROJECT_BINARY_DIR}/kernels.json)
  # A page that is edited changes nothing here, unless it breaks a kernel: what is the same is not
  # written, and what is made of it is not made again.
  add_custom_command(
    OUTPUT ${live}/kernels.stamp
    BYPRODUCTS ${sources} ${kernels}/switches.c ${kernels}/switches.h ${kernels}/live.json
               ${kernels}/shown.json
    COMMAND ${Python3_EXECUTABLE} ${here}/switches.py ${PROJECT_SOURCE_DIR} ${kernels}
            ${PROJECT_BINARY_DIR}/kernels.json ${programs}
    COMMAND ${CMAKE_COMMAND} -E touch ${live}/kernels.stamp
    DEPENDS ${generator} ${plain}
    COMMENT "Switches on the kernels' synchronizing lines" VERBATIM)
  add_custom_target(live_kernels${ARG_NAME} DEPENDS ${live}/kernels.stamp)
  write_registry(${live}/registry.c "${registered}" TOUR RECORDED_BY sim)

  # ---- the program ----

  set(objects "")
  foreach(program IN LISTS programs)
    set(object live_kernel_${program})
    set_source_files_properties(${kernels}/${program}/kernel.cu PROPERTIES LANGUAGE C)
    add_library(${object} OBJECT ${kernels}/${program}/kernel.cu)
    add_dependencies(${object} live_kernels${ARG_NAME})
    target_include_directories(${object} BEFORE PRIVATE ${kernels})
    target_compile_definitions(${object} PRIVATE
      GEMM_KERNEL=kernel_${program}_written GEMM_BF16_ELEMENTS=1 TRACE=0)
    target_compile_options(${object} PRIVATE ${HOPPER_SIM_KERNEL_OPTIONS} ${HOPPER_SIM_WATCH_OPTIONS}
      ${HOPPER_SIM_KERNEL_WARNINGS})
    list(APPEND objects $<TARGET_OBJECTS:${object}>)
  endforeach()
  foreach(chapter IN LISTS kinds)
    cmake_path(GET chapter FILENAME program)
    add_library(live_kind_${program} OBJECT ${kernels}/${program}/kind.c)
    add_dependencies(live_kind_${program} live_kernels${ARG_NAME})
    target_include_directories(live_kind_${program} PRIVATE ${kernels} ${PROJECT_SOURCE_DIR}/common
      ${HOPPER_INCLUDES} ${PROJECT_SOURCE_DIR}/${chapter})
    list(APPEND objects $<TARGET_OBJECTS:live_kind_${program}>)
  endforeach()
  list(REMOVE_DUPLICATES shared_kinds)
  list(APPEND objects ${shared_kinds})
  # The versions: their number is known when they have been made.
  set(live_compile ${Python3_EXECUTABLE} ${here}/compile_versions.py ${kernels}/versions)
  set(directories ${kernels} ${PROJECT_SOURCE_DIR}/common ${HOPPER_INCLUDES})
  list(TRANSFORM directories PREPEND -I)
  file(GLOB version_depends CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/common/*.h
    ${PROJECT_SOURCE_DIR}/common/hopper/*.h ${PROJECT_SOURCE_DIR}/common/sim/hopper/*.h
    ${PROJECT_SOURCE_DIR}/common/building_blocks/*.h ${house}/building_blocks/*.h)
  list(APPEND version_depends ${kernels}/live.json ${here}/compile_versions.py ${here}/switches.py)
  set(version_options ${directories} -DGEMM_BF16_ELEMENTS=1 -DTRACE=0 -w)
  separate_arguments(build_options UNIX_COMMAND "${CMAKE_C_FLAGS}")
  if(HOPPER_SANITIZE)
    list(APPEND build_options -fsanitize=address,undefined)
  endif()
  add_custom_command(OUTPUT ${live}/versions.a
    COMMAND ${live_compile} ${live}/versions.a ${CMAKE_AR} 1 ${CMAKE_C_COMPILER_LAUNCHER}
            ${CMAKE_C_COMPILER} -std=gnu11 ${build_options} ${HOPPER_SIM_KERNEL_OPTIONS}
            ${version_options}
    DEPENDS ${version_depends} COMMENT "The kernels' versions" VERBATIM)
  add_custom_target(live_versions${ARG_NAME} DEPENDS ${live}/versions.a)
  add_dependencies(live_versions${ARG_NAME} live_kernels${ARG_NAME})
  set(program sim_live${ARG_NAME})
  add_executable(${program} ${live}/registry.c ${kernels}/switches.c ${objects})
  add_dependencies(${program} live_kernels${ARG_NAME} live_versions${ARG_NAME})
  set_source_files_properties(${kernels}/switches.c PROPERTIES
    INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/common)
  set_target_properties(${program} PROPERTIES
    OUTPUT_NAME live${ARG_NAME} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/sim)
  target_link_libraries(${program} PRIVATE ${live}/versions.a sim_program)
  set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS ${live}/versions.a)
  add_custom_target(live_links${ARG_NAME}
    COMMAND ${Python3_EXECUTABLE} ${here}/run_links.py ${PROJECT_SOURCE_DIR} ${kernels}
    VERBATIM)
  add_dependencies(live_links${ARG_NAME} live_kernels${ARG_NAME})
  if(NOT HOPPER_LIVE_MODULE)
    return()
  endif()

  # ---- as WebAssembly ----

  add_module_object(${kernels}/switches.c switches -Os)
  add_module_object(${live}/registry.c registry -Os)
  add_module_object(${here}/checks.c checks -Os ${HOPPER_C_WARNINGS})
  foreach(program IN LISTS programs)
    add_module_object(${kernels}/${program}/kernel.cu ${program} ${directories} -Os -w
      -ftrivial-auto-var-init=pattern -DGEMM_KERNEL=kernel_${program}_written -DGEMM_BF16_ELEMENTS=1
      -DTRACE=0)
  endforeach()
  foreach(chapter IN LISTS kinds)
    cmake_path(GET chapter FILENAME program)
    add_module_object(${kernels}/${program}/kind.c kind_${program} -Os ${HOPPER_C_WARNINGS}
      ${directories} -I${PROJECT_SOURCE_DIR}/${chapter})
  endforeach()
  foreach(file IN LISTS shared_kinds)
    string(MAKE_C_IDENTIFIER ${file} name)
    add_module_object(${file} ${name} -Os ${HOPPER_C_WARNINGS})
  endforeach()
  add_custom_command(OUTPUT ${live}/versions_module.a
    COMMAND ${emscripten} ${live_compile} ${live}/versions_module.a ${HOPPER_EMAR} 60 ${HOPPER_EMCC}
            -Os -ftrivial-auto-var-init=pattern ${version_options} ${emcc_options}
    DEPENDS ${version_depends} COMMENT "emcc: the kernels' versions" VERBATIM)
  link_module(module _main,_live_print_checks callMain,FS,ENV ${module_objects}
    ${live}/versions_module.a)
  set(module live_module${ARG_NAME})
  add_custom_target(${module} DEPENDS ${live}/module.js ${live}/module.wasm)
  add_dependencies(${module} live_libraries live_kernels${ARG_NAME})

  # ---- the page ----

  set(out ${PROJECT_BINARY_DIR}/live/${page}.html)
  file(GLOB texts CONFIGURE_DEPENDS ${here}/*.py ${here}/page/* ${PROJECT_SOURCE_DIR}/common/breaks/*)
  add_custom_command(OUTPUT ${out}
    COMMAND ${Python3_EXECUTABLE} ${here}/live_page.py ${kernels}/live.json ${live}
            ${ARG_BEGIN} ${out} ${ARG_CASES}
    DEPENDS ${texts} ${ARG_CASES} ${ARG_BEGIN}
            ${kernels}/live.json ${live}/module.js ${live}/module.wasm
            ${PROJECT_BINARY_DIR}/live/judge.wasm
    COMMENT "The live page ${page}.html" VERBATIM)
  add_custom_target(live_page${ARG_NAME} DEPENDS ${out})
  add_dependencies(live_page${ARG_NAME} ${module} live_judge)
endfunction()
