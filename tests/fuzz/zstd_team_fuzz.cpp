// SPDX-License-Identifier: Apache-2.0
//
// The device's ZSTD decoder on the host, under arbitrary bytes: what it accepts, libzstd accepts too, with the same
// bytes. The first three bytes tell how long the output is (0: as libzstd finds); the rest is a frame.
#include "codec/registry/libraries.hpp"
#include "coding/zstd/decode.hpp"

#include <cstddef>
#include <cstdint>

#if TERRAZZO_HAVE_ZSTD

#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

using namespace terrazzo;

void require(bool condition) {
  if (!condition) { std::abort(); }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  constexpr std::size_t kHeadBytes = 3;
  if (size < kHeadBytes) { return 0; }
  static ZSTD_DCtx* const state = ZSTD_createDCtx();
  static std::vector<std::byte> room(std::size_t{1} << 20);
  std::size_t const frame_bytes = size - kHeadBytes;
  std::size_t out_bytes = (data[0] + std::size_t{256} * data[1] + std::size_t{65'536} * data[2]) % room.size();
  // Exactly as long as the frame, so that AddressSanitizer sees a read behind it.
  auto const frame = std::make_unique<std::byte[]>(frame_bytes);
  std::transform(data + kHeadBytes, data + size, frame.get(), [](std::uint8_t byte) { return std::byte{byte}; });
  std::size_t const made = ZSTD_decompressDCtx(state, room.data(), room.size(), frame.get(), frame_bytes);
  if (out_bytes == 0 && !ZSTD_isError(made)) { out_bytes = made; }

  auto const shared = std::make_unique<coding::ZstdShared>();
  auto const scratch = std::make_unique<std::byte[]>(coding::kZstdScratchBytes);
  auto const out = std::make_unique<std::byte[]>(out_bytes);
  tile::TileStatus const status = coding::zstd_decode(coding::LanesInTurn{}, *shared, frame.get(), frame_bytes,
                                                      out.get(), out_bytes, scratch.get());
  if (status == tile::TileStatus::ok) {
    require(!ZSTD_isError(made) && made == out_bytes && std::equal(out.get(), out.get() + made, room.begin()));
  }
  return 0;
}

#else

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const*, std::size_t) { return 0; }  // nothing to compare with

#endif
