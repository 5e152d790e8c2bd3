# Random input, the same in every run: the simulator's units against slow models of the definitions,
# and the programs against garbled command lines.

foreach(name IN ITEMS tma wgmma)
  add_executable(fuzz_${name} fuzz_${name}.c)
  target_link_libraries(fuzz_${name} PRIVATE sim_program)
  target_compile_definitions(fuzz_${name} PRIVATE GEMM_BF16_ELEMENTS=0)
  add_test(NAME fuzz_${name} COMMAND fuzz_${name})
  set_tests_properties(fuzz_${name} PROPERTIES LABELS "sim;fuzz" TIMEOUT 300)
endforeach()

add_executable(fuzz_command fuzz_command.c harness_command.c json.c)
target_link_libraries(fuzz_command PRIVATE harness m)
add_test(NAME fuzz_command COMMAND fuzz_command ${CMAKE_CURRENT_BINARY_DIR}/fuzz_command_files
  sim=$<TARGET_FILE:harness_fake_sim> tour=$<TARGET_FILE:harness_fake_tour>
  card=$<TARGET_FILE:harness_fake_card> compare=$<TARGET_FILE:harness_fake_compare>
  sim=$<TARGET_FILE:sim_05_tma_mbarrier> sweep=$<TARGET_FILE:sim_sweep>)
set_tests_properties(fuzz_command PROPERTIES LABELS "harness;fuzz" TIMEOUT 300)
