# Tests of the harness that need neither a card nor the simulator: its programs made of fake kernels on the host.
set(harness_tests ${CMAKE_CURRENT_SOURCE_DIR})

# One program of the harness's main and fake kernels: a chapter or a tour, on a card or simulated.
function(add_fake_program name card is_tour third)
  add_executable(${name} ${harness_tests}/harness_fake_backend.c
                         ${harness_tests}/harness_fake_kernels.c)
  target_compile_definitions(${name} PRIVATE
    FAKE_CARD=${card} FAKE_TOUR=${is_tour} FAKE_THIRD=${third})
  target_link_libraries(${name} PRIVATE harness m)
endfunction()
add_fake_program(harness_fake_card 1 0 0)
add_fake_program(harness_fake_sim 0 0 0)
add_fake_program(harness_fake_tour 0 1 0)
add_fake_program(harness_fake_tour_wrong 0 1 12) # its third stage computes one element wrong

function(add_harness_test name)
  add_executable(${name} ${harness_tests}/${name}.c ${harness_tests}/harness_command.c
                         ${harness_tests}/json_check.c)
  target_link_libraries(${name} PRIVATE harness m)
  add_test(NAME ${name} COMMAND ${name} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS harness TIMEOUT 300)
endfunction()
add_harness_test(harness_units)
add_harness_test(harness_rejects $<TARGET_FILE:harness_fake_card>
                                 $<TARGET_FILE:harness_fake_tour_wrong>)
# The list of fake kernels, for the test that each was tried.
target_sources(harness_rejects PRIVATE ${harness_tests}/harness_fake_kernels.c)
target_compile_definitions(harness_rejects PRIVATE FAKE_TOUR=0 FAKE_THIRD=0)
add_harness_test(harness_usage $<TARGET_FILE:harness_fake_card> $<TARGET_FILE:harness_fake_sim>
                               $<TARGET_FILE:harness_fake_tour>
                               ${CMAKE_CURRENT_BINARY_DIR}/harness_files)
