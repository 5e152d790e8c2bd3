# Burst and sustained timing, against a card whose behaviour is computed.
add_executable(timing_rotation timing_rotation.c)
target_link_libraries(timing_rotation PRIVATE harness)
add_test(NAME timing_rotation COMMAND timing_rotation)
set_tests_properties(timing_rotation PROPERTIES LABELS timing TIMEOUT 30)
