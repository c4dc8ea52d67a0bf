// SPDX-License-Identifier: Apache-2.0
#include "codec/jxl/library.hpp"

#if TERRAZZO_HAVE_JXL

#include "base/library_search.hpp"
#include "base/settings.hpp"

#include <dlfcn.h>

#include <array>
#include <exception>
#include <optional>

namespace terrazzo::codec {
namespace {

// Every minor version has its own soname. The functions and structures in use are the same in all of these, so the
// version of the header does not matter.
constexpr std::array<char const*, 6> kSonames = {"libjxl.so.0.12", "libjxl.so.0.11", "libjxl.so.0.10",
                                                 "libjxl.so.0.9",  "libjxl.so.0.8",  "libjxl.so.0.7"};

bool resolve(void* handle, JxlLibrary& library) noexcept {
  bool complete = true;
#define TERRAZZO_JXL_RESOLVE(function)                                                       \
  library.function = reinterpret_cast<decltype(library.function)>(dlsym(handle, #function)); \
  complete = complete && library.function != nullptr;
  TERRAZZO_JXL_FUNCTIONS(TERRAZZO_JXL_RESOLVE)
#undef TERRAZZO_JXL_RESOLVE
  return complete;
}

std::optional<JxlLibrary> load() noexcept {
  try {
    if (is_disabled("libjxl")) { return std::nullopt; }
    for (char const* const soname : kSonames) {
      LoadedLibrary const found = load_library(soname);
      if (found.handle == nullptr) { continue; }
      if (JxlLibrary library; resolve(found.handle, library)) { return library; }
      dlclose(found.handle);
    }
  } catch (std::exception const&) {}  // out of memory while searching
  return std::nullopt;
}

}  // namespace

JxlLibrary const* JxlLibrary::instance() noexcept {
  static std::optional<JxlLibrary> const kLibrary = load();
  return kLibrary ? &*kLibrary : nullptr;
}

}  // namespace terrazzo::codec

#endif
