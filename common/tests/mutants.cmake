# The gallery of broken kernels: see mutants/mutants.py, which python3 has to run.

find_package(Python3 3.9 COMPONENTS Interpreter)

# The simulator's objects themselves, all of them: kernels that are loaded later call them.
add_executable(mutant_run mutants/run.c $<TARGET_OBJECTS:sim>)
target_link_libraries(mutant_run PRIVATE sim_program ${CMAKE_DL_LIBS})
set_target_properties(mutant_run PROPERTIES ENABLE_EXPORTS ON)

if(Python3_Interpreter_FOUND)
  get_property(mutated_stages GLOBAL PROPERTY HOPPER_STAGES)
  string(REPLACE ";" "," mutated_stages "${mutated_stages}")
  set(mutants_compiler ${CMAKE_C_COMPILER})
  set(mutants_tested --jobs 2)
  if(HOPPER_SANITIZE) # slow: for the simulator's own sake, some are enough
    string(APPEND mutants_compiler ",-fsanitize=address,-fsanitize=undefined")
    list(APPEND mutants_tested --sample 20)
  endif()
  set(mutants_command ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/mutants/mutants.py
    --root ${PROJECT_SOURCE_DIR} --runner $<TARGET_FILE:mutant_run>
    --work ${CMAKE_CURRENT_BINARY_DIR}/mutants --compiler ${mutants_compiler}
    --stages "${mutated_stages}")

  # All of them against the recorded verdicts. It takes two of the cores that ctest may use.
  add_test(NAME mutants COMMAND ${mutants_command} ${mutants_tested})
  set_tests_properties(mutants PROPERTIES
    LABELS mutants PROCESSORS 2 TIMEOUT 1200 ENVIRONMENT MUTANTS=)

  # The same as a target, and the one that writes verdicts and docs/mutants.md anew.
  add_custom_target(mutants
    COMMAND ${mutants_command} DEPENDS mutant_run USES_TERMINAL VERBATIM)
  add_custom_target(mutants_record
    COMMAND ${mutants_command} --record DEPENDS mutant_run USES_TERMINAL VERBATIM)
else()
  message(STATUS "No python3: the gallery of broken kernels cannot be run")
endif()
