# SPDX-License-Identifier: Apache-2.0
#
# What is linked from outside, apart from the codecs (TerrazzoCodecs.cmake). PROJ, libtiff and libjxl are not linked:
# their headers are used here and the libraries are loaded at run time, where they are.

find_package(Threads REQUIRED)
find_package(pugixml REQUIRED)

# Debian compiles these archives for programs: they address data of libc and libstdc++ directly, which the linker refuses
# in a shared object. The Python module links the shared libraries, and `./dev wheel` copies them into the wheel.
set(TERRAZZO_ARCHIVES_FOR_PROGRAMS Lerc jpeg openjp2)

# terrazzo_link_archives(<target> <names>): the target links lib<name>.a of each name instead of shared libraries.
function(terrazzo_link_archives target)
  if(TERRAZZO_PYTHON AND ARGN IN_LIST TERRAZZO_ARCHIVES_FOR_PROGRAMS)
    return()
  endif()
  set(archives "")
  foreach(name IN LISTS ARGN)
    find_library(TERRAZZO_ARCHIVE_${name} "lib${name}.a" REQUIRED)
    mark_as_advanced(TERRAZZO_ARCHIVE_${name})
    list(APPEND archives "${TERRAZZO_ARCHIVE_${name}}")
  endforeach()
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${archives}")
endfunction()

if(TERRAZZO_STATIC_DEPENDENCIES)
  terrazzo_link_archives(pugixml::pugixml pugixml)
endif()

if(TERRAZZO_CLI)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()
if(TERRAZZO_TESTS)
  find_package(GTest REQUIRED)
endif()
if(TERRAZZO_BENCH)
  find_package(PkgConfig REQUIRED)
endif()
