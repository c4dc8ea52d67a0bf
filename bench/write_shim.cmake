# SPDX-License-Identifier: Apache-2.0
#
# The library that bench/write_peers.py loads. It wants every codec library it measures; without one it is left out, and
# write_peers.py says so.
pkg_check_modules(TERRAZZO_WRITE_SHIM QUIET IMPORTED_TARGET libdeflate libzstd libtiff-4 Lerc)
if(TERRAZZO_WRITE_SHIM_FOUND)
  add_library(terrazzo_write_shim MODULE "${CMAKE_CURRENT_LIST_DIR}/write_shim.cpp")
  target_link_libraries(terrazzo_write_shim PRIVATE terrazzo_settings terrazzo PkgConfig::TERRAZZO_WRITE_SHIM)
  set_target_properties(terrazzo_write_shim PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
else()
  message(STATUS "bench/write_peers.py will not run: libdeflate, libzstd, libtiff or liblerc is missing")
endif()
