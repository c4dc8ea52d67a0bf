// SPDX-License-Identifier: Apache-2.0
//
// ZSTD frames decoded by libzstd, which checks headers, codes and sizes.
#pragma once

#include <zstd.h>

#include <cstddef>
#include <vector>

namespace terrazzo::coding::test {

// Nothing when the frame is bad, does not tell its size, is not `size` bytes or goes on behind its end.
inline std::vector<std::byte> unzstd(std::vector<std::byte> const& frame, std::size_t size) {
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != size) { return {}; }
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) { return {}; }
  std::vector<std::byte> bytes(size);
  std::size_t const result = ZSTD_decompress(bytes.data(), bytes.size(), frame.data(), frame.size());
  if (ZSTD_isError(result) != 0 || result != size) { return {}; }
  return bytes;
}

}  // namespace terrazzo::coding::test
