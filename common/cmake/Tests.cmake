# The tests' functions, for every house.

# Adds a test with the label `area`, and lets the target check_<area> build what it needs and run
# it:
#
#   check(sim NAME unit_mbarrier COMMAND unit_mbarrier TARGETS unit_mbarrier TIMEOUT 60)
#
#   cmake --build build --target check_sim      builds and runs one area
#   ctest --test-dir build -L sim               runs it, if it is built
#
# LABELS adds further labels, PROPERTIES anything that set_tests_properties() takes. A test with the
# label `long` is not part of the preset `test`, only of `test-all`. In the other
# houses the areas' names, and those of tests that several houses have, end with HOPPER_HOUSE, such
# as _beyond.
function(check area)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "NAME;TIMEOUT" "COMMAND;TARGETS;LABELS;PROPERTIES")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_NAME OR NOT ARG_COMMAND OR NOT ARG_TIMEOUT)
    message(FATAL_ERROR "check(${area} ${ARGN}): needs NAME, COMMAND and TIMEOUT")
  endif()
  string(APPEND area "${HOPPER_HOUSE}")
  foreach(label IN LISTS ARG_LABELS)
    # check_${label} would run it without building it
    if(EXISTS ${PROJECT_SOURCE_DIR}/common/tests/${label})
      message(FATAL_ERROR "check(${area} NAME ${ARG_NAME}): ${label} is an area")
    endif()
  endforeach()
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_COMMAND})
  set_tests_properties(${ARG_NAME} PROPERTIES
    LABELS "${area};${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} ${ARG_PROPERTIES})
  set_property(GLOBAL APPEND PROPERTY HOPPER_CHECKED${HOPPER_HOUSE} ${area})
  set_property(GLOBAL APPEND PROPERTY HOPPER_CHECKED_TARGETS_${area} ${ARG_TARGETS})
  if(NOT "long" IN_LIST ARG_LABELS)
    set_property(GLOBAL APPEND PROPERTY HOPPER_TEST_TARGETS ${ARG_TARGETS})
  endif()
endfunction()

# The target test_programs: what the tests of the preset `test` need, of all houses; and with a CUDA
# toolkit every kernel file once, in one configuration and one type: check_gpu_kernels().
function(add_test_programs)
  get_property(targets GLOBAL PROPERTY HOPPER_TEST_TARGETS)
  list(REMOVE_DUPLICATES targets)
  add_custom_target(test_programs DEPENDS ${targets})
endfunction()

# nvcc compiles every kernel file, of the houses so far.
function(check_gpu_kernels)
  if(HOPPER_GPU_PROGRAMS)
    get_property(kernels GLOBAL PROPERTY HOPPER_LINKED_gpu)
    set(files "")
    set(libraries "")
    foreach(kernel IN LISTS kernels) # the last type of a file's first kernel
      get_kernel(${kernel} FILE OBJECTS_gpu)
      if(file MATCHES "\\.cu$" AND NOT file IN_LIST files)
        list(APPEND files ${file})
        list(GET objects_gpu -1 object)
        list(APPEND libraries ${object})
      endif()
    endforeach()
    files_of(objects ${libraries})
    check(build NAME build_gpu_kernels${HOPPER_HOUSE}
      COMMAND ${PROJECT_SOURCE_DIR}/common/tests/build/gpu_kernels.sh ${objects}
      TARGETS ${libraries} TIMEOUT 60)
  endif()
endfunction()

# The targets check_<area> of the house's tests.
function(add_check_targets)
  get_property(areas GLOBAL PROPERTY HOPPER_CHECKED${HOPPER_HOUSE})
  list(REMOVE_DUPLICATES areas)
  foreach(area IN LISTS areas)
    get_property(targets GLOBAL PROPERTY HOPPER_CHECKED_TARGETS_${area})
    add_custom_target(check_${area}
      COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${PROJECT_BINARY_DIR} --label-regex "^${area}$"
              --label-exclude "^long$"
              --output-on-failure --no-tests=error --parallel 2
      USES_TERMINAL VERBATIM)
    if(targets)
      list(REMOVE_DUPLICATES targets)
      add_dependencies(check_${area} ${targets})
    endif()
  endforeach()
endfunction()

# Sizes, inputs and schedules through every kernel of the house: build/sim/sweep<house>, and
# build/gpu/sweep<house> on a GPU.
set(HOPPER_SWEEP_SOURCES "")
foreach(source IN ITEMS sweep sweep_edges sweep_flight sweep_random sweep_repeat)
  list(APPEND HOPPER_SWEEP_SOURCES ${PROJECT_SOURCE_DIR}/common/tests/sweep/${source}.c)
endforeach()
function(add_sweep)
  foreach(backend IN ITEMS sim gpu)
    if(backend STREQUAL "gpu" AND NOT HOPPER_GPU_PROGRAMS)
      continue()
    endif()
    set(target ${backend}_sweep${HOPPER_HOUSE})
    add_executable(${target} ${HOPPER_SWEEP_SOURCES})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME sweep${HOPPER_HOUSE}
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${backend})
    target_link_libraries(${target} PRIVATE ${backend}_kernels${HOPPER_HOUSE})
  endforeach()
  if(HOPPER_GPU_PROGRAMS)
    set_target_properties(gpu_sweep${HOPPER_HOUSE} PROPERTIES LINKER_LANGUAGE CUDA)
  endif()

  # Two tests for every chapter and variant, those of variants with the label `long`; fewer runs
  # under the sanitizers, which are ten times as slow.
  set(triples 40)
  set(of_variants 6)
  if(HOPPER_SANITIZE)
    set(triples 16)
    set(of_variants 2)
  endif()
  get_property(swept GLOBAL PROPERTY HOPPER_KERNELS${HOPPER_HOUSE})
  foreach(kernel IN LISTS swept)
    get_kernel(${kernel} CHAPTER VARIANT STEP)
    cmake_path(GET chapter FILENAME program)
    set(options --chapter ${program})
    set(name sweep_${program})
    set(long "")
    if(variant)
      list(APPEND options --variant ${variant})
      string(APPEND name _${variant})
      if(NOT step)
        set(long LABELS long)
      endif()
    endif()
    check(sweep NAME ${name} COMMAND sim_sweep${HOPPER_HOUSE} ${options} --triples ${triples}
      TARGETS sim_sweep${HOPPER_HOUSE} TIMEOUT 600 ${long})
    # The second: a k that goes around the ring more than twice, and many tiles for one SM.
    check(sweep NAME ${name}_long_k
      COMMAND sim_sweep${HOPPER_HOUSE} ${options} --triples 4 --long-k --sms 1
      TARGETS sim_sweep${HOPPER_HOUSE} TIMEOUT 600 ${long})
  endforeach()
  # All kernels and variants: a few triples of each, drawn anew for every commit; and the same
  # random shapes for all.
  set(seed ${PROJECT_SOURCE_DIR}/common/tests/support/seed.sh)
  check(sweep NAME sweep_variants${HOPPER_HOUSE}
    COMMAND ${seed} $<TARGET_FILE:sim_sweep${HOPPER_HOUSE}> --variant all --triples ${of_variants}
    TARGETS sim_sweep${HOPPER_HOUSE} TIMEOUT 600)
  check(sweep NAME sweep_variants${HOPPER_HOUSE}_long_k
    COMMAND ${seed} $<TARGET_FILE:sim_sweep${HOPPER_HOUSE}> --variant all --triples 1 --long-k
    --sms 1
    LABELS long TARGETS sim_sweep${HOPPER_HOUSE} TIMEOUT 900)
  check(sweep NAME sweep_random${HOPPER_HOUSE}
    COMMAND ${seed} $<TARGET_FILE:sim_sweep${HOPPER_HOUSE}> --variant all --random 6 --largest 140
    TARGETS sim_sweep${HOPPER_HOUSE} TIMEOUT 300)
endfunction()

# No false alarms: random problems and schedules through every kernel; build/sim/soak<house> --soak
# SECONDS goes on for longer. A sample drawn from the commit; and, `long`, two halves, so that they
# run side by side.
function(add_soak)
  set(target sim_soak${HOPPER_HOUSE})
  add_executable(${target} ${PROJECT_SOURCE_DIR}/common/tests/sim/soak.c)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME soak${HOPPER_HOUSE} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/sim)
  target_link_libraries(${target} PRIVATE sim_kernels${HOPPER_HOUSE})
  set(trials 300)
  set(long_trials 1000)
  if(HOPPER_SANITIZE)
    set(trials 50)
    set(long_trials 100)
  endif()
  check(sim NAME soak${HOPPER_HOUSE}
    COMMAND ${PROJECT_SOURCE_DIR}/common/tests/support/seed.sh $<TARGET_FILE:${target}>
            --trials ${trials}
    TARGETS ${target} LABELS soak TIMEOUT 600)
  foreach(seed IN ITEMS 1 2)
    check(sim NAME soak_${seed}${HOPPER_HOUSE} COMMAND ${target} --trials ${long_trials}
      --seed ${seed}
      TARGETS ${target} LABELS soak long TIMEOUT 600)
  endforeach()
endfunction()

# Kernels, as chapter or chapter:variant, that must not cost a bank conflict.
function(add_conflicts)
  set(target sim_conflicts${HOPPER_HOUSE})
  add_executable(${target} ${PROJECT_SOURCE_DIR}/common/tests/sim/sim_conflicts.c)
  target_link_libraries(${target} PRIVATE sim_kernels${HOPPER_HOUSE})
  check(sim NAME ${target} COMMAND ${target} ${ARGN} TARGETS ${target} TIMEOUT 120)
endfunction()

# The sweep on a GPU of the house's kernels with random_delays.h in front of them:
# build/gpu/sweep_delays<house>, which compiles every kernel once more and is built by its own
# target alone. Not held to ptxas_check.sh: what has to sleep need not keep its registers.
function(add_sweep_delays)
  get_property(house_kernels GLOBAL PROPERTY HOPPER_KERNELS${HOPPER_HOUSE})
  set(kernels "")
  set(delayed "")
  set(beside "") # a rival may be one of the kernels, and is delayed, too
  foreach(kernel IN LISTS house_kernels)
    get_kernel(${kernel} FILE OBJECTS_gpu KINDS_gpu)
    if(NOT objects_gpu) # for an architecture that the toolkit lacks
      continue()
    endif()
    list(APPEND kernels ${kernel})
    list(APPEND beside ${kinds_gpu})
    if(NOT file MATCHES "\\.cu$") # a selection is C
      list(APPEND delayed ${objects_gpu})
      continue()
    endif()
    add_kernel_objects(gpu_delayed CUDA ${kernel} "" objects)
    foreach(object IN LISTS objects)
      target_compile_options(${object} PRIVATE
        "SHELL:-include ${PROJECT_SOURCE_DIR}/common/tests/gpu/random_delays.h")
      set_target_properties(${object} PROPERTIES EXCLUDE_FROM_ALL ON)
    endforeach()
    list(APPEND delayed ${objects})
  endforeach()
  list(TRANSFORM delayed REPLACE "^gpu_delayed" "gpu" OUTPUT_VARIABLE plain)
  list(REMOVE_ITEM beside ${plain})
  list(REMOVE_DUPLICATES beside)
  files_of(objects ${delayed} ${beside})
  write_registry(${CMAKE_CURRENT_BINARY_DIR}/registry.c "${kernels}" TOUR)
  add_gpu_program(sweep_delays${HOPPER_HOUSE} ${HOPPER_SWEEP_SOURCES}
    ${CMAKE_CURRENT_BINARY_DIR}/registry.c ${objects})
  target_link_libraries(gpu_sweep_delays${HOPPER_HOUSE} PRIVATE gpu_program)
  set_target_properties(gpu_sweep_delays${HOPPER_HOUSE} PROPERTIES EXCLUDE_FROM_ALL ON)
endfunction()

# A program that only a GPU can run: gpu_<name>, as build/gpu/<name>.
function(add_gpu_program name)
  add_executable(gpu_${name} ${ARGN})
  set_target_properties(gpu_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/gpu LINKER_LANGUAGE CUDA)
  target_compile_definitions(gpu_${name} PRIVATE PROGRAM="${name}") # of runtime.h
endfunction()

# Without a GPU such a program says so and ends with 3. Then what it is run with, and perhaps
# LABELS.
function(check_without_gpu name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LABELS")
  check(gpu NAME gpu_${name}_without_gpu
    COMMAND ${CMAKE_COMMAND} -E env CUDA_VISIBLE_DEVICES= sh -c
            [=["$@" 2>&1 | grep -q 'no CUDA device' && { "$@"; test $? -eq 3; }]=]
            sh $<TARGET_FILE:gpu_${name}> ${ARG_UNPARSED_ARGUMENTS}
    LABELS ${ARG_LABELS} TARGETS gpu_${name} TIMEOUT 60)
endfunction()

# Without a GPU, or a toolkit, the house's programs say what is missing.
function(check_programs_without_gpu)
  get_property(programs GLOBAL PROPERTY HOPPER_CHAPTERS${HOPPER_HOUSE})
  set(scripts ${PROJECT_SOURCE_DIR}/common/tests/build)
  set(tour "")
  if(TARGET sim_tour${HOPPER_HOUSE})
    set(tour tour${HOPPER_HOUSE})
  endif()
  if(HOPPER_GPU_PROGRAMS)
    foreach(program IN LISTS programs)
      get_chapter(${program} LACKS)
      if(lacks)
        list(REMOVE_ITEM programs ${program})
      endif()
    endforeach()
    list(POP_BACK programs last)
    foreach(program IN ITEMS ${programs} ${last} ${tour})
      set(long LABELS long)
      if(program STREQUAL last OR program STREQUAL "tour")
        set(long "")
      endif()
      check(build NAME build_no_gpu_${program}
        COMMAND ${scripts}/no_gpu.sh ${PROJECT_BINARY_DIR} ${program}
        TARGETS gpu_${program} sim_${program} TIMEOUT 60 ${long})
    endforeach()
  else()
    list(GET programs 0 program)
    foreach(program IN ITEMS ${tour} compare${HOPPER_HOUSE} ${program})
      check(build NAME build_no_toolkit_${program}
        COMMAND ${scripts}/no_toolkit.sh ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR} gpu_${program}
        TIMEOUT 60 PROPERTIES RUN_SERIAL ON) # a build in the build directory
    endforeach()
  endif()
endfunction()

# Which branches the runs of --check take: of every chapter's own kernel, those of a library's
# selection left out.
function(check_branches)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU" OR HOPPER_SANITIZE)
    return()
  endif()
  get_property(programs GLOBAL PROPERTY HOPPER_CHAPTERS${HOPPER_HOUSE})
  set(chapters "")
  foreach(program IN LISTS programs)
    get_chapter(${program} DIRECTORY LIBRARY)
    if(NOT library)
      list(APPEND chapters ${program}=${directory})
    endif()
  endforeach()
  check(build NAME build_branches_all${HOPPER_HOUSE}
    COMMAND ${PROJECT_SOURCE_DIR}/common/tests/build/branches_all.sh ${PROJECT_SOURCE_DIR}
            ${CMAKE_CURRENT_BINARY_DIR}/branches_all ${CMAKE_GENERATOR} ${CMAKE_C_COMPILER}
            ${chapters}
    LABELS long TIMEOUT 3600)
endfunction()

# What the machine code of kernels must be, by a script of common/tests/build. `program`: the
# chapter; then the object libraries of its kernels.
function(check_machine_code script program)
  find_program(HOPPER_CUOBJDUMP cuobjdump)
  if(NOT HOPPER_CUOBJDUMP OR NOT Python3_Interpreter_FOUND)
    return()
  endif()
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  check(build NAME build_${script}_${program}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/common/tests/build/${script}.py
            ${HOPPER_CUOBJDUMP} ${objects}
    LABELS long TARGETS gpu_${program} TIMEOUT 120)
endfunction()

# The house's gallery of broken kernels (tools/gallery) against its verdicts. The preset `test`
# takes a sample of each, drawn from the commit's hash, `test-all` everything; ctest may use two
# cores, and each of these takes both.
function(add_gallery_tests)
  set(sample 24)
  if(HOPPER_HOUSE) # three times as many
    set(sample 48)
  endif()
  foreach(list IN ITEMS GALLERY REMOVED RIGHT_VARIANTS)
    string(TOLOWER ${list} name)
    get_property(command GLOBAL PROPERTY HOPPER_${list}${HOPPER_HOUSE})
    set(properties TARGETS gallery_run TIMEOUT 3000
                   PROPERTIES PROCESSORS 2 ENVIRONMENT BREAKS=)
    check(gallery NAME ${name}${HOPPER_HOUSE}_sample
      COMMAND ${command} --jobs 2 --sample ${sample} ${properties})
    check(gallery NAME ${name}${HOPPER_HOUSE}_all LABELS long
      COMMAND ${command} --jobs 2 ${properties})
  endforeach()
endfunction()

# The house's pictures (tools/pictures) are as their sources would have them made, and an edit of
# these is noticed.
function(check_pictures)
  if(NOT Python3_Interpreter_FOUND)
    foreach(name IN ITEMS pictures pictures_edits)
      check(book NAME ${name}${HOPPER_HOUSE}
        COMMAND sh -c "echo '${name}: needs Python 3.9 or later'; exit 77"
        TIMEOUT 5 PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
    return()
  endif()
  get_property(pictures GLOBAL PROPERTY HOPPER_PICTURES${HOPPER_HOUSE})
  get_property(edits GLOBAL PROPERTY HOPPER_PICTURES_EDITS${HOPPER_HOUSE})
  get_property(targets GLOBAL PROPERTY HOPPER_PICTURES_TARGETS${HOPPER_HOUSE})
  check(book NAME pictures${HOPPER_HOUSE} COMMAND ${pictures} TARGETS ${targets} TIMEOUT 120)
  check(book NAME pictures_edits${HOPPER_HOUSE} COMMAND ${edits}
    TARGETS harness sim timeline ${targets} TIMEOUT 300 PROPERTIES PROCESSORS 2)
endfunction()
