// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/nvcomp_library.hpp"

#include "base/text.hpp"
#include "gpu/vendor/library.hpp"
#include "terrazzo/error.hpp"

#include <optional>
#include <string>

namespace terrazzo::gpu::nvcomp {
namespace {

template <class Function>
bool bind_batched(VendorModule const& module, Functions const& codec, char const* call, Function*& function) {
  return bind(module, text("nvcompBatched", codec.name, call).c_str(), function);
}

bool bind_decoder(VendorModule const& module, Functions& codec) {
  return bind_batched(module, codec, "DecompressGetRequiredAlignments", codec.decode_alignments) &&
         bind_batched(module, codec, "DecompressGetTempSize", codec.decode_temp_size) &&
         bind_batched(module, codec, "DecompressAsync", codec.decode);
}

std::optional<Library> load() {
  VendorModule const& module = vendor_module(Vendor::nvcomp);
  Library library{};
  Functions& deflate = library.codecs[static_cast<std::size_t>(NvcompCodec::deflate)];
  Functions& zstd = library.codecs[static_cast<std::size_t>(NvcompCodec::zstd)];
  deflate.name = "Deflate";
  zstd.name = "Zstd";
  if (!bind(module, "nvcompGetStatusString", library.status_string) || !bind_decoder(module, deflate) ||
      !bind_decoder(module, zstd)) {
    return std::nullopt;
  }
  return library;
}

[[noreturn]] void throw_absent() {
  std::string const& hint = vendor_module(Vendor::nvcomp).library.hint;
  throw Error(ErrorKind::unsupported, text("nvCOMP: ", hint.empty() ? "the library lacks a function" : hint));
}

}  // namespace

Library const* find_library() {
  static std::optional<Library> const kLibrary = load();
  return kLibrary ? &*kLibrary : nullptr;
}

Library const& library() {
  Library const* const found = find_library();
  if (found == nullptr) { throw_absent(); }
  return *found;
}

void check(Status status, Library const& lib, Functions const& codec, char const* call) {
  if (status == kSuccess) { return; }
  char const* const said = lib.status_string(status);
  throw Error(ErrorKind::device, text("nvcompBatched", codec.name, call, ": status ", status, " (",
                                      said == nullptr ? "no text" : said, ")"));
}

}  // namespace terrazzo::gpu::nvcomp
