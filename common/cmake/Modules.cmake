# Programs as WebAssembly, in a build of the preset `wasm`. emcc compiles and links; then Asyncify
# makes the functions that may suspend a simulated thread able to return in the middle
# (sim/core/fiber_asyncify.h).

# What no page asks for: --check with its processes, --help, the option that an unknown one is like,
# times, --explain. A module has no such functions: a call ends the run with the name of the missing
# one. Takes them out of the list of sources `variable` of the caller's.
set(HOPPER_MODULE_LACKS harness/check harness/branches harness/help harness/nearest_name
  harness/timing
  harness/timed_experiment harness/statistics timeline/explain)
function(leave_out_of_modules variable)
  foreach(name IN LISTS HOPPER_MODULE_LACKS)
    set(source ${PROJECT_SOURCE_DIR}/common/${name}.c)
    if(NOT EXISTS ${source})
      message(FATAL_ERROR "HOPPER_MODULE_LACKS: there is no ${source}")
    endif()
    list(REMOVE_ITEM ${variable} ${source})
  endforeach()
  set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()

# What a program is called by scripts: ${directory}/NAME.js and NAME.wasm, of the target `program`,
# whose `functions` and emcc's `methods` they can call.
#
# -O2: at -O3 emcc renames the imports by which the pass knows Asyncify's functions. It knows them,
# and thread_main(), by their names.
function(make_module program directory name functions methods)
  find_program(HOPPER_WASM_OPT wasm-opt REQUIRED)
  set(raw ${directory}/raw/${name})
  set_target_properties(${program} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${directory}/raw OUTPUT_NAME ${name})
  target_link_options(${program} PRIVATE -O2 -Wl,--allow-undefined -sERROR_ON_UNDEFINED_SYMBOLS=0
    -sWARN_ON_UNDEFINED_SYMBOLS=0 --profiling-funcs -sALLOW_MEMORY_GROWTH -sEXIT_RUNTIME
    -sMODULARIZE
    -sEXPORT_NAME=hopper_simulator -sINVOKE_RUN=0 -sENVIRONMENT=web,worker,node
    -sEXPORTED_FUNCTIONS=${functions} -sEXPORTED_RUNTIME_METHODS=${methods})
  add_custom_command(OUTPUT ${directory}/${name}.js ${directory}/${name}.wasm
    COMMAND ${HOPPER_WASM_OPT} ${raw}.wasm -o ${raw}_named.wasm --all-features --asyncify -g -O2
            --pass-arg=asyncify-imports@none.none --pass-arg=asyncify-ignore-indirect
            --pass-arg=asyncify-addlist@thread_main
    COMMAND ${HOPPER_WASM_OPT} ${raw}_named.wasm -o ${directory}/${name}.wasm --all-features
            --strip-debug --strip-producers -O1 --reorder-locals
    COMMAND ${CMAKE_COMMAND} -E copy ${raw}.js ${directory}/${name}.js
    DEPENDS ${program} COMMENT "Asyncify: ${name}" VERBATIM)
endfunction()

# add_functions(NAME SOURCE...): functions that need no library and suspend nothing,
# ${live}/NAME.wasm.
function(add_functions name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/common)
  target_compile_options(${name} PRIVATE -Oz)
  set_target_properties(${name} PROPERTIES SUFFIX .wasm RUNTIME_OUTPUT_DIRECTORY ${live})
  target_link_options(${name} PRIVATE -O2 --no-entry -sSTANDALONE_WASM -Wl,--export-dynamic)
endfunction()
