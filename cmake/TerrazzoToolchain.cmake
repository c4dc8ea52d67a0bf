# SPDX-License-Identifier: Apache-2.0
#
# How everything of ours is compiled: the target terrazzo_settings carries it, and every target of ours links it.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # the static library also ends up in shared ones: the Python module
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)    # for clang-tidy and editors

if(TERRAZZO_CCACHE)
  find_program(TERRAZZO_CCACHE_PROGRAM ccache DOC "Compiler cache, used where it is found")
  if(TERRAZZO_CCACHE_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${TERRAZZO_CCACHE_PROGRAM}")
  endif()
endif()

if(TERRAZZO_IPO)
  include(CheckIPOSupported)
  check_ipo_supported()
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()

add_library(terrazzo_settings INTERFACE)
target_compile_features(terrazzo_settings INTERFACE cxx_std_20)
# No contraction: the host and the device must round alike, bit for bit. No -march either: the
# binary is portable x86-64, and wider instructions are chosen at run time.
target_compile_options(terrazzo_settings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;-Wall;-Wextra;-Wconversion;-Wshadow;-Wnon-virtual-dtor>")
# Designated initialisers leave out what has a default; that is what they are for.
target_compile_options(terrazzo_settings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>")
if(TERRAZZO_WERROR)
  target_compile_options(terrazzo_settings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(terrazzo_settings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>")  # false for std::string + char* in g++ 12 (PR 105651)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND TERRAZZO_SANITIZE)
  # g++ 12 sees overreads that are not there once the sanitizers have rewritten the code.
  target_compile_options(terrazzo_settings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized;-Wno-stringop-overflow;-Wno-array-bounds>")
endif()

set(sanitizers "${TERRAZZO_SANITIZE}")
if(TERRAZZO_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TERRAZZO_FUZZ needs clang (libFuzzer); use the preset `fuzz`, or set CMAKE_CXX_COMPILER=clang++-16")
  endif()
  list(APPEND sanitizers fuzzer-no-link)  # coverage counters only: ordinary binaries keep their own main()
endif()
if(sanitizers)
  list(JOIN sanitizers "," sanitizers)
  target_compile_options(terrazzo_settings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${sanitizers};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
  target_link_options(terrazzo_settings INTERFACE -fsanitize=${sanitizers})
endif()
