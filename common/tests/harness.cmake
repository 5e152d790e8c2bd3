# Tests of the harness that need neither a card nor the simulator: programs made of its main and of
# fake kernels on the host.
set(harness_tests ${CMAKE_CURRENT_SOURCE_DIR})

# One program of the harness's main and fake kernels: a chapter or a tour, on a card or simulated.
function(add_fake_program name card is_tour third fourth)
  add_executable(${name} ${harness_tests}/harness_fake_backend.c
                         ${harness_tests}/harness_fake_kernels.c)
  target_compile_definitions(${name} PRIVATE
    FAKE_CARD=${card} FAKE_TOUR=${is_tour} FAKE_THIRD=${third} FAKE_FOURTH=${fourth})
  target_link_libraries(${name} PRIVATE harness m)
endfunction()
add_fake_program(harness_fake_card 1 0 0 0)
add_fake_program(harness_fake_sim 0 0 0 0)
add_fake_program(harness_fake_tour 0 1 0 1)
# Its third stage computes one element wrong, its fourth is a hazard.
add_fake_program(harness_fake_tour_bad 0 1 12 23)

function(add_harness_test name)
  add_executable(${name} ${harness_tests}/${name}.c ${harness_tests}/harness_command.c
                         ${harness_tests}/json.c)
  target_link_libraries(${name} PRIVATE harness m)
  add_test(NAME ${name} COMMAND ${name} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS harness TIMEOUT 300)
endfunction()
add_harness_test(harness_units)
add_harness_test(harness_rejects $<TARGET_FILE:harness_fake_card> $<TARGET_FILE:harness_fake_sim>
                                 $<TARGET_FILE:harness_fake_tour_bad>)
# The list of fake kernels, for the test that each was tried.
target_sources(harness_rejects PRIVATE ${harness_tests}/harness_fake_kernels.c)
target_compile_definitions(harness_rejects PRIVATE FAKE_TOUR=0)
add_harness_test(harness_usage $<TARGET_FILE:harness_fake_card> $<TARGET_FILE:harness_fake_sim>
                               $<TARGET_FILE:harness_fake_tour>
                               ${CMAKE_CURRENT_BINARY_DIR}/harness_files)

# Sizes, inputs and schedules through one stage: build/sim/sweep. Two tests for every chapter and
# variant; a tenth of the runs under the sanitizers, which are that much slower.
add_executable(sim_sweep ${sweep_sources})
set_target_properties(sim_sweep PROPERTIES
  OUTPUT_NAME sweep RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/sim)
target_link_libraries(sim_sweep PRIVATE sim_stages)
set(triples 160)
set(long_triples 32)
if(HOPPER_SANITIZE)
  set(triples 16)
  set(long_triples 4)
endif()
get_property(swept GLOBAL PROPERTY HOPPER_STAGES)
get_property(chapters GLOBAL PROPERTY HOPPER_CHAPTERS)
foreach(chapter IN LISTS chapters)
  get_property(selection GLOBAL PROPERTY HOPPER_SELECTION_${chapter})
  if(selection)
    list(APPEND swept "${chapter}||${selection}|")
  endif()
endforeach()
foreach(stage IN LISTS swept)
  string(REGEX MATCH "^([^|]*)\\|([^|]*)\\|" unused "${stage}")
  set(options --stage ${CMAKE_MATCH_1})
  set(name sweep_${CMAKE_MATCH_1})
  if(CMAKE_MATCH_2)
    list(APPEND options --variant ${CMAKE_MATCH_2})
    string(APPEND name _${CMAKE_MATCH_2})
  endif()
  add_test(NAME ${name} COMMAND sim_sweep ${options} --triples ${triples})
  # The second: a k that goes around the ring more than twice, and many tiles for one SM.
  add_test(NAME ${name}_long_k
    COMMAND sim_sweep ${options} --triples ${long_triples} --long-k --sms 1)
  set_tests_properties(${name} ${name}_long_k PROPERTIES LABELS "sim;sweep" TIMEOUT 600)
endforeach()
# All stages and variants on the same random shapes, and each again and again.
add_test(NAME sweep_random COMMAND sim_sweep --variant all --random 6 --largest 140)
add_test(NAME sweep_repeat COMMAND sim_sweep --variant all --repeat 3 --size 70x136x200 --dtype bf16
         --may-differ 08_persistent_pingpong:split_k)
set_tests_properties(sweep_random sweep_repeat PROPERTIES LABELS "sim;sweep" TIMEOUT 300)
