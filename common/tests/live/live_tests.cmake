# The tests that each live book has. Without emscripten or node, what needs them says so and
# counts as skipped.
set(skipped 77) # exit code
get_property(has_module GLOBAL PROPERTY HOPPER_LIVE_MODULE)
find_program(HOPPER_NODE node)
set(run_module ${HOPPER_NODE} ${PROJECT_SOURCE_DIR}/common/live/run.js)
# What compiles an edited kernel, and what it is linked with.
set(compiler ${CMAKE_C_COMPILER} ${HOPPER_SIM_KERNEL_OPTIONS})
if(HOPPER_SANITIZE)
  list(APPEND compiler -fsanitize=address -fsanitize=undefined)
endif()
list(JOIN compiler "," compiler)
set(libraries $<TARGET_FILE:harness>,$<TARGET_FILE:sim>,$<TARGET_FILE:timeline>)

# A test of a module: check_module(NAME name TARGETS ... COMMAND ...), skipped where it is missing.
function(check_module)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;TIMEOUT" "COMMAND;TARGETS;LABELS")
  if(NOT has_module OR NOT HOPPER_NODE)
    set(ARG_TARGETS "")
    set(ARG_COMMAND sh -c "echo 'skipped: it needs emscripten and node' && exit ${skipped}")
  endif()
  check(live NAME ${ARG_NAME} COMMAND ${ARG_COMMAND} TARGETS ${ARG_TARGETS} TIMEOUT ${ARG_TIMEOUT}
    LABELS ${ARG_LABELS} PROPERTIES SKIP_RETURN_CODE ${skipped} PROCESSORS 2)
endfunction()

# name: the book's. The samples take every N-th run of the kernels, switch, and link.
function(add_live_tests name runs_sample switches_sample links_sample)
  get_property(live GLOBAL PROPERTY HOPPER_LIVE_DIRECTORY${name})
  set(here ${PROJECT_SOURCE_DIR}/common/tests/live)
  set(book ${live}/kernels/live.json)
  set(program sim_live${name})
  set(module ${run_module} ${PROJECT_BINARY_DIR}/wasm/live${name}/module.js)
  set(same ${Python3_EXECUTABLE} ${here}/module_test.py ${book} $<TARGET_FILE:${program}> ${module})
  check_module(NAME live_module_same${name} COMMAND ${same} --sample ${runs_sample}
    TARGETS ${program} live TIMEOUT 300)
  check_module(NAME live_module_same${name}_all COMMAND ${same} --all
    TARGETS ${program} live TIMEOUT 3000 LABELS long)

  # ---- the switches ----

  set(switches ${Python3_EXECUTABLE} ${here}/switches_test.py --root ${PROJECT_SOURCE_DIR}
    --live ${book} --program $<TARGET_FILE:${program}>)
  set(edited ${switches} --compiler=${compiler} --libraries=${libraries})
  check(live NAME live_switches${name}_sample COMMAND ${edited} --sample ${switches_sample}
    TARGETS ${program} TIMEOUT 300 PROPERTIES PROCESSORS 2)
  check(live NAME live_switches${name}_all COMMAND ${edited} TARGETS ${program}
    TIMEOUT 3000 LABELS long PROPERTIES PROCESSORS 2)
  check_module(NAME live_switches_module${name}_sample
    COMMAND ${switches} --module ${module} --sample ${switches_sample}
    TARGETS ${program} live TIMEOUT 300)
  check_module(NAME live_switches_module${name}_all COMMAND ${switches} --module ${module}
    TARGETS ${program} live TIMEOUT 3000 LABELS long)

  # ---- the book's links to the page ----

  set(links ${Python3_EXECUTABLE} ${here}/links_test.py ${PROJECT_SOURCE_DIR} ${live}/kernels
    $<TARGET_FILE:${program}>)
  check(live NAME live_links${name}_sample COMMAND ${links} --sample ${links_sample}
    TARGETS ${program} TIMEOUT 300 PROPERTIES PROCESSORS 2)
  check(live NAME live_links${name}_all COMMAND ${links} TARGETS ${program} TIMEOUT 1800
    LABELS long PROPERTIES PROCESSORS 2)
endfunction()
