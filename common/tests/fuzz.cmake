# Random input, the same in every run: the simulator's units against slow models of the definitions,
# and the programs against garbled command lines.

foreach(name IN ITEMS tma wgmma)
  add_executable(fuzz_${name} fuzz_${name}.c)
  target_link_libraries(fuzz_${name} PRIVATE sim_program)
  target_compile_definitions(fuzz_${name} PRIVATE GEMM_BF16_ELEMENTS=0)
  add_test(NAME fuzz_${name} COMMAND fuzz_${name})
  set_tests_properties(fuzz_${name} PROPERTIES LABELS "sim;fuzz" TIMEOUT 300)
endforeach()
