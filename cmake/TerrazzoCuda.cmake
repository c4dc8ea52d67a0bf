# SPDX-License-Identifier: Apache-2.0
#
# The device engine's compiler. Sets TERRAZZO_HAVE_CUDA; with it, src/gpu is built and src/read has a device engine.
# The runtime is linked statically and needs no driver to start. NVIDIA's codec libraries are loaded at run time.
include(CheckLanguage)

set(TERRAZZO_HAVE_CUDA OFF)
if(TERRAZZO_CUDA)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(TERRAZZO_NVCC nvcc HINTS "$ENV{CUDA_HOME}/bin" /usr/local/cuda/bin DOC "CUDA compiler")
    mark_as_advanced(TERRAZZO_NVCC)
    if(TERRAZZO_NVCC)
      set(CMAKE_CUDA_COMPILER "${TERRAZZO_NVCC}")
    endif()
  endif()
  if(NOT CMAKE_CUDA_HOST_COMPILER)
    set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}")
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(TERRAZZO_HAVE_CUDA ON)
  elseif(NOT TERRAZZO_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "TERRAZZO_CUDA=${TERRAZZO_CUDA}, but nvcc was not found; install the CUDA toolkit or use the preset `cpu-only`")
  endif()
endif()

if(NOT TERRAZZO_HAVE_CUDA)
  message(STATUS "device engine: left out")
  return()
endif()

if(TERRAZZO_CUDA_SHARED_RUNTIME)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
else()
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
endif()
set(CMAKE_CUDA_ARCHITECTURES ${TERRAZZO_CUDA_ARCHITECTURES})
if(TERRAZZO_CCACHE_PROGRAM)
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${TERRAZZO_CCACHE_PROGRAM}")
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
message(STATUS "device engine: nvcc ${CMAKE_CUDA_COMPILER_VERSION} for ${TERRAZZO_CUDA_ARCHITECTURES}")

# No contraction, as on the host: both engines must round alike. The diagnostic is a comparison that is pointless for
# unsigned types in a template for all types. The dialect is named here since CMake 3.25 does not know it for nvcc 13.
target_compile_options(terrazzo_settings INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--fmad=false;--expt-relaxed-constexpr;-diag-suppress=186;-Xcompiler=-Wall,-Wextra>")
