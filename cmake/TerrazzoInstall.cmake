# SPDX-License-Identifier: Apache-2.0
#
# Installs the library, its public headers and the package that find_package(terrazzo) reads.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/terrazzo")

install(TARGETS terrazzo EXPORT terrazzoTargets FILE_SET HEADERS)
install(EXPORT terrazzoTargets NAMESPACE terrazzo:: DESTINATION "${package_dir}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/terrazzoConfig.cmake.in" "${PROJECT_BINARY_DIR}/terrazzoConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may change the API.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/terrazzoConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/terrazzoConfig.cmake" "${PROJECT_BINARY_DIR}/terrazzoConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/TerrazzoCodecs.cmake"
        DESTINATION "${package_dir}")
