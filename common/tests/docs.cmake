# The book: tables, excerpts, links and sections of its pages, and the verdicts they quote.
#   cmake --build build --target docs      makes the generated parts anew
set(docs_tests ${CMAKE_CURRENT_SOURCE_DIR})

add_executable(docs_check docs_check.c docs_page.c docs_tables.c docs_suite.c docs_figures.c json.c)
target_link_libraries(docs_check PRIVATE m)
add_executable(docs_verdicts docs_verdicts.c docs_page.c json.c)
target_link_libraries(docs_verdicts PRIVATE m)

add_test(NAME docs COMMAND docs_check ${PROJECT_SOURCE_DIR})
set_tests_properties(docs PROPERTIES LABELS docs TIMEOUT 30)
# What docs_check must complain about.
add_test(NAME docs_rejects COMMAND ${docs_tests}/docs_rejects.sh $<TARGET_FILE:docs_check>
         ${CMAKE_CURRENT_BINARY_DIR}/docs_rejects)
set_tests_properties(docs_rejects PROPERTIES LABELS docs TIMEOUT 30)

# Every broken kernel that a page shows is compiled and run.
set(docs_libraries ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/docs_verdicts_work
  ${CMAKE_C_COMPILER} -Wl,--start-group $<TARGET_FILE:harness> $<TARGET_FILE:sim>
  $<TARGET_FILE:timeline> -Wl,--end-group -lm -pthread)
if(HOPPER_SANITIZE)
  list(APPEND docs_libraries -fsanitize=address,undefined)
endif()
add_test(NAME docs_verdicts COMMAND docs_verdicts ${docs_libraries})
set_tests_properties(docs_verdicts PROPERTIES LABELS "docs;sim" TIMEOUT 600)

add_custom_target(docs
  COMMAND docs_verdicts --write ${docs_libraries}
  COMMAND docs_check --write ${PROJECT_SOURCE_DIR}
  USES_TERMINAL VERBATIM)
add_dependencies(docs harness sim timeline)

# Records the timing model's predictions, for the tables that are made of them.
file(RELATIVE_PATH docs_programs ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/sim)
add_custom_target(docs_simulate
  COMMAND ${docs_tests}/docs_record.sh docs/results/sim-1024.jsonl
          ${docs_programs}/tour --size 1024 --stages 2-9
  COMMAND ${docs_tests}/docs_record.sh docs/results/sim-1024-wait0.jsonl
          ${docs_programs}/06_wgmma --size 1024 --variant wait0
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
add_dependencies(docs_simulate sim_tour sim_06_wgmma)
