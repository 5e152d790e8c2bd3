# Chapter 09 as a library, and what it selects.
if(TARGET sim_09_cluster_multicast_library)
  add_executable(hopper_gemm hopper_gemm.c)
  target_link_libraries(hopper_gemm PRIVATE sim_09_cluster_multicast_library)
  add_test(NAME hopper_gemm COMMAND hopper_gemm)
  set_tests_properties(hopper_gemm PROPERTIES LABELS "sim" TIMEOUT 120)
endif()

# A project that contains this one, and what is copied without CMake.
set(outside ${CMAKE_CURRENT_BINARY_DIR}/outside)
add_test(NAME hopper_gemm_outside
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hopper_gemm_outside.sh ${outside} -G ${CMAKE_GENERATOR}
          -DHOPPER_SOURCE=${PROJECT_SOURCE_DIR} -DHOPPER_CUDA=OFF
          -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER})
set_tests_properties(hopper_gemm_outside PROPERTIES
  LABELS "build;sim" TIMEOUT 300 FIXTURES_SETUP hopper_gemm_outside)
add_test(NAME hopper_gemm_outside_cxx
  COMMAND sh -c "test -x ${outside}/outside_cxx || exit 77; exec ${outside}/outside_cxx")
set_tests_properties(hopper_gemm_outside_cxx PROPERTIES # skipped without a C++ compiler
  LABELS "build;sim" TIMEOUT 60 FIXTURES_REQUIRED hopper_gemm_outside SKIP_RETURN_CODE 77)
if(HOPPER_GPU)
  add_test(NAME hopper_gemm_copied
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hopper_gemm_copied.sh ${PROJECT_SOURCE_DIR}
            ${CMAKE_CURRENT_BINARY_DIR}/copied ${CMAKE_CUDA_COMPILER})
  set_tests_properties(hopper_gemm_copied PROPERTIES LABELS build TIMEOUT 120)
endif()
