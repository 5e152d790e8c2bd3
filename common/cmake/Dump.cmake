# Targets ptx and sass, or with a house's suffix behind the name: the machine's view of its kernels,
# for reading.

# SASS is read out of the object files that the
# programs are linked of; PTX for sm_90a is not in them, so it is compiled again, with the same
# options.
function(add_dump_targets)
  list(TRANSFORM HOPPER_INCLUDES PREPEND -I OUTPUT_VARIABLE includes)
  get_filename_component(bin ${CMAKE_CUDA_COMPILER} DIRECTORY)
  find_program(HOPPER_CUOBJDUMP cuobjdump HINTS ${bin})
  set(sass_commands "")
  set(ptx_commands "")
  get_property(kernels GLOBAL PROPERTY HOPPER_KERNELS${HOPPER_HOUSE})
  set(objects "")
  foreach(kernel IN LISTS kernels)
    get_kernel(${kernel} FILE ARCH OBJECTS_gpu)
    if(NOT file MATCHES "\\.cu$")
      continue()
    endif()
    list(APPEND objects ${objects_gpu})
    foreach(object IN LISTS objects_gpu)
      get_target_property(macros ${object} COMPILE_DEFINITIONS)
      list(TRANSFORM macros PREPEND "-D")
      string(REGEX REPLACE "^gpu_kernel_" "" name ${object})
      list(APPEND sass_commands COMMAND ${HOPPER_CUOBJDUMP} -sass $<TARGET_OBJECTS:${object}>
           > ${PROJECT_BINARY_DIR}/sass/${name}.sass)
      list(APPEND ptx_commands
           COMMAND ${CMAKE_CUDA_COMPILER} -ptx -arch=compute_${arch} -std=c++17 -O3 -lineinfo
                   -I${PROJECT_SOURCE_DIR}/common ${includes} ${macros}
                   ${PROJECT_SOURCE_DIR}/${file}
                   -o ${PROJECT_BINARY_DIR}/ptx/${name}.ptx)
    endforeach()
  endforeach()
  if(NOT objects)
    return()
  endif()
  add_custom_target(ptx${HOPPER_HOUSE}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/ptx ${ptx_commands}
    COMMENT "PTX of every kernel: ${PROJECT_BINARY_DIR}/ptx" VERBATIM COMMAND_EXPAND_LISTS)
  if(HOPPER_CUOBJDUMP)
    add_custom_target(sass${HOPPER_HOUSE}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/sass ${sass_commands}
      COMMENT "SASS of every kernel: ${PROJECT_BINARY_DIR}/sass" VERBATIM COMMAND_EXPAND_LISTS)
    add_dependencies(sass${HOPPER_HOUSE} ${objects})
  else()
    add_custom_target(sass${HOPPER_HOUSE}
      COMMAND ${CMAKE_COMMAND} -E echo
              "cuobjdump is missing: install cuda-cuobjdump and configure again"
      COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  endif()
endfunction()
