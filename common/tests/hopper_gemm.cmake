# Chapter 09 as a library, and what it selects.
if(TARGET sim_09_cluster_multicast_library)
  add_executable(hopper_gemm hopper_gemm.c)
  target_link_libraries(hopper_gemm PRIVATE sim_09_cluster_multicast_library)
  add_test(NAME hopper_gemm COMMAND hopper_gemm)
  set_tests_properties(hopper_gemm PROPERTIES LABELS "sim" TIMEOUT 120)
endif()
