// SPDX-License-Identifier: Apache-2.0
//
// Our ZSTD decoder under arbitrary bytes: what it takes, libzstd takes too and makes the same bytes of. The first two
// bytes choose the size of the output, unless the frame tells it; the rest is the frame.
#include "codec/registry/libraries.hpp"
#include "codec/zstd/decoder.hpp"
#include "tile/host/cpu.hpp"

#include <cstddef>
#include <cstdint>

#if TERRAZZO_HAVE_ZSTD && TERRAZZO_HAVE_X86

#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

void require(bool condition) {
  if (!condition) { std::abort(); }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace terrazzo;
  constexpr std::size_t kSizeBytes = 2, kMostBytes = std::size_t{1} << 20;
  if (size < kSizeBytes || !tile::has_avx2()) { return 0; }
  std::size_t bytes = data[0] + 256U * data[1];
  std::size_t const frame_bytes = size - kSizeBytes;
  auto const frame = std::make_unique<std::byte[]>(frame_bytes);  // of exactly its size
  std::transform(data + kSizeBytes, data + size, frame.get(), [](std::uint8_t value) { return std::byte{value}; });
  unsigned long long const told = ZSTD_getFrameContentSize(frame.get(), frame_bytes);
  if (told != ZSTD_CONTENTSIZE_ERROR && told != ZSTD_CONTENTSIZE_UNKNOWN && told <= kMostBytes) {
    bytes = static_cast<std::size_t>(told);
  }
  static codec::ZstdDecoder decoder;  // used before, as that of a thread is
  std::vector<std::byte> ours(bytes, std::byte{0xA5}), theirs(bytes, std::byte{0x5A});
  std::span<std::byte const> const in(frame.get(), frame_bytes);
  static_cast<void>(codec::ZstdDecoder::is_for(in, bytes));
  if (!decoder.decode(in, ours)) { return 0; }
  require(ZSTD_decompress(theirs.data(), theirs.size(), frame.get(), frame_bytes) == bytes);
  require(ours == theirs);
  return 0;
}

#else

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const*, std::size_t) { return 0; }

#endif
