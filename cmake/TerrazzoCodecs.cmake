# SPDX-License-Identifier: Apache-2.0
#
# Finds the codec libraries. Every one is optional: without it the codec is refused by name at run time.
#
# Sets TERRAZZO_CODEC_LIBRARIES (imported targets), TERRAZZO_CODEC_DEFINITIONS (TERRAZZO_HAVE_X=0|1, read by
# src/codec/registry/libraries.hpp), TERRAZZO_CODEC_MODULES (names for pkg-config) and TERRAZZO_CODEC_SUMMARY (one "name: version or missing" a library, for the configure log).
include_guard(GLOBAL)
find_package(PkgConfig REQUIRED)

option(TERRAZZO_CODECS_REQUIRED "Stop when a codec library is missing" OFF)

set(TERRAZZO_CODEC_LIBRARIES "")
set(TERRAZZO_CODEC_DEFINITIONS "")
set(TERRAZZO_CODEC_MODULES "")
set(TERRAZZO_CODEC_SUMMARY "")

# name: as in TERRAZZO_HAVE_<name>; module: of pkg-config; header: found in its include folders.
function(terrazzo_find_codec name module header)
  # A prefix of our own: plain ZLIB_FOUND and the like belong to find_package.
  set(prefix TERRAZZO_CODEC_${name})
  pkg_check_modules(${prefix} QUIET IMPORTED_TARGET GLOBAL ${module})
  set(found 0)
  if(${prefix}_FOUND)
    find_path(TERRAZZO_${name}_INCLUDE ${header} HINTS ${${prefix}_INCLUDE_DIRS})
    mark_as_advanced(TERRAZZO_${name}_INCLUDE)
    if(TERRAZZO_${name}_INCLUDE)
      set(found 1)
    endif()
  endif()
  if(found)
    if(TERRAZZO_STATIC_DEPENDENCIES)
      terrazzo_link_archives(PkgConfig::${prefix} ${${prefix}_LIBRARIES})
    endif()
    list(APPEND TERRAZZO_CODEC_LIBRARIES PkgConfig::${prefix})
    list(APPEND TERRAZZO_CODEC_MODULES ${module})
    list(APPEND TERRAZZO_CODEC_SUMMARY "${module}: ${${prefix}_VERSION}")
  elseif(TERRAZZO_CODECS_REQUIRED)
    message(FATAL_ERROR "codec library ${module} (${header}) is missing")
  else()
    list(APPEND TERRAZZO_CODEC_SUMMARY "${module}: missing")
  endif()
  list(APPEND TERRAZZO_CODEC_DEFINITIONS TERRAZZO_HAVE_${name}=${found})
  set(TERRAZZO_CODEC_LIBRARIES "${TERRAZZO_CODEC_LIBRARIES}" PARENT_SCOPE)
  set(TERRAZZO_CODEC_MODULES "${TERRAZZO_CODEC_MODULES}" PARENT_SCOPE)
  set(TERRAZZO_CODEC_DEFINITIONS "${TERRAZZO_CODEC_DEFINITIONS}" PARENT_SCOPE)
  set(TERRAZZO_CODEC_SUMMARY "${TERRAZZO_CODEC_SUMMARY}" PARENT_SCOPE)
endfunction()

terrazzo_find_codec(ZLIB zlib zlib.h)
terrazzo_find_codec(LIBDEFLATE libdeflate libdeflate.h)
terrazzo_find_codec(ZSTD libzstd zstd.h)
terrazzo_find_codec(LZMA liblzma lzma.h)
terrazzo_find_codec(LZ4 liblz4 lz4frame.h)
terrazzo_find_codec(LERC Lerc Lerc_c_api.h)
terrazzo_find_codec(JPEG libjpeg jpeglib.h)
terrazzo_find_codec(OPENJPEG libopenjp2 openjpeg.h)
terrazzo_find_codec(WEBP libwebp webp/decode.h)

# Loaded at run time: only the header is wanted, and dlopen.
function(terrazzo_find_codec_header name header)
  find_path(TERRAZZO_${name}_INCLUDE ${header})
  mark_as_advanced(TERRAZZO_${name}_INCLUDE)
  set(found 0)
  if(TERRAZZO_${name}_INCLUDE)
    set(found 1)
    list(APPEND TERRAZZO_CODEC_SUMMARY "${header}: found")
  elseif(TERRAZZO_CODECS_REQUIRED)
    message(FATAL_ERROR "codec header ${header} is missing")
  else()
    list(APPEND TERRAZZO_CODEC_SUMMARY "${header}: missing")
  endif()
  list(APPEND TERRAZZO_CODEC_DEFINITIONS TERRAZZO_HAVE_${name}=${found})
  set(TERRAZZO_CODEC_DEFINITIONS "${TERRAZZO_CODEC_DEFINITIONS}" PARENT_SCOPE)
  set(TERRAZZO_CODEC_SUMMARY "${TERRAZZO_CODEC_SUMMARY}" PARENT_SCOPE)
endfunction()

terrazzo_find_codec_header(JXL jxl/decode.h)
terrazzo_find_codec_header(TIFFIO tiffio.h)
list(APPEND TERRAZZO_CODEC_LIBRARIES ${CMAKE_DL_LIBS})

list(JOIN TERRAZZO_CODEC_SUMMARY ", " summary_line)
message(STATUS "codec libraries: ${summary_line}")
