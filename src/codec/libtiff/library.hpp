// SPDX-License-Identifier: Apache-2.0
//
// libtiff's functions, loaded at run time. For decoder.cpp only. Prototypes come from tiffio.h; nothing is linked.
#pragma once

#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_TIFFIO
#include <tiffio.h>

namespace terrazzo::codec {

struct LibtiffLibrary {
  decltype(&::TIFFClientOpen) client_open;
  decltype(&::TIFFClose) close;
  decltype(&::TIFFSetSubDirectory) set_directory;
  decltype(&::TIFFIsTiled) is_tiled;
  decltype(&::TIFFNumberOfStrips) strip_count;
  decltype(&::TIFFNumberOfTiles) tile_count;
  decltype(&::TIFFReadEncodedStrip) read_strip;
  decltype(&::TIFFReadEncodedTile) read_tile;
  decltype(&::TIFFGetField) get_field;
  decltype(&::TIFFGetFieldDefaulted) get_field_defaulted;
  decltype(&::TIFFRGBAImageOK) rgba_ok;
  decltype(&::TIFFReadRGBAStripExt) read_rgba_strip;
  decltype(&::TIFFReadRGBATileExt) read_rgba_tile;
  decltype(&::TIFFIsCODECConfigured) has_codec;
  decltype(&::TIFFGetVersion) version;
#if TIFFLIB_VERSION >= 20221213  // 4.5: message handlers per file instead of global ones
  decltype(&::TIFFClientOpenExt) client_open_ext;  // this and the next: null in an older library
  decltype(&::TIFFOpenOptionsAlloc) options_alloc;
  decltype(&::TIFFOpenOptionsFree) options_free;
  decltype(&::TIFFOpenOptionsSetMaxSingleMemAlloc) options_set_max_alloc;
  decltype(&::TIFFOpenOptionsSetErrorHandlerExtR) options_set_errors;
  decltype(&::TIFFOpenOptionsSetWarningHandlerExtR) options_set_warnings;
#endif

  // Null if libtiff is not installed. The library stays loaded for the life of the process.
  [[nodiscard]] static LibtiffLibrary const* instance() noexcept;
};

}  // namespace terrazzo::codec

#endif
