# SPDX-License-Identifier: Apache-2.0
#
# What is linked from outside, apart from the codecs (TerrazzoCodecs.cmake). PROJ, libtiff and libjxl are not linked:
# their headers are used here and the libraries are loaded at run time, where they are.

find_package(Threads REQUIRED)
find_package(pugixml REQUIRED)

# terrazzo_link_archives(<target> <names>): the target links lib<name>.a of each name instead of shared libraries.
function(terrazzo_link_archives target)
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
