# The programs that are made of a house's kernels: each chapter's, the tour, and tables for programs
# with a main of their own.

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

# Makes, in the calling directory, the objects of a house's kernels, the program of every chapter,
# and the house's tour. `libraries`: what a program is linked with besides its kernels. Targets:
# <backend>_<program>; <backend>_tour<house>, which has the steps alone, so that nothing else is
# built for it; and <backend>_kernels<house>, a library of all the house's kernels with their table,
# for programs with a main of their own. A house's tour has the steps of the houses before it, too,
# and a house without steps has no tour; <backend>_kernels_all<house> has the kernels of the house
# and of those before it. Within another project there are the objects alone.
function(add_chapters backend language libraries)
  get_property(chapters GLOBAL PROPERTY HOPPER_CHAPTERS${HOPPER_HOUSE})
  list(GET chapters -1 last)
  set_property(GLOBAL PROPERTY HOPPER_CHAPTERS_MADE${HOPPER_HOUSE} "chapter(${last} ...)")
  set(house_kernels "")
  foreach(program IN LISTS chapters)
    get_chapter(${program} KERNELS LACKS)
    if(lacks AND backend STREQUAL "gpu")
      add_missing_target(${backend}_${program}
        "CUDA ${CUDAToolkit_VERSION} does not compile for sm_${lacks}; a newer one does")
      continue()
    endif()
    add_chapter_objects(${backend} ${language} ${program})
    if(PROJECT_IS_TOP_LEVEL)
      add_chapter_program(${backend} ${language} ${program} "${libraries}")
    endif()
    list(APPEND house_kernels ${kernels})
  endforeach()
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()

  set(table ${backend}_kernels${HOPPER_HOUSE})
  objects_of_kernels(objects kinds ${backend} "${house_kernels}")
  add_library(${table}_objects STATIC ${objects})
  set_target_properties(${table}_objects PROPERTIES LINKER_LANGUAGE ${language})
  add_kernel_table(${table} ${backend} "${house_kernels}" ${table}_objects ${libraries})
  # A kernel's reference to its kind is weak (gemm_matrices.h): the linker would leave it in a
  # library.
  target_sources(${table} INTERFACE ${kinds})
  # Of this house and those before it.
  set_property(GLOBAL APPEND PROPERTY HOPPER_LINKED_${backend} ${house_kernels})
  set_property(GLOBAL APPEND PROPERTY HOPPER_LIBRARIES_${backend} ${table}_objects)
  get_property(kernels GLOBAL PROPERTY HOPPER_LINKED_${backend})
  get_property(objects GLOBAL PROPERTY HOPPER_LIBRARIES_${backend})
  set(all ${backend}_kernels_all${HOPPER_HOUSE})
  add_kernel_table(${all} ${backend} "${kernels}" ${objects} ${libraries})
  objects_of_kernels(objects kinds ${backend} "${kernels}")
  target_sources(${all} INTERFACE ${kinds})
  add_tour(${backend} ${language} "${house_kernels}" "${kernels}" "${libraries}")
endfunction()

# The objects of a chapter's kernels, of its kind and of its rivals.
function(add_chapter_objects backend language program)
  get_chapter(${program} DIRECTORY KERNELS KIND RIVALS LIBRARY)
  foreach(kernel IN LISTS kernels)
    get_kernel(${kernel} FILE TRACED)
    add_kernel_objects(${backend} ${language} ${kernel} "" objects)
    # On the GPU a timeline takes a second compilation, with the recorder in it; the simulator
    # records what any kernel does.
    set(traces "")
    if(traced AND language STREQUAL "CUDA" AND HOPPER_TRACE AND PROJECT_IS_TOP_LEVEL)
      add_kernel_objects(${backend} ${language} ${kernel} _trace traces)
    endif()
    if(file MATCHES "\\.cu$")
      foreach(object IN LISTS objects traces)
        if(language STREQUAL "CUDA")
          add_ptxas_check(${object})
        endif()
        if(PROJECT_IS_TOP_LEVEL AND NOT library) # a library's compile
          let_compiler_refuse(${object} ${language})
        endif()
      endforeach()
    endif()
    set_property(TARGET ${kernel} PROPERTY KERNEL_OBJECTS_${backend} ${objects})
    set_property(TARGET ${kernel} PROPERTY KERNEL_TRACES_${backend} ${traces})
  endforeach()
  if(kind)
    set(target ${backend}_kind_${program})
    cmake_path(GET kind PARENT_PATH folder)
    if(NOT folder STREQUAL directory) # several chapters share it
      string(MAKE_C_IDENTIFIER ${backend}_kind_${kind} target)
    endif()
    if(NOT TARGET ${target})
      add_kind_object(${backend} ${kind} ${target})
    endif()
    if(rivals AND backend STREQUAL "gpu")
      add_rival_objects(${program} rivals)
      list(APPEND target ${rivals})
    endif()
    set_property(TARGET ${kernels} PROPERTY KERNEL_KINDS_${backend} ${target})
  endif()
endfunction()

# Sets in the caller, for a backend: the object files of these kernels, of those that record, and
# what their kinds need: the kind's own object files first, and all of them.
function(objects_of_kernels objects_variable kinds_variable backend kernels)
  set(found "")
  set(found_kinds "")
  foreach(kernel IN LISTS kernels)
    foreach(property IN ITEMS OBJECTS TRACES KINDS)
      get_property(libraries TARGET ${kernel} PROPERTY KERNEL_${property}_${backend})
      list(APPEND found ${libraries})
    endforeach()
    if(libraries)
      list(GET libraries 0 kind)
      list(APPEND found_kinds ${kind})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES found)
  list(REMOVE_DUPLICATES found_kinds)
  files_of(found ${found})
  files_of(found_kinds ${found_kinds})
  set(${objects_variable} ${found} PARENT_SCOPE)
  set(${kinds_variable} ${found_kinds} PARENT_SCOPE)
endfunction()

function(add_chapter_program backend language program libraries)
  get_chapter(${program} KERNELS LIBRARY)
  set(target ${backend}_${program})
  objects_of_kernels(objects kinds ${backend} "${kernels}")
  add_kernel_program(${target} ${program} ${language} "${objects}" "${libraries}")
  set(registry ${CMAKE_CURRENT_BINARY_DIR}/registry_${program}.c)
  write_registry(${registry} "${kernels}" RECORDED_BY ${backend} TARGET ${target})
  target_sources(${target} PRIVATE ${registry})
  if(NOT library)
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${PROJECT_SOURCE_DIR}/common/cmake/chapter_program.sh $<TARGET_FILE:${target}>
              ${objects}
      COMMAND_EXPAND_LISTS VERBATIM)
  endif()
  string(REGEX MATCH "^[0-9]+" number ${program})
  if(number AND NOT TARGET ${backend}_${number})
    add_missing_target(${backend}_${number} "did you mean --target ${target}?")
  endif()
endfunction()

# A program of kernels' objects: build/<backend>/<name>.
function(add_kernel_program target name language objects libraries)
  string(REGEX MATCH "^[a-z]+" backend ${target})
  add_executable(${target} ${objects})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${backend} LINKER_LANGUAGE ${language})
  target_link_libraries(${target} PRIVATE ${libraries})
endfunction()

# The tour of a house, if it has steps: those of all `kernels`.
function(add_tour backend language house_kernels kernels libraries)
  set(steps "")
  set(has_own false)
  foreach(kernel IN LISTS kernels)
    get_kernel(${kernel} FILE STEP)
    if(step AND file MATCHES "\\.cu$") # not a selection
      list(APPEND steps ${kernel})
      if(kernel IN_LIST house_kernels)
        set(has_own true)
      endif()
    endif()
  endforeach()
  if(has_own)
    set(tour ${backend}_tour${HOPPER_HOUSE})
    objects_of_kernels(objects kinds ${backend} "${steps}")
    add_kernel_program(${tour} tour${HOPPER_HOUSE} ${language} "${objects}" "${libraries}")
    set(registry ${CMAKE_CURRENT_BINARY_DIR}/registry_${tour}.c)
    write_registry(${registry} "${steps}" TOUR RECORDED_BY ${backend} TARGET ${tour})
    target_sources(${tour} PRIVATE ${registry})
  endif()
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

# A target that says what it lacks, and fails.
function(add_missing_target target lacks)
  add_custom_target(${target} COMMAND ${CMAKE_COMMAND} -E echo "${target}: ${lacks}"
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
endfunction()

# Where the GPU programs are not built, their targets say what is missing, instead of being unknown:
# a house's chapters, and the programs named.
function(add_missing_gpu_programs)
  if(HOPPER_GPU_PROGRAMS)
    return()
  endif()
  get_property(chapters GLOBAL PROPERTY HOPPER_CHAPTERS${HOPPER_HOUSE})
  foreach(program IN LISTS chapters ARGN)
    set(instead "")
    if(TARGET sim_${program})
      set(instead "; without one: --target sim_${program}")
    endif()
    add_missing_target(gpu_${program} "${HOPPER_NO_GPU}${instead}")
  endforeach()
endfunction()
