// SPDX-License-Identifier: Apache-2.0
//
// zlib streams made by libdeflate.
#pragma once

#include <libdeflate.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace terrazzo::coding::test {

inline std::vector<std::byte> deflated(std::vector<std::byte> const& bytes, int level) {
  std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> const state(
      libdeflate_alloc_compressor(level), libdeflate_free_compressor);
  std::vector<std::byte> stream(libdeflate_zlib_compress_bound(state.get(), bytes.size()));
  stream.resize(libdeflate_zlib_compress(state.get(), bytes.data(), bytes.size(), stream.data(), stream.size()));
  return stream;
}

}  // namespace terrazzo::coding::test
