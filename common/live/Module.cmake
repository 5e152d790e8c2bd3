# Programs as WebAssembly. emcc compiles and links; then Asyncify makes the functions that may suspend
# a simulated thread able to return in the middle (sim/core/fiber_asyncify.h). HOPPER_MODULE=OFF in
# the environment leaves it out.

find_program(HOPPER_EMCC emcc)
find_program(HOPPER_WASM_OPT wasm-opt)
find_program(HOPPER_EMAR emar)
set(HOPPER_LIVE_MODULE ON)
if(NOT HOPPER_EMCC OR NOT HOPPER_WASM_OPT OR "$ENV{HOPPER_MODULE}" STREQUAL "OFF")
  if(NOT HOPPER_HOUSE)
    message(STATUS "No emscripten (emcc, wasm-opt): the live page is not built")
  endif()
  set(HOPPER_LIVE_MODULE OFF)
endif()
set_property(GLOBAL PROPERTY HOPPER_LIVE_MODULE ${HOPPER_LIVE_MODULE})

# Debian's emcc needs Debian's modules also where node is another one.
set(emscripten ${CMAKE_COMMAND} -E env "NODE_PATH=$ENV{NODE_PATH}:/usr/share/nodejs")
set(emcc_options -std=gnu11 -msimd128 -I${PROJECT_SOURCE_DIR}/common)
set(live ${PROJECT_BINARY_DIR}/live)

# Compiles a C source with these options; adds the object to module_objects.
function(add_module_object source name)
  set(object ${live}/objects/${name}.o)
  cmake_path(GET object PARENT_PATH directory)
  file(MAKE_DIRECTORY ${directory})
  add_custom_command(OUTPUT ${object}
    COMMAND ${emscripten} ${HOPPER_EMCC} ${ARGN} ${emcc_options} -MD -MF ${object}.d -c -x c ${source}
            -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d
    COMMENT "emcc ${name}" VERBATIM)
  set(module_objects ${module_objects} ${object} PARENT_SCOPE)
endfunction()

# What no page asks for: --check with its processes, --help, the option that an unknown one is like,
# times, --explain. A module has no such functions: a call ends the run with the name of the missing
# one.
set(module_lacks harness/check harness/branches harness/help harness/nearest_name harness/timing
  harness/timed_experiment harness/statistics timeline/explain)

# The target live_libraries: what every module is linked with. The global property of this name has
# its objects.
function(add_module_libraries)
  set(lacks "${module_lacks}")
  list(TRANSFORM lacks PREPEND ${PROJECT_SOURCE_DIR}/common/)
  list(TRANSFORM lacks APPEND .c)
  foreach(library IN ITEMS harness sim timeline)
    set(size -Oz)
    if(library STREQUAL "sim") # where the time goes
      set(size -Os)
    endif()
    get_target_property(sources hopper_${library} SOURCES)
    get_target_property(directory hopper_${library} SOURCE_DIR)
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory})
      if(source IN_LIST lacks)
        list(REMOVE_ITEM lacks ${source})
        continue()
      endif()
      file(RELATIVE_PATH name ${directory} ${source})
      if(name MATCHES "^\\.\\.")
        cmake_path(GET source FILENAME name)
      endif()
      add_module_object(${source} ${library}/${name} ${size} ${HOPPER_C_WARNINGS})
    endforeach()
  endforeach()
  if(lacks)
    message(FATAL_ERROR "module_lacks: no sources of the libraries: ${lacks}")
  endif()
  set_property(GLOBAL PROPERTY HOPPER_LIVE_LIBRARIES ${module_objects})
  add_custom_target(live_libraries DEPENDS ${module_objects})
  add_dependencies(live_libraries hopper_timeline) # which generates a source
endfunction()

# Links objects with the libraries: ${live}/NAME.js and NAME.wasm.
#
# -O2: at -O3 emcc renames the imports by which the pass knows Asyncify's functions. It knows them,
# and thread_main(), by their names.
function(link_module name functions methods)
  set(raw ${live}/${name}_raw)
  get_property(libraries GLOBAL PROPERTY HOPPER_LIVE_LIBRARIES)
  if(name STREQUAL "museum") # it has a main() of its own
    list(FILTER libraries EXCLUDE REGEX "/harness/main\\.c\\.o$")
  endif()
  add_custom_command(OUTPUT ${live}/${name}.js ${live}/${name}.wasm
    COMMAND ${emscripten} ${HOPPER_EMCC} ${ARGN} ${libraries} -O2 -Wl,--allow-undefined
            -sERROR_ON_UNDEFINED_SYMBOLS=0 -sWARN_ON_UNDEFINED_SYMBOLS=0
            --profiling-funcs -sALLOW_MEMORY_GROWTH -sEXIT_RUNTIME -sMODULARIZE
            -sEXPORT_NAME=hopper_simulator -sINVOKE_RUN=0 -sENVIRONMENT=web,worker,node
            -sEXPORTED_FUNCTIONS=${functions} -sEXPORTED_RUNTIME_METHODS=${methods} -o ${raw}.js
    COMMAND ${HOPPER_WASM_OPT} ${raw}.wasm -o ${raw}_named.wasm --all-features --asyncify -g -O2
            --pass-arg=asyncify-imports@none.none --pass-arg=asyncify-ignore-indirect
            --pass-arg=asyncify-addlist@thread_main
    COMMAND ${HOPPER_WASM_OPT} ${raw}_named.wasm -o ${live}/${name}.wasm --all-features
            --strip-debug --strip-producers -O1 --reorder-locals
    COMMAND ${CMAKE_COMMAND} -E copy ${raw}.js ${live}/${name}.js
    DEPENDS ${ARGN} ${libraries} COMMENT "WebAssembly: ${name}" VERBATIM)
endfunction()

# Links objects that need no library and suspend nothing: ${live}/NAME.wasm, whose functions a page
# calls.
function(link_functions name)
  add_custom_command(OUTPUT ${live}/${name}.wasm
    COMMAND ${emscripten} ${HOPPER_EMCC} ${ARGN} -O2 --no-entry -sSTANDALONE_WASM
            -Wl,--export-dynamic -o ${live}/${name}.wasm
    DEPENDS ${ARGN} COMMENT "WebAssembly: ${name}" VERBATIM)
endfunction()
