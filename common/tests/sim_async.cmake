# The simulator's asynchronous units: their pure models, then kernels that use them rightly and wrongly.

foreach(name IN ITEMS descriptor tensor_map mbarrier tensor_core fragments)
  add_executable(unit_${name} unit_${name}.c)
  target_link_libraries(unit_${name} PRIVATE sim_program)
  add_test(NAME unit_${name} COMMAND unit_${name})
  set_tests_properties(unit_${name} PROPERTIES LABELS "unit;sim" TIMEOUT 60)
endforeach()
target_compile_definitions(unit_descriptor PRIVATE GEMM_BF16_ELEMENTS=0)

foreach(name IN ITEMS mbarrier wgmma cluster)
  add_executable(sim_async_${name} sim_${name}.c)
  target_link_libraries(sim_async_${name} PRIVATE sim_program)
  target_compile_definitions(sim_async_${name} PRIVATE GEMM_BF16_ELEMENTS=0)
  add_test(NAME sim_async_${name} COMMAND sim_async_${name})
  set_tests_properties(sim_async_${name} PROPERTIES LABELS "unit;sim" TIMEOUT 300)
endforeach()

add_executable(sim_async_timing sim_async_timing.c)
target_link_libraries(sim_async_timing PRIVATE sim_program)
target_compile_definitions(sim_async_timing PRIVATE GEMM_BF16_ELEMENTS=0)
add_test(NAME sim_async_timing COMMAND sim_async_timing)
set_tests_properties(sim_async_timing PROPERTIES LABELS "unit;sim" TIMEOUT 120)

if(TARGET sim_inspect)
  add_test(NAME sim_inspect
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/inspect.sh $<TARGET_FILE:sim_inspect>)
  set_tests_properties(sim_inspect PROPERTIES LABELS "unit;sim" TIMEOUT 30)
endif()

# An mbarrier's life, printed from a run: in the order of time, and in any order that is allowed.
# Numbers are phases, threads that pass, and bytes of a phase. With 5 k-tiles and a ring of 3, the
# first stage of 05 is filled twice, for 128 threads; with 8 and 6, that of 07, for 256. Its empty
# barrier, the second, is waited for by one thread, and once more before the first phase.
foreach(schedule IN ITEMS time early late random)
  add_test(NAME explain_mbarrier_${schedule}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/explain.sh 2 256 32768 $<TARGET_FILE:sim_05_tma_mbarrier>
      --m 128 --n 128 --k 320 --explain mbarrier --schedule ${schedule})
  add_test(NAME explain_full_${schedule}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/explain.sh 2 512 32768
      $<TARGET_FILE:sim_07_warp_specialized> --m 128 --n 128 --k 512 --explain mbarrier:0
      --schedule ${schedule})
  add_test(NAME explain_empty_${schedule}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/explain.sh 2 2 0 $<TARGET_FILE:sim_07_warp_specialized>
      --m 128 --n 128 --k 512 --explain mbarrier:1 --schedule ${schedule})
  set_tests_properties(explain_mbarrier_${schedule} explain_full_${schedule}
    explain_empty_${schedule} PROPERTIES LABELS "sim" TIMEOUT 60)
endforeach()
