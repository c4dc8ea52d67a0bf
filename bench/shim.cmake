# SPDX-License-Identifier: Apache-2.0
#
# The library that bench/peers.py loads. It wants every codec library it measures; without one it is left out, and
# peers.py says so.
pkg_check_modules(TERRAZZO_SHIM QUIET IMPORTED_TARGET libdeflate libzstd libjpeg libtiff-4)
if(TERRAZZO_SHIM_FOUND)
  add_library(terrazzo_bench_shim MODULE "${CMAKE_CURRENT_LIST_DIR}/terrazzo_bench_shim.cpp")
  target_link_libraries(terrazzo_bench_shim PRIVATE terrazzo_settings terrazzo PkgConfig::TERRAZZO_SHIM)
  set_target_properties(terrazzo_bench_shim PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
else()
  message(STATUS "bench/peers.py will not run: libdeflate, libzstd, libjpeg or libtiff is missing")
endif()
