# Puts the page (page/*), and the figures' style, into the timeline library: as a script it makes
# one C file of it, included it declares the step.
#
#   cmake -DPAGE=<page directory> -DOUTPUT=<file.c> -P embed.cmake

if(CMAKE_SCRIPT_MODE_FILE)
  # Everything is handled as hexadecimal digits: CMake's lists and strings would change
  # semicolons and brackets.
  file(READ ${PAGE}/index.html html HEX)
  file(READ ${PAGE}/style.css style HEX)
  set(script "")
  foreach(name results model lanes hazards navigation pointer barriers memory play choice state
    report selftest)
    file(READ ${PAGE}/${name}.js text HEX)
    string(APPEND script ${text})
  endforeach()
  string(REPLACE "405354594c45400a" "${style}" html "${html}")     # @STYLE@
  string(REPLACE "40534352495054400a" "${script}" html "${html}")  # @SCRIPT@
  string(FIND "${html}" "4044415441400a" place)                    # @DATA@
  if(place LESS 0)
    message(FATAL_ERROR "${PAGE}/index.html has no line @DATA@")
  endif()
  string(SUBSTRING "${html}" 0 ${place} page_head)
  math(EXPR place "${place} + 14")
  string(SUBSTRING "${html}" ${place} -1 page_tail)
  # A line that begins with a blank goes on with the one before.
  file(READ ${PAGE}/../figure_style.svg text HEX)
  string(REPLACE "0a20" "" figure_style "${text}")
  set(source "#include \"timeline/page_source.h\"\n")
  foreach(part page_head page_tail figure_style)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${${part}}")
    string(APPEND source "const unsigned char ${part}[] = {${bytes}};\n"
                         "const size_t ${part}_size = sizeof ${part};\n")
  endforeach()
  file(WRITE ${OUTPUT} "${source}")
  return()
endif()

file(GLOB page_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/page/*
  ${CMAKE_CURRENT_LIST_DIR}/figure_style.svg)
set(page_source ${CMAKE_CURRENT_BINARY_DIR}/page_source.c)
add_custom_command(
  OUTPUT ${page_source}
  COMMAND ${CMAKE_COMMAND} -DPAGE=${CMAKE_CURRENT_LIST_DIR}/page -DOUTPUT=${page_source}
          -P ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  DEPENDS ${page_files} ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  COMMENT "Embedding the timeline page"
  VERBATIM)
target_sources(hopper_timeline PRIVATE ${page_source})
