# The simulator's asynchronous units: their pure models, then kernels that use them rightly and wrongly.

foreach(name IN ITEMS descriptor tensor_map mbarrier tensor_core)
  add_executable(unit_${name} unit_${name}.c)
  target_link_libraries(unit_${name} PRIVATE sim_program)
  add_test(NAME unit_${name} COMMAND unit_${name})
  set_tests_properties(unit_${name} PROPERTIES LABELS "unit;sim" TIMEOUT 60)
endforeach()
target_compile_definitions(unit_descriptor PRIVATE GEMM_BF16_ELEMENTS=0)
