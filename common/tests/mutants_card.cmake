# The gallery's sample for the card (mutants/card.py), and the page about it.

get_property(card_stages GLOBAL PROPERTY HOPPER_STAGES)
list(JOIN card_stages "," card_stages)
if(Python3_Interpreter_FOUND)
  set(mutants_card_page ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/mutants/card_page.py
    ${PROJECT_SOURCE_DIR})
  add_test(NAME docs_mutants_card COMMAND ${mutants_card_page})
  set_tests_properties(docs_mutants_card PROPERTIES LABELS docs TIMEOUT 30)
  add_custom_target(docs_mutants_card COMMAND ${mutants_card_page} --write VERBATIM)
  add_dependencies(docs docs_mutants_card)

  # card.py itself, with a compiler and a sanitizer that are not real.
  add_test(NAME card_mutants COMMAND ${Python3_EXECUTABLE}
    ${CMAKE_CURRENT_SOURCE_DIR}/mutants/card_test.py ${PROJECT_SOURCE_DIR}
    ${CMAKE_CURRENT_BINARY_DIR}/mutants_card_test "${card_stages}")
  set_tests_properties(card_mutants PROPERTIES LABELS mutants TIMEOUT 120)
endif()

# What card.py needs to know to compile and link a kernel; card/record.sh hands it over.
if(HOPPER_GPU)
  add_library(gpu_mutant_main OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/card/mutant_main.c)
  target_link_libraries(gpu_mutant_main PRIVATE harness)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/gpu/mutants.args CONTENT
"--root=${PROJECT_SOURCE_DIR}
--work=${CMAKE_CURRENT_BINARY_DIR}/mutants_card
--nvcc=${CMAKE_CUDA_COMPILER}
--stages=${card_stages}
--link=$<JOIN:$<TARGET_OBJECTS:gpu_mutant_main>,
--link=>
--link=$<TARGET_FILE:harness>
--link=$<TARGET_FILE:cuda>
--link=$<TARGET_FILE:timeline>
--link=$<TARGET_FILE:harness>
--link=$<TARGET_FILE:cuda>
--library_directory=$<TARGET_FILE_DIR:CUDA::cublas>
")
  # Everything the section needs, without the kernels.
  add_custom_target(gpu_mutants DEPENDS gpu_mutant_main harness cuda timeline)
endif()
