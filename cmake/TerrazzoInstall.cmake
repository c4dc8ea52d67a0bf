# SPDX-License-Identifier: Apache-2.0
#
# Installs the library, its public headers, its licence, and the packages that find_package(terrazzo) and pkg-config read.
# cli/CMakeLists.txt installs the command line with its manual pages.
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
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# A static library leaves its own dependencies to the program that links it.
set(pkg_config_requires "")
set(pkg_config_libraries "")
if(NOT BUILD_SHARED_LIBS)
  get_directory_property(codec_modules DIRECTORY "${PROJECT_SOURCE_DIR}/src/codec" DEFINITION TERRAZZO_CODEC_MODULES)
  list(JOIN codec_modules " " pkg_config_requires)
  string(APPEND pkg_config_requires " pugixml")
  set(pkg_config_libraries "-pthread -ldl")
  if(TERRAZZO_HAVE_CUDA AND NOT TERRAZZO_CUDA_SHARED_RUNTIME)
    # The static CUDA runtime comes along (NVIDIA's licence permits it), for programs on machines without a CUDA toolkit.
    get_target_property(static_runtime CUDA::cudart_static IMPORTED_LOCATION)
    install(FILES "${static_runtime}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/terrazzo")
    set(pkg_config_libraries "\${libdir}/terrazzo/libcudart_static.a ${pkg_config_libraries} -lrt")
  endif()
endif()
set(pkg_config_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH includes_from_pkg_config "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/terrazzo.pc.in" "${PROJECT_BINARY_DIR}/terrazzo.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/terrazzo.pc" DESTINATION "${pkg_config_dir}")
