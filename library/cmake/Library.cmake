# Each chapter with a LIBRARY as a static library, <backend>_<program>_library, behind
# add_chapters(): its kernels' objects, its LIBRARY file, and `services`, which they call. For the
# GPU they become one object file in which only the names of the public header are global, those
# that begin with hopper_gemm or w4a8_gemm: a program may have a gemm_launch_kernel or a cuda_ok of
# its own. The simulator's library is for programs that call the simulator, too, so all its names
# stay.
function(add_chapter_libraries backend language services)
  get_property(chapters GLOBAL PROPERTY HOPPER_CHAPTERS${HOPPER_HOUSE})
  foreach(program IN LISTS chapters)
    get_chapter(${program} DIRECTORY KERNELS LIBRARY)
    set(target ${backend}_${program}_library)
    add_library(${target}_object OBJECT ${PROJECT_SOURCE_DIR}/${directory}/${library})
    target_include_directories(${target}_object PRIVATE ${PROJECT_SOURCE_DIR}/common
      ${HOPPER_INCLUDES})
    set(objects ${target}_object)
    foreach(kernel IN LISTS kernels)
      get_kernel(${kernel} OBJECTS_${backend})
      list(APPEND objects ${objects_${backend}})
    endforeach()
    files_of(objects ${objects})
    if(language STREQUAL "CUDA")
      add_library(${target}_open STATIC ${objects} $<TARGET_OBJECTS:${services}>)
      set_target_properties(${target}_open PROPERTIES LINKER_LANGUAGE CUDA)
      set(closed ${CMAKE_CURRENT_BINARY_DIR}/${target}.o)
      add_custom_command(OUTPUT ${closed}
        COMMAND ${CMAKE_LINKER} -r --whole-archive -o ${closed} $<TARGET_FILE:${target}_open>
        COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=hopper_gemm*
          --keep-global-symbol=w4a8_gemm* ${closed}
        DEPENDS ${target}_open VERBATIM COMMENT "Linking ${target}.o")
      add_library(${target} STATIC ${closed})
      get_target_property(needs ${services} LINK_LIBRARIES) # the CUDA runtime, and the system's
      target_link_libraries(${target} PUBLIC ${needs})
      target_include_directories(${target} SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
    else()
      add_library(${target} STATIC ${objects})
      target_link_libraries(${target} PUBLIC ${services})
    endif()
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
    target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR}/${directory})
  endforeach()
endfunction()
