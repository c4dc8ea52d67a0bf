# SPDX-License-Identifier: Apache-2.0
#
# What is linked from outside, apart from the codecs (TerrazzoCodecs.cmake). PROJ, libtiff and libjxl are not linked:
# their headers are used here and the libraries are loaded at run time, where they are.

find_package(Threads REQUIRED)
find_package(pugixml REQUIRED)

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
