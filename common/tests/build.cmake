# The build itself: what ptxas remarks stops it, and a GPU program without a GPU says what to do.

set(ptxas_check ${PROJECT_SOURCE_DIR}/common/cmake/ptxas_check.sh)
add_test(NAME build_ptxas_words
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/ptxas_words.sh ${ptxas_check})
set_tests_properties(build_ptxas_words PROPERTIES LABELS build TIMEOUT 30)

if(HOPPER_GPU)
  add_test(NAME build_ptxas_kernels
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/ptxas_kernels.sh ${ptxas_check} ${CMAKE_CUDA_COMPILER}
            ${PROJECT_SOURCE_DIR}/common ${CMAKE_CURRENT_SOURCE_DIR}/ptxas_kernels.cu)
  set_tests_properties(build_ptxas_kernels PROPERTIES LABELS build TIMEOUT 120)
  get_property(chapters GLOBAL PROPERTY HOPPER_CHAPTERS)
  foreach(program IN ITEMS ${chapters} tour)
    if(TARGET gpu_${program})
      add_test(NAME build_no_device_${program}
        COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/no_device.sh ${PROJECT_BINARY_DIR} ${program})
      set_tests_properties(build_no_device_${program} PROPERTIES LABELS build TIMEOUT 60)
    endif()
  endforeach()
endif()
