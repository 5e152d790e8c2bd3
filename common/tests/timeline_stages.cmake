# What the simulated timelines of the chapters must show, and whether their trace is well formed.
add_executable(timeline_stages timeline_stages.c)
target_link_libraries(timeline_stages PRIVATE sim_stages)
set(stages_trace ${CMAKE_CURRENT_BINARY_DIR}/timeline_stages.json)
add_test(NAME timeline_stages COMMAND timeline_stages ${stages_trace})
set_tests_properties(timeline_stages PROPERTIES
  LABELS "timeline;sim" TIMEOUT 300 FIXTURES_SETUP timeline_stages_trace)
add_test(NAME timeline_stages_trace COMMAND timeline_check ${stages_trace})
set_tests_properties(timeline_stages_trace PROPERTIES
  LABELS timeline TIMEOUT 60 FIXTURES_REQUIRED timeline_stages_trace)
