# Timelines: tracks, trace, figures and page on synthetic recordings; the page in a browser.

add_executable(timeline_test timeline_test.c timeline_synthetic.c trace_check.c json.c)
target_link_libraries(timeline_test PRIVATE timeline)
set(timeline_dir ${CMAKE_CURRENT_BINARY_DIR}/timeline)
file(MAKE_DIRECTORY ${timeline_dir})
add_test(NAME timeline COMMAND timeline_test ${timeline_dir})
set_tests_properties(timeline PROPERTIES LABELS timeline FIXTURES_SETUP timeline_report)

# The life of an mbarrier whose events no kernel of ours has: clocks that lag, long numbers.
add_executable(timeline_explain timeline_explain.c)
target_link_libraries(timeline_explain PRIVATE timeline)
add_test(NAME timeline_explain COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/explain.sh 2 401 1048575
  $<TARGET_FILE:timeline_explain>)
set_tests_properties(timeline_explain PROPERTIES LABELS timeline TIMEOUT 30)

# Checks the trace of any program: timeline_check FILE.
add_executable(timeline_check timeline_check.c trace_check.c json.c)
target_link_libraries(timeline_check PRIVATE m)

add_test(NAME timeline_browser
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/timeline_browser.sh ${timeline_dir}/report/index.html)
set_tests_properties(timeline_browser PROPERTIES
  LABELS "timeline;browser" SKIP_RETURN_CODE 77 FIXTURES_REQUIRED timeline_report RUN_SERIAL ON)
