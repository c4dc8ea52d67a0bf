# SPDX-License-Identifier: Apache-2.0
#
# Precompiled headers: most of a test's compile time is the standard library and GoogleTest (on 2 cores the sanitized
# builds take about half the time). The release preset compiles src/ without them, so that CI finds a forgotten
# #include.

set(TERRAZZO_COMMON_HEADERS <algorithm> <array> <atomic> <bit> <cmath> <cstddef> <cstdint> <cstring> <functional> <limits>
    <memory> <mutex> <optional> <span> <string> <string_view> <utility> <vector>)

# terrazzo_precompile(<target> <TESTS|ALL> <headers>): for a target of C++ sources only, if TERRAZZO_PCH has at least the
# given value.
function(terrazzo_precompile target least)
  if(TERRAZZO_PCH STREQUAL "ALL" OR TERRAZZO_PCH STREQUAL least)
    target_precompile_headers(${target} PRIVATE ${TERRAZZO_COMMON_HEADERS} ${ARGN})
    # ccache compares contents; clang would compare times.
    target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endfunction()
