# live_module, live_museum_module: the program, and the museum's, as WebAssembly. emcc compiles and links; then Asyncify makes the functions
# that may suspend a simulated thread able to return in the middle (sim/core/fiber_asyncify.h).
# HOPPER_MODULE=OFF in the environment leaves it out.

find_program(HOPPER_EMCC emcc)
find_program(HOPPER_WASM_OPT wasm-opt)
set(HOPPER_LIVE_MODULE ON)
if(NOT HOPPER_EMCC OR NOT HOPPER_WASM_OPT OR "$ENV{HOPPER_MODULE}" STREQUAL "OFF")
  message(STATUS "No emscripten (emcc, wasm-opt): the live page is not built")
  set(HOPPER_LIVE_MODULE OFF)
  set_property(GLOBAL PROPERTY HOPPER_LIVE_MODULE OFF)
  return()
endif()
set_property(GLOBAL PROPERTY HOPPER_LIVE_MODULE ON)

# Debian's emcc needs Debian's modules also where node is another one.
set(emcc ${CMAKE_COMMAND} -E env "NODE_PATH=$ENV{NODE_PATH}:/usr/share/nodejs" ${HOPPER_EMCC})
set(emcc_options -std=gnu11 -msimd128 -I${kernels} -I${PROJECT_SOURCE_DIR}/common)
set(module_objects "")

# Compiles a C source with these options.
function(add_module_object source name)
  set(object ${live}/objects/${name}.o)
  cmake_path(GET object PARENT_PATH directory)
  file(MAKE_DIRECTORY ${directory})
  add_custom_command(OUTPUT ${object}
    COMMAND ${emcc} ${emcc_options} ${ARGN} -MD -MF ${object}.d -c -x c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d
    COMMENT "emcc ${name}" VERBATIM)
  set(module_objects ${module_objects} ${object} PARENT_SCOPE)
endfunction()

foreach(library IN ITEMS harness sim timeline)
  get_target_property(sources hopper_${library} SOURCES)
  get_target_property(directory hopper_${library} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory})
    file(RELATIVE_PATH name ${directory} ${source})
    if(name MATCHES "^\\.\\.")
      cmake_path(GET source FILENAME name)
    endif()
    add_module_object(${source} ${library}/${name} -Os ${HOPPER_C_WARNINGS})
  endforeach()
endforeach()
set(library_objects ${module_objects})
set(module_objects "")

# Links objects with the libraries: ${live}/NAME.js and NAME.wasm.
#
# -O2: at -O3 emcc renames the imports by which the pass knows Asyncify's functions. It knows them,
# and thread_main(), by their names.
function(link_module name functions methods)
  set(raw ${live}/${name}_raw)
  add_custom_command(OUTPUT ${live}/${name}.js ${live}/${name}.wasm
    COMMAND ${emcc} ${ARGN} ${library_objects} -O2 -Wl,--allow-undefined
            -sERROR_ON_UNDEFINED_SYMBOLS=0 -sWARN_ON_UNDEFINED_SYMBOLS=0
            --profiling-funcs -sALLOW_MEMORY_GROWTH -sEXIT_RUNTIME -sMODULARIZE
            -sEXPORT_NAME=hopper_simulator -sINVOKE_RUN=0 -sENVIRONMENT=web,worker,node
            -sEXPORTED_FUNCTIONS=${functions} -sEXPORTED_RUNTIME_METHODS=${methods} -o ${raw}.js
    COMMAND ${HOPPER_WASM_OPT} ${raw}.wasm -o ${raw}_named.wasm --all-features --asyncify -g -O2
            --pass-arg=asyncify-imports@none.none --pass-arg=asyncify-ignore-indirect
            --pass-arg=asyncify-addlist@thread_main
    COMMAND ${HOPPER_WASM_OPT} ${raw}_named.wasm -o ${live}/${name}.wasm --all-features
            --strip-debug --strip-producers -O1
    COMMAND ${CMAKE_COMMAND} -E copy ${raw}.js ${live}/${name}.js
    DEPENDS ${ARGN} ${library_objects} COMMENT "WebAssembly: ${name}" VERBATIM)
endfunction()

# ---- the chapters ----

add_module_object(${kernels}/switches.c switches -Os)
add_module_object(${live}/registry.c registry -Os)
add_module_object(${CMAKE_CURRENT_SOURCE_DIR}/checks.c checks -Os ${HOPPER_C_WARNINGS})
foreach(chapter IN LISTS chapters)
  add_module_object(${kernels}/${chapter}/kernel.cu ${chapter} -Os -w
    -ftrivial-auto-var-init=pattern -DGEMM_KERNEL=kernel_${chapter}_written_bf16 -DGEMM_BF16_ELEMENTS=1
    -DTRACE=0)
endforeach()

find_program(HOPPER_EMAR emar)
add_custom_command(OUTPUT ${live}/versions_module.a
  COMMAND ${CMAKE_COMMAND} -E env "NODE_PATH=$ENV{NODE_PATH}:/usr/share/nodejs" ${live_compile}
          ${live}/versions_module.a ${HOPPER_EMAR} 60 ${HOPPER_EMCC} ${emcc_options} -Os
          -ftrivial-auto-var-init=pattern ${version_options}
  DEPENDS ${version_depends} COMMENT "emcc: the kernels' versions" VERBATIM)
list(APPEND module_objects ${live}/versions_module.a)

link_module(module _main,_live_print_checks callMain,FS,ENV ${module_objects})
add_custom_target(live_module DEPENDS ${live}/module.js ${live}/module.wasm)
add_dependencies(live_module live_kernels hopper_timeline) # which generate sources

# ---- the museum ----

set(museum ${PROJECT_SOURCE_DIR}/common/tests/museum)
include(${museum}/exhibits.cmake)
list_exhibits(${live}/museum_exhibits.c exhibits)
set(module_objects "")
add_module_object(${live}/museum_exhibits.c museum/exhibits -Os)
foreach(source IN ITEMS museum museum_run)
  add_module_object(${museum}/${source}.c museum/${source} -Os ${HOPPER_C_WARNINGS})
endforeach()
foreach(exhibit IN LISTS exhibits)
  cmake_path(GET exhibit STEM name)
  foreach(fixed IN ITEMS 0 1)
    add_module_object(${exhibit} museum/${name}_${fixed} -Os -w -ftrivial-auto-var-init=pattern
      -DGEMM_BF16_ELEMENTS=1 -DTRACE=0 -DFIXED=${fixed} -DMUSEUM_FORM=museum_${name}_${fixed})
  endforeach()
endforeach()
list(FILTER library_objects EXCLUDE REGEX "/harness/main\\.c\\.o$") # it has a main() of its own
link_module(museum _main callMain,FS ${module_objects})
add_custom_target(live_museum_module DEPENDS ${live}/museum.js ${live}/museum.wasm)
add_dependencies(live_museum_module hopper_timeline)
