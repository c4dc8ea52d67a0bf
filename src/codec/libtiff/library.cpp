// SPDX-License-Identifier: Apache-2.0
#include "codec/libtiff/library.hpp"

#if TERRAZZO_HAVE_TIFFIO

#include <dlfcn.h>

#include <optional>

namespace terrazzo::codec {
namespace {

// Sonames; 6 is libtiff 4.5 and later, 5 is 4.0 to 4.4.
constexpr char const* kSonames[] = {"libtiff.so.6", "libtiff.so.5"};

template <class Function>
bool find(void* library, char const* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::optional<LibtiffLibrary> load() noexcept {
  void* handle = nullptr;
  for (char const* const soname : kSonames) {
    handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) { break; }
  }
  if (handle == nullptr) { return std::nullopt; }
  LibtiffLibrary library{};
  bool const complete =
      find(handle, "TIFFClientOpen", library.client_open) && find(handle, "TIFFClose", library.close) &&
      find(handle, "TIFFSetSubDirectory", library.set_directory) && find(handle, "TIFFIsTiled", library.is_tiled) &&
      find(handle, "TIFFNumberOfStrips", library.strip_count) &&
      find(handle, "TIFFNumberOfTiles", library.tile_count) &&
      find(handle, "TIFFReadEncodedStrip", library.read_strip) &&
      find(handle, "TIFFReadEncodedTile", library.read_tile) && find(handle, "TIFFGetField", library.get_field) &&
      find(handle, "TIFFGetFieldDefaulted", library.get_field_defaulted) &&
      find(handle, "TIFFRGBAImageOK", library.rgba_ok) &&
      find(handle, "TIFFReadRGBAStripExt", library.read_rgba_strip) &&
      find(handle, "TIFFReadRGBATileExt", library.read_rgba_tile) &&
      find(handle, "TIFFIsCODECConfigured", library.has_codec) && find(handle, "TIFFGetVersion", library.version);
  if (!complete) {
    dlclose(handle);
    return std::nullopt;
  }
#if TIFFLIB_VERSION >= 20221213
  bool const per_file_handlers = find(handle, "TIFFClientOpenExt", library.client_open_ext) &&
                                 find(handle, "TIFFOpenOptionsAlloc", library.options_alloc) &&
                                 find(handle, "TIFFOpenOptionsFree", library.options_free) &&
                                 find(handle, "TIFFOpenOptionsSetMaxSingleMemAlloc", library.options_set_max_alloc) &&
                                 find(handle, "TIFFOpenOptionsSetErrorHandlerExtR", library.options_set_errors) &&
                                 find(handle, "TIFFOpenOptionsSetWarningHandlerExtR", library.options_set_warnings);
  if (!per_file_handlers) { library.client_open_ext = nullptr; }
#else
  bool const per_file_handlers = false;
#endif
  if (!per_file_handlers) {
    // This version has only global handlers: silence them, once, before any thread uses the library.
    decltype(&::TIFFSetErrorHandler) set_errors = nullptr;
    decltype(&::TIFFSetWarningHandler) set_warnings = nullptr;
    if (find(handle, "TIFFSetErrorHandler", set_errors)) { set_errors(nullptr); }
    if (find(handle, "TIFFSetWarningHandler", set_warnings)) { set_warnings(nullptr); }
  }
  return library;
}

}  // namespace

LibtiffLibrary const* LibtiffLibrary::instance() noexcept {
  static std::optional<LibtiffLibrary> const kLibrary = load();
  return kLibrary ? &*kLibrary : nullptr;
}

}  // namespace terrazzo::codec

#endif
