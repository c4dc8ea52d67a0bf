// SPDX-License-Identifier: Apache-2.0
//
// zlib streams decoded by libdeflate, which checks the frame, the codes and the Adler-32.
#pragma once

#include <libdeflate.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace terrazzo::coding::test {

// Nothing when the stream is bad, is not `size` bytes or goes on behind its end.
inline std::vector<std::byte> inflated(std::vector<std::byte> const& stream, std::size_t size) {
  std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> const state(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  std::vector<std::byte> bytes(size);
  std::size_t consumed = 0, given = 0;
  libdeflate_result const result = libdeflate_zlib_decompress_ex(state.get(), stream.data(), stream.size(),
                                                                 bytes.data(), bytes.size(), &consumed, &given);
  if (result != LIBDEFLATE_SUCCESS || consumed != stream.size() || given != size) { return {}; }
  return bytes;
}

}  // namespace terrazzo::coding::test
