# No false alarms: random problems and schedules through every stage; build/sim/soak --soak SECONDS
# goes on for longer. Two halves, so that they run side by side.
add_executable(sim_soak soak.c)
set_target_properties(sim_soak PROPERTIES
  OUTPUT_NAME soak RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/sim)
target_link_libraries(sim_soak PRIVATE sim_stages)
set(soak_trials 3000)
if(HOPPER_SANITIZE)
  set(soak_trials 100)
endif()
foreach(seed IN ITEMS 1 2)
  add_test(NAME soak_${seed} COMMAND sim_soak --trials ${soak_trials} --seed ${seed})
  set_tests_properties(soak_${seed} PROPERTIES LABELS "sim;soak" TIMEOUT 600)
endforeach()
