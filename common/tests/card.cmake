# Programs that only a card can run, and the kernels they need; card/record.sh runs them. Built with
# the GPU programs, except sweep_delays, which compiles every kernel once more:
#   cmake --build build --target gpu_sweep_delays

set(card_tests ${CMAKE_CURRENT_SOURCE_DIR})

# compare itself, against a fake card and fake kernels.
add_executable(harness_fake_compare ${card_tests}/compare.c ${card_tests}/harness_fake_backend.c
                                    ${card_tests}/harness_fake_kernels.c)
target_compile_definitions(harness_fake_compare PRIVATE
  FAKE_CARD=1 FAKE_TOUR=0 FAKE_THIRD=0 FAKE_FOURTH=0)
target_link_libraries(harness_fake_compare PRIVATE harness m)
add_test(NAME harness_compare COMMAND ${card_tests}/card/compare_test.sh
         $<TARGET_FILE:harness_fake_compare> ${CMAKE_CURRENT_BINARY_DIR}/compare_test)
# record.sh and its tools, as far as that goes without a card.
add_test(NAME card_record COMMAND ${card_tests}/card/record_test.sh
         ${CMAKE_CURRENT_BINARY_DIR}/record_test)
set_tests_properties(harness_compare card_record PROPERTIES LABELS harness TIMEOUT 60)

if(HOPPER_GPU)
  function(add_card_program name)
    add_executable(gpu_${name} ${ARGN})
    set_target_properties(gpu_${name} PROPERTIES OUTPUT_NAME ${name}
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/gpu LINKER_LANGUAGE CUDA)
  endfunction()

  # Random shapes and repeated runs; several kernels in one rotation.
  add_card_program(sweep ${sweep_sources})
  add_card_program(compare ${card_tests}/compare.c)
  target_link_libraries(gpu_sweep PRIVATE gpu_stages)
  target_link_libraries(gpu_compare PRIVATE gpu_stages)
  add_card_program(racecheck_minimal ${card_tests}/card/racecheck_minimal.cu)
  target_include_directories(gpu_racecheck_minimal PRIVATE ${PROJECT_SOURCE_DIR}/common)
  target_compile_definitions(gpu_racecheck_minimal PRIVATE GEMM_BF16_ELEMENTS=1)
  target_compile_options(gpu_racecheck_minimal PRIVATE -lineinfo)

  # Chapter 09 as a library, in streams, graphs and threads of the caller's, on every device.
  add_card_program(library ${card_tests}/card/library.c)
  target_compile_options(gpu_library PRIVATE -O3) # the reference: sums on the host
  target_link_libraries(gpu_library PRIVATE gpu_09_cluster_multicast_library)
  set(library_refuses [=["$0" 2>&1 | grep -q 'no CUDA device' || exit 1; "$0"; test $? -eq 3 ||
                         exit 1; "$0" wrong; test $? -eq 2]=])
  add_test(NAME build_no_device_library
           COMMAND ${CMAKE_COMMAND} -E env CUDA_VISIBLE_DEVICES= sh -c "${library_refuses}"
                   $<TARGET_FILE:gpu_library>)
  set_tests_properties(build_no_device_library PROPERTIES LABELS build TIMEOUT 60)

  # The vendor's profiler over all chapters, as one table: cmake --build build --target profile
  add_custom_target(profile COMMAND ${card_tests}/card/ncu.sh $<TARGET_FILE:gpu_tour> --json --size 4096
                    --timing none
                    USES_TERMINAL VERBATIM)
  add_dependencies(profile gpu_tour)

  add_subdirectory(card)
endif()
