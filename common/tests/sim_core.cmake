# The simulator's core: fibers, schedules, happens-before, instructions, reports.

foreach(name IN ITEMS fiber schedules order instructions reports)
  add_executable(sim_${name} sim_${name}.c)
  target_link_libraries(sim_${name} PRIVATE sim_program)
  target_compile_definitions(sim_${name} PRIVATE GEMM_BF16_ELEMENTS=0)
  add_test(NAME sim_${name} COMMAND sim_${name})
  set_tests_properties(sim_${name} PROPERTIES LABELS "sim" TIMEOUT 120)
endforeach()

# The chapters' own layouts.
add_executable(sim_conflicts sim_conflicts.c)
target_link_libraries(sim_conflicts PRIVATE sim_stages)
add_test(NAME sim_conflicts COMMAND sim_conflicts)
set_tests_properties(sim_conflicts PROPERTIES LABELS "sim" TIMEOUT 120)

# The same fibers on ucontext, as other processors have them.
add_executable(sim_fiber_ucontext sim_fiber.c ../sim/fiber.c)
target_include_directories(sim_fiber_ucontext PRIVATE ${PROJECT_SOURCE_DIR}/common)
target_compile_definitions(sim_fiber_ucontext PRIVATE SIM_UCONTEXT=1)
add_test(NAME sim_fiber_ucontext COMMAND sim_fiber_ucontext)
set_tests_properties(sim_fiber_ucontext PROPERTIES LABELS "sim" TIMEOUT 60)

# And on arm64, where a cross compiler and an emulator are installed.
find_program(AARCH64_GCC aarch64-linux-gnu-gcc)
find_program(QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
if(AARCH64_GCC AND QEMU_AARCH64)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/sim_fiber_arm64)
  add_custom_command(OUTPUT ${program}
    COMMAND ${AARCH64_GCC} -std=gnu11 -O2 -static -I${PROJECT_SOURCE_DIR}/common
      ${CMAKE_CURRENT_SOURCE_DIR}/sim_fiber.c ${PROJECT_SOURCE_DIR}/common/sim/fiber.c -o ${program}
    DEPENDS sim_fiber.c expect.h ../sim/fiber.c ../sim/fiber.h VERBATIM)
  add_custom_target(sim_fiber_arm64_program ALL DEPENDS ${program})
  add_test(NAME sim_fiber_arm64 COMMAND ${QEMU_AARCH64} ${program})
  set_tests_properties(sim_fiber_arm64 PROPERTIES LABELS "sim" TIMEOUT 120)
endif()
