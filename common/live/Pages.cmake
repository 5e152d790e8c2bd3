# The pages, in a build of the preset `wasm`: modules, and what Python makes of them.
#
#   cmake --build build --target live           builds that preset, and with it build/live/*.html
set(HOPPER_LIVE_PAGES ${PROJECT_BINARY_DIR}/live CACHE PATH "Where the live pages are made")

# add_page(NAME SCRIPT ARGUMENT... NEEDS file...): NAME.html, of the target live. SCRIPT is called
# with the arguments, of which @OUT@ is the page.
function(add_page name script)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "" "NEEDS")
  set(here ${PROJECT_SOURCE_DIR}/common/live)
  set(out ${HOPPER_LIVE_PAGES}/${name}.html)
  string(REPLACE "@OUT@" ${out} arguments "${ARG_UNPARSED_ARGUMENTS}")
  set(files ${arguments})
  list(FILTER files INCLUDE REGEX "\\.[a-z]+$")
  list(REMOVE_ITEM files ${out})
  file(GLOB texts CONFIGURE_DEPENDS ${here}/*.py ${here}/page/* ${PROJECT_SOURCE_DIR}/common/breaks/*)
  add_custom_command(OUTPUT ${out}
    COMMAND ${Python3_EXECUTABLE} ${here}/${script} ${arguments}
    DEPENDS ${texts} ${files} ${ARG_NEEDS}
    COMMENT "The live page ${name}.html" VERBATIM)
  add_custom_target(live_page_${name} ALL DEPENDS ${out})
  add_dependencies(live live_page_${name})
endfunction()
add_custom_target(live)
add_functions(judge ${PROJECT_SOURCE_DIR}/common/breaks/judge.c)

# ---- the museum ----

include(${PROJECT_SOURCE_DIR}/common/tests/museum/exhibits.cmake)
add_exhibits(sim C sources)
set(museum ${PROJECT_SOURCE_DIR}/common/tests/museum)
add_executable(sim_museum ${museum}/museum.c ${museum}/museum_run.c ${sources})
target_link_libraries(sim_museum PRIVATE sim_program)
target_compile_options(sim_museum PRIVATE ${HOPPER_SIM_KERNEL_WARNINGS})
make_module(sim_museum ${live} museum _main callMain,FS)
file(GLOB exhibits CONFIGURE_DEPENDS ${museum}/[0-9]*.cu)
add_page(museum museum_live.py ${PROJECT_SOURCE_DIR} ${live}/museum @OUT@
  NEEDS ${live}/museum.wasm judge ${exhibits} ${PROJECT_SOURCE_DIR}/docs/museum.md
        ${PROJECT_SOURCE_DIR}/common/tools/museum/museum_page.py)

# ---- layouts and the ring, which have the pictures' colours ----

set(tools ${PROJECT_SOURCE_DIR}/common/tools/pictures)
file(GLOB colours CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/common/timeline/page/* ${tools}/palette.py)
set(models ${PROJECT_SOURCE_DIR}/common/sim/models)

add_functions(layouts layouts.c ${models}/banks.c ${models}/descriptor.c)
add_page(layouts pictured_page.py layouts ${live}/layouts @OUT@ NEEDS layouts ${colours})

# Chapter 07's kernel with each number of stages and each WAIT; its own are 4 and 1.
set(ring "")
set(objects "")
foreach(stages IN ITEMS 4 3 2)
  foreach(wait IN ITEMS 1 0)
    set(variant ${stages}_${wait})
    if(variant STREQUAL "4_1")
      set(variant "")
    endif()
    declare_kernel(ring "${variant}" 07_warp_specialized/kernel.cu TYPES bf16 STEP true TRACED true
      MACROS STAGES=${stages} WAIT=${wait})
    add_kernel_objects(sim C ${declared} "" made)
    list(APPEND ring ${declared})
    list(APPEND objects ${made})
  endforeach()
endforeach()
files_of(objects ${objects})
write_registry(${live}/ring_registry.c "${ring}" RECORDED_BY sim)
add_executable(ring ${live}/ring_registry.c ${objects})
target_link_libraries(ring PRIVATE sim_program)
make_module(ring ${live} ring _main callMain,FS,ENV)
add_page(ring pictured_page.py ring ${live}/ring @OUT@ NEEDS ${live}/ring.wasm ${colours})
