# The toolchain file of the preset `wasm`: emscripten's own, wherever its emcc is.
find_program(HOPPER_EMCC emcc REQUIRED)
file(REAL_PATH ${HOPPER_EMCC} root)
cmake_path(GET root PARENT_PATH root)
include(${root}/cmake/Modules/Platform/Emscripten.cmake)

# Its C library has them without an option, as long as nobody starts one.
set(CMAKE_HAVE_LIBC_PTHREAD TRUE)
# Its linker's, as of any that is like GNU's.
set(CMAKE_C_LINK_GROUP_USING_RESCAN LINKER:--start-group LINKER:--end-group)
set(CMAKE_C_LINK_GROUP_USING_RESCAN_SUPPORTED TRUE)
# Debian's emcc needs Debian's modules also where node is another one.
set(CMAKE_C_LINKER_LAUNCHER ${CMAKE_COMMAND} -E env NODE_PATH=$ENV{NODE_PATH}:/usr/share/nodejs)
