# Targets ptx and sass, or with a house's suffix behind the name: the machine's view of its kernels,
# for reading.

# `objects`: the object libraries of the kernels. SASS is read out of the object files that the
# programs are linked of; PTX for sm_90a is not in them, so it is compiled again, with the same
# options.
function(add_dump_targets house objects)
  list(TRANSFORM HOPPER_INCLUDES PREPEND -I OUTPUT_VARIABLE includes)
  get_filename_component(bin ${CMAKE_CUDA_COMPILER} DIRECTORY)
  find_program(HOPPER_CUOBJDUMP cuobjdump HINTS ${bin})
  set(sass_commands "")
  set(ptx_commands "")
  foreach(object IN LISTS objects)
    get_target_property(source ${object} SOURCES)
    get_target_property(macros ${object} COMPILE_DEFINITIONS)
    get_target_property(architectures ${object} CUDA_ARCHITECTURES)
    string(REGEX MATCH "[0-9]+a" architecture "${architectures}")
    if(NOT architecture)
      set(architecture 90a)
    endif()
    list(TRANSFORM macros PREPEND "-D")
    string(REGEX REPLACE "^gpu_kernel_" "" name ${object})
    list(APPEND sass_commands COMMAND ${HOPPER_CUOBJDUMP} -sass $<TARGET_OBJECTS:${object}>
         > ${PROJECT_BINARY_DIR}/sass/${name}.sass)
    list(APPEND ptx_commands
         COMMAND ${CMAKE_CUDA_COMPILER} -ptx -arch=compute_${architecture} -std=c++17 -O3 -lineinfo
                 -I${PROJECT_SOURCE_DIR}/common ${includes}
                 ${macros} ${source} -o ${PROJECT_BINARY_DIR}/ptx/${name}.ptx)
  endforeach()
  if(NOT objects)
    return()
  endif()
  add_custom_target(ptx${house}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/ptx ${ptx_commands}
    COMMENT "PTX of every kernel: ${PROJECT_BINARY_DIR}/ptx" VERBATIM COMMAND_EXPAND_LISTS)
  if(HOPPER_CUOBJDUMP)
    add_custom_target(sass${house}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/sass ${sass_commands}
      COMMENT "SASS of every kernel: ${PROJECT_BINARY_DIR}/sass" VERBATIM COMMAND_EXPAND_LISTS)
    add_dependencies(sass${house} ${objects})
  else()
    add_custom_target(sass${house}
      COMMAND ${CMAKE_COMMAND} -E echo
              "cuobjdump is missing: install cuda-cuobjdump and configure again"
      COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  endif()
endfunction()
