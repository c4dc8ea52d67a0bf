// SPDX-License-Identifier: Apache-2.0
//
// The third-party decoders of this build. Every codec file uses these macros and no others.
//
// CMake defines each name as 0 or 1 after finding the library; an undefined name follows the header's presence.
#pragma once

#ifndef TERRAZZO_HAVE_ZLIB
#define TERRAZZO_HAVE_ZLIB __has_include(<zlib.h>)
#endif
#ifndef TERRAZZO_HAVE_LIBDEFLATE
#define TERRAZZO_HAVE_LIBDEFLATE __has_include(<libdeflate.h>)
#endif
#ifndef TERRAZZO_HAVE_ZSTD
#define TERRAZZO_HAVE_ZSTD __has_include(<zstd.h>)
#endif
#ifndef TERRAZZO_HAVE_LZMA
#define TERRAZZO_HAVE_LZMA __has_include(<lzma.h>)
#endif
#ifndef TERRAZZO_HAVE_LZ4
#define TERRAZZO_HAVE_LZ4 __has_include(<lz4frame.h>)
#endif
#ifndef TERRAZZO_HAVE_LERC
#define TERRAZZO_HAVE_LERC __has_include(<Lerc_c_api.h>)
#endif
#ifndef TERRAZZO_HAVE_JPEG
#define TERRAZZO_HAVE_JPEG __has_include(<jpeglib.h>)
#endif
#ifndef TERRAZZO_HAVE_OPENJPEG
#define TERRAZZO_HAVE_OPENJPEG __has_include(<openjpeg.h>)
#endif
#ifndef TERRAZZO_HAVE_WEBP
#define TERRAZZO_HAVE_WEBP __has_include(<webp/decode.h>)
#endif
#ifndef TERRAZZO_HAVE_JXL  // header only, as the next one: both libraries are loaded at run time
#define TERRAZZO_HAVE_JXL __has_include(<jxl/decode.h>)
#endif
#ifndef TERRAZZO_HAVE_TIFFIO
#define TERRAZZO_HAVE_TIFFIO __has_include(<tiffio.h>)
#endif
